"""The suite of libraries that are given tensors."""

from tests.tools.recorded.suite import Suite

from .departures import DEPARTURES, PENDING

SUITE = Suite("whole/libraries", DEPARTURES, pending=PENDING)
