"""Compiled kernels are as exact as numpy's: errors against float64, at most twice PyTorch's."""

import pytest

import tinynet as tn
from benchmarks import accuracy

RECORDED = accuracy.recorded()
NAMES = "layer_norm", "rms_norm", "batch_norm", "group_norm", "instance_norm", "softmax", "log_soft"
CASES = [case for case in accuracy.CASES if case.name.startswith(NAMES)]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_errors_are_at_most_twice_those_of_pytorch(case, compiled):
    exact = accuracy.results(tn, case, "f8")
    assert accuracy.excess(case, exact, RECORDED[case.name]) == (0, 0)
