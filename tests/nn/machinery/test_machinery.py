"""nn.Module and its tools show what PyTorch's show."""

from tests.recorded.checks import RecordedAnswers

from .suite import SUITE


class TestPrograms(RecordedAnswers):
    suite = SUITE
