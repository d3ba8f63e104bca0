"""tinynet answers every row of the tables as PyTorch does."""

import pytest

from tests.tools.recorded.checks import RecordedAnswers

from .coverage import LAYOUTS, MAKERS, PROMISED, kinds_of_input, uncovered
from .suite import SUITE


class TestRows(RecordedAnswers):
    suite = SUITE
    together = 8


def test_every_promised_operation_has_rows() -> None:
    assert uncovered(SUITE.entries) == []


@pytest.mark.parametrize("op", [op for op in PROMISED if op not in MAKERS])
def test_rows_meet_all_kinds_of_input(op: str) -> None:
    missing = set(LAYOUTS) - kinds_of_input(SUITE.entries, op)
    assert not missing


def test_answers_are_complete() -> None:
    """A row with gradients has both orders in its record."""
    found = SUITE.recorded(SUITE.families["pointwise_binary"].entries["mul-broadcast"])
    assert [g.shape for g in found["gradients"]] == [(2, 3), (3,)]
    assert [g.shape for g in found["second"]] == [(2, 3), (3,), (2, 3)]
