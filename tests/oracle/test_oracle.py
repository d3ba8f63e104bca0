"""tinynet must answer every row of the tables as PyTorch does.

PyTorch's answers are recorded, so this needs no PyTorch; `--oracle` asks the installed one
instead, and checks that the record still says the same.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

import numpy as np
import pytest

import tinynet

from .compare import answer_differences
from .coverage import LAYOUTS, MAKERS, PROMISED, kinds_of_input, uncovered
from .departures import DEPARTURES, Departure, depart
from .run import answer, close, ending
from .spec import Case
from .store import FOLDER, load, save
from .tables import CASES, TABLES

recorded_family = cache(load)


def recorded(case: Case) -> dict[str, Any]:
    """PyTorch's recorded answer."""
    answers = recorded_family(case.family)
    assert case.name in answers, f"{case.id} is not recorded: run `python -m tests.oracle.record`."
    return answers[case.name]


@pytest.fixture(scope="session")
def pytorch(request: pytest.FixtureRequest) -> Callable[[Case], dict[str, Any]]:
    """What answers for PyTorch: the record, or with `--oracle` PyTorch."""
    if not request.config.getoption("--oracle", default=False):
        return recorded
    live = importlib.import_module(".live", __package__)
    live.prepare()
    return live.ask


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_answers_as_pytorch(case: Case, pytorch: Callable[[Case], dict[str, Any]]) -> None:
    expected = depart(case.id, pytorch(case))
    found = answer_differences(expected, answer(tinynet, case))
    if found:
        pytest.fail("\n".join(found), pytrace=False)


@pytest.mark.oracle
@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.family)
def test_record_is_what_pytorch_says(table, pytorch) -> None:
    wrong = {c.name: answer_differences(recorded(c), pytorch(c)) for c in table.cases}
    assert {name: lines for name, lines in wrong.items() if lines} == {}


# ---- the record ----


def test_record_holds_exactly_the_cases() -> None:
    on_disk = {f"{p.stem}/{name}" for p in FOLDER.glob("*.json") if p.stem != "version"
               for name in load(p.stem)}  # fmt: skip
    assert on_disk == {case.id for case in CASES}


def test_record_says_which_pytorch() -> None:
    assert json.loads((FOLDER / "version.json").read_text()) == {"torch": "2.13.0"}


def test_record_is_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 4_000_000


def test_rows_end_where_their_table_says() -> None:
    assert [case.id for case in CASES if ending(recorded(case)) != case.ends] == []


def test_no_two_rows_share_a_name() -> None:
    assert len({case.id for case in CASES}) == len(CASES)


def test_record_round_trip(tmp_path) -> None:
    answers = {
        "one": {"result": [{"tensor": np.arange(6.0).reshape(2, 3)}, "text", 1, 2.5, None, True]},
        "two": {"result": np.zeros((0, 2), "int32"), "gradients": [np.float32([[1]]), None]},
    }
    save("family", answers, tmp_path)
    first = (tmp_path / "family.npz").read_bytes()
    save("family", load("family", tmp_path), tmp_path)
    assert (tmp_path / "family.npz").read_bytes() == first
    assert answer_differences(answers, load("family", tmp_path)) == []


# ---- the tables ----


def test_every_promised_operation_has_rows() -> None:
    assert uncovered(CASES) == []


@pytest.mark.parametrize("op", [op for op in PROMISED if op not in MAKERS])
def test_rows_meet_all_kinds_of_input(op: str) -> None:
    missing = set(LAYOUTS) - kinds_of_input(CASES, op)
    assert not missing


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts_in(part)


def test_every_departure_is_needed() -> None:
    cases_of: dict[str, list[str]] = {}  # each text that is in the record -> where
    for case in CASES:
        for text in set(texts_in(recorded(case))):
            cases_of.setdefault(text, []).append(case.id)

    def applies(departure: Departure) -> bool:
        return any(
            (said := re.fullmatch(departure.said, text, re.S))
            and departure.ours(said) != text
            and any(fnmatchcase(case, departure.cases) for case in cases)
            for text, cases in cases_of.items()
        )

    assert [d.reason for d in DEPARTURES if not applies(d)] == []


# ---- the comparison itself can fail ----

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
        TENSOR | {"shares_memory_with_input": [0]},
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
            {"call": {"raises": "TypeError", "says": "a"}},
            {"call": {"raises": "TypeError", "says": "b"}},
        ),
        (
            {"call": {"raises": "TypeError", "says": "a"}},
            {"call": {"raises": "ValueError", "says": "a"}},
        ),
        ({"call": {"raises": "TypeError", "says": "a"}}, {"result": None}),
        ({"backward": {"raises": "TypeError", "says": "a"}}, {"result": None}),
        ({"result": 1}, {"result": True}),
        ({"result": 1}, {"result": 1.0}),
        ({"result": 1, "warns": [{"raises": "UserWarning", "says": "a"}]}, {"result": 1}),
        ({"gradients": [None]}, {"gradients": [np.zeros(1)]}),
        (
            {"gradients": [np.ones(1)]},
            {"gradients": [np.ones(1)], "gradients_with_create_graph": [1]},
        ),
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


def test_answers_are_complete() -> None:
    """A row with gradients has both orders in its record."""
    (case,) = (case for case in CASES if case.id == "pointwise_binary/mul-broadcast")
    found = recorded(case)
    assert [g.shape for g in found["gradients"]] == [(2, 3), (3,)]
    assert [g.shape for g in found["second"]] == [(2, 3), (3,), (2, 3)]
