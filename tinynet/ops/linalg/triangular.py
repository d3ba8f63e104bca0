"""Equations with triangular matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.core.declaration.operation import operation
from tinynet.core.declaration.out_argument import with_out
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.ops.linalg.checks import fitting, floating, matrices, square_sizes
from tinynet.ops.shaping.flipping import tril, triu

BLOCK = 64  # rows that are solved at once: the rest of the work is products of blocks


def substitute(A: Array, B: Array, upper: bool, unit: bool) -> Array:
    """Return X of ``A X = B`` by substitution, block by block.

    Only the triangle of A is read. The diagonal blocks are solved by elimination with pivoting,
    so the error is that of a general solver, at the cost of a triangular one. A zero on the
    diagonal gives infinities, as in LAPACK.
    """
    n, batch = A.shape[-1], np.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    X = np.empty((*batch, *B.shape[-2:]), np.result_type(A, B))
    starts = range(0, n, BLOCK)
    for start in reversed(starts) if upper else starts:
        rows = slice(start, min(start + BLOCK, n))
        known = slice(rows.stop, n) if upper else slice(0, start)
        right = B[..., rows, :]
        if known.stop > known.start:
            right = right - np.matmul(A[..., rows, known], X[..., known, :])
        X[..., rows, :] = _solved(_triangle(A[..., rows, rows], upper, unit), right, upper)
    return X


def _triangle(block: Array, upper: bool, unit: bool) -> Array:
    """Return one triangle of a block, with ones on the diagonal if asked."""
    if not unit:
        return np.triu(block) if upper else np.tril(block)
    ones = np.eye(block.shape[-1], dtype=block.dtype)
    return ones + (np.triu(block, 1) if upper else np.tril(block, -1))


def _solved(T: Array, B: Array, upper: bool) -> Array:
    """Solve one block."""
    try:
        return np.linalg.solve(T, B)
    except np.linalg.LinAlgError:  # a zero on the diagonal
        X = np.array(
            np.broadcast_to(B, (*np.broadcast_shapes(T.shape[:-2], B.shape[:-2]), *B.shape[-2:]))
        )
        n = T.shape[-1]
        for i in reversed(range(n)) if upper else range(n):
            X[..., i, :] /= T[..., i, i, None]
            others = slice(0, i) if upper else slice(i + 1, n)
            X[..., others, :] -= T[..., others, i, None] * X[..., i, None, :]
        return X


@operation(node="LinalgSolveTriangularBackward0", methods=False)
def triangular(A: Array, B: Array, /, upper: bool, left: bool, unit: bool) -> Array:
    """Return X of ``A X = B``, or of ``X A = B``, for a triangular A."""
    if left:
        return substitute(A, B, upper, unit)
    return substitute(A.mT, B.mT, not upper, unit).mT.copy()


def _triangular_gradients(
    g: Any, A: Any, result: Any, upper: bool, left: bool, unit: bool, needs: tuple[bool, bool]
) -> tuple[Any, Any]:
    by_b = triangular(A.mT, g, not upper, left, unit)
    if not needs[0]:
        return None, by_b
    by_a = -(by_b @ result.mT if left else result.mT @ by_b)
    shift = int(unit)  # the ones on the diagonal are no input
    return (triu(by_a, shift) if upper else tril(by_a, -shift)), by_b


triangular.grads(_triangular_gradients)


@with_out
def solve_triangular(
    A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """Return the solution of equations with a triangular matrix.

    Args:
        A: ``[..., n, n]``; only the one triangle is read.
        B: ``[..., n, k]`` (``[..., k, n]`` if not ``left``); batches broadcast.
        upper: whether A is an upper triangle.
        left: solve ``A X = B``; else ``X A = B``.
        unitriangular: take the diagonal of A for ones, whatever is there.

    Returns:
        X; infinities where the diagonal has zeros.

    Raises:
        RuntimeError: shapes or dtypes that do not fit.

    Example:
        >>> A = tn.tensor([[2.0, 0.0], [1.0, 4.0]])
        >>> tn.linalg.solve_triangular(A, tn.tensor([[2.0], [9.0]]), upper=False)
        tensor([[1.],
                [2.]])
    """
    name = "linalg.solve_triangular"
    a, b = matrices(name, A), matrices(name, B, "B")
    square_sizes(name, a)
    fitting(name, a, b, left)
    floating(name, a)
    return triangular.function(A, B, upper, left, unitriangular)
