"""Kernels of one pass, which numba compiles where it is installed and somebody asks for it.

Each pass over an array is a call of numpy, and a GELU or an update of Adam takes a dozen. Here they
are loops: functions over float32 arrays, written in the part of Python that numba compiles, and
Python's own as long as nobody does. They compute what the numpy kernels do, in float32, with
results that differ in the last bits; every call site has a numpy kernel too, and asks ``on``:

    if numba_kernels.on:
        activations.gelu(x, out, below)

Users switch with ``tn.backends.numba.enabled = True``, or ``TINYNET_NUMBA=1``. Kernels give
Python's lock away, so that ``threads.share`` gains from the second core also where calls are short.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from tinynet import threads
from tinynet.dtypes import Array
from tinynet.numba_kernels import (
    activations,
    attention,
    blas,
    compiler,
    elementary,
    gru,
    helpers,
    lstm,
    matrices,
    optimizers,
    places,
    pooling,
    powers,
    products,
    rows,
    sharing,
    stream_convolutions,
    streams,
    tables,
    transposes,
)

# in the order of who calls whom
MODULES = (
    *(sharing, elementary, activations, optimizers, rows, powers, products, matrices, transposes),
    *(attention, blas, lstm, gru, tables, streams, stream_convolutions, pooling, places),
)

T = TypeVar("T")

PART = 65536  # numbers: some 50 µs of work, of which threads take the next part
PRODUCTS = 16  # of matrices, that take the time of a number
_WORTH = 32 * PART  # below it a second thread does not pay: it takes some 0.1 ms to wake up

on = False


def enable() -> None:
    """Let call sites use these kernels; each is compiled at its first call, or read from a cache.

    BLAS gets one thread meanwhile: kernels share large products between threads themselves.

    Raises:
        RuntimeError: numba is not installed, or does not load.
    """
    global on
    compiler.prepare()
    for module in MODULES:
        compiler.compile_functions(module)
    if not on:
        threads.use_blas_singly(True)
        threads.on_count = _have_helpers
        _have_helpers(threads.get_count())
    on = True


def _have_helpers(count: int) -> None:
    helpers.start(count - 1)


def disable() -> None:
    """Let call sites use numpy again."""
    global on
    if on:
        threads.on_count = None
        helpers.end()
        threads.use_blas_singly(False)
    on = False


@contextlib.contextmanager
def used(asked: bool) -> Iterator[None]:
    """Let call sites use these kernels inside a ``with`` if asked; else nothing changes."""
    before = on
    if asked:
        enable()
    try:
        yield
    finally:
        if asked and not before:
            disable()


def takes(*arrays: Array) -> bool:
    """Return whether these kernels are used for the arrays: float32, and somebody asked for it."""
    return on and all(a.dtype == np.float32 for a in arrays)


def share(work: Callable[[slice], object], size: int, number: int = 1) -> None:
    """Call a kernel with slices of a length, in several threads where that pays.

    Args:
        work: takes a slice of the length.
        size: the length.
        number: how many numbers are worked on at each place.
    """
    if size * number < _WORTH or threads.get_count() == 1:
        work(slice(0, size))
    else:
        threads.share(work, threads.slices(size, max(1, PART // number)))


def each(work: Callable[[T], object], parts: Sequence[T], size: int) -> None:
    """Call a function with each part, in several threads where it runs kernels and that pays.

    Args:
        work: what is done with a part.
        parts: of the work.
        size: how many numbers are worked on.
    """
    spread = threads.share if on and size >= _WORTH else threads.in_turn
    spread(work, parts)


def share_sums(
    work: Callable[[slice, Array], object], size: int, number: int, shape: tuple[int, ...]
) -> Array:
    """Return the sum of what a kernel adds up in each part of a length.

    The parts depend on the length alone, so that the sum does not depend on the threads.

    Args:
        work: takes a slice of the length, and memory for the sums of that part.
        size: the length.
        number: how many numbers are worked on at each place.
        shape: of the sums, which are float32.
    """
    parts = threads.slices(size, max(1, PART // max(number, 1)))
    sums = np.empty((len(parts), *shape), np.float32)
    each(lambda k: work(parts[k], sums[k]), range(len(parts)), size * number)
    return sums[0] if len(parts) == 1 else np.add.reduce(sums, axis=0)
