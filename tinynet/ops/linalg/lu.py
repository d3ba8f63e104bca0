"""LU decomposition, and linear systems solved with it."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from tinynet.core.complex_rules import conjugate
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import Array
from tinynet.ops.arguments import EXPECTED, FOUND_SCALAR_TYPE, refuse_others
from tinynet.ops.linalg.checks import (
    failed,
    fitting,
    floating,
    in_columns,
    matrices,
    named,
    square_sizes,
)
from tinynet.ops.shaping.copies import tril, triu
from tinynet.ops.shaping.joining import cat

# ---- triangular ---------------------------------------------------------------------------------
# Linear systems with triangular matrices.


BLOCK = 64  # rows solved at once; the rest of the work is block products


def substitute(A: Array, B: Array, upper: bool, unit: bool) -> Array:
    """Solve ``A X = B`` by substitution, block by block.

    Only the triangle of A is read. Elimination with pivoting solves the diagonal blocks, so the
    error is that of a general solver, at the cost of a triangular one. A zero on the diagonal gives
    infinities, as in LAPACK.
    """
    n = A.shape[-1]
    if n <= BLOCK:
        return _solved(_triangle(A, upper, unit), B, upper)
    batch = np.broadcast_shapes(A.shape[:-2], B.shape[:-2])
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
    inside, others = _pattern(block.shape[-1], upper, unit, block.dtype)
    return np.where(inside, block, others)


@functools.cache
def _pattern(n: int, upper: bool, unit: bool, kind: np.dtype[Any]) -> tuple[Array, Array]:
    """Return where a triangle of up to ``BLOCK`` rows lies, and what is elsewhere."""
    lower = np.tri(n, k=-1 if unit else 0, dtype=bool)
    return lower.T if upper else lower, np.eye(n, dtype=kind) if unit else np.zeros((), kind)


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


@operation(node="LinalgSolveTriangularBackward0", complex=True, order="in_columns")
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
    shift = int(unit)  # the implied ones on the diagonal are not an input
    return (triu(by_a, shift) if upper else tril(by_a, -shift)), by_b


triangular.grads(_triangular_gradients)


@composite(module=True, out=FOUND_SCALAR_TYPE)
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


# ---- elimination --------------------------------------------------------------------------------
# Gaussian elimination with partial pivoting on arrays; numpy has it only inside ``solve``.


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
    for j in np.flatnonzero((flat != np.arange(1, count + 1)).any(0)).tolist():
        other = flat[:, j] - 1
        order[every, other], order[:, j] = order[:, j].copy(), order[every, other]
    swapped = order[:, None, :] == np.arange(m)[None, :, None]
    return swapped.reshape(*batch, m, m)


# ---- the factors --------------------------------------------------------------------------------


def _lower(LU: Any, count: int, eye: Any) -> Any:
    """Return L of the packed factors."""
    return tril(LU[..., :count], -1) + eye


def _upper(LU: Any, count: int) -> Any:
    return triu(LU[..., :count, :])


def _lu_gradient(gL: Any, gU: Any, P: Any, L: Any, U: Any) -> Any:
    """Return the derivative of ``A = P L U``.

    With k the smaller length, L1 and U1 the first k rows and columns, L2 and U2 the rest:
    phi = tril(L1^T gL1 - gU2 U2^T, -1) + triu(gU1 U1^T - L2^T gL2), and the gradient of the first
    k rows and columns of P^T A is L1^-T phi U1^-T.
    """
    k = L.shape[-1]
    L1, L2, gL1, gL2 = L[..., :k, :], L[..., k:, :], gL[..., :k, :], gL[..., k:, :]
    U1, U2, gU1, gU2 = U[..., :k], U[..., k:], gU[..., :k], gU[..., k:]
    phi = tril(L1.mT @ gL1 - gU2 @ U2.mT, -1) + triu(gU1 @ U1.mT - L2.mT @ gL2)
    half = triangular(L1.mT, phi, True, True, True)
    by_a = triangular(U1.mT, half, False, False, False)
    if U.shape[-1] > k:
        by_a = cat([by_a, triangular(L1.mT, gU2, True, True, True)], -1)
    if L.shape[-2] > k:
        by_a = cat([by_a, triangular(U1.mT, gL2, False, False, False)], -2)
    return P @ by_a


_Lu = named("linalg_lu", ("P", "L", "U"))


@operation(
    outputs=("L", "U", "P"),
    differentiable=2,
    node="LinalgLuBackward0",
    result=lambda L, U, P: _Lu(P, L, U),
    complex=True,
)
def lower_upper(A: Array, /) -> tuple[Array, Array, Array]:
    """Return L, U and the permutation P."""
    LU, pivots = eliminated(A)
    m, n = A.shape[-2:]
    k = min(m, n)
    P = permutation(pivots, m).astype(A.dtype)
    return _lower(LU, k, np.eye(m, k, dtype=A.dtype)), _upper(LU, k), P


lower_upper.grad(A=lambda g, L, U, P: _lu_gradient(g[0], g[1], P, L, U))


@operation(
    outputs=("LU", "pivots", "info"),
    hidden=("P", "eye"),
    node="LinalgLuFactorExBackward0",
    complex=True,
    order="in_columns",
)
def packed_factors(A: Array, /) -> tuple[Array, ...]:
    """Return L and U in one matrix, the pivots, and LAPACK's info."""
    LU, pivots = eliminated(A)
    m, n = A.shape[-2:]
    P = permutation(pivots, m).astype(A.dtype)
    return LU, pivots, first_zero(LU), P, np.eye(m, min(m, n), dtype=A.dtype)


