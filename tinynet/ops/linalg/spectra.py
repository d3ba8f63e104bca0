"""Eigenvalues of symmetric and Hermitian matrices, and singular values."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.complex_rules import adjoint, conjugate, holds_complex
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.graph.views import requires_grad
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import Array
from tinynet.errors import LinAlgError
from tinynet.ops.arguments import EXPECTED, name_of
from tinynet.ops.linalg.checks import floating, matrices, named, square, square_sizes
from tinynet.ops.linalg.inverses import solution_and_info
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


def on_diagonal(x: Any) -> Any:
    """Return matrices with the last dimension on their diagonals."""
    return where(_eye(x.shape[-1], x) == 1, unsqueeze(x, -1), 0.0)


def gaps(x: Any) -> Any:
    """Return ``x_j - x_i`` in row i and column j, with ones on the diagonal."""
    return unsqueeze(x, -2) - unsqueeze(x, -1) + _eye(x.shape[-1], x)


def refuse_phases(name: str, vectors: str, turned: Any) -> None:
    """Raise RuntimeError for a loss that depends on the arbitrary phases of vectors.

    Args:
        name: PyTorch's name of the derivative.
        vectors: what the vectors are.
        turned: ``V^H gV``, whose diagonal is real for other losses.
    """
    array = turned._array if isinstance(turned, Tensor) else turned
    if array.dtype.kind == "c" and not np.allclose(
        np.diagonal(array, 0, -2, -1).imag, 0, atol=1e-2
    ):
        depends = "this term, making it" if name == "svd" else "this quantity, so it is"
        raise RuntimeError(
            f"{name}_backward: The {vectors}vectors in the complex case are specified up to "
            f"multiplication by e^{{i phi}}. The specified loss function depends on {depends} "
            "ill-defined."
        )


def _recorded(A: Tensor) -> bool:
    return bool(mode.grad and requires_grad(A))


# ---- eigenvalues --------------------------------------------------------------------------------


@operation(
    outputs=("eigenvalues", "eigenvectors"),
    differentiable=2,
    node="LinalgEighBackward0",
    complex="given",
    order="in_columns",
)
def eigen_system(A: Array, /, uplo: str) -> tuple[Array, Array]:
    """Return eigenvalues in ascending order, and eigenvectors as columns."""
    return converged("eigh", np.linalg.eigh, A, uplo)


def converged(name: str, compute: Any, A: Array, *args: Any) -> Any:
    """Return ``compute(A, *args)``; LinAlgError where that does not converge."""
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
    """Return the Hermitian part of ``V (diag(gL) + (V^H gV) / (L_j - L_i)) V^H`` (Giles 2008)."""
    by_values, by_vectors = g
    turned = adjoint(vectors) @ by_vectors
    refuse_phases("linalg_eigh", "eigen", turned)
    turned = _over(turned, gaps(values))
    turned = where(_eye(values.shape[-1], values) == 1, 0.0, turned)
    inner = (turned + adjoint(turned)) * 0.5 + on_diagonal(by_values)
    return vectors @ inner @ adjoint(vectors)


eigen_system.grad(
    A=lambda g, eigenvalues, eigenvectors: _eigen_gradient(g, eigenvalues, eigenvectors)
)
_Eigh = named("linalg_eigh", ("eigenvalues", "eigenvectors"))


def symmetric(A: Any) -> Array:
    """Return the array of a tensor of floating-point square matrices; refuse others."""
    a = matrices("linalg.eigh", A)
    square_sizes("linalg.eigh", a)
    if not dtypes.is_inexact(a.dtype) or a.dtype.itemsize < 4:
        raise NotImplementedError(f"\"linalg_eigh_cpu\" not implemented for '{name_of(a)}'")
    return a


def _triangle(UPLO: str) -> str:
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return UPLO.upper()


@composite(module=True, out=EXPECTED, autocast="float32")
def eigh(A: Tensor, UPLO: str = "L") -> Any:
    """Return the eigenvalues and eigenvectors of Hermitian matrices.

    ``A = V @ diag(w) @ V.mH`` with orthonormal columns in V.

    The sign (or phase) of each eigenvector is arbitrary; the derivative is that of functions that
    depend on it. It is finite only if the eigenvalues are distinct, or the eigenvectors are unused.

    Args:
        A: ``[..., n, n]``, Hermitian.
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
    symmetric(A)
    return _Eigh(*eigen_system.function(A, _triangle(UPLO)))


@composite(module=True, out=EXPECTED, autocast="float32")
def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """Return the eigenvalues of symmetric matrices, in ascending order.

    The w of ``A @ v = w * v``.

    Args:
        A: ``[..., n, n]``, Hermitian.
        UPLO: the triangle to read, ``"L"`` or ``"U"``.

    Raises:
        RuntimeError: not floating-point square matrices, or an unknown ``UPLO``.

    Example:
        >>> tn.linalg.eigvalsh(tn.tensor([[2.0, 1.0], [1.0, 2.0]]))
        tensor([1., 3.])
    """
    a, uplo = symmetric(A), _triangle(UPLO)
    if _recorded(A):
        return eigen_system.function(A, uplo)[0]
    return wrap(converged("eigh", np.linalg.eigvalsh, a, uplo))


# ---- singular values ----------------------------------------------------------------------------


@operation(
    outputs=("U", "S", "Vh"),
    differentiable=3,
    node="LinalgSvdBackward0",
    complex="given",
    order="in_columns",
)
def singular_system(A: Array, /, full_matrices: bool) -> tuple[Array, Array, Array]:
    """Return U, S and the transpose of V."""
    U, S, Vh = converged("svd", np.linalg.svd, A, full_matrices)
    return U, S, Vh


