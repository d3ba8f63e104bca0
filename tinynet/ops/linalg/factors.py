"""Cholesky and QR decompositions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.core.complex_rules import adjoint
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.ops.arguments import EXPECTED
from tinynet.ops.linalg.checks import (
    failed,
    floating,
    matrices,
    named,
    square,
)
from tinynet.ops.linalg.lu import triangular
from tinynet.ops.shaping.flipping import tril
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
