"""The suite of programs that trace, change and run graphs."""

from tests.recorded.general import GENERAL
from tests.recorded.suite import Suite

SUITE = Suite("fx", general=GENERAL)
