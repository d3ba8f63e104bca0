"""PyTorch itself, asked now."""

from __future__ import annotations

import importlib

import torch

VERSION = torch.__version__.partition("+")[0]
IMPORTED_BY_NAME = (
    *("torch.func", "torch.nn.functional", "torch.nn.utils.parametrizations"),
    "torch.nn.utils.stateless",
)


def prepare() -> None:
    """Set one thread and warnings that repeat, so that answers depend on nothing else."""
    torch.set_num_threads(1)
    torch.set_warn_always(True)
    for name in IMPORTED_BY_NAME:
        importlib.import_module(name)
