"""The suite of programs about autograd's semantics."""

from tests.recorded.general import GENERAL
from tests.recorded.suite import Suite

from .departures import DEPARTURES
from .pending import PENDING

SUITE = Suite("differential", DEPARTURES, GENERAL, PENDING)
