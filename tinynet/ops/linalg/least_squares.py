"""Ranks and pseudoinverses, by singular values, and least squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.complex_rules import adjoint
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import Array
from tinynet.ops.arguments import name_of, refuse_others
from tinynet.ops.creation.random import randn
from tinynet.ops.linalg.checks import floating, matrices, named
from tinynet.ops.linalg.factors import qr
from tinynet.ops.linalg.inverses import is_vector
from tinynet.ops.linalg.spectra import converged, svd, symmetric
from tinynet.ops.products.matmul import matmul
from tinynet.ops.reduction.sums import mean
from tinynet.ops.shaping.views import unsqueeze

# ---- lowrank ------------------------------------------------------------------------------------
# Nearly optimal low-rank decompositions from random projections.
#
# Source: N. Halko, P. G. Martinsson and J. A. Tropp, "Finding structure with randomness", SIAM
# Review 53 (2011): algorithm 4.4 for the range, 5.1 for the singular values.


def _range(A: Tensor, q: int, niter: int) -> Tensor:
    """Return an orthonormal basis of what ``A`` makes of random vectors: ``[..., m, q]``."""
    Q = qr(matmul(A, randn(A.shape[-1], q, dtype=A.dtype)))[0]
    for _ in range(niter):
        Q = qr(matmul(A.mT, Q))[0]
        Q = qr(matmul(A, Q))[0]
    return Q


@composite(method=False)
def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Return ``U``, ``S`` and ``V`` with ``A`` close to ``U @ diag(S) @ V.T``, of rank ``q``.

    The result depends on random numbers. The error is close to that of the best approximation where
    the singular values fall fast, or after some iterations (Halko et al. 2011).

    Args:
        A: matrices, ``[..., m, n]``.
        q: the rank, slightly larger than the rank of interest; 6 for None.
        niter: the number of subspace iterations; 2 for None.
        M: subtracted from ``A`` first; broadcast to its shape.

    Returns:
        ``U`` of ``[..., m, q]``, ``S`` of ``[..., q]`` in descending order, ``V`` of
        ``[..., n, q]``.

    Raises:
        ValueError: ``A`` is not a matrix.

    Example:
        >>> A = tn.outer(tn.tensor([3.0, 4.0]), tn.tensor([0.0, 2.0, 0.0]))
        >>> tn.svd_lowrank(A, q=1)[1]
        tensor([10.])
    """
    refuse_others("svd_lowrank", A=A)
    A = A if M is None else A - M
    rows, columns = A.shape[-2:]
    q, niter = 6 if q is None else q, 2 if niter is None else niter
    if rows < columns:
        V, S, U = svd_lowrank(A.mT, q, niter)
        return U, S, V
    Q = _range(A, q, niter)
    U, S, Vh = svd(matmul(Q.mT, A), full_matrices=False)
    return matmul(Q, U), S, Vh.mT


