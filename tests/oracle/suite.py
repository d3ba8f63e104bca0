"""The suite of single operations."""

from tests.recorded.general import GENERAL
from tests.recorded.suite import Suite

from .departures import DEPARTURES

SUITE = Suite("oracle", DEPARTURES, GENERAL, most=4_000_000)
