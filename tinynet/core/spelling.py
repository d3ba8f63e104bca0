"""Other names of arguments that PyTorch takes: numpy's, and sizes by name.

``sum(axis=0, keepdims=True)``, ``randn(size=(2, 3))``, ``permute(dims=(1, 0))``.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

_NAMES = {"axis": "dim", "keepdims": "keepdim"}


def keywords(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function on tensors take such names; returned as it is if it has no use for them."""
    own = inspect.signature(function).parameters
    starred = next((name for name, p in own.items() if p.kind is p.VAR_POSITIONAL), "")
    if not ({"dim", "keepdim"} & own.keys() or starred in ("size", "shape", "dims", "repeats")):
        return function

    @functools.wraps(function)
    def respelled(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            for theirs, ours in _NAMES.items():
                if theirs in kwargs and ours not in kwargs:
                    kwargs[ours] = kwargs.pop(theirs)
            if "input" in kwargs:
                args = (kwargs.pop("input"), *args)
            if starred in kwargs:
                args = (*args, kwargs.pop(starred))
        return function(*args, **kwargs)

    return respelled
