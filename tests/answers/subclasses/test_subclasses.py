"""Objects that users subclass keep PyTorch's promises, those of private names included."""

from tests.tools.recorded.checks import RecordedAnswers

from .suite import SUITE


class TestPrograms(RecordedAnswers):
    suite = SUITE
