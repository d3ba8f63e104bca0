"""Activations: one pass forward, one pass backward."""

from __future__ import annotations

import math

from numpy import float32

from tinynet.dtypes import Array
from tinynet.numba_kernels.elementary import HALF, ZERO, falling, normal
from tinynet.numba_kernels.llvm.vectors import widest_code
from tinynet.numba_kernels.llvm.written import written
from tinynet.numba_kernels.shared import shared

DENSITY = float32(1 / math.sqrt(2 * math.pi))


@written(widest_code)
def widest() -> None:
    """Allow the loops of the calling kernel to use the widest vectors."""


@shared("x out below", cost=8)
def gelu(x: Array, out: Array, below: Array) -> None:
    """Write ``x * below`` and ``below``, the normal distribution function of x; ``[n]`` arrays."""
    widest()
    for i in range(x.size):
        below[i] = normal(x[i])
        out[i] = x[i] * below[i]


@shared("g x below out", cost=8)
def gelu_back(g: Array, x: Array, below: Array, out: Array) -> None:
    """Write ``g * (below + x * density(x))``."""
    widest()
    for i in range(x.size):
        out[i] = g[i] * (below[i] + x[i] * DENSITY * falling(-HALF * x[i] * x[i]))


@shared("x out", cost=1)
def relu(x: Array, out: Array) -> None:
    """Write ``max(x, 0)``; NaN for NaN."""
    for i in range(x.size):
        out[i] = ZERO if x[i] <= ZERO else x[i]


@shared("g result out", cost=1)
def relu_back(g: Array, result: Array, out: Array) -> None:
    """Write g where the result of relu is nonzero, else 0."""
    for i in range(g.size):
        slope = g[i]
        out[i] = slope if result[i] != ZERO else ZERO
