"""Errors of float32 against float64: at most twice PyTorch's, but for what roundings must cost."""

import json
from pathlib import Path

import pytest

import tinynet as tn
from benchmarks import accuracy
from benchmarks.accuracy import CASES

PAGE = Path(__file__).parents[1] / "docs/accuracy"
(RECORDED,) = json.loads((PAGE / "results.json").read_text(encoding="utf-8"))["tables"]
ROWS = {row[0]: row[1:] for row in RECORDED["rows"]}
REMEDY = "record it anew: python -m benchmarks --accuracy --save docs/accuracy"


def test_every_case_is_recorded_once():
    assert [case.name for case in CASES] == list(ROWS), REMEDY
    assert len(ROWS) == len(RECORDED["rows"])


def check(case, found, theirs):
    for what, ours, other, floor in zip(
        ("result", "gradients"), found, theirs, accuracy.floors_of(case), strict=True
    ):
        assert ours <= 2 * other + floor, f"{what}: {ours:.3g}, PyTorch's {other:.3g}"


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_errors_are_at_most_twice_those_of_pytorch(case):
    _, result, _, gradient = ROWS[case.name]
    exact = accuracy.results(tn, case, "f8")
    found = accuracy.errors(accuracy.results(tn, case, "f4"), exact)
    check(case, found, (result, gradient))


@pytest.mark.oracle
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_errors_beside_live_pytorch(case):
    import torch

    exact = accuracy.results(tn, case, "f8")
    assert max(accuracy.errors(accuracy.results(torch, case, "f8"), exact)) < 1e-3
    both = [accuracy.errors(accuracy.results(x, case, "f4"), exact) for x in (tn, torch)]
    check(case, *both)
