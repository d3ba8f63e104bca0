"""The harness itself: what it compares, what it keeps, and that its comparison can fail."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .compare import answer_differences, close
from .departures import unneeded
from .general import GENERAL
from .store import load, save
from .suite import suites


def test_every_general_departure_is_needed() -> None:
    answers = {
        f"{suite.folder}/{entry.id}": suite.recorded(entry)
        for suite in suites()
        if suite.general
        for entry in suite.entries
    }
    assert unneeded(GENERAL, answers) == []


def test_record_round_trip(tmp_path) -> None:
    answers = {
        "one": {"result": [{"tensor": np.arange(6.0).reshape(2, 3)}, "text", 1, 2.5, None, True]},
        "two": {"result": np.zeros((0, 2), "int32"), "gradients": [np.float32([[1]]), None]},
    }
    save(tmp_path / "family", answers)
    first = (tmp_path / "family.npz").read_bytes()
    save(tmp_path / "family", load(tmp_path / "family"))
    assert (tmp_path / "family.npz").read_bytes() == first
    assert answer_differences(answers, load(tmp_path / "family")) == []


# ---- the comparison can fail ----

TENSOR = {"tensor": np.array([1.0, np.nan]), "grad_fn": "MulBackward0", "is_leaf": False}


@pytest.mark.parametrize(
    "other",
    [
        TENSOR | {"tensor": np.array([1.0 + 1e-9, np.nan])},
        TENSOR | {"tensor": np.array([np.nan, 1.0])},
        TENSOR | {"tensor": np.array([1.0, np.nan], "float32")},
        TENSOR | {"tensor": np.array([[1.0, np.nan]])},
        TENSOR | {"grad_fn": "DivBackward0"},
        TENSOR | {"version": 1},
        TENSOR | {"requires_grad": True},
        TENSOR | {"memory_of": "input 0"},
        {"tensor": TENSOR["tensor"], "grad_fn": "MulBackward0"},
        {"raises": "RuntimeError", "says": "no"},
        [TENSOR],
        None,
        1.0,
    ],
)
def test_comparison_sees(other: Any) -> None:
    assert answer_differences({"result": TENSOR}, {"result": other})
    assert answer_differences({"result": other}, {"result": TENSOR})
    assert not answer_differences({"result": other}, {"result": other})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            {"ends": {"raises": "TypeError", "says": "a"}},
            {"ends": {"raises": "TypeError", "says": "b"}},
        ),
        (
            {"ends": {"raises": "TypeError", "says": "a"}},
            {"ends": {"raises": "ValueError", "says": "a"}},
        ),
        ({"ends": {"raises": "TypeError", "says": "a"}}, {"result": None}),
        ({"backward": {"raises": "TypeError", "says": "a"}}, {"result": None}),
        ({"result": 1}, {"result": True}),
        ({"result": 1}, {"result": 1.0}),
        ({"result": 1, "warns": ["UserWarning: a"]}, {"result": 1}),
        ({"gradients": [None]}, {"gradients": [np.zeros(1)]}),
        (
            {"gradients": [np.ones(1)]},
            {"gradients": [np.ones(1)], "gradients_with_create_graph": [1]},
        ),
        ({"sees": {"x": 1}, "ends": {"raises": "E", "says": ""}}, {"sees": {"x": 1}}),
        ({"sees": {"x": {"version": 1}}}, {"sees": {"x": {}}}),
        ({"sees": {"x": {"tensor": np.ones(2)}}}, {"sees": {}}),
    ],
)
def test_comparison_sees_endings(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert answer_differences(one, other)
    assert answer_differences(other, one)


def test_tolerances() -> None:
    one = np.array([1.0, 1000.0])
    assert close(one, one * (1 + 1e-13))
    assert not close(one, one * (1 + 1e-10))
    assert close(one.astype("float32"), (one * (1 + 1e-6)).astype("float32"))
    assert not close(one.astype("float32"), (one * (1 + 1e-4)).astype("float32"))
    assert not close(np.array([1, 2]), np.array([1, 3]))
