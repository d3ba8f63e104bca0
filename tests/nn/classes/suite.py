"""The suite of layers."""

from tests.recorded.suite import Suite

from .departures import DEPARTURES

SUITE = Suite("nn/classes", DEPARTURES, most=3_000_000)
