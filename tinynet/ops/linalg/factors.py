"""Cholesky, QR and LDL decompositions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.core.complex_rules import adjoint
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.ops.arguments import EXPECTED, name_of, no_derivative, refuse_half, refuse_others
from tinynet.ops.linalg.checks import failed, floating, matrices, named, square, square_sizes
from tinynet.ops.linalg.lu import magnitudes, triangular
from tinynet.ops.shaping.copies import tril
from tinynet.ops.shaping.joining import cat

# ---- Cholesky -----------------------------------------------------------------------------------

NOT_POSITIVE = (
    "The factorization could not be completed because the input is not positive-definite (the "
    "leading minor of order {} is not positive-definite)."
)


def _minor(a: Array) -> int:
    """Return the order of the first leading minor that is not positive, or 0."""
    n = len(a)
    L = np.tril(a)
    for j in range(n):
        left = L[j:, :j] @ L[j, :j].conj()
        L[j:, j] -= left
        if not L[j, j].real > 0:
            return j + 1
        L[j:, j] /= np.sqrt(L[j, j])
    return 0


@operation(
    outputs=("L", "info"), node="LinalgCholeskyExBackward0", complex="given", order="in_columns"
)
def cholesky_and_info(A: Array, /, upper: bool) -> tuple[Array, Array]:
    """Return Cholesky factors (NaN on failure) and the order of the failing minor."""
    info = np.zeros(A.shape[:-2], np.int32)
    try:
        return np.linalg.cholesky(A, upper=upper), info
    except np.linalg.LinAlgError:
        pass
    L = np.full(A.shape, np.nan, A.dtype)
    for place in np.ndindex(A.shape[:-2]):
        try:
            L[place] = np.linalg.cholesky(A[place], upper=upper)
        except np.linalg.LinAlgError:
            info[place] = _minor(A[place].T if upper else A[place]) or A.shape[-1]
    return L, info


def _hermitian(x: Any) -> Any:
    """Return the Hermitian matrices with the lower triangles of ``x``."""
    below = tril(x, -1)
    half = below + 0.5 * (tril(x) - below)
    return half + adjoint(half)


def _cholesky_gradient(g: Any, L: Any, upper: bool) -> Any:
    """Return the symmetric derivative (Murray 2016, "Differentiation of the Cholesky ...")."""
    if upper:
        L, g = adjoint(L), adjoint(g)
    phi = tril(adjoint(L) @ g)
    middle = (phi + adjoint(tril(phi, -1))) * 0.5
    half = triangular(adjoint(L), middle, True, True, False)
    return triangular(L, half, False, False, False)


cholesky_and_info.grad(A=lambda g, L, upper: _cholesky_gradient(g, L, upper))
_CholeskyEx = named("linalg_cholesky_ex", ("L", "info"))


@composite(module=True, out=EXPECTED, autocast="float32")
def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
    """Return the Cholesky factors of matrices, and an error code for each.

    Args:
        A: ``[..., n, n]``, symmetric; only one triangle is read.
        upper: return ``U = L.mH`` instead of L.
        check_errors: raise errors like ``cholesky``.

    Returns:
        ``(L, info)``: info is 0, or the order of the first leading minor that is not positive (L is
        NaN then).

    Example:
        >>> tn.linalg.cholesky_ex(-tn.eye(2)).info
        tensor(1, dtype=tinynet.int32)
    """
    square("linalg.cholesky", A)
    L, info = cholesky_and_info.function(A, upper)
    if check_errors:
        failed("linalg.cholesky_ex", info._array, NOT_POSITIVE)
    return _CholeskyEx(L, info)


@composite(module=True, out=EXPECTED, autocast="float32")
def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """Return the Cholesky factors of Hermitian positive-definite matrices: ``A = L @ L.mH``.

    The derivative is symmetric.

    Args:
        A: ``[..., n, n]``, symmetric; only one triangle is read.
        upper: return ``U = L.mH`` instead.

    Raises:
        LinAlgError: a matrix is not positive-definite.
        RuntimeError: not floating-point square matrices.

    Example:
        >>> tn.linalg.cholesky(tn.tensor([[4.0, 2.0], [2.0, 5.0]]))
        tensor([[2., 0.],
                [1., 2.]])
    """
    L, info = cholesky_ex(A, upper=upper)
    failed("linalg.cholesky", info._array, NOT_POSITIVE)
    return L


# ---- QR -----------------------------------------------------------------------------------------


@operation(
    outputs=("Q", "R"),
    differentiable=2,
    node="LinalgQrBackward0",
    complex="given",
    order="in_columns",
)
def orthogonal_triangular(A: Array, /, form: str) -> tuple[Array, Array]:
    """Return Q and R; Q is empty for the mode ``"r"``."""
    if form == "r":
        R: Any = np.linalg.qr(A, "r")
        return np.empty(0, A.dtype), R
    Q, R = np.linalg.qr(A, "complete" if form == "complete" else "reduced")
    return Q, R


def _qr_gradient(g: Any, Q: Any, R: Any, form: str) -> Any:
    """Return the derivative (Walter and Lehmann 2018; for wide matrices, of ``A[:, :m]`` first).

    With M = R gR^H - gQ^H Q, and S the Hermitian matrix that has M's lower triangle:
    gA = (gQ + Q S) R^-H.
    """
    gQ, gR = g
    m, n = Q.shape[-2] if form != "r" else 0, R.shape[-1]
    if form == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. "
            "Please use linalg.qr(A, mode='reduced') if you are going to differentiate through "
            "linalg.qr."
        )
    if form == "complete" and m > n:
        raise RuntimeError(
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols."
        )
    R1, R2, g1, g2 = R, None, gR, None
    if n > m:  # A = Q [R1, R2]
        R1, R2, g1, g2 = R[..., :m], R[..., m:], gR[..., :m], gR[..., m:]
        gQ = gQ + Q @ R2 @ adjoint(g2)
    M = R1 @ adjoint(g1) - adjoint(gQ) @ Q
    by_a = triangular(adjoint(R1), gQ + Q @ _hermitian(M), False, False, False)
    return by_a if g2 is None else cat([by_a, Q @ g2], -1)


orthogonal_triangular.grad(A=lambda g, Q, R, form: _qr_gradient(g, Q, R, form))
_Qr = named("linalg_qr", ("Q", "R"))


@composite(module=True, out=EXPECTED, autocast="float32")
def qr(A: Tensor, mode: str = "reduced") -> Any:
    """Return the QR decomposition ``A = Q @ R``: Q has orthonormal columns, R is upper triangular.

    Args:
        A: ``[..., m, n]``.
        mode: ``"reduced"``: Q is ``[..., m, k]`` and R ``[..., k, n]``, k the smaller of m and n;
            ``"complete"``: Q is ``[..., m, m]``; ``"r"``: Q is empty.

    Returns:
        ``(Q, R)``. The derivative requires the first k columns of A to be linearly independent.

    Raises:
        RuntimeError: an unknown mode, or not floating-point matrices.

    Example:
        >>> Q, R = tn.linalg.qr(tn.tensor([[3.0, 1.0], [4.0, 2.0]]))
        >>> (Q @ R).round(decimals=4)
        tensor([[3., 1.],
                [4., 2.]])
    """
    floating("linalg.qr", matrices("linalg.qr", A))
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), "
            "'r', or 'complete'"
        )
    return _Qr(*orthogonal_triangular.function(A, mode))


# ---- ldl ----------------------------------------------------------------------------------------
# ``L D L^T`` factors of symmetric matrices (Bunch and Kaufman, Math. Comp. 31, 1977).


_GROWTH = (1 + math.sqrt(17)) / 8  # balances element growth between blocks of size 1 and 2


def _turned(x: Array, hermitian: bool) -> Array:
    return adjoint(x) if hermitian else x.mT


def _choose(A: Array, k: int) -> tuple[int, int]:
    """Return the size of the next block of D, and the row to swap with its last one."""
    below = magnitudes(A[k + 1 :, k])
    if not below.size or magnitudes(A[k, k]) >= _GROWTH * below.max() or below.max() == 0:
        return 1, k
    other = k + 1 + int(below.argmax())
    row = magnitudes(A[other, k:])
    row[other - k] = 0
    if magnitudes(A[k, k]) >= _GROWTH * below.max() * (below.max() / row.max()):
        return 1, k
    return (1 if magnitudes(A[other, other]) >= _GROWTH * row.max() else 2), other


def _factorize(A: Array, pivots: Array, hermitian: bool) -> int:
    """Overwrite one matrix with L and D; return the first zero of D (from 1), or 0."""
    k = info = 0
    while k < len(A):
        size, other = _choose(A, k)
        last, end = k + size - 1, k + size
        rest = A[k:, k:]
        rest[[last - k, other - k]] = rest[[other - k, last - k]]
        rest[:, [last - k, other - k]] = rest[:, [other - k, last - k]]
        pivots[k:end] = other + 1 if size == 1 else -other - 1
        block, column = A[k:end, k:end], A[end:, k:end].copy()
        if block.any():
            A[end:, k:end] = np.linalg.solve(block.T, column.T).T
            A[end:, end:] -= A[end:, k:end] @ _turned(column, hermitian)
        else:
            info = info or k + 1
        k = end
    return info


@operation(
    outputs=("LD", "pivots", "info"), node="NotImplemented", complex=True, order="in_columns"
)
def ldl_and_info(A: Array, /, hermitian: bool) -> tuple[Array, Array, Array]:
    """Return L and D in one matrix, the pivots, and LAPACK's info."""
    refuse_half("ldl_factor_kernel", A)
    n = A.shape[-1]
    low = np.tril(A)
    full = (low + _turned(np.tril(A, -1), hermitian)).reshape(math.prod(A.shape[:-2]), n, n)
    pivots = np.empty(full.shape[:2], np.int32)
    info = [_factorize(a, p, hermitian) for a, p in zip(full, pivots, strict=True)]
    return (
        np.tril(full).reshape(A.shape),
        pivots.reshape(A.shape[:-1]),
        np.array(info, np.int32).reshape(A.shape[:-2]),
    )


