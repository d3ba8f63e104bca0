"""Inverses of square matrices, and linear systems."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet.core import layouts
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.ops.arguments import EXPECTED
from tinynet.ops.linalg.checks import (
    failed,
    fitting,
    matrices,
    named,
    square,
)
from tinynet.ops.linalg.lu import eliminated, first_zero
from tinynet.ops.shaping.views import permute_dims, reshape, unsqueeze

SINGULAR = (
    "The diagonal element {} is zero, the inversion could not be completed because the input "
    "matrix is singular."
)
UNSOLVED = "The solver failed because the input matrix is singular."

# ---- shared helpers -----------------------------------------------------------------------------


def _each(compute: Callable[..., Array], a: Array, *others: Array) -> tuple[Array, Array]:
    """Compute a batch of matrices one by one, as some are singular; return results and infos.

    LAPACK's info is the number (from 1) of the first zero pivot. The result for a singular matrix
    is NaN.
    """
    batch = np.broadcast_shapes(a.shape[:-2], *(x.shape[:-2] for x in others))
    stacks = [np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (a, *others)]
    made = np.full_like(stacks[-1], math.nan, order="C")
    info = np.zeros(batch, np.int32)
    for place in np.ndindex(batch):
        try:
            made[place] = compute(*(x[place] for x in stacks))
        except np.linalg.LinAlgError:
            packed, _ = eliminated(stacks[0][place])
            info[place] = first_zero(packed) or a.shape[-1]
    return made, info


# ---- inverses -----------------------------------------------------------------------------------


@operation(
    outputs=("inverse", "info"), node="LinalgInvExBackward0", complex=True, order="in_columns"
)
def inverse_and_info(A: Array, /) -> tuple[Array, Array]:
    """Return the inverses, and LAPACK's info: 0 on success."""
    try:
        return np.linalg.inv(A), np.zeros(A.shape[:-2], np.int32)
    except np.linalg.LinAlgError:
        return _each(np.linalg.inv, A)


inverse_and_info.grad(A=lambda g, inverse: -(inverse.mT @ g @ inverse.mT))


def inverted(A: Any) -> Any:
    """Return the inverse of an array or tensor, for use in formulas."""
    return inverse_and_info(A)[0]


_InvEx = named("linalg_inv_ex", ("inverse", "info"))


@composite(module=True, out=EXPECTED, autocast="float32")
def inv_ex(A: Tensor, *, check_errors: bool = False) -> Any:
    """Return the inverses of matrices, and an error code for each.

    Args:
        A: ``[..., n, n]``.
        check_errors: raise errors like ``inv``.

    Returns:
        ``(inverse, info)``: info is 0, or the number of a zero pivot (the inverse is NaN then).

    Example:
        >>> tn.linalg.inv_ex(tn.eye(2)).info
        tensor(0, dtype=tinynet.int32)
    """
    square("linalg.inv", A)
    inverse, info = inverse_and_info.function(A)
    if check_errors:
        failed("linalg.inv_ex", info._array, SINGULAR)
    return _InvEx(inverse, info)


@composite(module=True, out=EXPECTED, autocast="float32")
def inv(A: Tensor) -> Tensor:
    """Return the inverses of square matrices.

    ``A @ inv(A) = eye(n)``.

    Args:
        A: ``[..., n, n]``.

    Raises:
        LinAlgError: a matrix is singular.
        RuntimeError: not floating-point square matrices.

    Example:
        >>> tn.linalg.inv(tn.tensor([[2.0, 0.0], [0.0, 4.0]]))
        tensor([[0.5000, 0.0000],
                [0.0000, 0.2500]])
    """
    return checked_inverse(A, "linalg.inv")


def checked_inverse(A: Tensor, name: str) -> Tensor:
    """Return the inverse; errors name this function."""
    square("linalg.inv", A)
    inverse, info = inverse_and_info.function(A)
    failed(name, info._array, SINGULAR)
    return inverse


@composite(out=True, autocast="float32")
def inverse(self: Tensor) -> Tensor:
    """Return the inverses of square matrices; ``linalg.inv`` does the same.

    ``A @ inverse(A) = eye(n)``.

    Raises:
        LinAlgError: a matrix is singular.
        RuntimeError: not floating-point square matrices.

    Example:
        >>> tn.inverse(tn.tensor([[4.0]]))
        tensor([[0.2500]])
    """
    return inv(self)


# ---- linear systems -----------------------------------------------------------------------------


def is_vector(a: Array, b: Array) -> bool:
    """Return whether the right-hand sides are vectors: a single one, or one per matrix."""
    return b.ndim == 1 or (a.ndim - 1 == b.ndim and b.shape == a.shape[:-1])


