"""Products of vectors, matrices made from vectors, and Householder reflections."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.core.complex_rules import adjoint, conjugate
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import Array
from tinynet.ops.arguments import EXPECTED, keywords, name_of, refuse_others, same_dtype
from tinynet.ops.linalg.checks import floating, in_columns
from tinynet.ops.pointwise.arithmetic import where
from tinynet.ops.products.matmul import matmul, refused, vdot
from tinynet.ops.reduction.sums import sum_dims
from tinynet.ops.shaping import splitting
from tinynet.ops.shaping.copies import tril
from tinynet.ops.shaping.grids import powers_of
from tinynet.ops.shaping.views import axis_of, expand, unsqueeze

# ---- cross and vecdot ---------------------------------------------------------------------------


@operation(node="LinalgCrossBackward0", complex=True)
def cross_product(self: Array, other: Array, /, axis: int) -> Array:
    """Return the cross products of two arrays of vectors."""
    if self.dtype != other.dtype:
        raise refused("cross", self, other)
    result = np.empty(np.broadcast_shapes(self.shape, other.shape), self.dtype)
    places = [(slice(None),) * axis + (i,) for i in range(3)]
    for i in range(3):
        j, k = places[(i + 1) % 3], places[(i + 2) % 3]
        result[places[i]] = self[j] * other[k] - self[k] * other[j]
    return result


cross_product.grad(
    self=lambda g, other, axis: cross_product(other, g, axis),
    other=lambda g, self, axis: cross_product(g, self, axis),
)


@keywords
@composite(module=True, out=EXPECTED)
def linalg_cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """Return the cross products of vectors of three elements.

    ``(x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0])``.

    Args:
        input, other: tensors with the same number of dimensions; they broadcast.
        dim: the dimension of length 3.

    Raises:
        RuntimeError: another length, or the shapes do not broadcast.

    Example:
        >>> tn.linalg.cross(tn.tensor([1.0, 0.0, 0.0]), tn.tensor([0.0, 1.0, 0.0]))
        tensor([0., 0., 1.])
    """
    refuse_others("linalg_cross", input=input, other=other)
    a, b = input._array, other._array
    if a.ndim != b.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    axis = axis_of(dim, a.ndim)
    if a.shape[axis] != 3 or b.shape[axis] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {a.shape[axis]} and "
            f"{b.shape[axis]}"
        )
    try:
        np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        raise errors.not_broadcastable(a.shape, b.shape) from None
    return cross_product.function(input, other, axis)


@composite(out=EXPECTED)
def cross(self: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """Return the cross products of vectors of three elements.

    ``(x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0])``.

    Args:
        self, other: tensors with the same number of dimensions; they broadcast.
        dim: the dimension of length 3; by default the first such one (better give it).

    Example:
        >>> tn.cross(tn.tensor([1.0, 0.0, 0.0]), tn.tensor([0.0, 1.0, 0.0]), dim=0)
        tensor([0., 0., 1.])
    """
    refuse_others("cross", self=self, other=other)
    if dim is None:
        warnings.warn(
            "Using tinynet.cross without specifying the dim arg is deprecated.\nPlease either "
            "pass the dim explicitly or simply use tinynet.linalg.cross.\nThe default value of "
            "dim will change to agree with that of linalg.cross in a future release.",
            UserWarning,
            stacklevel=2,
        )
        dim = next((i for i, n in enumerate(self._array.shape) if n == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
    return linalg_cross(self, other, dim=dim)


@keywords
@composite(
    module=True,
    out=same_dtype("linalg.{name}: Expected out of dtype{result} but found {out}"),
    autocast="lower",
)
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """Return the inner products of vectors along a dimension.

    ``sum(conj(x) * y)``.

    Args:
        x, y: tensors of the same dtype; they broadcast.
        dim: the dimension of the vectors.

    Raises:
        RuntimeError: shapes or dtypes do not match, or the inputs are not floating-point.

    Example:
        >>> tn.linalg.vecdot(tn.ones(2, 3), tn.ones(3))
        tensor([3., 3.])
    """
    refuse_others("linalg_vecdot", x=x, y=y)
    a, b = x._array, y._array
    if not dtypes.is_inexact(a.dtype):
        floating("linalg.vecdot", a)
    if a.dtype != b.dtype:
        raise RuntimeError(
            "linalg.vecdot: Expected x and y to have the same dtype, but found x of type "
            f"{name_of(a)} and y of type {name_of(b)} instead"
        )
    axis_of(dim, a.ndim)
    if a.ndim == b.ndim == 1:
        return vdot.function(x, y)
    return sum_dims.function(conjugate(x) * y, dim)


# ---- views and Vandermonde matrices -------------------------------------------------------------


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Return views of diagonals of matrices.

    ``result[..., i] = A[..., i, i + offset]`` for offsets from 0 on.

    Args:
        A: ``[..., m, n]``.
        offset: the diagonal: 0 is the main one, positive ones are above it.
        dim1, dim2: the dimensions of the matrices.

    Example:
        >>> tn.linalg.diagonal(tn.ones(4, 2, 3)).shape
        tinynet.Size([4, 2])
    """
    return splitting.diagonal(A, offset, dim1, dim2)


def vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """Return Vandermonde matrices: each row holds the powers 0 to ``N`` - 1 of an element.

    ``result[..., i, j] = x[..., i] ** j``.

    Args:
        x: ``[..., n]``; a number counts as one element.
        N: the number of powers, at least 2; n by default.

    Raises:
        RuntimeError: ``N`` is below 2.

    Example:
        >>> tn.linalg.vander(tn.tensor([2.0, 3.0]), N=3)
        tensor([[1., 2., 4.],
                [1., 3., 9.]])
    """
    refuse_others("linalg_vander", x=x)
    if x._array.ndim == 0:
        x = unsqueeze.function(x, 0)
    if N is not None and N <= 1:
        raise RuntimeError("N must be greater than 1.")
    return powers_of(x, x._array.shape[-1] if N is None else N)


# ---- reflections --------------------------------------------------------------------------------


def _check_reflectors(a: Any, tau: Any) -> None:
    name = "tinynet.linalg.householder_product"
    if a.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if a.shape[-2] < a.shape[-1]:
        raise RuntimeError(
            f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]"
        )
    if a.shape[-1] < tau.shape[-1]:
        raise RuntimeError(
            f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]"
        )
    if a.shape[:-2] != tau.shape[:-1]:
        raise RuntimeError(
            f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got "
            f"{list(tau.shape[:-1])}"
        )
    if a.dtype != tau.dtype:
        raise RuntimeError(
            f"{name}: tau dtype {name_of(tau)} does not match input dtype {name_of(a)}"
        )
    floating(name, a)


@composite(module=True, out=True, autocast="float32")
def householder_product(A: Tensor, tau: Tensor) -> Tensor:
    """Return the first n columns of a product of Householder reflections.

    Reflection i is ``1 - tau[i] v v^H``; v has i zeros, a one, and below it column i of A.

    Args:
        A: ``[..., m, n]``, m at least n.
        tau: ``[..., k]``, k at most n.

    Returns:
        ``[..., m, n]``.

    Raises:
        RuntimeError: shapes or dtypes do not match.

    Example:
        >>> tn.linalg.householder_product(tn.zeros(2, 2), tn.tensor([2.0, 0.0]))
        tensor([[-1.,  0.],
                [ 0.,  1.]])
    """
    refuse_others("linalg_householder_product", A=A, tau=tau)
    a = A._array
    _check_reflectors(a, tau._array)
    m, n = a.shape[-2:]
    unit = wrap(np.eye(m, n, dtype=a.dtype))
    if not tau._array.shape[-1]:  # only A's shape counts, but the result is recorded
        return where.function(wrap(np.zeros((), bool)), A, unit)
    V = tril.function(A, -1) + unit
    Q = expand(unit, a.shape)
    for i in reversed(range(tau._array.shape[-1])):
        v = V[..., i : i + 1]
        scale = unsqueeze(tau[..., i : i + 1], -1)
        Q = Q - scale * v * matmul(adjoint(v), Q)
    return in_columns(Q)


