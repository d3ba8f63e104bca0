"""The suite of programs that subclass PyTorch's objects, or look at what they keep."""

from tests.recorded.general import GENERAL
from tests.recorded.suite import Suite

SUITE = Suite("subclasses", general=GENERAL)