@operation(outputs=("solution", "info"), node="LinalgSolveExBackward0", complex=True, order="")
def solution_and_info(A: Array, B: Array, /, left: bool, vector: bool) -> tuple[Array, Array]:
    """Return the solution X of ``A X = B`` or ``X A = B``, and LAPACK's info."""
    b = B[..., None] if vector else B
    a, b = (A, b) if left else (A.mT, b.mT)
    try:
        x = np.linalg.solve(a, b)
        info = np.zeros(A.shape[:-2], np.int32)
    except np.linalg.LinAlgError:
        x, info = _each(np.linalg.solve, a, b)
    x = x if left else np.ascontiguousarray(x.mT)
    x = x[..., 0] if vector else x  # PyTorch lays out a batch of vectors as a matrix
    return (layouts.in_columns(x, x) if left else layouts.in_rows(x)), info


def _solution_gradients(
    g: Any, A: Any, solution: Any, left: bool, vector: bool, needs: tuple[bool, bool]
) -> tuple[Any, Any]:
    by_b = solution_and_info(A.mT, g, left, vector)[0]
    if not needs[0]:
        return None, by_b
    if vector:
        return -(unsqueeze(by_b, -1) * unsqueeze(solution, -2)), by_b
    return -(by_b @ solution.mT if left else solution.mT @ by_b), by_b


solution_and_info.grads(_solution_gradients)
_SolveEx = named("linalg_solve_ex", ("result", "info"))


@composite(module=True, out=EXPECTED)
def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    """Solve linear systems; return the solutions and an error code for each matrix.

    Arguments are those of ``solve``.

    Returns:
        ``(result, info)``: info is 0, or the number of a zero pivot (the result is NaN then).

    Example:
        >>> tn.linalg.solve_ex(tn.eye(2), tn.ones(2)).result
        tensor([1., 1.])
    """
    name = "linalg.solve"
    a = square(name, A)
    b = B._array if isinstance(B, Tensor) else matrices(name, B, "B")
    vector = is_vector(a, b)
    fitting(name, a, b[..., None] if vector else matrices(name, B, "B"), left)
    result, info = solution_and_info.function(A, B, left, vector)
    if check_errors:
        failed("tinynet.linalg.solve_ex", info._array, UNSOLVED)
    return _SolveEx(result, info)


@composite(module=True, out=EXPECTED, autocast="float32")
def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """Solve systems of linear equations.

    Faster and more accurate than ``inv(A) @ B``.

    Args:
        A: ``[..., n, n]``.
        B: matrices ``[..., n, k]``, or vectors: ``[n]``, or one for each matrix of A.
        left: solve ``A X = B``; otherwise ``X A = B``.

    Raises:
        LinAlgError: a matrix is singular.
        RuntimeError: shapes or dtypes do not match.

    Example:
        >>> tn.linalg.solve(tn.tensor([[2.0, 0.0], [0.0, 4.0]]), tn.tensor([2.0, 2.0]))
        tensor([1.0000, 0.5000])
    """
    result, info = solve_ex(A, B, left=left)
    failed("tinynet.linalg.solve", info._array, UNSOLVED)
    return result


# ---- tensors as matrices ------------------------------------------------------------------------


@composite(module=True, out=True, autocast="float32")
def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """Return the inverse of a tensor with respect to ``tensordot``.

    Args:
        A: a tensor; the product of its first ``ind`` sizes equals the product of the others.
        ind: the number of dimensions of the result of ``tensordot(A, x)``.

    Raises:
        LinAlgError: the tensor is singular.
        RuntimeError: an unsuitable shape.

    Example:
        >>> tn.linalg.tensorinv(tn.eye(6).reshape(2, 3, 6)).shape
        tinynet.Size([6, 2, 3])
    """
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    shape = A._array.shape
    rows, columns = math.prod(shape[:ind]), math.prod(shape[ind:])
    if rows != columns:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
            f"prod(self.shape[:ind]), but got {columns} != {rows}"
        )
    inverse = checked_inverse(reshape(A, (rows, columns)), "inv")
    return reshape(inverse, (*shape[ind:], *shape[:ind]))


@composite(module=True, out=True, autocast="float32")
def tensorsolve(A: Tensor, B: Tensor, dims: tuple[int, ...] | None = None) -> Tensor:
    """Solve ``tensordot(A, X, X.ndim) = B`` for X.

    Args:
        A: its first dimensions are those of B, unless ``dims`` moves them.
        B: the right-hand side.
        dims: dimensions of A to move to the end first.

    Raises:
        LinAlgError: A is singular.
        RuntimeError: an unsuitable shape.

    Example:
        >>> tn.linalg.tensorsolve(tn.eye(6).reshape(2, 3, 2, 3), tn.ones(2, 3)).shape
        tinynet.Size([2, 3])
    """
    if dims is not None:
        moved = [d % A._array.ndim for d in dims]
        order = [i for i in range(A._array.ndim) if i not in moved] + moved
        A = permute_dims.function(A, tuple(order))
    shape, ndim = A._array.shape, B._array.ndim
    rows, columns = math.prod(shape[:ndim]), math.prod(shape[ndim:])
    if rows != columns:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), but got {columns} != {rows}"
        )
    x = solve(reshape(A, (rows, columns)), reshape(B, (B._array.size,)))
    return reshape(x, shape[ndim:])
