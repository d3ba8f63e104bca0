"""Ranks and pseudoinverses, by singular values."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.declaration.casting import autocast
from tinynet.core.declaration.complex_rules import adjoint
from tinynet.core.declaration.operation import operation
from tinynet.core.declaration.out_argument import with_out
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import Array
from tinynet.ops.argument_errors import name_of, refuse_others
from tinynet.ops.linalg.checks import floating, matrices
from tinynet.ops.linalg.spectra import converged, symmetric


def _number(x: Any) -> Any:
    return x._array if isinstance(x, Tensor) else x


def _cutoff(S: Array, shape: tuple[int, ...], atol: Any, rtol: Any) -> Array:
    """Return ``max(atol, rtol * largest)``: singular values up to it count as zero."""
    atol, rtol = _number(atol), _number(rtol)
    if rtol is None:
        rtol = float(np.finfo(S.dtype).eps) * max(shape[-2:]) if atol is None else 0.0
    largest = S.max(-1, initial=0)
    return np.maximum(0.0 if atol is None else atol, np.asarray(rtol) * largest)[..., None]


@operation(node="LinalgPinvBackward0", methods=False, complex="given")
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
    if a.ndim < 2 or not dtypes.is_inexact(a.dtype):
        raise RuntimeError(
            f"linalg.pinv({name_of(a)}{{{list(a.shape)}}}): expected a tensor with 2 or more "
            "dimensions of float, double, cfloat or cdouble types"
        )
    if hermitian:
        symmetric(A)
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
        symmetric(A)
        sizes = np.abs(converged("eigh", np.linalg.eigvalsh, a))
    else:
        sizes = converged("svd", np.linalg.svd, a, False, False)
    return wrap(np.asarray((sizes > _cutoff(sizes, a.shape, atol, rtol)).sum(-1)))
