"""``torch.cuda.nvtx``: refusals, as in a PyTorch without CUDA."""

from __future__ import annotations

from typing import Any, NoReturn


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise RuntimeError: there is no GPU to profile."""
    raise RuntimeError("NVTX functions not installed. Are you sure you have a CUDA build?")


mark = range = range_pop = range_push = range_start = range_end = _refuse
