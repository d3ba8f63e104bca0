"""Libraries make of tensors what they make of PyTorch's."""

from tests.tools.recorded.checks import RecordedAnswers

from .suite import SUITE


class TestLibraries(RecordedAnswers):
    suite = SUITE
    together = 8
