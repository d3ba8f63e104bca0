"""Gaussian elimination with partial pivoting on arrays; numpy has it only inside ``solve``."""

from __future__ import annotations

import math

import numpy as np

from tinynet.dtypes import Array
from tinynet.ops.linalg.triangular import BLOCK, substitute


def eliminated(A: Array) -> tuple[Array, Array]:
    """Factor matrices as ``A = P L U``; return L and U in one array, and the pivots.

    The algorithm is LAPACK's getrf: it eliminates columns in blocks, and each block updates
    everything to its right with one matrix product.

    Args:
        A: ``[..., m, n]``.

    Returns:
        L without its ones below the diagonal, U on and above it: ``[..., m, n]``. The pivots:
        ``[..., min(m, n)]`` of int32, the row (from 1) that each row was swapped with, in order.
    """
    *batch, m, n = A.shape
    LU = np.array(A, order="C").reshape(math.prod(batch), m, n)
    count = min(m, n)
    pivots = np.empty((len(LU), count), np.int32)
    for start in range(0, count, BLOCK):
        stop = min(start + BLOCK, count)
        for j in range(start, stop):
            _eliminate_column(LU, pivots, j, stop)
        if stop < n:
            row, right = slice(start, stop), slice(stop, n)
            LU[:, row, right] = substitute(LU[:, row, row], LU[:, row, right], False, True)
            LU[:, stop:, right] -= np.matmul(LU[:, stop:, row], LU[:, row, right])
    return LU.reshape(A.shape), pivots.reshape(*batch, count)


def _eliminate_column(LU: Array, pivots: Array, j: int, stop: int) -> None:
    """Move the largest element of column ``j`` to the diagonal, and eliminate those below."""
    largest = j + magnitudes(LU[:, j:, j]).argmax(1)
    pivots[:, j] = largest + 1
    every = np.arange(len(LU))
    upper, lower = LU[:, j].copy(), LU[every, largest]
    LU[:, j], LU[every, largest] = lower, upper
    pivot = LU[:, j, j]
    factors = LU[:, j + 1 :, j]
    factors /= np.where(pivot == 0, 1, pivot)[:, None]
    LU[:, j + 1 :, j + 1 : stop] -= factors[:, :, None] * LU[:, j, None, j + 1 : stop]


def magnitudes(x: Array) -> Array:
    """Return absolute values, of complex numbers LAPACK's sums of both parts' instead."""
    return np.abs(x.real) + np.abs(x.imag) if x.dtype.kind == "c" else np.abs(x)


def first_zero(LU: Array) -> Array:
    """Return the number (from 1) of the first zero on the diagonal of U, or 0."""
    zeros = np.diagonal(LU, 0, -2, -1) == 0
    found: Array = np.where(zeros.any(-1), zeros.argmax(-1) + 1 if zeros.shape[-1] else 0, 0)
    return found.astype(np.int32)


def permutation(pivots: Array, m: int) -> Array:
    """Return the matrices P of ``A = P L U`` as a boolean array."""
    *batch, count = pivots.shape
    flat = pivots.reshape(math.prod(batch), count)
    order = np.tile(np.arange(m), (len(flat), 1))
    every = np.arange(len(flat))
    for j in range(count):
        other = flat[:, j] - 1
        order[every, other], order[:, j] = order[:, j].copy(), order[every, other]
    swapped = order[:, None, :] == np.arange(m)[None, :, None]
    return swapped.reshape(*batch, m, m)
