"""Compiles modules. ``written``, ``vectors`` and ``stream_code`` import numba, too."""

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
# Sums may be taken in another order and products fused with sums; NaN and infinity are kept.
_FAST = {"arcp", "afn", "contract", "nsz", "reassoc"}
# Not in functions of one number: x - n * high - n * low, for two parts of a constant, would become
# x - n * constant, which is rounded where the processor has no fused products.
_IN_ORDER = _FAST - {"reassoc"}


_shared: dict[Any, shared.Shared] = {}  # by what was compiled


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
    """Do what has to be done before anything is compiled, or read from the cache."""
    _numba()
    atomics.publish(sharing.board)
    blas_code.publish()


def compile_functions(module: ModuleType) -> None:
    """Put what numba makes of them in the place of a module's functions.

    Functions that it imports from modules of this package have to be compiled already. What is
    compiled is kept in ``__pycache__``, or where numba's own settings say, until a file of this
    package changes (numba itself looks only at the function's own file).
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
    function.__qualname__ = f"{function.__name__}_{_digest()}"  # names the file in the cache
    fast = _IN_ORDER if function.__module__ == elementary.__name__ else _FAST
    return _numba().njit(
        nogil=True, cache=True, fastmath=fast, error_model="numpy", boundscheck=False
    )(function)


def _compile_shared(kernel: shared.Shared) -> Any:
    """Return what callers call: what does all parts."""
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
    """Return what was compiled as a Python function."""
    kernel = _shared.get(function)
    if kernel is not None:
        return kernel.plain()
    return getattr(function, "py_func", function)