@operation(node="NotImplemented", complex=True, order="in_columns")
def ldl_solution(LD: Array, pivots: Array, B: Array, /, hermitian: bool) -> Array:
    """Solve with the factors of ``ldl_and_info``."""
    batch = np.broadcast_shapes(LD.shape[:-2], B.shape[:-2])
    many, (n, count) = math.prod(batch), B.shape[-2:]
    X = np.broadcast_to(B, (*batch, n, count)).copy()
    factors = np.broadcast_to(LD, (*batch, n, n)).reshape(many, n, n)
    rows = np.broadcast_to(pivots, (*batch, n)).reshape(many, n)
    for factor, row, x in zip(factors, rows, X.reshape(many, n, count), strict=True):
        _substitute(factor, row, x, hermitian)
    return X


def _substitute(LD: Array, pivots: Array, x: Array, hermitian: bool) -> None:
    """Overwrite the right-hand sides of one matrix with the solutions."""
    blocks, k = [], 0
    while k < len(x):
        blocks.append((k, k + (1 if pivots[k] > 0 else 2)))
        k = blocks[-1][1]
    for k, end in blocks:
        other = abs(int(pivots[k])) - 1
        x[[end - 1, other]] = x[[other, end - 1]]
        x[end:] -= LD[end:, k:end] @ x[k:end]
        block = np.tril(LD[k:end, k:end])
        x[k:end] = np.linalg.solve(block + _turned(np.tril(block, -1), hermitian), x[k:end])
    for k, end in reversed(blocks):
        other = abs(int(pivots[k])) - 1
        x[k:end] -= _turned(LD[end:, k:end], hermitian) @ x[end:]
        x[[end - 1, other]] = x[[other, end - 1]]


