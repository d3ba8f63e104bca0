"""How many threads numpy's BLAS uses, and other settings of PyTorch's runtime."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


@functools.cache
def _blas() -> tuple[Any, Any] | None:
    """Return the functions that get and set the threads of the OpenBLAS in numpy's wheel."""
    package = Path(np.__file__).parent
    for folder in (package.with_name("numpy.libs"), package / ".dylibs"):
        for path in sorted(folder.glob("*openblas*")):
            library = ctypes.CDLL(os.fspath(path))
            for prefix, suffix in (("scipy_", "64_"), ("scipy_", ""), ("", "64_"), ("", "")):
                names = [f"{prefix}openblas_{verb}_num_threads{suffix}" for verb in ("get", "set")]
                if all(hasattr(library, name) for name in names):
                    return getattr(library, names[0]), getattr(library, names[1])
    return None


def set_num_threads(count: int) -> None:
    """Let matrix products use so many threads.

    It takes effect where numpy brings OpenBLAS along, as numpy's wheels do; elsewhere the
    environment variables of the BLAS decide. On a busy machine, 1 makes small networks faster.

    Raises:
        RuntimeError: the count is not positive.

    Example:
        >>> tn.set_num_threads(tn.get_num_threads())
    """
    if not isinstance(count, int) or isinstance(count, bool):
        raise TypeError(f"set_num_threads expects an int, but got {type(count).__name__}")
    if count <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    found = _blas()
    if found is not None:
        found[1](count)


def get_num_threads() -> int:
    """Return how many threads matrix products may use (1 where that cannot be found out)."""
    found = _blas()
    return 1 if found is None else int(found[0]())


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Do nothing: tinynet's algorithms are deterministic."""


def are_deterministic_algorithms_enabled() -> bool:
    """Return True."""
    return True


def compile(model: T | None = None, **options: Any) -> T | Callable[[T], T]:
    """Return the model, or function, as it is: there is nothing to compile it to.

    Example:
        >>> layer = nn.Linear(2, 2)
        >>> tn.compile(layer) is layer
        True
    """
    return (lambda function: function) if model is None else model