@composite(method=False)
def pca_lowrank(
    A: Tensor, q: int | None = None, center: bool = True, niter: int = 2
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the principal components of the rows of ``A``, by ``svd_lowrank``.

    The columns of ``V`` are the principal directions; ``S ** 2 / (m - 1)`` are the variances along
    them, and ``A @ V[:, :k]`` projects the rows (Halko et al. 2011).

    Args:
        A: samples in rows, ``[..., m, n]``.
        q: the number of components; ``min(6, m, n)`` for None.
        center: whether to subtract the mean of each column first.
        niter: the number of subspace iterations.

    Returns:
        ``U`` of ``[..., m, q]``, ``S`` of ``[..., q]`` in descending order, ``V`` of
        ``[..., n, q]``.

    Raises:
        ValueError: ``A`` is not a matrix, ``q`` is out of range, or ``niter`` is negative.

    Example:
        >>> tn.pca_lowrank(tn.tensor([[1.0, 0.0], [3.0, 0.0], [5.0, 0.0]]), q=1)[1]
        tensor([2.8284])
    """
    refuse_others("pca_lowrank", A=A)
    rows, columns = A.shape[-2:]
    q = min(6, rows, columns) if q is None else q
    if not 0 <= q <= min(rows, columns):
        raise ValueError(
            f"q(={q}) must be non-negative integer and not greater than min(m, n)="
            f"{min(rows, columns)}"
        )
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - mean(A, -2, True) if center else A, q, niter)


# ---- ranks --------------------------------------------------------------------------------------


def _number(x: Any) -> Any:
    return x._array if isinstance(x, Tensor) else x


def _cutoff(S: Array, shape: tuple[int, ...], atol: Any, rtol: Any) -> Array:
    """Return ``max(atol, rtol * largest)``: singular values up to it count as zero."""
    atol, rtol = _number(atol), _number(rtol)
    if rtol is None:
        rtol = float(np.finfo(S.dtype).eps) * max(shape[-2:]) if atol is None else 0.0
    largest = S.max(-1, initial=0)
    return np.maximum(0.0 if atol is None else atol, np.asarray(rtol) * largest)[..., None]


@operation(node="LinalgPinvBackward0", complex="given")
def pseudoinverse(A: Array, /, atol: Any, rtol: Any, hermitian: bool) -> Array:
    """Return the pseudoinverse by the nonzero singular values (or eigenvalues)."""
    if A.size == 0:
        return np.zeros((*A.shape[:-2], A.shape[-1], A.shape[-2]), A.dtype)
    if hermitian:
        S, V = converged("eigh", np.linalg.eigh, A)
        U, Vh = V, adjoint(V)
    else:
        U, S, Vh = converged("svd", np.linalg.svd, A, False)
    sizes = np.abs(S)
    above = sizes > _cutoff(sizes, A.shape, atol, rtol)
    inverses = np.where(above, 1 / np.where(above, S, 1), 0).astype(A.dtype)
    return np.matmul(adjoint(Vh) * inverses[..., None, :], adjoint(U))


def pinv_gradient(g: Any, A: Any, P: Any) -> Any:
    """Return the derivative of the pseudoinverse P at constant rank (Golub and Pereyra 1973)."""
    g, turned = adjoint(g), adjoint(P)
    if A.shape[-2] <= A.shape[-1]:
        K = g @ P
        outer = K @ turned
        return -adjoint(P @ K) + outer - (A @ P) @ outer + turned @ (P @ (g - K @ A))
    K = P @ g
    outer = turned @ K
    return -adjoint(K @ P) + (g - A @ K) @ P @ turned + outer - (outer @ P) @ A


pseudoinverse.grad(A=lambda g, A, result: pinv_gradient(g, A, result))


@composite(module=True, out=True)
def pinv(
    A: Tensor,
    rcond: float | Tensor | None = None,
    hermitian: bool = False,
    *,
    atol: float | Tensor | None = None,
    rtol: float | Tensor | None = None,
) -> Tensor:
    """Return the Moore-Penrose pseudoinverses of matrices.

    ``V @ diag(1 / S) @ U.mT`` for ``A = U @ diag(S) @ V.mT``, with 0 for ``1 / S`` where S counts
    as zero (Penrose, "A generalized inverse for matrices", 1955).

    The derivative holds at constant rank.

    Args:
        A: ``[..., m, n]``.
        rcond: an older name of ``rtol``.
        hermitian: whether the matrices are symmetric; their eigenvalues are used then.
        atol: singular values up to this count as zero; 0 by default.
        rtol: the same relative to the largest singular value; by default the precision of the dtype
            times the larger of m and n, or 0 if ``atol`` is given.

    Returns:
        ``[..., n, m]``.

    Raises:
        RuntimeError: not floating-point matrices, or not square although ``hermitian`` is True.
        LinAlgError: an element is not finite.

    Example:
        >>> tn.linalg.pinv(tn.tensor([[2.0, 0.0], [0.0, 0.0]]))
        tensor([[0.5000, 0.0000],
                [0.0000, 0.0000]])
    """
    refuse_others("linalg_pinv", self=A)
    a = A._array
    if a.ndim < 2 or not dtypes.is_inexact(a.dtype):
        raise RuntimeError(
            f"linalg.pinv({name_of(a)}{{{list(a.shape)}}}): expected a tensor with 2 or more "
            "dimensions of float, double, cfloat or cdouble types"
        )
    if hermitian:
        symmetric(A)
    rtol = rcond if rtol is None else rtol
    return pseudoinverse.function(A, _number(atol), _number(rtol), hermitian)


@composite(module=True, out=True, autocast="float32")
def matrix_rank(
    A: Tensor,
    tol: float | Tensor | None = None,
    hermitian: bool = False,
    *,
    atol: float | Tensor | None = None,
    rtol: float | Tensor | None = None,
) -> Tensor:
    """Return the ranks of matrices, as int64.

    ``sum(S > max(atol, rtol * max(S)))`` with the singular values S.

    Args:
        A: ``[..., m, n]``.
        tol: an older name of ``atol``.
        hermitian: whether the matrices are symmetric; their eigenvalues are used then.
        atol, rtol: the tolerances; see ``pinv``.

    Raises:
        RuntimeError: not floating-point matrices, or not square although ``hermitian`` is True.

    Example:
        >>> tn.linalg.matrix_rank(tn.ones(3, 3))
        tensor(1)
    """
    a = matrices("linalg.matrix_rank", A)
    floating("linalg.matrix_rank", a)
    atol = tol if atol is None else atol
    if a.size == 0:
        return wrap(np.zeros(a.shape[:-2], np.int64))
    if hermitian:
        symmetric(A)
        sizes = np.abs(converged("eigh", np.linalg.eigvalsh, a))
    else:
        sizes = converged("svd", np.linalg.svd, a, False, False)
    return wrap(np.asarray((sizes > _cutoff(sizes, a.shape, atol, rtol)).sum(-1)))


# ---- least squares ------------------------------------------------------------------------------


_NAMES = ("solution", "residuals", "rank", "singular_values")
DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


@operation(
    outputs=_NAMES,
    differentiable=2,
    node="LinalgLstsqBackward0",
    complex="given",
    order="in_columns",
)
def least_squares(
    A: Array, B: Array, /, rcond: float, driver: str, vector: bool
) -> tuple[Array, ...]:
    """Return the X of least norm that minimises ``|A X - B|``, by the singular values of A."""
    m, n = A.shape[-2:]
    B = B[..., None] if vector else B
    U, S, Vh = np.linalg.svd(A, full_matrices=False)
    above = S > rcond * S.max(-1, keepdims=True, initial=0)
    inverses = np.where(above, 1 / np.where(above, S, 1), 0).astype(A.dtype)
    solution = np.matmul(adjoint(Vh), inverses[..., :, None] * np.matmul(adjoint(U), B))
    rank = above.sum(-1)
    residuals = np.empty(0, S.dtype)
    if driver != "gelsy" and m > n and (rank == n).all():
        residuals = np.square(np.abs(np.matmul(A, solution) - B)).sum(-2)
    empty = np.empty(0, S.dtype)
    return (
        solution[..., 0] if vector else solution,
        residuals,
        np.empty(0, np.int64) if driver == "gels" else rank,
        S if driver in ("gelsd", "gelss") else empty,
    )


def _gradients(
    g: Any, A: Any, B: Any, solution: Any, residuals: Any, rcond: float, vector: bool
) -> Any:
    """Return the derivatives of ``X = pinv(A) B`` and of ``|A X - B|^2`` at constant rank.

    In the latter, X minimises the sum, so changes of X do not contribute.
    """
    by_x, by_residuals = g
    if vector:
        by_x, B, solution = (unsqueeze(x, -1) for x in (by_x, B, solution))
    P = pseudoinverse(A, None, rcond, False)
    by_b = adjoint(P) @ by_x
    by_a = pinv_gradient(by_x @ adjoint(B), A, P)
    if residuals.shape != (0,):
        rest = 2 * (A @ solution - B) * unsqueeze(by_residuals, -2)
        by_a, by_b = by_a + rest @ adjoint(solution), by_b - rest
    return by_a, (by_b[..., 0] if vector else by_b)


least_squares.grads(_gradients)
_Lstsq = named("linalg_lstsq", _NAMES)


def _check(A: Tensor, B: Tensor, driver: str) -> None:
    refuse_others("linalg_lstsq", self=A, b=B)
    a, b = A._array, B._array
    name = "tinynet.linalg.lstsq"
    if a.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if b.ndim < 1:
        raise RuntimeError(f"{name}: other must have at least 1 dimension.")
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"{name}: Expected input and other to have the same dtype, but got input's dtype "
            f"{name_of(a)} and other's dtype {name_of(b)}"
        )
    if driver not in DRIVERS:
        raise RuntimeError(f"{name}: parameter `driver` should be one of ({', '.join(DRIVERS)})")
    if not dtypes.is_inexact(a.dtype) or a.dtype.itemsize < 4:
        raise RuntimeError("This function doesn't handle types other than float and double")
    if a.shape[-2] != b.shape[-1 if is_vector(a, b) else -2]:
        raise RuntimeError(f"{name}: input.size(-2) should match other.size(-2)")


@composite(module=True, out=True, autocast="float32")
def lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None) -> Any:
    """Solve least-squares problems: find the X that minimises ``|A X - B|``.

    If there are several, X is the one of least norm. All drivers use singular values here; as in
    PyTorch, they differ in the other values they return.

    Args:
        A: ``[..., m, n]``.
        B: ``[..., m, k]``, or vectors ``[..., m]``.
        rcond: singular values up to this, times the largest, count as zero; by default the
            precision of the dtype times the larger of m and n.
        driver: ``"gelsy"`` (the default), ``"gels"``, ``"gelsd"`` or ``"gelss"``.

    Returns:
        ``(solution, residuals, rank, singular_values)``: ``[..., n, k]``; the sums of squares
        ``[..., k]`` (empty unless m > n, all ranks are full and the driver is not gelsy); ranks
        (empty for gels); singular values (empty for gels and gelsy).

    Raises:
        RuntimeError: shapes or dtypes do not match.

    Example:
        >>> A = tn.tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
        >>> tn.linalg.lstsq(A, tn.tensor([1.0, 3.0, 5.0])).solution
        tensor([1.0000, 2.0000])
    """
    driver = driver or "gelsy"
    _check(A, B, driver)
    a = A._array
    if rcond is None:
        rcond = float(np.finfo(a.dtype).eps) * max(a.shape[-2:])
    vector = is_vector(a, B._array)
    return _Lstsq(*least_squares.function(A, B, float(rcond), driver, vector))
