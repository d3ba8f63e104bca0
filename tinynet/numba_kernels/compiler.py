"""Compiles the kernel modules; ``written``, ``vectors`` and ``stream_code`` also import numba."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import sys
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from tinynet.numba_kernels import elementary, shared, sharing
from tinynet.numba_kernels.llvm import atomics, blas_code, written

MISSING = "numba is not installed: pip install numba, or leave it off"
# Allows reordering of sums and fused multiply-add; NaN and infinity are preserved.
_FAST = {"arcp", "afn", "contract", "nsz", "reassoc"}
# Not for scalar functions: x - n * high - n * low, with a constant split in two parts, would become
# x - n * constant, which is rounded on processors without fused multiply-add.
_IN_ORDER = _FAST - {"reassoc"}


_shared: dict[Any, shared.Shared] = {}  # compiled function -> its declaration


def is_available() -> bool:
    """Return whether numba is installed."""
    return importlib.util.find_spec("numba") is not None


def version() -> str | None:
    """Return the version of numba; None if it is not installed."""
    return str(_numba().__version__) if is_available() else None


@functools.cache
def _numba() -> Any:
    try:
        import numba
    except ImportError as error:
        cause = MISSING if isinstance(error, ModuleNotFoundError) else f"numba: {error}"
        raise RuntimeError(cause) from error
    return numba


@functools.cache
def _digest() -> str:
    files = sorted(Path(__file__).parent.rglob("*.py"))
    sources = b"".join(file.read_bytes() for file in files)
    return hashlib.sha256(sources + f"{blas_code.name()}".encode()).hexdigest()[:12]


def prepare() -> None:
    """Prepare for compilation and for reading the cache."""
    _numba()
    atomics.publish(sharing.board)
    blas_code.publish()


def compile_functions(module: ModuleType) -> None:
    """Replace the functions of a module with their compiled versions.

    Functions imported from other modules of this package must be compiled first. Compiled code is
    cached in ``__pycache__``, or where numba's settings say, until a file of this package changes
    (numba itself checks only the function's own file).
    """
    for name, value in [*vars(module).items()]:
        if not isinstance(value, FunctionType) or not value.__module__.startswith(__package__):
            continue
        if written.register(value):
            continue
        home = sys.modules[value.__module__]
        if home is not module:
            setattr(module, name, getattr(home, name))
        elif value in shared.declared:
            setattr(module, name, _compile_shared(shared.declared[value]))
        else:
            setattr(module, name, _compile(value))


def _compile(function: FunctionType) -> Any:
    function.__qualname__ = f"{function.__name__}_{_digest()}"  # part of the cache file's name
    fast = _IN_ORDER if function.__module__ == elementary.__name__ else _FAST
    return _numba().njit(
        nogil=True, cache=True, fastmath=fast, error_model="numpy", boundscheck=False
    )(function)


def _compile_shared(kernel: shared.Shared) -> Any:
    """Return the function for callers, which computes all parts."""
    part = _compile(kernel.part())
    made = _compile(kernel.all_parts(part))
    compile_for = made.compile

    def compile_both(kinds: Any) -> Any:
        atomics.publish_part(part, kinds)
        return compile_for(kinds)

    made.compile = compile_both
    _shared[made] = kernel
    return made


def plain(function: Any) -> Any:
    """Return the Python function of a compiled one."""
    kernel = _shared.get(function)
    if kernel is not None:
        return kernel.plain()
    return getattr(function, "py_func", function)
