"""Enabling and disabling the kernels."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from tinynet import numba_kernels, threads
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


def enable() -> None:
    """Enable these kernels; each is compiled on its first call, or read from a cache.

    BLAS uses one thread from then on: the kernels divide large products among threads themselves.

    Raises:
        RuntimeError: numba is not installed, or fails to load.
    """
    compiler.prepare()
    for module in MODULES:
        compiler.compile_functions(module)
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
