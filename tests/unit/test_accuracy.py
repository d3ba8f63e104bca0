"""Errors of float32 against float64: at most twice PyTorch's, but for what roundings must cost."""

import pytest

import tinynet as tn
from benchmarks import accuracy
from benchmarks.accuracy import CASES

RECORDED = accuracy.recorded()
every_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


def test_every_case_is_recorded_once():
    remedy = "record it anew: python -m benchmarks --accuracy --save docs/accuracy"
    assert [case.name for case in CASES] == list(RECORDED), remedy


def check(case, theirs):
    exact = accuracy.results(tn, case, "f8")
    assert accuracy.excess(case, exact, theirs) == (0, 0), theirs


@every_case
def test_errors_are_at_most_twice_those_of_pytorch(case):
    check(case, RECORDED[case.name])


@pytest.mark.oracle
@every_case
def test_errors_beside_live_pytorch(case):
    import torch

    exact = accuracy.results(tn, case, "f8")
    assert max(accuracy.errors(accuracy.results(torch, case, "f8"), exact)) < 1e-3
    check(case, accuracy.errors(accuracy.results(torch, case, "f4"), exact))


TWICE = ("var, ", "std, ", "Conv2d, ", "adaptive_avg_pool2d")


@pytest.mark.parametrize(
    "case", [c for c in CASES if c.name.startswith(TWICE)], ids=lambda case: case.name
)
def test_results_that_need_no_allowance(case):
    """Variances round once, averages and convolutions about as often as PyTorch's."""
    exact = accuracy.results(tn, case, "f8")
    ours, _ = accuracy.errors(accuracy.results(tn, case, "f4"), exact)
    assert ours <= 2 * max(RECORDED[case.name][0], 0.5)


def test_what_a_gradient_carries_on():
    """The gradient of a softmax is made of its result, that of a product of exact inputs."""
    by_name = {case.name: case for case in CASES}
    for name, low, high in (("softmax, rows, around 0, wide", 1, 5), ("Conv1d, around 0", 0, 0)):
        case = by_name[name]
        assert low <= accuracy.carried(case, accuracy.results(tn, case, "f8")) <= high
