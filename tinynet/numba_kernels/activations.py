"""Activations: one pass forward, and one back."""

from __future__ import annotations

import math

from numpy import float32

from tinynet.dtypes import Array
from tinynet.numba_kernels.elementary import HALF, exp, normal

DENSITY = float32(1 / math.sqrt(2 * math.pi))


def gelu(x: Array, out: Array, below: Array) -> None:
    """Write x times the normal distribution function, and that function, to ``[n]`` arrays."""
    for i in range(x.size):
        below[i] = normal(x[i])
        out[i] = x[i] * below[i]


def gelu_back(g: Array, x: Array, below: Array, out: Array) -> None:
    """Write ``g * (below + x * density(x))``."""
    for i in range(x.size):
        out[i] = g[i] * (below[i] + x[i] * DENSITY * exp(-HALF * x[i] * x[i]))
