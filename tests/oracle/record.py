"""Writes PyTorch's answers to all cases (`python -m tests.oracle.record`).

Refuses a row that does not end in PyTorch where its table says it does. `--errors` prints all
recorded error texts, to be read by a person whenever rows are added.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from typing import Any

from .live import VERSION, ask, prepare
from .run import ending
from .spec import Case
from .store import FOLDER, save
from .tables import CASES, TABLES


def complaint(case: Case, found: dict[str, Any]) -> str | None:
    """What is wrong with the row: PyTorch does not end it where its table says."""
    if ending(found) == case.ends:
        return None
    told = found.get("call", found.get("backward"))
    return f"{case.id} should end {case.ends}, but ended {ending(found)}: {told}"


def errors_in(path: str, value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for number, part in enumerate(value):
            yield from errors_in(f"{path}[{number}]", part)
    elif isinstance(value, dict):
        if "raises" in value:
            yield f"{path}: {value['raises']}: {value['says']}"
        for key, part in value.items():
            yield from errors_in(f"{path}/{key}" if path else key, part)


def main() -> None:
    prepare()
    answers = {t.family: {case.name: ask(case) for case in t.cases} for t in TABLES}
    wrong = [complaint(case, answers[case.family][case.name]) for case in CASES]
    if any(wrong):
        sys.exit("\n".join(filter(None, wrong)))
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    for family, found in answers.items():
        save(family, found)
    (FOLDER / "version.json").write_text(json.dumps({"torch": VERSION}) + "\n")
    if "--errors" in sys.argv:
        print(*errors_in("", answers), sep="\n")
    print(f"{len(CASES)} answers of PyTorch {VERSION}")


if __name__ == "__main__":
    main()
