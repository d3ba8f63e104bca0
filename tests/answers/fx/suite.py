"""The suite of programs that trace, change and run graphs."""

from tests.tools.recorded.general import GENERAL
from tests.tools.recorded.suite import Suite

SUITE = Suite("answers/fx", general=GENERAL)
