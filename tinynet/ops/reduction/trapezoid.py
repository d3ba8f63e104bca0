"""Integrals of sampled functions by the trapezoidal rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.core.declaration.operation import public
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.ops.argument_errors import refuse_others
from tinynet.ops.reduction.cumulative import cumsum
from tinynet.ops.reduction.sums import sum_dims
from tinynet.ops.shaping.views import axis_of, cut, reshape


def _pairs(y: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Return the samples without the last, and without the first."""
    return cut.function(y, axis, slice(None, -1)), cut.function(y, axis, slice(1, None))


def _checked(name: str, y: Any, x: Any, dim: int) -> tuple[int, Tensor | None]:
    """Return the axis, and the distances between the points if given."""
    refuse_others(name, y=y, **({} if x is None else {"x": x}))
    ndim = y._array.ndim
    if ndim == 0:
        raise IndexError(
            f"Dimension specified as {dim} but tensor has no dimensions"
            if name == "trapezoid"
            else "slice() cannot be applied to a 0-dim tensor."
        )
    axis = axis_of(dim, ndim)
    kinds = {t._array.dtype.kind for t in (y, x) if t is not None}
    if "b" in kinds:
        which = "`y`" if x is None else "`x` or `y`"
        raise RuntimeError(f"{name}: received a bool input for {which}, but bool is not supported")
    if x is None:
        return axis, None
    shape = x._array.shape
    if len(shape) < ndim:
        along = shape[-1] if shape else -1
        where = (1,) * (ndim - len(shape)) + shape
        if len(shape) == 1:  # one coordinate per sample along the dimension
            where = tuple(along if i == axis else 1 for i in range(ndim))
        x = reshape(x, where)
    elif len(shape) > ndim:
        raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
    if x._array.shape[axis] != y._array.shape[axis]:
        raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
    before, after = _pairs(x, axis)
    return axis, after - before


@public(as_method=False)
def trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim: int = -1
) -> Tensor:
    """Integrate along a dimension by the trapezoidal rule.

    ``sum((y[i] + y[i + 1]) / 2 * (x[i + 1] - x[i]))``.

    Args:
        y: the samples.
        x: the points of the samples: a vector, or a tensor that broadcasts with ``y``.
        dx: alternative to ``x``: the distance between the points; 1 by default.
        dim: the dimension to integrate along.

    Raises:
        RuntimeError: the numbers of points and samples differ, or booleans.

    Example:
        >>> tn.trapezoid(tn.tensor([1.0, 2.0, 3.0]), dx=2)
        tensor(8.)
    """
    axis, gaps = _checked("trapezoid", y, x, dim)
    if y._array.shape[axis] == 0:
        shape = tuple(n for i, n in enumerate(y._array.shape) if i != axis)
        return wrap(np.zeros(shape, y._array.dtype))
    before, after = _pairs(y, axis)
    if gaps is not None:
        return sum_dims.function((before + after) * gaps, axis) / 2.0
    ends = (y.select(axis, 0) + y.select(axis, -1)) * 0.5
    step = 1 if dx is None else dx
    return (sum_dims.function(y, axis) - ends) * step


@public(as_method=False)
def trapz(y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim: int = -1) -> Tensor:
    """Integrate by the trapezoidal rule, like ``trapezoid``; arguments are those of ``trapezoid``.

    Example:
        >>> tn.trapz(tn.tensor([1.0, 2.0, 3.0]))
        tensor(4.)
    """
    return trapezoid(y, x, dx=dx, dim=dim)


@public(as_method=False)
def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim: int = -1
) -> Tensor:
    """Integrate cumulatively along a dimension by the trapezoidal rule.

    ``result[k] = sum((y[i] + y[i + 1]) / 2 * (x[i + 1] - x[i]))`` over i up to k.

    See ``trapezoid`` for the arguments.

    Example:
        >>> tn.cumulative_trapezoid(tn.tensor([1.0, 2.0, 3.0]))
        tensor([1.5000, 4.0000])
    """
    axis, gaps = _checked("cumulative_trapezoid", y, x, dim)
    before, after = _pairs(y, axis)
    if gaps is not None:
        return cumsum.function((before + after) * gaps, axis) / 2.0
    step = 1 if dx is None else dx
    return cumsum.function((before + after) * (step / 2), axis)
