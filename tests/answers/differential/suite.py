"""The suite of programs about autograd's semantics."""

from tests.tools.recorded.general import GENERAL
from tests.tools.recorded.suite import Suite

from .departures import DEPARTURES
from .pending import PENDING

SUITE = Suite("answers/differential", DEPARTURES, GENERAL, PENDING)
