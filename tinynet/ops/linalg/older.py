"""Linear algebra outside ``tinynet.linalg``: older functions and methods."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from tinynet import errors
from tinynet.core.complex_rules import adjoint
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import Array
from tinynet.ops.arguments import EXPECTED, name_of, refuse_others
from tinynet.ops.linalg.checks import failed, floating, in_columns, matrices, named, square_sizes
from tinynet.ops.linalg.factors import NOT_POSITIVE, cholesky_and_info
from tinynet.ops.linalg.factors import qr as linalg_qr
from tinynet.ops.linalg.inverses import SINGULAR
from tinynet.ops.linalg.least_squares import pinv
from tinynet.ops.linalg.lu import lu_factor_ex as linalg_lu_factor_ex
from tinynet.ops.linalg.lu import lu_solve as linalg_lu_solve
from tinynet.ops.linalg.lu import lu_unpack, substitute, triangular
from tinynet.ops.linalg.spectra import singular_system, svdvals
from tinynet.ops.shaping.reshaping import expand


def _deprecated(name: str, better: str) -> None:
    """Warn that a function is deprecated in favour of another."""
    warnings.warn(
        f"tinynet.{name} is deprecated in favor of tinynet.linalg.{better} and will be removed in "
        "a future PyTorch release.",
        UserWarning,
        stacklevel=3,
    )


@composite(autocast="float32")
def pinverse(self: Tensor, rcond: float = 1e-15) -> Tensor:
    """Return the pseudoinverses of matrices.

    Prefer ``linalg.pinv``, whose tolerance fits the dtype. Otherwise as ``linalg.pinv``.

    Args:
        self: ``[..., m, n]``.
        rcond: singular values below this fraction of the largest count as 0.

    Raises:
        RuntimeError: not floating-point matrices.
        LinAlgError: an element is not finite.

    Example:
        >>> tn.pinverse(tn.tensor([[2.0], [0.0]]))
        tensor([[0.5000, 0.0000]])
    """
    return pinv(self, rcond)


def _check_systems(name: str, B: Tensor, A: Tensor) -> None:
    """Refuse square matrices A and right-hand sides B whose shapes or dtypes do not match."""
    b, a = B._array, A._array
    rows, columns = a.shape[-2:]
    if rows != columns:
        raise RuntimeError(
            f"A must be batches of square matrices, but they are {rows} by {columns} matrices"
        )
    if b.shape[-2] != rows:
        raise RuntimeError(
            f"Incompatible matrix sizes for {name}: each A matrix is {rows} by {columns} "
            f"but each b matrix is {b.shape[-2]} by {b.shape[-1]}"
        )
    if a.dtype != b.dtype:
        raise RuntimeError(
            "Expected b and A to have the same dtype, but found b of type "
            f"{name_of(b)} and A of type {name_of(a)} instead."
        )


# ---- Cholesky -----------------------------------------------------------------------------------


@composite(out=EXPECTED, autocast="float32")
def cholesky(self: Tensor, upper: bool = False) -> Tensor:
    """Return Cholesky factors; prefer ``linalg.cholesky``.

    ``A = L @ L.mT`` with L lower triangular, or ``A = U.mT @ U`` with U upper triangular.

    Args:
        self: symmetric positive definite matrices, ``[..., n, n]``.
        upper: whether to return the upper triangular factor.

    Raises:
        LinAlgError: a matrix is not positive definite.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # it is deprecated
        ...     tn.cholesky(tn.tensor([[4.0, 2.0], [2.0, 2.0]]))
        tensor([[2., 0.],
                [1., 1.]])
    """
    _deprecated("cholesky", "cholesky")
    a = matrices("cholesky", self)
    square_sizes("cholesky", a)
    floating("cholesky", a)
    L, info = cholesky_and_info.function(self, upper)
    failed("cholesky", info._array, NOT_POSITIVE)
    return L


def _by_factor(half: Any, factor: Any, upper: bool) -> Any:
    """Return a gradient in PyTorch's form: also in the triangle that is not read."""
    common = half + adjoint(half)
    return -(factor @ common if upper else common @ factor)


@operation(node="CholeskySolveBackward0", complex="given", order="in_columns")
def solved_with_factor(B: Array, A: Array, /, upper: bool) -> Array:
    """Return the solution for a right-hand side, given the Cholesky factor of the matrix."""
    L = adjoint(A) if upper else A
    return substitute(adjoint(L), substitute(L, B, False, False), True, False)


def _solved_gradients(
    g: Any, result: Any, A: Any, upper: bool, needs: tuple[bool, bool]
) -> tuple[Any, Any]:
    by_b = solved_with_factor(g, A, upper)
    return by_b, _by_factor(by_b @ adjoint(result), A, upper) if needs[1] else None


solved_with_factor.grads(_solved_gradients)


