"""The suite of programs about nn.Module and its tools."""

from tests.recorded.general import GENERAL
from tests.recorded.suite import Suite

from .departures import DEPARTURES

SUITE = Suite("nn/machinery", DEPARTURES, GENERAL)
