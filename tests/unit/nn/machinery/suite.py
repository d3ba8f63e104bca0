"""The suite of programs about nn.Module and its tools."""

from tests.tools.recorded.general import GENERAL
from tests.tools.recorded.suite import Suite

from .departures import DEPARTURES

SUITE = Suite("unit/nn/machinery", DEPARTURES, GENERAL)
