"""Scalar float32 functions, inlined into the loops of the other kernels.

exp is ``2^n (1 + r + r^2 Q(r))`` for ``x = n ln 2 + r``. Q is fitted for a relative error of exp of
at most 4e-9; with float32's rounding it is about 1.1e-7.
"""

from __future__ import annotations

import numpy as np
from numpy import float32, int32

LOG2_E = float32(1.4426950408889634)
LN2_HIGH, LN2_LOW = float32(0.693359375), float32(-2.12194440e-4)  # n times the first is exact
LOWEST, HIGHEST = float32(-86.6), float32(88.72)  # bounds where 2^(n - 1) and the result are normal
ZERO, INFINITY = float32(0), float32(np.inf)
Q4, Q3, Q2, Q1, Q0 = (
    float32(c) for c in (0.00138145406, 0.00836874545, 0.041668389, 0.166665211, 0.49999994)
)
HALF, ONE, TWO = float32(0.5), float32(1), float32(2)
BIAS, MANTISSA = int32(127), int32(23)
# The normal distribution function is 1 / (1 + exp(-x P(x^2))), with twice the P of gelu_ops.
P6, P5, P4, P3, P2, P1, P0 = (
    float32(2 * c)
    for c in (1.756216533e-9, -1.3226484033e-7, 3.9647612516e-6, -5.5306276561e-5,
              -3.2594803118e-5, 3.63330844435e-2, 7.97884941457e-1)
)  # fmt: skip


def power_of_two(n: float32) -> float32:
    """Return ``2^n`` for an integer from -126 to 127."""
    return int32((int32(n) + BIAS) << MANTISSA).view(np.float32)


def exp(x: float32) -> float32:
    """Return the exponential; 0 below -86.6 (2e-38)."""
    inside = min(max(x, LOWEST), HIGHEST)
    n = np.floor(inside * LOG2_E + HALF)
    r = inside - n * LN2_HIGH - n * LN2_LOW
    q = (((Q4 * r + Q3) * r + Q2) * r + Q1) * r + Q0
    half = power_of_two(n - ONE)  # 2^n may overflow
    found = (q * (r * r) + r + ONE) * half * TWO
    found = found if x >= LOWEST else ZERO
    found = found if x <= HIGHEST else INFINITY
    return found if x == x else x


def falling(x: float32) -> float32:
    """Return the exponential of a number <= 0; 0 below -86.6 (2e-38)."""
    inside = x if x > LOWEST else LOWEST
    n = np.floor(inside * LOG2_E + HALF)
    r = inside - n * LN2_HIGH - n * LN2_LOW
    q = (((Q4 * r + Q3) * r + Q2) * r + Q1) * r + Q0
    found = (q * (r * r) + r + ONE) * power_of_two(n)
    return found if x > LOWEST else (x if x != x else ZERO)


def one_over_root(x: float32) -> float32:
    """Return ``1 / sqrt(x)``; 0 for infinity, where a fast root gives NaN."""
    return ONE / np.sqrt(x) if x != INFINITY else ZERO


def sigmoid(x: float32) -> float32:
    """Return ``1 / (1 + exp(-x))``."""
    return ONE / (ONE + exp(-x))


def tanh(x: float32) -> float32:
    """Return the hyperbolic tangent, ``m / (m + 2)`` with ``m = exp(2 x) - 1``."""
    inside = min(max(x + x, float32(-20)), float32(20))
    n = np.floor(inside * LOG2_E + HALF)
    r = inside - n * LN2_HIGH - n * LN2_LOW
    q = (((Q4 * r + Q3) * r + Q2) * r + Q1) * r + Q0
    power = power_of_two(n)
    m = (q * (r * r) + r) * power + (power - ONE)  # no cancellation if n is 0
    found = m / (m + TWO)
    return found if x == x else x


def normal(x: float32) -> float32:
    """Return the standard normal distribution function."""
    s = x * x
    p = (((((P6 * s + P5) * s + P4) * s + P3) * s + P2) * s + P1) * s + P0
    return ONE / (ONE + exp(-x * p))