def _packed_gradient(g: Any, LU: Any, P: Any, eye: Any) -> Any:
    k = eye.shape[-1]
    L, U = _lower(LU, k, eye), _upper(LU, k)
    return _lu_gradient(tril(g[..., :k], -1), triu(g[..., :k, :]), P, L, U)


packed_factors.grad(A=lambda g, LU, P, eye: _packed_gradient(g, LU, P, eye))


def _pivoting(name: str, A: Any, pivot: bool) -> None:
    refuse_others(name.replace(".", "_"), self=A)
    if A._array.ndim < 2:
        raise RuntimeError(
            f"{name}: Expected tensor with 2 or more dimensions. Got size: "
            f"{list(A._array.shape)} instead"
        )
    floating(name, A._array)
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")


@composite(module=True, out=True)
def lu(A: Tensor, *, pivot: bool = True) -> Any:
    """Return the LU decomposition ``A = P @ L @ U`` with partial pivoting.

    Args:
        A: ``[..., m, n]``.
        pivot: must be True: rows are swapped for the largest pivots.

    Returns:
        ``(P, L, U)``: permutations, unit lower triangular and upper triangular matrices.

    Raises:
        RuntimeError: not floating-point matrices.

    Example:
        >>> P, L, U = tn.linalg.lu(tn.tensor([[1.0, 2.0], [2.0, 6.0]]))
        >>> L
        tensor([[1.0000, 0.0000],
                [0.5000, 1.0000]])
    """
    _pivoting("linalg.lu", A, pivot)
    return lower_upper.function(A)


_LuFactor = named("linalg_lu_factor", ("LU", "pivots"))
_LuFactorEx = named("linalg_lu_factor_ex", ("LU", "pivots", "info"))


_SINGULAR = (
    "U[{0},{0}] is zero and using it on lu_solve would result in a division by zero. If you still "
    "want to perform the factorization, consider calling linalg.lu(A, pivot) or "
    "linalg.lu_factor_ex(A, pivot)"
)


@composite(module=True, out=EXPECTED)
def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """Return the factors of ``lu_factor``, and an error code for each matrix.

    ``A = P @ L @ U``, see ``lu_factor``.

    Args:
        A: ``[..., m, n]``.
        pivot: must be True: rows are swapped for the largest pivots.
        check_errors: raise errors like ``lu_factor``.

    Returns:
        ``(LU, pivots, info)``: info is 0, or the number of a zero pivot.

    Raises:
        RuntimeError: not floating-point matrices, or ``pivot`` is False.
        LinAlgError: U is singular, and ``check_errors`` is True.

    Example:
        >>> tn.linalg.lu_factor_ex(tn.zeros(2, 2)).info
        tensor(1, dtype=tinynet.int32)
    """
    _pivoting("tinynet.lu_factor", A, pivot)
    LU, pivots, info = packed_factors.function(A)
    if check_errors:
        failed("tinynet.linalg.lu_factor_ex", info._array, _SINGULAR)
    return _LuFactorEx(LU, pivots, info)


