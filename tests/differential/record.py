"""Writes PyTorch's answers to all programs (`python -m tests.differential.record`).

Refuses a program that does not end in PyTorch as it says it does. `--errors` prints all recorded
errors and warnings, to be read by a person whenever programs are added.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from typing import Any

from tests.oracle.store import save

from .live import VERSION, ask, prepare
from .programs import FAMILIES, FOLDER, PROGRAMS
from .spec import Program


def complaint(program: Program, found: dict[str, Any]) -> str | None:
    """What is wrong with the program: it does not end as it says."""
    if ("ends" in found) == program.fails:
        return None
    return f"{program.id}: {found.get('ends', 'should raise, but did not')}"


def errors_in(path: str, value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for number, part in enumerate(value):
            yield from errors_in(f"{path}[{number}]", part)
    elif isinstance(value, dict):
        if "raises" in value:
            yield f"{path}: {value['raises']}: {value['says']}"
        if "warns" in value:
            yield f"{path}: {value['warns']}"
        for key, part in value.items():
            yield from errors_in(f"{path}/{key}" if path else key, part)


def main() -> None:
    prepare()
    answers = {f.name: {p.name: ask(p) for p in f.programs} for f in FAMILIES}
    wrong = [complaint(p, answers[p.family][p.name]) for p in PROGRAMS]
    if any(wrong):
        sys.exit("\n".join(filter(None, wrong)))
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    for family, found in answers.items():
        save(family, found, FOLDER)
    (FOLDER / "version.json").write_text(json.dumps({"torch": VERSION}) + "\n")
    if "--errors" in sys.argv:
        print(*errors_in("", answers), sep="\n")
    print(f"{len(PROGRAMS)} answers of PyTorch {VERSION}")


if __name__ == "__main__":
    main()
