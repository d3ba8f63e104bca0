"""Linear systems with triangular matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.core.declaration.operation import operation
from tinynet.core.declaration.out_argument import with_out
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.ops.linalg.checks import fitting, floating, matrices, square_sizes
from tinynet.ops.out_dtypes import FOUND_SCALAR_TYPE
from tinynet.ops.shaping.flipping import tril, triu

BLOCK = 64  # rows solved at once; the rest of the work is block products


def substitute(A: Array, B: Array, upper: bool, unit: bool) -> Array:
    """Solve ``A X = B`` by substitution, block by block.

    Only the triangle of A is read. Elimination with pivoting solves the diagonal blocks, so the
    error is that of a general solver, at the cost of a triangular one. A zero on the diagonal gives
    infinities, as in LAPACK.
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
    """Return one triangle of a block, optionally with ones on the diagonal."""
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


@operation(node="LinalgSolveTriangularBackward0", methods=False, complex=True, order="in_columns")
def triangular(A: Array, B: Array, /, upper: bool, left: bool, unit: bool) -> Array:
    """Solve ``A X = B`` or ``X A = B`` with a triangular A."""
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
    shift = int(unit)  # the implied ones on the diagonal are no input
    return (triu(by_a, shift) if upper else tril(by_a, -shift)), by_b


triangular.grads(_triangular_gradients)


@with_out(FOUND_SCALAR_TYPE)
def solve_triangular(
    A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """Solve linear systems with triangular matrices.

    Args:
        A: ``[..., n, n]``; only one triangle is read.
        B: ``[..., n, k]`` (``[..., k, n]`` if not ``left``); batches broadcast.
        upper: whether A is upper triangular.
        left: solve ``A X = B``; otherwise ``X A = B``.
        unitriangular: assume ones on the diagonal of A without reading it.

    Returns:
        X; infinities where the diagonal is zero.

    Raises:
        RuntimeError: shapes or dtypes do not match.

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
