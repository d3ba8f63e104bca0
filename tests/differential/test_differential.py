"""tinynet must show after every program what PyTorch shows.

PyTorch's answers are recorded, so this needs no PyTorch; `--oracle` asks the installed one
instead, and checks that the record still says the same.
"""

from __future__ import annotations

import copy
import importlib
import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

import tinynet
from tests.oracle.compare import differences
from tests.oracle.store import load

from .departures import INSTEAD, TEXTS, depart, replaced, with_texts_replaced
from .pending import PENDING
from .programs import FAMILIES, FOLDER, PROGRAMS
from .run import answer
from .spec import Program

recorded_family = cache(lambda family: load(family, FOLDER))


def recorded(program: Program) -> dict[str, Any]:
    """PyTorch's recorded answer."""
    answers = recorded_family(program.family)
    assert program.name in answers, (
        f"{program.id} is not recorded: run `python -m tests.differential.record`."
    )
    return answers[program.name]


@pytest.fixture(scope="session")
def pytorch(request: pytest.FixtureRequest) -> Callable[[Program], dict[str, Any]]:
    """What answers for PyTorch: the record, or with `--oracle` PyTorch."""
    if not request.config.getoption("--oracle", default=False):
        return recorded
    live = importlib.import_module(".live", __package__)
    live.prepare()
    return live.ask


def of_tinynet(program: Program) -> dict[str, Any]:
    """What the program shows under tinynet."""
    tinynet.autograd.set_strict_leaf_writes(program.strict)
    try:
        return answer(tinynet, program)
    finally:
        tinynet.autograd.set_strict_leaf_writes(False)


def compared(expected: dict[str, Any], got: dict[str, Any]) -> list[str]:
    """One line per difference."""
    keys = dict.fromkeys([*expected, *got])
    return [line for k in keys for line in differences(k, expected.get(k), got.get(k))]


def with_mark(program: Program) -> Any:
    """The program; expected to fail if it is pending, and a failure if it passes all the same."""
    reason = PENDING.get(program.id)
    marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
    return pytest.param(program, id=program.id, marks=marks)


@pytest.mark.parametrize("program", [with_mark(program) for program in PROGRAMS])
def test_shows_what_pytorch_shows(program: Program, pytorch) -> None:
    found = compared(depart(program, pytorch(program)), of_tinynet(program))
    if found:
        pytest.fail("\n".join(found), pytrace=False)


@pytest.mark.oracle
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_record_is_what_pytorch_says(family, pytorch) -> None:
    wrong = {p.name: compared(recorded(p), pytorch(p)) for p in family.programs}
    assert {name: lines for name, lines in wrong.items() if lines} == {}


# ---- the record and the lists ----


def test_record_holds_exactly_the_programs() -> None:
    on_disk = {
        f"{path.stem}/{name}"
        for path in FOLDER.glob("*.json")
        if path.stem != "version"
        for name in load(path.stem, FOLDER)
    }
    assert on_disk == {program.id for program in PROGRAMS}


def test_record_says_which_pytorch() -> None:
    assert json.loads((FOLDER / "version.json").read_text()) == {"torch": "2.13.0"}


def test_record_is_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 1_000_000


def test_programs_end_as_they_say() -> None:
    assert [p.id for p in PROGRAMS if ("ends" in recorded(p)) != p.fails] == []


def test_there_are_at_least_400_programs_and_no_two_share_a_name() -> None:
    assert len({program.id for program in PROGRAMS}) == len(PROGRAMS) >= 400


def test_every_pending_program_exists() -> None:
    assert PENDING.keys() - {program.id for program in PROGRAMS} == set()


def test_every_departure_is_needed() -> None:
    def changes(change: Callable[[Program, dict[str, Any]], Any]) -> bool:
        return any(repr(change(p, recorded(p))) != repr(recorded(p)) for p in PROGRAMS)

    idle = [
        d.reason for d in TEXTS if not changes(lambda p, a, d=d: with_texts_replaced(p.id, a, (d,)))
    ]
    idle += [
        d.reason
        for d in INSTEAD
        if not changes(lambda p, a, d=d: replaced(a, [d]) if p.id == d.program else a)
    ]
    assert idle == []


# ---- the comparison can fail ----


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to everything in an answer that is not a container."""
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(part, (*path, key))
    else:
        yield path


def spoiled(found: dict[str, Any], path: tuple[Any, ...]) -> dict[str, Any]:
    """The answer with something else at one place."""
    found = copy.deepcopy(found)
    *outer, last = path
    place: Any = found
    for key in outer:
        place = place[key]
    old = place[last]
    if isinstance(old, np.ndarray):
        changed = ~old if old.dtype.kind == "b" else np.where(np.isfinite(old), 2 * old + 3.25, 0)
        place[last] = changed if old.size else np.zeros((1, *old.shape), old.dtype)
    else:
        place[last] = "something else"
    return found


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_comparison_sees_every_single_change(family) -> None:
    for program in family.programs:
        found = recorded(program)
        assert compared(found, copy.deepcopy(found)) == []
        unseen = [path for path in leaves(found) if not compared(found, spoiled(found, path))]
        assert unseen == []


def test_comparison_sees_what_is_missing() -> None:
    found = {"sees": {"x": {"tensor": np.ones(2), "version": 1}}, "ends": {"raises": "E"}}
    assert compared(found, {"sees": found["sees"]})
    assert compared(found, {"sees": {}, "ends": found["ends"]})
    assert compared(found, {"sees": {"x": {"tensor": np.ones(2)}}, "ends": found["ends"]})
