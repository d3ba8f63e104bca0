"""Fused kernels compiled with numba, if it is installed and the user enables them.

In numpy, each pass over an array is a separate call, and a GELU or an Adam update takes a dozen.
Here they are loops: functions over float32 arrays, written in the subset of Python that numba
compiles; without numba they run as plain Python. They compute the same as the numpy kernels, in
float32, with results that differ in the last bits. Every call site also has a numpy kernel, and
checks ``on``:

    if numba_kernels.on:
        activations.gelu(x, out, below)

Users switch with ``tn.backends.numba.enabled = True``, or ``TINYNET_NUMBA=1``. Large tasks are
divided among the package's own threads, see ``sharing``.
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

# callees before callers
MODULES = (
    *(sharing, elementary, activations, optimizers, rows, powers, products, matrices, transposes),
    *(attention, blas, lstm, gru, tables, streams, stream_convolutions, pooling, normalization),
)

on = False


def enable() -> None:
    """Enable these kernels; each is compiled on its first call, or read from a cache.

    BLAS uses one thread from then on: the kernels divide large products among threads themselves.

    Raises:
        RuntimeError: numba is not installed, or fails to load.
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
    """Disable these kernels: call sites use numpy again."""
    global on
    if on:
        threads.on_count = None
        helper_threads.end()
        threads.use_blas_singly(False)
    on = False


@contextlib.contextmanager
def used(asked: bool) -> Iterator[None]:
    """Enable these kernels inside a ``with`` block if asked; otherwise change nothing."""
    before = on
    if asked:
        enable()
    try:
        yield
    finally:
        if asked and not before:
            disable()


def takes(*arrays: Array) -> bool:
    """Return whether the kernels are enabled, and all arrays are float32."""
    return on and all(a.dtype == np.float32 for a in arrays)
