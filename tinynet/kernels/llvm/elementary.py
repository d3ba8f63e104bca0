"""Functions of one number in compiled functions, which LLVM vectorizes.

For float32, ``exp`` and ``tanh`` are arithmetic instead of calls of the C library. ``rank`` is for
maxima: LLVM does not vectorize those of numbers that may be NaN.
"""

from __future__ import annotations

import math

import numpy as np
from numpy import float32, int32

# Without "reassoc": the functions rely on the order of their operations.
FAST = {"arcp", "afn", "contract", "nsz"}

LOG2_E = float32(1.4426950408889634)
LN2_HIGH, LN2_LOW = float32(0.693359375), float32(-2.12194440e-4)  # n times the first is exact
# exp(r) = 1 + r + r^2 Q(r), fitted for |r| <= ln(2) / 2 with a relative error of 4e-9
Q4, Q3, Q2, Q1, Q0 = (
    float32(c) for c in (0.00138145406, 0.00836874545, 0.041668389, 0.166665211, 0.49999994)
)
ZERO, HALF, ONE, TWO, FAR = float32(0), float32(0.5), float32(1), float32(2), float32(20)
LOWEST, HIGHEST = float32(-104), float32(89)  # exp gives 0 and infinity beyond
BELOW_SIGN, LONG_BELOW_SIGN = int32((1 << 31) - 1), np.int64((1 << 63) - 1)
BIAS, MANTISSA = int32(127), int32(23)  # of a float32's exponent


def exp(x):
    """Return the exponential; compiled code has another one, see ``OVERLOADS``."""
    return math.exp(x)


def tanh(x):
    """Return the hyperbolic tangent; compiled code has another one, see ``OVERLOADS``."""
    return math.tanh(x)


def rank(x):
    """Return a number of the same order, in compiled code an integer; NaN is above or below all."""
    return x


def of_rank(x):
    """Return the number of a rank."""
    return x


def exp_single(x):
    """Return the exponential."""
    inside = x if x > LOWEST else ZERO  # a processor is slow at results that are almost 0
    inside = inside if inside < HIGHEST else HIGHEST
    n = np.floor(inside * LOG2_E + HALF)
    r = inside - n * LN2_HIGH - n * LN2_LOW
    q = (((Q4 * r + Q3) * r + Q2) * r + Q1) * r + Q0
    # In two factors, since 2^n itself may be too large or small.
    half = int32(n) >> int32(1)
    first = int32((half + BIAS) << MANTISSA).view(np.float32)
    second = int32((int32(n) - half + BIAS) << MANTISSA).view(np.float32)
    found = ((q * (r * r) + r + ONE) * first) * second
    found = found if x > LOWEST else ZERO
    return found if x == x else x


def tanh_single(x):
    """Return the hyperbolic tangent, ``m / (m + 2)`` with ``m = exp(2 x) - 1``."""
    inside = x + x if x + x > -FAR else -FAR
    inside = inside if inside < FAR else FAR
    n = np.floor(inside * LOG2_E + HALF)
    r = inside - n * LN2_HIGH - n * LN2_LOW
    q = (((Q4 * r + Q3) * r + Q2) * r + Q1) * r + Q0
    power = int32((int32(n) + BIAS) << MANTISSA).view(np.float32)
    m = (q * (r * r) + r) * power + (power - ONE)  # no cancellation if n is 0
    found = m / (m + TWO)
    return found if x == x else x


def rank_single(x):
    """Return the bits as an integer, with those below the sign flipped in negative numbers."""
    bits = float32(x).view(np.int32)
    return int32(bits ^ ((bits >> int32(31)) & BELOW_SIGN))


def rank_double(x):
    """Return the rank of a float64 number."""
    bits = np.float64(x).view(np.int64)
    return bits ^ ((bits >> 63) & LONG_BELOW_SIGN)


def of_rank_single(x):
    """Return the number of a rank."""
    return int32(x ^ ((x >> int32(31)) & BELOW_SIGN)).view(np.float32)


def of_rank_double(x):
    """Return the float64 number of a rank."""
    return np.int64(x ^ ((x >> 63) & LONG_BELOW_SIGN)).view(np.float64)


# The functions of compiled code, by the kind of their argument.
OVERLOADS = {
    exp: {"float32": exp_single, "float64": math.exp},
    tanh: {"float32": tanh_single, "float64": math.tanh},
    rank: {"float32": rank_single, "float64": rank_double},
    of_rank: {"int32": of_rank_single, "int64": of_rank_double},
}
