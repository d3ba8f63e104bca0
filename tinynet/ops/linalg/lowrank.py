"""Nearly optimal low-rank decompositions from random projections.

Source: N. Halko, P. G. Martinsson and J. A. Tropp, "Finding structure with randomness", SIAM Review
53 (2011): algorithm 4.4 for the range, 5.1 for the singular values.
"""

from __future__ import annotations

from tinynet.core.declaration.operation import public
from tinynet.core.tensors.tensor import Tensor
from tinynet.ops.argument_errors import refuse_others
from tinynet.ops.creation.random import randn
from tinynet.ops.linalg.factors import qr
from tinynet.ops.linalg.spectra import svd
from tinynet.ops.products.matmul import matmul
from tinynet.ops.reduction.sums import mean


def _range(A: Tensor, q: int, niter: int) -> Tensor:
    """Return an orthonormal basis of what ``A`` makes of random vectors: ``[..., m, q]``."""
    Q = qr(matmul(A, randn(A.shape[-1], q, dtype=A.dtype)))[0]
    for _ in range(niter):
        Q = qr(matmul(A.mT, Q))[0]
        Q = qr(matmul(A, Q))[0]
    return Q


@public(as_method=False)
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


@public(as_method=False)
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
