"""Least squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.complex_rules import adjoint
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.ops.arguments import name_of, refuse_others
from tinynet.ops.linalg.checks import named
from tinynet.ops.linalg.inverses import is_vector
from tinynet.ops.linalg.ranks import pinv_gradient, pseudoinverse
from tinynet.ops.shaping.views import unsqueeze

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
