"""Graphs have PyTorch's nodes, names and code."""

from tests.tools.recorded.checks import RecordedAnswers

from .suite import SUITE


class TestPrograms(RecordedAnswers):
    suite = SUITE
