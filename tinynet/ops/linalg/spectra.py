"""Eigenvalues of symmetric matrices, singular values, rank and pseudoinverse."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.declaration.casting import autocast
from tinynet.core.declaration.operation import operation
from tinynet.core.declaration.out_argument import with_out
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.core.tensors.views import requires_grad
from tinynet.dtypes import Array
from tinynet.errors import LinAlgError
from tinynet.ops.argument_errors import name_of, refuse_others
from tinynet.ops.linalg.checks import floating, matrices, named, square_sizes
from tinynet.ops.out_dtypes import EXPECTED
from tinynet.ops.pointwise.arithmetic import where
from tinynet.ops.shaping.views import unsqueeze

# ---- shared helpers -----------------------------------------------------------------------------


def _over(x: Any, y: Any) -> Any:
    """Return ``x / y``, or 0 for 0 / 0: components that do not matter."""
    return x / where((x == 0) & (y == 0), 1.0, y)


def _eye(n: int, like: Any) -> Any:
    """Return the identity matrix as an array or tensor, like ``like``."""
    array = np.eye(n, dtype=like.dtype if isinstance(like, np.ndarray) else like._array.dtype)
    return array if isinstance(like, np.ndarray) else wrap(array)


def _on_diagonal(x: Any) -> Any:
    """Return matrices with the last dimension on their diagonals."""
    return where(_eye(x.shape[-1], x) == 1, unsqueeze(x, -1), 0.0)


def _gaps(x: Any) -> Any:
    """Return ``x_j - x_i`` in row i and column j, with ones on the diagonal."""
    return unsqueeze(x, -2) - unsqueeze(x, -1) + _eye(x.shape[-1], x)


def _recorded(A: Tensor) -> bool:
    return bool(mode.grad and requires_grad(A))


# ---- eigenvalues --------------------------------------------------------------------------------


_EIGEN: dict[str, Any] = {"outputs": ("eigenvalues", "eigenvectors"), "order": "in_columns"}


@operation(**_EIGEN, differentiable=2, node="LinalgEighBackward0", methods=False)
def eigen_system(A: Array, /, uplo: str) -> tuple[Array, Array]:
    """Return eigenvalues in ascending order, and eigenvectors as columns."""
    return _converged("eigh", np.linalg.eigh, A, uplo)


def _converged(name: str, compute: Any, A: Array, *args: Any) -> Any:
    try:
        return compute(A, *args)
    except np.linalg.LinAlgError:
        reason = (
            "is ill-conditioned or has too many repeated eigenvalues"
            if np.isfinite(A).all()
            else "contained non-finite values"
        )
        raise LinAlgError(
            f"linalg.{name}: The algorithm failed to converge because the input matrix {reason}."
        ) from None


def _eigen_gradient(g: Any, values: Any, vectors: Any) -> Any:
    """Return the symmetric part of ``V (diag(gL) + (V^T gV) / (L_j - L_i)) V^T`` (Giles 2008)."""
    by_values, by_vectors = g
    turned = _over(vectors.mT @ by_vectors, _gaps(values))
    turned = where(_eye(values.shape[-1], values) == 1, 0.0, turned)
    inner = (turned + turned.mT) * 0.5 + _on_diagonal(by_values)
    return vectors @ inner @ vectors.mT


eigen_system.grad(
    A=lambda g, eigenvalues, eigenvectors: _eigen_gradient(g, eigenvalues, eigenvectors)
)
_Eigh = named("linalg_eigh", ("eigenvalues", "eigenvectors"))


def _symmetric(A: Any) -> Array:
    """Return the array of a tensor of floating-point square matrices; refuse others."""
    a = matrices("linalg.eigh", A)
    square_sizes("linalg.eigh", a)
    if not dtypes.is_floating(a.dtype) or a.dtype.itemsize < 4:
        raise NotImplementedError(f"\"linalg_eigh_cpu\" not implemented for '{name_of(a)}'")
    return a


def _triangle(UPLO: str) -> str:
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return UPLO.upper()


@with_out(EXPECTED)
@autocast("float32")
def eigh(A: Tensor, UPLO: str = "L") -> Any:
    """Return the eigenvalues and eigenvectors of symmetric matrices.

    ``A = V @ diag(w) @ V.mT`` with orthonormal columns in V.

    The sign of each eigenvector is arbitrary; the derivative is that of functions that do not
    depend on it. It is finite only if the eigenvalues are distinct, or the eigenvectors are unused.

    Args:
        A: ``[..., n, n]``, symmetric.
        UPLO: the triangle to read, ``"L"`` or ``"U"``.

    Returns:
        ``(eigenvalues, eigenvectors)``: ``[..., n]`` in ascending order; ``[..., n, n]``,
        eigenvectors as columns.

    Raises:
        LinAlgError: the algorithm does not converge.
        RuntimeError: not floating-point square matrices.

    Example:
        >>> tn.linalg.eigh(tn.tensor([[2.0, 1.0], [1.0, 2.0]])).eigenvalues
        tensor([1., 3.])
    """
    _symmetric(A)
    return _Eigh(*eigen_system.function(A, _triangle(UPLO)))


@with_out(EXPECTED)
@autocast("float32")
def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """Return the eigenvalues of symmetric matrices, in ascending order.

    The w of ``A @ v = w * v``.

    Args:
        A: ``[..., n, n]``, symmetric.
        UPLO: the triangle to read, ``"L"`` or ``"U"``.

    Raises:
        RuntimeError: not floating-point square matrices, or an unknown ``UPLO``.

    Example:
        >>> tn.linalg.eigvalsh(tn.tensor([[2.0, 1.0], [1.0, 2.0]]))
        tensor([1., 3.])
    """
    a, uplo = _symmetric(A), _triangle(UPLO)
    if _recorded(A):
        return eigen_system.function(A, uplo)[0]
    return wrap(_converged("eigh", np.linalg.eigvalsh, a, uplo))


# ---- singular values ----------------------------------------------------------------------------


_SVD: dict[str, Any] = {"outputs": ("U", "S", "Vh"), "differentiable": 3, "order": "in_columns"}


@operation(**_SVD, node="LinalgSvdBackward0", methods=False)
def singular_system(A: Array, /, full_matrices: bool) -> tuple[Array, Array, Array]:
    """Return U, S and the transpose of V."""
    U, S, Vh = _converged("svd", np.linalg.svd, A, full_matrices)
    return U, S, Vh


def _svd_gradient(g: Any, U: Any, S: Any, Vh: Any) -> Any:
    """Return the derivative of the first k columns (Giles 2008).

    With E_ij = s_j^2 - s_i^2: the inner part is (skew(U^T gU) / E) S + S (skew(V^T gV) / E) +
    diag(gS); to U of it belongs what gU has outside of U, over S, and the same for V.
    """
    k = S.shape[-1]
    gU, gS, gV = g[0][..., :, :k], g[1], g[2][..., :k, :].mT
    U, V = U[..., :, :k], Vh[..., :k, :].mT
    row, column = unsqueeze(S, -2), unsqueeze(S, -1)
    left, right = U.mT @ gU, V.mT @ gV
    gaps, both = _gaps(S), row + column  # their product is E, which may overflow
    inner = _over(left - left.mT, gaps) * _over(row, both)
    inner = inner + _over(column, both) * _over(right - right.mT, gaps)
    by_a = U @ (inner + _on_diagonal(gS)) @ V.mT
    if U.shape[-2] > k:
        by_a = by_a + _over(gU - U @ left, row) @ V.mT
    if V.shape[-2] > k:
        by_a = by_a + U @ _over(gV - V @ right, row).mT
    return by_a


singular_system.grad(A=lambda g, U, S, Vh: _svd_gradient(g, U, S, Vh))
_Svd = named("linalg_svd", ("U", "S", "Vh"))


def _no_driver(name: str, driver: str | None) -> None:
    if driver is not None:
        raise RuntimeError(
            f"tinynet.linalg.{name}: keyword argument `driver=` is only supported on CUDA inputs "
            "with cuSOLVER backend."
        )


@with_out(EXPECTED)
@autocast("float32")
def svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> Any:
    """Return the singular value decomposition ``A = U @ diag(S) @ Vh``.

    The signs of the columns of U, with the rows of Vh, are arbitrary; the derivative is that of
    functions that depend neither on them nor on columns of U and rows of Vh after the first k. It
    is finite only if the singular values are distinct, or U and Vh are unused.

    Args:
        A: ``[..., m, n]``; k is the smaller of m and n.
        full_matrices: return all columns of U and rows of Vh, not only the first k.
        driver: must be None.

    Returns:
        ``(U, S, Vh)``: ``[..., m, m or k]``; ``[..., k]`` in descending order;
        ``[..., n or k, n]``.

    Raises:
        LinAlgError: the algorithm does not converge.
        RuntimeError: not floating-point matrices.

    Example:
        >>> tn.linalg.svd(tn.tensor([[0.0, 2.0], [1.0, 0.0]])).S
        tensor([2., 1.])
    """
    floating("linalg.svd", matrices("linalg.svd", A))
    _no_driver("svd", driver)
    return _Svd(*singular_system.function(A, full_matrices))


@with_out(EXPECTED)
@autocast("float32")
def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """Return the singular values of matrices, in descending order.

    The S of ``A = U @ diag(S) @ V.mT``: roots of the eigenvalues of ``A.mT @ A``.

    Args:
        A: ``[..., m, n]``.
        driver: must be None.

    Raises:
        RuntimeError: not floating-point matrices, or a driver is given.
        LinAlgError: an element is not finite.

    Example:
        >>> tn.linalg.svdvals(tn.tensor([[0.0, 2.0], [1.0, 0.0]]))
        tensor([2., 1.])
    """
    a = matrices("linalg.svd", A)
    floating("linalg.svd", a)
    _no_driver("svdvals", driver)
    if _recorded(A):
        return singular_system.function(A, False)[1]
    return wrap(_converged("svd", np.linalg.svd, a, False, False))


# ---- rank and pseudoinverse ---------------------------------------------------------------------


def _number(x: Any) -> Any:
    return x._array if isinstance(x, Tensor) else x


def _cutoff(S: Array, shape: tuple[int, ...], atol: Any, rtol: Any) -> Array:
    """Return ``max(atol, rtol * largest)``: singular values up to it count as zero."""
    atol, rtol = _number(atol), _number(rtol)
    if rtol is None:
        rtol = float(np.finfo(S.dtype).eps) * max(shape[-2:]) if atol is None else 0.0
    largest = S.max(-1, initial=0)
    return np.maximum(0.0 if atol is None else atol, np.asarray(rtol) * largest)[..., None]


@operation(node="LinalgPinvBackward0", methods=False)
def pseudoinverse(A: Array, /, atol: Any, rtol: Any, hermitian: bool) -> Array:
    """Return the pseudoinverse by the nonzero singular values (or eigenvalues)."""
    if A.size == 0:
        return np.zeros((*A.shape[:-2], A.shape[-1], A.shape[-2]), A.dtype)
    if hermitian:
        S, V = _converged("eigh", np.linalg.eigh, A)
        U, Vh = V, V.mT
    else:
        U, S, Vh = _converged("svd", np.linalg.svd, A, False)
    sizes = np.abs(S)
    above = sizes > _cutoff(sizes, A.shape, atol, rtol)
    inverses = np.where(above, 1 / np.where(above, S, 1), 0).astype(A.dtype)
    return np.matmul(Vh.mT * inverses[..., None, :], U.mT)


def pinv_gradient(g: Any, A: Any, P: Any) -> Any:
    """Return the derivative of the pseudoinverse P at constant rank (Golub and Pereyra 1973)."""
    g = g.mT
    if A.shape[-2] <= A.shape[-1]:
        K = g @ P
        outer = K @ P.mT
        return -(P @ K).mT + outer - (A @ P) @ outer + P.mT @ (P @ (g - K @ A))
    K = P @ g
    outer = P.mT @ K
    return -(K @ P).mT + (g - A @ K) @ P @ P.mT + outer - (outer @ P) @ A


pseudoinverse.grad(A=lambda g, A, result: pinv_gradient(g, A, result))


@with_out()
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
    if a.ndim < 2 or not dtypes.is_floating(a.dtype):
        raise RuntimeError(
            f"linalg.pinv({name_of(a)}{{{list(a.shape)}}}): expected a tensor with 2 or more "
            "dimensions of float, double, cfloat or cdouble types"
        )
    if hermitian:
        _symmetric(A)
    rtol = rcond if rtol is None else rtol
    return pseudoinverse.function(A, _number(atol), _number(rtol), hermitian)


@with_out()
@autocast("float32")
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
        _symmetric(A)
        sizes = np.abs(_converged("eigh", np.linalg.eigvalsh, a))
    else:
        sizes = _converged("svd", np.linalg.svd, a, False, False)
    return wrap(np.asarray((sizes > _cutoff(sizes, a.shape, atol, rtol)).sum(-1)))
