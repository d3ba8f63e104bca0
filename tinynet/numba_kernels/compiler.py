"""Compiles and enables the kernels; files in ``llvm/`` also import numba."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from tinynet import numba_kernels, threads
from tinynet.numba_kernels import (
    activations,
    attention,
    blas,
    elementary,
    gru,
    helper_threads,
    lstm,
    matrices,
    normalization,
    optimizers,
    pooling,
    powers,
    products,
    rows,
    shared,
    sharing,
    stream_convolutions,
    streams,
    tables,
    transposes,
)
from tinynet.numba_kernels.llvm import atomics, blas_code, written

# callees before callers
MODULES = (
    *(sharing, elementary, activations, optimizers, rows, powers, products, matrices, transposes),
    *(attention, blas, lstm, gru, tables, streams, stream_convolutions, pooling, normalization),
)

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


def enable() -> None:
    """Enable these kernels; each is compiled on its first call, or read from a cache.

    BLAS uses one thread from then on: the kernels divide large products among threads themselves.

    Raises:
        RuntimeError: numba is not installed, or fails to load.
    """
    prepare()
    for module in MODULES:
        compile_functions(module)
    if not numba_kernels.on:
        threads.use_blas_singly(True)
        threads.on_count = _have_helpers
        _have_helpers(threads.get_count())
    numba_kernels.on = True


def _have_helpers(count: int) -> None:
    helper_threads.start(count - 1)


def disable() -> None:
    """Disable these kernels: call sites use numpy again."""
    if numba_kernels.on:
        threads.on_count = None
        helper_threads.end()
        threads.use_blas_singly(False)
    numba_kernels.on = False


@contextlib.contextmanager
def used(asked: bool) -> Iterator[None]:
    """Enable these kernels inside a ``with`` block if asked; otherwise change nothing."""
    before = numba_kernels.on
    if asked:
        enable()
    try:
        yield
    finally:
        if asked and not before:
            disable()