_unsolved = no_derivative("aten::linalg_ldl_solve")
ldl_and_info.grad(A=no_derivative("aten::linalg_ldl_factor_ex"))
ldl_solution.grad(LD=_unsolved, B=_unsolved)
_Factor = named("linalg_ldl_factor", ("LD", "pivots"))
_FactorEx = named("linalg_ldl_factor_ex", ("LD", "pivots", "info"))


def _factors(name: str, A: Any, hermitian: bool, check: bool) -> Any:
    refuse_others(name.replace(".", "_"), self=A)
    full_name = "tinynet.linalg.ldl_factor_ex"
    a = matrices(full_name, A)
    square_sizes(full_name, a)
    if not dtypes.is_inexact(a.dtype):
        floating(full_name, a)
    found = ldl_and_info.function(A, hermitian)
    if check:
        failed(name, found[2]._array, "The diagonal block {} of D is zero.")
    return found


@composite(module=True, out=EXPECTED)
def ldl_factor_ex(A: Tensor, *, hermitian: bool = False, check_errors: bool = False) -> Any:
    """Return the factors of ``ldl_factor``, and error codes instead of raising errors.

    Source: Bunch and Kaufman, "Some stable methods for calculating inertia and solving symmetric
    linear systems", Mathematics of Computation 31, 1977.

    Args:
        A: ``[..., n, n]``, symmetric; elements above the diagonal are not read.
        hermitian: whether complex matrices are Hermitian instead of symmetric.
        check_errors: raise errors like ``ldl_factor``.

    Returns:
        ``(LD, pivots, info)``; info is 0, or the number (from 1) of the first zero block of D.

    Raises:
        RuntimeError: not floating-point square matrices.
        LinAlgError: a block of D is zero, and ``check_errors`` is True.

    Example:
        >>> tn.linalg.ldl_factor_ex(tn.zeros(2, 2)).info
        tensor(1, dtype=tinynet.int32)
    """
    return _FactorEx(*_factors("linalg.ldl_factor_ex", A, hermitian, check_errors))