@operation(node="CholeskyInverseBackward0", complex="given", order="in_columns")
def inverse_with_factor(A: Array, /, upper: bool) -> Array:
    """Return the inverse of a matrix, given its Cholesky factor."""
    return solved_with_factor.kernel(np.eye(A.shape[-1], dtype=A.dtype), A, upper)


inverse_with_factor.grad(A=lambda g, result, A, upper: _by_factor(result @ (g @ result), A, upper))


@composite(out=True, autocast="float32", checks=True)
def cholesky_solve(self: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    """Solve ``A X = B``, given the Cholesky factor of A.

    Args:
        self: B, ``[..., n, k]``.
        input2: the factor, ``[..., n, n]``; only its triangle is read.
        upper: whether the factor is upper triangular.

    Raises:
        RuntimeError: shapes or dtypes do not match.

    Example:
        >>> L = tn.linalg.cholesky(tn.tensor([[4.0, 0.0], [0.0, 1.0]]))
        >>> tn.cholesky_solve(tn.tensor([[2.0], [3.0]]), L)
        tensor([[0.5000],
                [3.0000]])
    """
    for name, x in (("b", self), ("u", input2)):
        if x.ndim < 2:
            raise RuntimeError(
                f"{name} should have at least 2 dimensions, but has {x.ndim} dimensions instead"
            )
    _check_systems("cholesky_solve", self, input2)
    return solved_with_factor.function(self, input2, upper)


@composite(out=True, autocast="float32")
def cholesky_inverse(self: Tensor, upper: bool = False) -> Tensor:
    """Return the inverses of matrices, given their Cholesky factors.

    ``inv(L @ L.mT)`` with L lower triangular, or ``inv(U.mT @ U)`` with U upper triangular.

    Args:
        self: the factor, ``[..., n, n]``; only its triangle is read.
        upper: whether the factor is upper triangular.

    Raises:
        LinAlgError: the diagonal contains a zero.
        RuntimeError: not floating-point square matrices.

    Example:
        >>> tn.cholesky_inverse(tn.tensor([[2.0, 0.0], [0.0, 1.0]]))
        tensor([[0.2500, 0.0000],
                [0.0000, 1.0000]])
    """
    a = matrices("cholesky_inverse", self)
    square_sizes("cholesky_inverse", a)
    floating("cholesky_inverse", a)
    zeros = np.diagonal(a, 0, -2, -1) == 0
    info = np.where(zeros.any(-1), zeros.argmax(-1) + 1 if a.size else 0, 0)
    failed("cholesky_inverse", np.asarray(info), SINGULAR)
    return inverse_with_factor.function(self, upper)


_TriangularSolve = named("triangular_solve", ("solution", "cloned_coefficient"))


@composite(out=EXPECTED, autocast="float32")
def triangular_solve(
    self: Tensor,
    A: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> Any:
    """Solve ``A @ X = B`` with a triangular A; return X and a copy of A.

    Prefer ``linalg.solve_triangular``.

    Args:
        self: B, ``[..., n, k]``.
        A: ``[..., n, n]``; only one triangle is read, and batches broadcast.
        upper: whether A is upper triangular.
        transpose: solve ``A.mT @ X = B``.
        unitriangular: assume ones on the diagonal of A without reading it.

    Raises:
        RuntimeError: shapes or dtypes do not match.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # it is deprecated
        ...     tn.triangular_solve(tn.tensor([[4.0], [6.0]]), 2 * tn.eye(2)).solution
        tensor([[2.],
                [3.]])
    """
    refuse_others("triangular_solve", self=self, A=A)
    _deprecated("triangular_solve", "solve_triangular")
    for name, x in (("b", self), ("A", A)):
        if x.ndim < 2:
            raise RuntimeError(
                f"tinynet.triangular_solve: Expected {name} to have at least 2 dimensions, but it "
                f"has {x.ndim} dimensions instead"
            )
    _check_systems("triangular_solve", self, A)
    try:
        batch = np.broadcast_shapes(self._array.shape[:-2], A._array.shape[:-2])
    except ValueError:
        raise errors.not_broadcastable(self._array.shape[:-2], A._array.shape[:-2]) from None
    copy = in_columns(expand(A, (*batch, *A._array.shape[-2:])).clone())
    left = copy.mT if transpose else copy
    return _TriangularSolve(
        triangular.function(left, self, upper != transpose, True, unitriangular), copy
    )


# ---- QR, SVD, LU --------------------------------------------------------------------------------

_Qr = named("qr", ("Q", "R"))
_Svd = named("svd", ("U", "S", "V"))
_Geqrf = named("geqrf", ("a", "tau"))


@composite(out=EXPECTED, autocast="float32")
def qr(self: Tensor, some: bool = True) -> Any:
    """Return the QR decomposition; prefer ``linalg.qr``.

    ``A = Q @ R``, where Q has orthonormal columns and R is upper triangular.

    Args:
        self: ``[..., m, n]``.
        some: return only the first k columns of Q and rows of R, k the smaller of m and n.

    Raises:
        RuntimeError: not floating-point matrices.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # it is deprecated
        ...     Q, R = tn.qr(tn.rand(3, 2))
        >>> Q.shape, R.shape
        (tinynet.Size([3, 2]), tinynet.Size([2, 2]))
    """
    _deprecated("qr", "qr")
    return _Qr(*linalg_qr(self, "reduced" if some else "complete"))


@composite(out=EXPECTED, autocast="float32")
def svd(self: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """Return ``(U, S, V)`` with ``A = U @ diag(S) @ V.mT``; prefer ``linalg.svd``.

    Args:
        self: ``[..., m, n]``.
        some: return only the first k columns of U and V, k the smaller of m and n.
        compute_uv: whether to compute U and V; otherwise they are zeros.

    Raises:
        RuntimeError: not floating-point matrices.
        LinAlgError: an element is not finite.

    Example:
        >>> tn.svd(tn.tensor([[0.0, 2.0], [1.0, 0.0]])).S
        tensor([2., 1.])
    """
    a = matrices("linalg.svd", self)
    floating("linalg.svd", a)
    if compute_uv:
        U, S, Vh = singular_system.function(self, not some)
        return _Svd(U, S, adjoint(Vh))
    *batch, m, n = a.shape
    empty = [wrap(np.zeros((*batch, k, k), a.dtype)) for k in (m, n)]
    return _Svd(empty[0], svdvals(self), empty[1])


@composite(out=True, autocast="float32")
def geqrf(self: Tensor) -> Any:
    """Return a QR decomposition packed like LAPACK's; without gradient.

    R is the upper triangle of the first result, with the Householder vectors below it; the second
    result holds their factors. ``linalg.householder_product`` computes Q from both.

    Source: Golub and Van Loan, "Matrix Computations", 1983, section 5.2.

    Args:
        self: ``[..., m, n]``.

    Raises:
        RuntimeError: not floating-point matrices.

    Example:
        >>> tn.geqrf(tn.tensor([[3.0, 0.0], [0.0, 2.0]])).tau
        tensor([0., 0.])
    """
    a = matrices("geqrf", self)
    floating("geqrf", a)
    if not a.size:
        return _Geqrf(wrap(a.copy()), wrap(np.zeros((*a.shape[:-2], min(a.shape[-2:])), a.dtype)))
    packed, tau = np.linalg.qr(a, mode="raw")
    packed = np.swapaxes(packed, -2, -1).astype(a.dtype)
    return _Geqrf(in_columns(wrap(packed)), wrap(tau.astype(a.dtype)))


@composite(out=True)
def lu(self: Tensor, pivot: bool = True, get_infos: bool = False) -> tuple[Tensor, ...]:
    """Return packed LU factors and pivots (and error codes); prefer ``linalg.lu_factor``.

    ``A = P @ L @ U``: a permutation, a unit lower triangular and an upper triangular matrix.

    Args:
        self: ``[..., m, n]``.
        pivot: must be True: rows are swapped for the largest pivots.
        get_infos: also return, for each matrix, the number of a zero pivot, or 0.

    Raises:
        RuntimeError: not floating-point matrices, or ``pivot`` is False.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # it is deprecated
        ...     packed, pivots = tn.tensor([[1.0, 2.0], [2.0, 6.0]]).lu()
        >>> packed
        tensor([[ 2.0000,  6.0000],
                [ 0.5000, -1.0000]])
    """
    warnings.warn(
        "tinynet.lu is deprecated in favor of tinynet.linalg.lu_factor / "
        "tinynet.linalg.lu_factor_ex and will be removed in a future PyTorch release.",
        UserWarning,
        stacklevel=2,
    )
    LU, pivots, info = linalg_lu_factor_ex(self, pivot=pivot)
    return (LU, pivots, info) if get_infos else (LU, pivots)


@composite(out=EXPECTED, autocast="float32")
def lu_solve(self: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """Solve linear systems with LU factors; prefer ``linalg.lu_solve``.

    Solves ``A @ X = B`` for X.

    Args:
        self: the right-hand side B, ``[..., n, k]``.
        LU_data, LU_pivots: the result of ``linalg.lu_factor``.

    Raises:
        RuntimeError: shapes or dtypes do not match.

    Example:
        >>> import warnings
        >>> packed, pivots = tn.linalg.lu_factor(tn.tensor([[2.0, 0.0], [0.0, 4.0]]))
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # it is deprecated
        ...     tn.lu_solve(tn.ones(2, 1), packed, pivots)
        tensor([[0.5000],
                [0.2500]])
    """
    _deprecated("lu_solve", "lu_solve")
    return linalg_lu_solve(LU_data, LU_pivots, self)


composite(lu_unpack, method=False, out=EXPECTED)
