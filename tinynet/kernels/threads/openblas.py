"""The OpenBLAS of numpy's wheels: its C functions, and products on several of its threads.

numpy gets one thread of it. By itself OpenBLAS shares products of 10 µs already, and its threads
wait for each other by spinning: beside other programs, for whose time slices they must wait, that
made small trainings ten times as slow. It also makes results depend on the number of threads.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tinynet.dtypes import Array


class _Library(NamedTuple):
    """A library, and what stands before and after the names of its functions."""

    path: str
    prefix: str
    suffix: str


@functools.cache
def _library() -> _Library | None:
    package = os.path.dirname(np.__file__)
    folders = f"{package}.libs", os.path.join(package, ".dylibs")
    for folder in filter(os.path.isdir, folders):
        for file in sorted(name for name in os.listdir(folder) if "openblas" in name):
            path = os.path.join(folder, file)
            for prefix, suffix in (("scipy_", "64_"), ("scipy_", ""), ("", "64_"), ("", "")):
                if hasattr(ctypes.PyDLL(path), f"{prefix}openblas_set_num_threads{suffix}"):
                    return _Library(path, prefix, suffix)
    return None


@functools.cache
def blas_function(name: str, short: bool = True) -> tuple[Any, int] | None:
    """Return a function of numpy's BLAS, and the number of bits of its integers.

    Args:
        name: that of the function.
        short: the calls are too short to release the GIL for them.
    """
    library = _library()
    if library is None:
        return None
    loaded = ctypes.PyDLL(library.path) if short else ctypes.CDLL(library.path)
    function = getattr(loaded, f"{library.prefix}{name}{library.suffix}", None)
    return None if function is None else (function, 64 if library.suffix else 32)


def use_one_thread() -> None:
    """Let OpenBLAS compute on the calling thread."""
    found = blas_function("openblas_set_num_threads")
    if found is not None:
        found[0](1)


# ---- products on several threads ----------------------------------------------------------------

_ROW_MAJOR, _AS_IT_IS, _TRANSPOSED = 101, 111, 112
_KINDS = {"f": ("cblas_sgemm_batch", ctypes.c_float), "d": ("cblas_dgemm_batch", ctypes.c_double)}


def product(a: Array, b: Array, parts: Sequence[slice]) -> Array | None:
    """Return ``a @ b``, parts of its rows on a thread of OpenBLAS each; None if it cannot.

    Its threads take 5 µs to begin, those of Python 50.

    Args:
        a, b: matrices of a dtype; OpenBLAS takes float32 and float64.
        parts: of the rows of ``a``.
    """
    function, rows_of_a, rows_of_b = _batches(a.dtype.char), _by_rows(a), _by_rows(b)
    if function is None or rows_of_a is None or rows_of_b is None:
        return None
    out = np.empty((a.shape[0], b.shape[1]), a.dtype)
    lengths = tuple(p.stop - p.start for p in parts)
    shape = _Shape(a.dtype.char, lengths, b.shape[0], b.shape[1], rows_of_a, rows_of_b)
    (*before, ones), (zeros, steps, *after) = _constants(shape)
    pointers = ctypes.c_void_p * len(parts)
    starts, step, made = a.ctypes.data, a.strides[0], out.strides[0]
    places = [p.start for p in parts]
    run, set_threads = function
    set_threads(len(parts))
    try:
        run(
            _ROW_MAJOR,
            *before,
            ones,
            pointers(*[starts + step * p for p in places]),
            steps[0],
            pointers(*[b.ctypes.data] * len(parts)),
            steps[1],
            zeros,
            pointers(*[out.ctypes.data + made * p for p in places]),
            *after,
        )
    finally:
        set_threads(1)
    return out


class _Shape(NamedTuple):
    """What a product of parts depends on, besides addresses: see ``cblas_sgemm_batch``."""

    kind: str
    rows: tuple[int, ...]
    inner: int
    columns: int
    a: tuple[bool, int]
    b: tuple[bool, int]


def _by_rows(x: Array) -> tuple[bool, int] | None:
    """Return whether a matrix is stored by rows, and the distance of rows (or columns)."""
    size, (row, column) = x.itemsize, x.strides
    if column == size and row >= size * x.shape[1] and row % size == 0:
        return True, row // size
    if row == size and column >= size * x.shape[0] and column % size == 0:
        return False, column // size
    return None


@functools.lru_cache(256)
def _constants(shape: _Shape) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the arguments before and after the addresses of ``a``; ``steps`` are a pair."""
    count = len(shape.rows)
    whole = blas_function(_KINDS[shape.kind][0])
    integer = ctypes.c_int64 if whole is not None and whole[1] == 64 else ctypes.c_int32
    number, (enums, integers) = _KINDS[shape.kind][1], (ctypes.c_int32 * count, integer * count)

    def turned(by_rows: bool) -> Any:
        return enums(*[_AS_IT_IS if by_rows else _TRANSPOSED] * count)

    def all_of(value: int) -> Any:
        return integers(*[value] * count)

    before = (
        turned(shape.a[0]), turned(shape.b[0]),
        integers(*shape.rows), all_of(shape.columns), all_of(shape.inner),
        (number * count)(*[1.0] * count),
    )  # fmt: skip
    steps = all_of(shape.a[1]), all_of(shape.b[1])
    zeros = (number * count)(*[0.0] * count)
    return before, (zeros, steps, all_of(shape.columns), integer(count), all_of(1))


@functools.cache
def _batches(kind: str) -> tuple[Any, Any] | None:
    """Return the function of several products, which releases the GIL, and that of the threads."""
    if kind not in _KINDS:
        return None
    found = blas_function(_KINDS[kind][0], short=False)
    threads = blas_function("openblas_set_num_threads")
    if found is None or threads is None:
        return None
    found[0].restype = None
    return found[0], threads[0]
