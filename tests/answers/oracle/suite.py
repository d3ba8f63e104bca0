"""The suite of single operations."""

from tests.tools.recorded.general import GENERAL
from tests.tools.recorded.suite import Suite

from .departures import DEPARTURES

SUITE = Suite("answers/oracle", DEPARTURES, GENERAL, most=4_000_000)