@composite(module=True, out=EXPECTED)
def ldl_factor(A: Tensor, *, hermitian: bool = False) -> Any:
    """Factor symmetric matrices as ``L D L^T``, where D has diagonal blocks of size 1 and 2.

    Source: Bunch and Kaufman, "Some stable methods for calculating inertia and solving symmetric
    linear systems", Mathematics of Computation 31, 1977.

    Args:
        A: ``[..., n, n]``, symmetric; elements above the diagonal are not read.
        hermitian: whether complex matrices are Hermitian instead of symmetric.

    Returns:
        ``(LD, pivots)``: ``[..., n, n]`` with D and, below its blocks, L; ``[..., n]`` of int32,
        the row (from 1) that each row was swapped with, negative for blocks of size 2.

    Raises:
        RuntimeError: not floating-point square matrices.
        LinAlgError: a block of D is zero.

    Example:
        >>> tn.linalg.ldl_factor(tn.tensor([[0.0, 1.0], [1.0, 0.0]])).pivots
        tensor([-2, -2], dtype=tinynet.int32)
    """
    return _Factor(*_factors("linalg.ldl_factor", A, hermitian, True)[:2])


@composite(module=True, out=EXPECTED)
def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> Tensor:
    """Solve ``A X = B`` with the factors of ``ldl_factor``.

    Args:
        LD, pivots: the result of ``ldl_factor``.
        B: ``[..., n, k]``.
        hermitian: whether complex matrices are Hermitian instead of symmetric.

    Returns:
        ``[..., n, k]``.

    Raises:
        RuntimeError: shapes or dtypes do not match.

    Example:
        >>> LD, pivots = tn.linalg.ldl_factor(tn.tensor([[0.0, 1.0], [1.0, 0.0]]))
        >>> tn.linalg.ldl_solve(LD, pivots, tn.tensor([[2.0], [3.0]]))
        tensor([[3.],
                [2.]])
    """
    refuse_others("linalg_ldl_solve", LD=LD, pivots=pivots, B=B)
    name = "tinynet.linalg.ldl_solve"
    a = matrices(name, LD)
    square_sizes(name, a)
    b = matrices(name, B, "B")
    if a.shape[-1] != b.shape[-2]:
        n, (rows, columns) = a.shape[-1], b.shape[-2:]
        raise RuntimeError(
            f"Incompatible matrix sizes for {name}: each A matrix is {n} by {n} but each b matrix "
            f"is {rows} by {columns}"
        )
    if pivots._array.shape != a.shape[:-1]:
        raise RuntimeError(
            f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with "
            f"shape {list(pivots._array.shape)} instead"
        )
    if pivots._array.dtype.kind not in "iu":
        raise RuntimeError(f"{name}: Expected pivots to be integers. Got {name_of(pivots._array)}")
    floating(name, a)
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {name_of(b)} and A of "
            f"type {name_of(a)} instead."
        )
    try:
        np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise errors.not_broadcastable(b.shape[:-2], a.shape[:-2]) from None
    return ldl_solution.function(LD, pivots, B, hermitian)
