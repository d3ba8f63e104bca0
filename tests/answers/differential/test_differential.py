"""tinynet shows after every program about autograd what PyTorch shows."""

from tests.tools.recorded.checks import RecordedAnswers

from .suite import SUITE


class TestPrograms(RecordedAnswers):
    suite = SUITE
    together = 12


def test_there_are_at_least_400_programs() -> None:
    assert len([*SUITE.entries]) >= 400
