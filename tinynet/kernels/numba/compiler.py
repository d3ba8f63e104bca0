"""Compiles and enables the kernels; loads numba."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import importlib.util
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from tinynet.base import invocation
from tinynet.kernels import numba as numba_kernels
from tinynet.kernels import onednn, threads
from tinynet.kernels.numba import (
    blas,
    elementary,
    gates,
    images,
    images_last,
    memory,
    tables,
)

MODULES = blas, gates, images, images_last, tables  # callees before callers
# Allows reordering of sums and fused multiply-add; NaN and infinity are preserved.
FAST = {"arcp", "afn", "contract", "nsz", "reassoc"}


def missing() -> str:
    """Return the message about numba, if it is not installed."""
    return f"numba is not installed: {invocation.installation('numba')}, or leave it off"


def is_available() -> bool:
    """Return whether numba is installed."""
    return importlib.util.find_spec("numba") is not None


def version() -> str | None:
    """Return the version of numba; None if it is not installed."""
    return str(numba().__version__) if is_available() else None


def processor() -> str:
    """Return LLVM's name of the processor."""
    from llvmlite import binding

    return str(binding.get_host_cpu_name())


@functools.cache
def numba() -> Any:
    """Return numba.

    Raises:
        RuntimeError: it is not installed, or fails to load.
    """
    try:
        import numba
    except ImportError as error:
        cause = missing() if isinstance(error, ModuleNotFoundError) else f"numba: {error}"
        raise RuntimeError(cause) from error
    return numba


def jit(function: Any, cache: bool = False, inline: bool = False, inner: bool = False) -> Any:
    """Return a function that numba compiles at its first call.

    Args:
        function: a plain function.
        cache: keep the machine code on disk.
        inline: inline it wherever it is called, as a function of one element.
        inner: only compiled functions call it.
    """
    options = {"fastmath": FAST, "error_model": "numpy", "nogil": True, "cache": cache}
    wrappers = {"no_cfunc_wrapper": True, "no_cpython_wrapper": inner}  # take time to compile
    return numba().njit(**options, **wrappers, forceinline=inline)(function)


def types_of(takes: Iterable[tuple[str, int]]) -> tuple[Any, ...]:
    """Return numba's types of arguments: dtype and rank of an array, or -1 for a number."""
    types = numba().types
    return tuple(
        getattr(types, name) if rank < 0 else types.Array(getattr(types, name), rank, "C")
        for name, rank in takes
    )


@functools.cache
def prepare() -> None:
    """Replace the functions of ``MODULES`` with compiled ones.

    Machine code is kept in ``__pycache__``, or where numba's settings say, until a file of this
    package changes; numba itself compares only the file of the function.
    """
    elementary.declare(numba())
    memory.declare(numba())
    _find_sgemm()
    for module in MODULES:
        _compile_functions(module)


def _find_sgemm() -> None:
    """Choose the function for products: oneDNN's, BLAS's, or loops where numpy has no OpenBLAS."""
    t = numba().types
    matrix, by_blas = t.uintp, threads.openblas.blas_function("cblas_sgemm")
    if onednn.is_available():
        turned, size = t.int8, t.int64
        takes = [*(turned,) * 2, *(size,) * 3, t.float32, *(matrix, size) * 2, t.float32]
        function = onednn.library.functions().dnnl_sgemm
        blas.sgemm = _external("tinynet_dnnl_sgemm", function, t.int32(*takes, matrix, size))
        openmp = onednn.library.openmp()
        get, set = openmp.omp_get_max_threads, openmp.omp_set_num_threads
        blas.get_threads = _external("tinynet_omp_get_max_threads", get, t.int32())
        blas.set_threads = _external("tinynet_omp_set_num_threads", set, t.void(t.int32))
        blas.product = blas.product_by_onednn
    elif by_blas is not None:
        function, bits = by_blas
        size, order = t.int64 if bits == 64 else t.int32, t.int32
        takes = [*(order,) * 3, *(size,) * 3, t.float32, *(matrix, size) * 2, t.float32]
        name = f"tinynet_cblas_sgemm_{bits}"
        blas.sgemm = _external(name, function, t.void(*takes, matrix, size))
    else:
        blas.product = blas.product_by_loops


def _external(name: str, function: Any, signature: Any) -> Any:
    """Make a C function known to LLVM by name; return it for compiled functions."""
    from llvmlite import binding

    binding.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)
    return numba().types.ExternalFunction(name, signature)


def _compile_functions(module: ModuleType) -> None:
    for name, value in [*vars(module).items()]:
        if not isinstance(value, FunctionType):
            continue
        home = sys.modules[value.__module__]
        if home is module:
            value.__qualname__ = f"{value.__name__}_{_digest()}"  # numba names the file after it
            setattr(module, name, jit(value, cache=True))
        elif home in MODULES:
            setattr(module, name, getattr(home, name))


@functools.cache
def _digest() -> str:
    files = sorted(Path(__file__).parent.glob("*.py"))
    sources = b"".join(file.read_bytes() for file in files)
    return hashlib.sha256(sources + f"{blas.sgemm}".encode()).hexdigest()[:12]


def plain(function: Any) -> Any:
    """Return the Python function of a compiled one."""
    return getattr(function, "py_func", function)


def enable() -> None:
    """Enable the kernels; each is compiled on its first call, or read from disk.

    Raises:
        RuntimeError: numba is not installed, or fails to load.
    """
    prepare()
    numba_kernels.on = True


def disable() -> None:
    """Disable the kernels: call sites use numpy again."""
    numba_kernels.on = False


@contextlib.contextmanager
def used(asked: bool) -> Iterator[None]:
    """Enable the kernels inside a ``with`` block if asked; otherwise change nothing."""
    before = numba_kernels.on
    if asked:
        enable()
    try:
        yield
    finally:
        if asked and not before:
            disable()
