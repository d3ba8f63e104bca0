"""PyTorch itself, asked now."""

from __future__ import annotations

from typing import Any

import torch

from tests.oracle.live import VERSION as VERSION
from tests.oracle.live import prepare as prepare

from .run import answer
from .spec import Program


def ask(program: Program) -> dict[str, Any]:
    """What a program shows under PyTorch."""
    return answer(torch, program)