@composite(module=True, out=EXPECTED)
def lu_factor(A: Tensor, *, pivot: bool = True) -> Any:
    """Return the factors of ``lu`` in the packed form that ``lu_solve`` takes.

    Args:
        A: ``[..., m, n]``.
        pivot: must be True: rows are swapped for the largest pivots.

    Returns:
        ``(LU, pivots)``: both triangles in one matrix; the row (from 1) that each row was swapped
        with, in order.

    Raises:
        RuntimeError: not floating-point matrices, or ``pivot`` is False.
        LinAlgError: U is singular.

    Example:
        >>> tn.linalg.lu_factor(tn.tensor([[1.0, 2.0], [2.0, 6.0]])).LU
        tensor([[ 2.0000,  6.0000],
                [ 0.5000, -1.0000]])
    """
    LU, pivots, info = lu_factor_ex(A, pivot=pivot)
    failed("tinynet.linalg.lu_factor", info._array, _SINGULAR)
    return _LuFactor(LU, pivots)


@composite(module=True, out=EXPECTED)
def lu_solve(
    LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False
) -> Tensor:
    """Solve linear systems with the factors of ``lu_factor``.

    Args:
        LU, pivots: the result of ``lu_factor`` for A, ``[..., n, n]``.
        B: ``[..., n, k]`` (``[..., k, n]`` if not ``left``).
        left: solve ``A X = B``; otherwise ``X A = B``.
        adjoint: solve with ``A.mH`` instead.

    Raises:
        RuntimeError: shapes or dtypes do not match.

    Example:
        >>> A, B = tn.tensor([[1.0, 2.0], [2.0, 6.0]]), tn.tensor([[3.0], [8.0]])
        >>> tn.linalg.lu_solve(*tn.linalg.lu_factor(A), B)
        tensor([[1.],
                [1.]])
    """
    name = "linalg.lu_solve"
    a = matrices(name, LU, "LU")
    square_sizes(f"tinynet.{name}", a)
    fitting(name, a, matrices(name, B, "B"), left, "LU and B")
    if pivots._array.dtype != np.int32:
        raise RuntimeError(f"{name}: pivots should be a Tensor of scalar type tinynet.int32")
    if pivots._array.shape[-1:] != a.shape[-1:]:
        raise RuntimeError(
            f"{name}: Number of pivots per batch should be same as the dimension of the matrix"
        )
    P = wrap(permutation(pivots._array, a.shape[-1]).astype(a.dtype))
    if adjoint:  # A^H X = B is A^T conj(X) = conj(B)
        B = conjugate(B)
    solve = triangular.function
    if left != adjoint:  # A X = B, or X A^T = B, which is A X^T = B^T
        right = B if left else B.mT
        x = solve(LU, solve(LU, P.mT @ right, False, True, True), True, True, False)
    else:  # A^T X = B: U^T, then L^T, then P
        right = B if left else B.mT
        x = P @ solve(LU.mT, solve(LU.mT, right, False, True, False), True, True, True)
    x = x if left else x.mT
    return in_columns(conjugate(x) if adjoint else x)


_LuUnpack = named("lu_unpack", ("P", "L", "U"))


def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> Any:
    """Unpack the result of ``lu_factor`` into P, L and U.

    ``A = P @ L @ U``: a permutation, a unit lower triangular and an upper triangular matrix.

    Args:
        LU_data, LU_pivots: the result of ``lu_factor``.
        unpack_data: whether to return L and U; otherwise they are empty.
        unpack_pivots: whether to return P; otherwise it is empty.

    Raises:
        RuntimeError: the pivots are not int32.

    Example:
        >>> tn.lu_unpack(*tn.linalg.lu_factor(tn.tensor([[1.0, 2.0], [2.0, 6.0]]))).P
        tensor([[0., 1.],
                [1., 0.]])
    """
    a = matrices("lu_unpack", LU_data, "LU_data")
    if LU_pivots._array.dtype != np.int32:
        raise RuntimeError(
            "tinynet.lu_unpack: LU_pivots is expected to be a contiguous tensor of tinynet.int32 "
            "dtype."
        )
    m, n = a.shape[-2:]
    k = min(m, n)
    P, L, U = (wrap(np.empty(0, a.dtype)) for _ in range(3))
    if unpack_pivots:
        P = wrap(permutation(LU_pivots._array, m).astype(a.dtype))
    if unpack_data:
        L = _lower(LU_data, k, wrap(np.eye(m, k, dtype=a.dtype)))
        U = _upper(LU_data, k)
    return _LuUnpack(P, L, U)
