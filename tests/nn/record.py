"""Writes PyTorch's answers to `cases.CASES` (`python -m tests.nn.record`)."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

from .cases import CASES

PATH = Path(__file__).with_name("answers.json")


def ask() -> dict[str, Any]:
    """PyTorch's answers, by the names of the cases."""
    import torch
    import torch.nn.functional

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {case.name: case.answer(torch, torch.nn.functional) for case in CASES}


if __name__ == "__main__":
    lines = [f"{json.dumps(name)}: {json.dumps(found)}" for name, found in ask().items()]
    PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{len(lines)} answers")
