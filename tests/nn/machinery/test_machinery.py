"""tinynet must show after every program what PyTorch shows.

PyTorch's answers are recorded, so this needs no PyTorch; `--oracle` asks the installed one
instead, and checks that the record still says the same.
"""

from __future__ import annotations

import copy
import importlib
import json
from functools import cache
from typing import Any

import pytest

import tinynet
from tests.differential.spec import Program
from tests.oracle.compare import differences

from .departures import DEPARTURES
from .programs import FAMILIES, FOLDER, PROGRAMS
from .run import answer

load = cache(lambda family: json.loads((FOLDER / f"{family}.json").read_text()))


def recorded(program: Program) -> dict[str, Any]:
    """PyTorch's recorded answer."""
    answers = load(program.family)
    assert program.name in answers, "run `python -m tests.nn.machinery.record`"
    return answers[program.name]


@pytest.fixture(scope="session")
def pytorch(request):
    """What answers for PyTorch: the record, or with `--oracle` PyTorch."""
    if not request.config.getoption("--oracle", default=False):
        return recorded
    return importlib.import_module(".record", __package__).ask


def compared(expected: dict[str, Any], got: dict[str, Any]) -> list[str]:
    """One line per difference."""
    keys = dict.fromkeys([*expected, *got])
    return [line for k in keys for line in differences(k, expected.get(k), got.get(k))]


def departed(program: Program, said: dict[str, Any]) -> dict[str, Any]:
    """PyTorch's answer with what tinynet answers instead."""
    said = copy.deepcopy(said)
    _, instead = DEPARTURES.get(program.id, ("", {}))
    for path, value in instead.items():
        *outer, last = path.split(".")
        place = said
        for key in outer:
            place = place[int(key) if isinstance(place, list) else key]
        place[int(last) if isinstance(place, list) else last] = value
    return said


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.id)
def test_shows_what_pytorch_shows(program: Program, pytorch) -> None:
    got = json.loads(json.dumps(answer(tinynet, program)))
    found = compared(departed(program, pytorch(program)), got)
    if found:
        pytest.fail("\n".join(found), pytrace=False)


@pytest.mark.oracle
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.id)
def test_record_is_what_pytorch_says(program: Program, pytorch) -> None:
    assert compared(recorded(program), pytorch(program)) == []


def test_record_holds_exactly_the_programs() -> None:
    on_disk = {f"{path.stem}/{name}" for path in FOLDER.iterdir() for name in load(path.stem)}
    assert on_disk == {program.id for program in PROGRAMS}


def test_programs_end_as_they_say() -> None:
    assert [p.id for p in PROGRAMS if ("ends" in recorded(p)) != p.fails] == []


def test_no_two_programs_share_a_name() -> None:
    assert len({program.id for program in PROGRAMS}) == sum(len(f.programs) for f in FAMILIES)


def test_every_departure_is_one() -> None:
    named = {program.id: program for program in PROGRAMS}
    idle = [
        name
        for name in DEPARTURES
        if not compared(recorded(named[name]), departed(named[name], recorded(named[name])))
    ]
    assert idle == []
    assert all(reason for reason, _ in DEPARTURES.values())


def test_the_comparison_sees_a_change() -> None:
    program = next(p for p in PROGRAMS if "state" in json.dumps(recorded(p)))
    said = recorded(program)
    assert compared(said, copy.deepcopy(said)) == []
    for old, new in [('"tensor": [', '"tensor": [9.5, '), ("float64", "float32"), ("net", "nut")]:
        text = json.dumps(said)
        if old in text:
            assert compared(said, json.loads(text.replace(old, new)))
