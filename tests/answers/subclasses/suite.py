"""The suite of programs that subclass PyTorch's objects, or look at what they keep."""

from tests.tools.recorded.general import GENERAL
from tests.tools.recorded.suite import Suite

SUITE = Suite("answers/subclasses", general=GENERAL)
