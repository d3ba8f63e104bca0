"""Writes PyTorch's answers to all programs (`python -m tests.nn.machinery.record`).

Refuses a program that does not end in PyTorch as it says it does. `--errors` prints all recorded
errors and warnings, to be read by a person whenever programs are added.
"""

from __future__ import annotations

import json
import sys

import torch
import torch.func
import torch.nn.utils.parametrizations
import torch.nn.utils.stateless

from tests.differential.record import complaint, errors_in
from tests.differential.spec import Program
from tests.oracle.live import prepare

from .programs import FAMILIES, FOLDER, PROGRAMS
from .run import answer


def ask(program: Program) -> dict:
    """What a program shows under PyTorch."""
    return json.loads(json.dumps(answer(torch, program)))


def main() -> None:
    prepare()
    answers = {f.name: {p.name: ask(p) for p in f.programs} for f in FAMILIES}
    wrong = [complaint(p, answers[p.family][p.name]) for p in PROGRAMS]
    if any(wrong):
        sys.exit("\n".join(filter(None, wrong)))
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.iterdir():
        path.unlink()
    for family, found in answers.items():
        lines = [f"{json.dumps(name)}: {json.dumps(told)}" for name, told in found.items()]
        (FOLDER / f"{family}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
    if "--errors" in sys.argv:
        print(*errors_in("", answers), sep="\n")
    print(f"{len(PROGRAMS)} answers of PyTorch {torch.__version__.partition('+')[0]}")


if __name__ == "__main__":
    main()
