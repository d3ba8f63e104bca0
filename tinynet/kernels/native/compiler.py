"""Compiles and enables the kernels."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from tinynet.base import invocation
from tinynet.kernels import llvm, onednn, threads
from tinynet.kernels import native as native_kernels
from tinynet.kernels.native import attention, blas, gates, images, images_last, tables

# Callees before callers.
MODULES = blas, attention, gates, images, images_last, tables, onednn.parts


def missing() -> str:
    """Return the message about llvmlite, if it is not installed."""
    return f"llvmlite is not installed: {invocation.installation('llvm')}, or leave it off"


def is_available() -> bool:
    """Return whether llvmlite is installed."""
    return importlib.util.find_spec("llvmlite") is not None


def version() -> str | None:
    """Return the version of llvmlite; None if it is not installed."""
    return llvm.machine.version() if is_available() else None


def processor() -> str:
    """Return LLVM's name of the processor."""
    return llvm.machine.processor()[0]


@functools.cache
def prepare() -> None:
    """Replace the functions of ``MODULES`` with compiled ones.

    Raises:
        RuntimeError: llvmlite is not installed, or fails to load.
    """
    try:
        llvm.machine.binding()
    except (ImportError, OSError) as error:
        cause = missing() if isinstance(error, ModuleNotFoundError) else f"llvmlite: {error}"
        raise RuntimeError(cause) from error
    _find_sgemm()
    _find_threads()
    _find_primitives()
    for module in MODULES:
        _compile_functions(module)


def _find_sgemm() -> None:
    """Choose the function for products: oneDNN's, BLAS's, or loops where numpy has no OpenBLAS."""
    by_blas = threads.openblas.blas_function("cblas_sgemm")
    if onednn.is_available():
        takes = [*["int8"] * 2, *["int64"] * 3, "float32", *["int64"] * 4, "float32"]
        function = onednn.library.functions().dnnl_sgemm
        blas.sgemm = external("dnnl_sgemm", function, "int32", *takes, "int64", "int64")
        openmp = onednn.library.openmp()
        blas.get_threads = external("omp_get_max_threads", openmp.omp_get_max_threads, "int32")
        blas.set_threads = external(
            "omp_set_num_threads", openmp.omp_set_num_threads, None, "int32"
        )
        blas.product = blas.product_by_onednn
    elif by_blas is not None:
        function, bits = by_blas
        size = f"int{bits}"
        pairs = ["int64", size]  # an address, and the distance from row to row
        takes = [*["int32"] * 3, *[size] * 3, "float32", *pairs * 2, "float32", *pairs]
        blas.sgemm = external(f"cblas_sgemm_{bits}", function, None, *takes)
    else:
        blas.product = blas.product_by_loops


def _find_threads() -> None:
    """Let the threads of oneDNN's OpenMP share loops."""
    if not onednn.is_available():
        return
    openmp, sharing = onednn.library.openmp(), llvm.sharing
    functions = {name: getattr(openmp, name) for name in sharing.OPENMP}
    for name, symbol in (functions | sharing.SYMBOLS).items():
        llvm.machine.add_symbol(name, symbol)
    threads.in_child(lambda: sharing.set_count(1))  # it has none of these threads
    threads.add_pool(sharing.set_count)


def _find_primitives() -> None:
    """Let compiled code run oneDNN's primitives."""
    if not onednn.is_available():
        return
    for name, function, *takes in (
        ("set_address", "memory_set_data_handle"),
        ("execute", "primitive_execute", "int64", "int32"),
    ):
        found = getattr(onednn.library.functions(), f"dnnl_{function}")
        made = external(f"dnnl_{function}", found, "int32", "int64", *takes, "int64")
        setattr(onednn.parts, name, made)


def external(name: str, function: Any, result: str | None, *takes: str) -> llvm.External:
    """Make a C function known to compiled functions.

    Args:
        name: its name.
        function: the function, of ctypes.
        result, takes: the kinds of the numbers that it returns and takes.
    """
    name = f"tinynet_{name}"
    llvm.machine.add_symbol(name, function)
    return llvm.External(name, result, takes)


def _compile_functions(module: ModuleType) -> None:
    for name, value in [*vars(module).items()]:
        if not isinstance(value, FunctionType):
            continue
        home = sys.modules[value.__module__]
        if home is module:
            setattr(module, name, llvm.Kernel(value, digest()))
        elif home in MODULES:
            setattr(module, name, getattr(home, name))


@functools.cache
def digest() -> str:
    """Return a digest of these kernels, and of what they are compiled with."""
    files = [Path(__file__), *(Path(str(module.__file__)) for module in MODULES)]
    texts = [file.read_text("utf-8") for file in files]
    linked = blas.sgemm, llvm.sharing.is_enabled()
    return llvm.store.digest(f"{llvm.kernel.version()} {texts} {linked}")


def plain(function: Any) -> Any:
    """Return the Python function of a compiled one."""
    return getattr(function, "plain", function)


def enable() -> None:
    """Enable the kernels; each is compiled on its first call, or read from disk.

    Raises:
        RuntimeError: llvmlite is not installed, or fails to load.
    """
    prepare()
    native_kernels.on = True


def disable() -> None:
    """Disable the kernels: call sites use numpy again."""
    native_kernels.on = False


@contextlib.contextmanager
def used(asked: bool) -> Iterator[None]:
    """Enable the kernels inside a ``with`` block if asked; otherwise change nothing."""
    before = native_kernels.on
    if asked:
        enable()
    try:
        yield
    finally:
        if asked and not before:
            disable()
