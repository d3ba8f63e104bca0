"""The suite of layers."""

from tests.tools.recorded.suite import Suite

from .departures import DEPARTURES

SUITE = Suite("unit/nn/classes", DEPARTURES, most=3_000_000)
