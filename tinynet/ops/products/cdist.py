"""Distances between points, and rows with limited norms: cdist, dist, renorm."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.core.complex_rules import conjugate
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.kernels.distances import distances, distances_by_product, gaps, stacks
from tinynet.kernels.low_precision import HALF, in_single
from tinynet.ops.arguments import EXPECTED, name_of, refuse_others
from tinynet.ops.pointwise.arithmetic import where
from tinynet.ops.pointwise.where import zeros_for
from tinynet.ops.products.matmul import refused
from tinynet.ops.reduction.statistics import norm_gradient, norm_slope, norm_weight, vector_norm
from tinynet.ops.reduction.sums import sum_dims
from tinynet.ops.shaping.views import axis_of, unsqueeze

# ---- pairwise distances -------------------------------------------------------------------------

_PRODUCT_FROM = 25  # from this many rows on, a matrix product pays off despite its rounding


def _large(x1: Array, x2: Array, mode: str) -> bool:
    if mode == "use_mm_for_euclid_dist_if_necessary":
        return x1.shape[-2] > _PRODUCT_FROM or x2.shape[-2] > _PRODUCT_FROM
    return mode == "use_mm_for_euclid_dist"


@operation(node="CdistBackward0")
def all_distances(x1: Array, x2: Array, /, p: float, compute_mode: str) -> Array:
    """Return the p-norms of the pairwise differences of rows."""
    if p == 2 and _large(x1, x2, compute_mode):
        return distances_by_product(x1, x2)
    return distances(x1, x2, p)


def _first_gradient(g: Any, x1: Any, x2: Any, result: Any, p: float) -> Any:
    """Return the gradient of the first of two sets of points."""
    if p == 0:
        return zeros_for(x1)
    pull = norm_weight(g, result, p)
    return summed_gaps(pull, x1, x2) if p == 2 else summed_slopes(pull, x1, x2, result, p)


def summed_gaps(pull: Any, x1: Any, x2: Any) -> Any:
    """Return the sums of ``pull[i, j] * (x1[i] - x2[j])`` over j, by products."""
    return x1 * unsqueeze(pull.sum(-1), -1) - pull @ x2


def summed_slopes(pull: Any, x1: Any, x2: Any, norm: Any, p: float) -> Any:
    """Return the sums of ``pull[i, j] * norm_slope(x1[i] - x2[j])`` over j."""
    if isinstance(pull, Tensor):
        slope = norm_slope(unsqueeze(x1, -2) - unsqueeze(x2, -3), unsqueeze(norm, -1), p)
        return (slope * unsqueeze(pull, -1)).sum(-2)
    (x1, x2, pull, norm), batch = stacks(x1, x2, pull, norm)
    found = np.zeros(x1.shape, x1.dtype)
    for (b, i, j), k, gap in gaps(x1, x2) if x1.size and x2.size else ():
        slope = norm_slope(gap, norm[b, None, i, j], p).swapaxes(1, 2)
        found[b, i, k] += np.matmul(slope, pull[b, i, j, None])[..., 0]
    return found.reshape(*batch, *found.shape[1:])


all_distances.grad(
    x1=lambda g, x1, x2, result, p: _first_gradient(g, x1, x2, result, p),
    x2=lambda g, x1, x2, result, p: _first_gradient(g.mT, x2, x1, result.mT, p),
)

_MODES = (
    "use_mm_for_euclid_dist_if_necessary",
    "use_mm_for_euclid_dist",
    "donot_use_mm_for_euclid_dist",
)


@composite(method=False, autocast="float32")
def cdist(
    x1: Tensor,
    x2: Tensor,
    p: float = 2.0,
    compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
) -> Tensor:
    """Return the pairwise distances between the rows of two matrices.

    ``result[i, j] = sum(abs(x1[i] - x2[j]) ** p) ** (1 / p)``.

    The derivative of Euclidean distances needs no array of all differences. It is zero where two
    points coincide.

    Args:
        x1: ``[..., n, d]``.
        x2: ``[..., m, d]``; the batch dimensions broadcast.
        p: the norm: 2, 1, 0, ``inf`` or any other nonnegative number.
        compute_mode: whether a matrix product computes Euclidean distances, which is faster and
            less accurate for close points: by default if either side has more than 25 rows; always
            with ``"use_mm_for_euclid_dist"``, never with ``"donot_use_mm_for_euclid_dist"``.

    Returns:
        ``[..., n, m]``.

    Raises:
        RuntimeError: fewer than two dimensions, different dtypes or widths, or a negative ``p``.

    Example:
        >>> tn.cdist(tn.tensor([[0.0, 0.0]]), tn.tensor([[3.0, 4.0], [0.0, 1.0]]))
        tensor([[5., 1.]])
    """
    refuse_others("cdist", x1=x1, x2=x2)
    if compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    a, b = x1._array, x2._array
    for name, x in (("X1", a), ("X2", b)):
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.ndim}D")
    if a.shape[-1] != b.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {a.shape[-1]} X2: {b.shape[-1]}"
        )
    for name, x in (("X1", a), ("X2", b)):
        if dtypes.is_floating(x.dtype) and x.dtype.itemsize < 4:
            raise NotImplementedError(f"\"cdist\" not implemented for '{name_of(x)}'")
        if x.dtype.kind != "f":
            raise RuntimeError(
                f"cdist only supports floating-point dtypes, {name} got: {name_of(x)}"
            )
    if a.dtype != b.dtype:
        raise refused("cdist", a, b)
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    try:
        np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise errors.not_broadcastable(a.shape[:-2], b.shape[:-2]) from None
    return all_distances.function(x1, x2, float(p), compute_mode)


@operation(node="DistBackward0", complex="given")
def distance(self: Array, other: Array, /, p: float) -> Array:
    """Return the p-norm of the difference of two arrays."""
    gap = self - other
    if not dtypes.is_inexact(gap.dtype):
        raise RuntimeError(
            "norm(): input dtype should be either floating point or complex. Got "
            f"{name_of(gap)} instead."
        )
    return vector_norm.kernel(gap, p, None, False)


def _along_gap(g: Any, self: Any, other: Any, result: Any, p: float) -> Any:
    gap = self - other
    return norm_gradient(g, gap, tuple(gap.shape), result, p, None, False)


distance.grad(
    self=lambda g, self, other, result, p: _along_gap(g, self, other, result, p),
    other=lambda g, self, other, result, p: _along_gap(-g, self, other, result, p),
)


@composite
def dist(self: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """Return the p-norm of the difference of two tensors.

    ``sum(abs(self - other) ** p) ** (1 / p)``.

    Raises:
        RuntimeError: the shapes do not broadcast.

    Example:
        >>> tn.dist(tn.tensor([1.0, 5.0]), tn.tensor([4.0, 1.0]))
        tensor(5.)
    """
    refuse_others("dist", self=self, other=other)
    return distance.function(self, other, float(p))


# ---- renorm -------------------------------------------------------------------------------------

_TINY = 1e-7  # added to the norms that divide


def _others(ndim: int, dim: int) -> tuple[int, ...]:
    """Return all dimensions but one."""
    axis = axis_of(dim, ndim)
    return tuple(i for i in range(ndim) if i != axis)


@operation(public=True, inplace=True, out=EXPECTED, complex="given")
def renorm(self: Array, /, p: float, dim: int, maxnorm: float) -> Array:
    """Return a copy whose slices along a dimension have p-norms of at most ``maxnorm``.

    Slices with larger norms are scaled to ``maxnorm * norm / (norm + 1e-7)``.

    Args:
        self: at least two dimensions.
        p: the norm.
        dim: the dimension that numbers the slices.
        maxnorm: the largest norm.

    Raises:
        RuntimeError: fewer than two dimensions, ``p`` not positive, or ``maxnorm`` negative.

    Example:
        >>> tn.renorm(tn.tensor([[3.0, 4.0], [0.3, 0.4]]), p=2, dim=0, maxnorm=1)
        tensor([[0.6000, 0.8000],
                [0.3000, 0.4000]])
    """
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    if self.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {self.ndim} dimensions")
    if self.dtype == HALF:
        return in_single(renorm, self, p, dim, maxnorm)
    norm = vector_norm.kernel(self, p, _others(self.ndim, dim), True)
    return self * np.where(norm > maxnorm, maxnorm / (norm + _TINY), 1).astype(self.dtype)


def _renormed(g: Any, x: Any, p: float, dim: int, maxnorm: float) -> Any:
    """Return the gradient of renorm, including that of the norms."""
    others = _others(x.ndim, dim)
    norm = vector_norm(x, p, others, True)
    above = norm > maxnorm
    factor = where(above, maxnorm / (norm + _TINY), 1.0)
    slope = where(above, -maxnorm / ((norm + _TINY) * (norm + _TINY)), 0.0)
    by_norm = sum_dims((g * conjugate(x)).real, others, True) * slope
    return g * factor + norm_gradient(by_norm, x, tuple(x.shape), norm, p, others, True)


renorm.grad(self=lambda g, self, p, dim, maxnorm: _renormed(g, self, p, dim, maxnorm))
