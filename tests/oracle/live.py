"""PyTorch itself, asked now."""

from __future__ import annotations

from typing import Any

import torch

from .run import answer
from .spec import Case

VERSION = torch.__version__.partition("+")[0]


def prepare() -> None:
    """One thread and no "warned once already", so that answers depend on nothing else."""
    torch.set_num_threads(1)
    torch.set_warn_always(True)


def ask(case: Case) -> dict[str, Any]:
    """PyTorch's answer to a case."""
    return answer(torch, case)
