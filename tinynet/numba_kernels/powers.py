"""Exponentials along rows: softmax, cross-entropy, the weights of attention.

Arrays are ``[rows, n]``; values per row are ``[rows]``. ``top`` is the largest value of a row,
subtracted before ``exp``.
"""

from __future__ import annotations

import numpy as np
from numpy import float32, float64, int32

from tinynet.dtypes import Array
from tinynet.numba_kernels.elementary import INFINITY, ONE, ZERO, exp, falling
from tinynet.numba_kernels.shared import shared

LOWEST_LOSS = float64(0)
SIGN, WITHOUT_SIGN, LEAST = int32(31), int32(0x7FFFFFFF), int32(-0x7FFFFFFF)


def swapped(bits: int32) -> int32:
    """Map the bits of float32 to integers in the same order, and back."""
    return int32(bits ^ int32(int32(bits >> SIGN) & WITHOUT_SIGN))


def largest(row: Array) -> float32:
    """Return the largest number of ``[n]``; 0 if all are -inf, or there are none.

    Compares integers, because LLVM has no fast maximum for float32 that may be NaN.
    """
    top = LEAST
    for j in range(row.size):
        number = swapped(float32(row[j]).view(np.int32))
        top = number if number > top else top
    return shift(top)


def shift(top: int32) -> float32:
    """Return the float32 of the largest mapped integer; 0 for -inf and none."""
    found = int32(swapped(top)).view(np.float32)
    return ZERO if found == -INFINITY or top == LEAST else found


def powers_of(row: Array, top: float32, out: Array) -> float32:
    """Write ``exp(x - top)`` and return the sum."""
    total = ZERO
    for j in range(row.size):
        out[j] = falling(row[j] - top)
        total += out[j]
    return total


@shared("x out", cost=7)
def softmax(x: Array, out: Array) -> None:
    """Write ``exp(x) / sum(exp(x))``."""
    rows, n = x.shape
    for i in range(rows):
        y = out[i]
        factor = ONE / powers_of(x[i], largest(x[i]), y)
        for j in range(n):
            y[j] *= factor


@shared("g y out", cost=3)
def softmax_back(g: Array, y: Array, out: Array) -> None:
    """Write ``y * (g - sum(g * y))``."""
    rows, n = g.shape
    for i in range(rows):
        a, b, made = g[i], y[i], out[i]
        inner = ZERO
        for j in range(n):
            inner += a[j] * b[j]
        for j in range(n):
            made[j] = b[j] * (a[j] - inner)


@shared("x out", cost=7)
def log_softmax(x: Array, out: Array) -> None:
    """Write ``x - top - log(sum(exp(x - top)))``."""
    rows, n = x.shape
    for i in range(rows):
        row, y = x[i], out[i]
        top = largest(row)
        total = ZERO
        for j in range(n):
            y[j] = row[j] - top
            total += falling(y[j])
        rest = np.log(total)
        for j in range(n):
            y[j] -= rest  # separately: top + rest would lose digits


@shared("g y out", cost=6)
def log_softmax_back(g: Array, y: Array, out: Array) -> None:
    """Write ``g - exp(y) * sum(g)``."""
    rows, n = g.shape
    for i in range(rows):
        a, b, made = g[i], y[i], out[i]
        total = ZERO
        for j in range(n):
            total += a[j]
        for j in range(n):
            made[j] = a[j] - exp(b[j]) * total


@shared("logits target powers totals losses", cost=6)
def cross_entropy(
    logits: Array, target: Array, powers: Array, totals: Array, losses: Array
) -> None:
    """Write ``exp(x - top)``, its sums, and ``log(sum) + top - x[target]`` (float64, >= 0)."""
    rows = logits.shape[0]
    for i in range(rows):
        row = logits[i]
        top = largest(row)
        total = powers_of(row, top, powers[i])
        totals[i] = total
        # In float64, so that a small difference of two large numbers is exact.
        loss = np.log(float64(total)) - float64(row[target[i]] - top)
        losses[i] = LOWEST_LOSS if loss < LOWEST_LOSS else loss


@shared("powers g target totals out", cost=2)
def cross_entropy_back(g: Array, target: Array, powers: Array, totals: Array, out: Array) -> None:
    """Write ``g * (softmax - one_hot)``, with one g per row."""
    rows, n = powers.shape
    for i in range(rows):
        p, made = powers[i], out[i]
        factor = g[i] / totals[i]
        for j in range(n):
            made[j] = p[j] * factor
        made[target[i]] -= g[i]


# ---- attention ----------------------------------------------------------------------------------


def masked_softmax(scores: Array, keep: Array) -> None:
    """Replace scores by their softmax over the entries where ``keep`` is not 0; 0 elsewhere.

    ``keep`` is ``[m, n]``: row i has the mask ``i % m``.
    """
    rows, n = scores.shape
    masks = keep.shape[0]
    for i in range(rows):
        row, kept = scores[i], keep[i % masks]
        first, total = LEAST, ZERO
        for j in range(n):
            score = row[j]
            score = score if kept[j] != ZERO else -INFINITY
            number = swapped(float32(score).view(np.int32))
            first = number if number > first else first
        top = shift(first)
        for j in range(n):
            power = falling(row[j] - top)
            power = power if kept[j] != ZERO else ZERO
            row[j] = power
            total += power
        factor = ONE / total if total != ZERO else ZERO
        for j in range(n):
            row[j] *= factor
