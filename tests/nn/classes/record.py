"""Writes PyTorch's answers: `python -m tests.nn.classes.record [TABLE ...]`."""

from __future__ import annotations

import json
import sys

import torch
import torch.nn.functional

from .run import describe
from .spec import Failure
from .tables import HERE, TABLES


def record(name: str) -> None:
    answers = {row.name: describe(torch, row) for row in TABLES[name].rows.values()}
    for row in TABLES[name].rows.values():
        if isinstance(row, Failure):
            print(f"{name} {row.name} {answers[row.name]['error']}")
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in answers.items()]
    head = f'"PyTorch": "{torch.__version__.split("+")[0]}"'
    path = HERE / "answers" / f"{name}.json"
    path.write_text("{\n" + ",\n".join([head, *lines]) + "\n}\n", encoding="utf-8")
    print(f"{name}: {len(answers)} rows")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for table in sys.argv[1:] or TABLES:
        record(table)