def _svd_gradient(g: Any, U: Any, S: Any, Vh: Any) -> Any:
    """Return the derivative of the first k columns (Giles 2008).

    With E_ij = s_j^2 - s_i^2: the inner part is (skew(U^H gU) / E) S + S (skew(V^H gV) / E) +
    diag(gS), for complex matrices also diag(skew(U^H gU)) / 2S; to U of it belongs what gU has
    outside of U, over S, and the same for V.
    """
    k = S.shape[-1]
    gU, gS, gV = g[0][..., :, :k], g[1], adjoint(g[2][..., :k, :])
    U, V = U[..., :, :k], adjoint(Vh[..., :k, :])
    row, column = unsqueeze(S, -2), unsqueeze(S, -1)
    left, right = adjoint(U) @ gU, adjoint(V) @ gV
    refuse_phases("svd", "singular ", left + right)
    skew = left - adjoint(left)
    apart, both = gaps(S), row + column  # their product is E, which may overflow
    inner = _over(skew, apart) * _over(row, both)
    inner = inner + _over(column, both) * _over(right - adjoint(right), apart)
    if holds_complex(U):  # the phases of the columns of U
        diagonal = _eye(k, S) == 1
        inner = where(diagonal, _over(skew, 2 * column), inner)
    by_a = U @ (inner + on_diagonal(gS)) @ adjoint(V)
    if U.shape[-2] > k:
        by_a = by_a + _over(gU - U @ left, row) @ adjoint(V)
    if V.shape[-2] > k:
        by_a = by_a + U @ adjoint(_over(gV - V @ right, row))
    return by_a


singular_system.grad(A=lambda g, U, S, Vh: _svd_gradient(g, U, S, Vh))
_Svd = named("linalg_svd", ("U", "S", "Vh"))


def _no_driver(name: str, driver: str | None) -> None:
    if driver is not None:
        raise RuntimeError(
            f"tinynet.linalg.{name}: keyword argument `driver=` is only supported on CUDA inputs "
            "with cuSOLVER backend."
        )


@composite(module=True, out=EXPECTED, autocast="float32")
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


@composite(module=True, out=EXPECTED, autocast="float32")
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
    return wrap(converged("svd", np.linalg.svd, a, False, False))


# ---- eigenvalues --------------------------------------------------------------------------------
# Eigenvalues and eigenvectors of general square matrices, which are complex.


@operation(
    outputs=("eigenvalues", "eigenvectors"),
    differentiable=2,
    node="LinalgEigBackward0",
    complex="given",
)
def eigen_values_and_vectors(A: Array, /) -> tuple[Array, Array]:
    """Return complex eigenvalues, and eigenvectors of norm 1 as columns."""
    kind = dtypes.complex_of(A.dtype)
    values, vectors = converged("eig", np.linalg.eig, A)
    return values.astype(kind), vectors.astype(kind)


def _gradient(g: Any, values: Any, vectors: Any) -> Any:
    """Return the derivative for eigenvectors of norm 1 (Boeddeker et al. 2017).

    With W = V^H gV: ``V^-H (diag(gL) + (W - V^H V diag(Re W)) / conj(L_j - L_i)) V^H``.
    """
    by_values, by_vectors = g
    turned = adjoint(vectors) @ by_vectors
    refuse_phases("linalg_eig", "eigen", turned)
    along = turned.real.diagonal(0, -2, -1)
    turned = turned - (adjoint(vectors) @ vectors) * unsqueeze(along, -2)
    inner = turned / conjugate(gaps(values))
    inner = inner - on_diagonal(inner.diagonal(0, -2, -1)) + on_diagonal(by_values)
    right = adjoint(vectors)
    return solution_and_info(right, inner @ right, True, False)[0]


eigen_values_and_vectors.grad(
    A=lambda g, eigenvalues, eigenvectors: _gradient(g, eigenvalues, eigenvectors)
)
_Eig = named("linalg_eig", ("eigenvalues", "eigenvectors"))


@composite(module=True, out=EXPECTED, autocast="float32")
def eig(A: Tensor) -> Any:
    """Return the eigenvalues and eigenvectors of square matrices, as complex numbers.

    ``A @ V = V @ diag(w)``, where the columns of V have norm 1. Their phases are arbitrary; the
    derivative is that of functions that do not depend on them, for distinct eigenvalues.

    Args:
        A: ``[..., n, n]``.

    Returns:
        ``(eigenvalues, eigenvectors)``: ``[..., n]`` in no order; ``[..., n, n]``, eigenvectors as
        columns.

    Raises:
        LinAlgError: the algorithm does not converge.
        RuntimeError: not floating-point or complex square matrices.

    Example:
        >>> tn.linalg.eig(tn.tensor([[0.0, -1.0], [1.0, 0.0]])).eigenvalues
        tensor([0.+1.j, 0.-1.j])
    """
    square("linalg.eig", A)
    return _Eig(*eigen_values_and_vectors.function(A))


@composite(module=True, out=EXPECTED, autocast="float32")
def eigvals(A: Tensor) -> Tensor:
    """Return the eigenvalues of square matrices, as complex numbers in no order.

    The w of ``A @ v = w * v``.

    Args:
        A: ``[..., n, n]``.

    Raises:
        LinAlgError: the algorithm does not converge.
        RuntimeError: not floating-point or complex square matrices.

    Example:
        >>> tn.linalg.eigvals(tn.tensor([[2.0, 0.0], [0.0, 3.0]]))
        tensor([2.+0.j, 3.+0.j])
    """
    square("linalg.eigvals", A)
    return eigen_values_and_vectors.function(A)[0]
