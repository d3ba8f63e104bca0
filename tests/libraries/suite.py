"""The suite of libraries that are given tensors."""

from tests.recorded.suite import Suite

from .departures import DEPARTURES, PENDING

SUITE = Suite("libraries", DEPARTURES, pending=PENDING)
