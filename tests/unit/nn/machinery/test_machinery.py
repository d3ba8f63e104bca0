"""nn.Module and its tools show what PyTorch's show."""

from tests.tools.recorded.checks import RecordedAnswers

from .suite import SUITE


class TestPrograms(RecordedAnswers):
    suite = SUITE