def _check_multiplied(a: Any, tau: Any, other: Any, side: int) -> None:
    """Refuse reflectors that do not match a matrix; ``side`` is the dimension where they meet."""
    name, place = "tinynet.ormqr", f"other.shape[{side}]"
    for label, x in (("input", a), ("other", other)):
        if x.ndim < 2:
            raise RuntimeError(f"{name}: {label} must have at least 2 dimensions.")
    if other.shape[side] < tau.shape[-1]:
        raise RuntimeError(f"{name}: {place} must be greater than or equal to tau.shape[-1]")
    if other.shape[side] != a.shape[-2]:
        raise RuntimeError(f"{name}: {place} must be equal to input.shape[-2]")
    if tau.shape[-1] != min(a.shape[-2:]):
        raise RuntimeError(f"{name}: tau.shape[-1] must be equal to min({place}, input.shape[-1])")
    for label, ndim, words in (
        ("tau", tau.ndim + 1, "one dimension less than input"),
        ("other", other.ndim, "the same number of dimensions as input"),
    ):
        if ndim != a.ndim:
            own = {"tau": tau, "other": other}[label].ndim
            raise RuntimeError(
                f"{name}: Expected {label} to have {words}, but got {label}.ndim equal to {own} "
                f"and input.ndim is equal to {a.ndim}"
            )
    for label, batch in (("tau", tau.shape[:-1]), ("other", other.shape[:-2])):
        if batch != a.shape[:-2]:
            raise RuntimeError(
                f"{name}: Expected batch dimensions of {label} to be equal to input.shape[:-2], "
                f"but got {list(batch)}"
            )
    for label, x in (("tau", tau), ("other", other)):
        if x.dtype != a.dtype:
            raise RuntimeError(
                f"{name}: Expected input and {label} to have the same dtype, but input has dtype"
                f"{name_of(a)} and {label} has dtype {name_of(x)}"
            )
    floating(name, a)


@composite(
    out=same_dtype(
        "tinynet.ormqr: Expected input and result to have the same dtype, but input has "
        "dtype{result} and result has dtype {out}"
    ),
    autocast="float32",
    names={"input2": "tau", "input3": "other"},
)
def ormqr(
    self: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False
) -> Tensor:
    """Multiply a matrix by the orthogonal matrix of Householder reflections: ``Q @ other``.

    Q is ``[..., m, m]``; ``householder_product`` returns its first columns.

    Args:
        self: the reflections, ``[..., m, n]``, as ``linalg.householder_product`` takes them.
        tau: their factors, ``[..., k]``, k the smaller of m and n.
        other: ``[..., m, p]``; ``[..., p, m]`` unless ``left``.
        left: return ``Q @ other``, otherwise ``other @ Q``.
        transpose: use ``Q.mH`` instead of Q.

    Raises:
        RuntimeError: shapes or dtypes do not match.

    Example:
        >>> tn.ormqr(tn.zeros(2, 1), tn.tensor([2.0]), tn.tensor([[3.0], [4.0]]))
        tensor([[-3.],
                [ 4.]])
    """
    refuse_others("ormqr", self=self, tau=tau, other=other)
    _check_multiplied(self._array, tau._array, other._array, -2 if left else -1)
    m, n = self._array.shape[-2:]
    V = tril.function(self, -1) + wrap(np.eye(m, n, dtype=self._array.dtype))
    result = other if left else adjoint(other)
    factors = conjugate(tau) if transpose == left else tau
    order = range(tau._array.shape[-1])
    for i in order if transpose == left else reversed(order):
        v = V[..., i : i + 1]
        result = result - unsqueeze(factors[..., i : i + 1], -1) * v * matmul(adjoint(v), result)
    return in_columns(result if left else adjoint(result))
