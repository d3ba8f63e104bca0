"""Kernels of one pass, which numba compiles where it is installed and somebody asks for it.

Each pass over an array is a call of numpy, and a GELU or an update of Adam takes a dozen. Here they
are loops: functions over float32 arrays, written in the part of Python that numba compiles, and
Python's own as long as nobody does. They compute what the numpy kernels do, in float32, with
results that differ in the last bits; every call site has a numpy kernel too, and asks ``on``:

    if numba_kernels.on:
        activations.gelu(x, out, below)

Users switch with ``tn.backends.numba.enabled = True``, or ``TINYNET_NUMBA=1``. Where there is much
work, threads of their own share it, see ``sharing``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

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
    helper_threads,
    lstm,
    matrices,
    normalization,
    optimizers,
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
    *(attention, blas, lstm, gru, tables, streams, stream_convolutions, pooling, normalization),
)

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
    helper_threads.start(count - 1)


def disable() -> None:
    """Let call sites use numpy again."""
    global on
    if on:
        threads.on_count = None
        helper_threads.end()
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
