"""Elementwise maximum and minimum, and clamping to a range."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.declaration.compiler import in_place
from tinynet.core.declaration.operation import composite, operation, pointwise
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import Array
from tinynet.ops.arguments import same_dtype
from tinynet.ops.indexing.index_select import without
from tinynet.ops.pointwise.arithmetic import where

# ---- maximum and minimum -------------------------------------------------------------------------


@pointwise(np.maximum, public=True, numbers=False)
def maximum(self: Array, other: Array, /) -> Array:
    """Return the elementwise maximum; NaN if either is NaN.

    Example:
        >>> tn.maximum(tn.tensor([1.0, 5.0]), tn.tensor([2.0, 2.0]))
        tensor([2., 5.])
    """


def _halved(g: Any, x: Any, y: Any) -> Any:
    """Halve the gradient between equal elements; where one is NaN, both get all of it."""
    return where(x == y, g * 0.5, g)


maximum.grad(
    self=lambda g, self, other: without(_halved(g, self, other), self < other),
    other=lambda g, self, other: without(_halved(g, self, other), self > other),
)


@pointwise(np.minimum, public=True, numbers=False)
def minimum(self: Array, other: Array, /) -> Array:
    """Return the elementwise minimum; NaN if either is NaN.

    Example:
        >>> tn.minimum(tn.tensor([1.0, 5.0]), tn.tensor([2.0, 2.0]))
        tensor([1., 2.])
    """


minimum.grad(
    self=lambda g, self, other: without(_halved(g, self, other), self > other),
    other=lambda g, self, other: without(_halved(g, self, other), self < other),
)


@pointwise(np.fmax, public=True, numbers=False)
def fmax(self: Array, other: Array, /) -> Array:
    """Return the elementwise maximum; NaN only if both are NaN.

    Example:
        >>> tn.fmax(tn.tensor([1.0, float("nan")]), tn.tensor([2.0, 0.5]))
        tensor([2.0000, 0.5000])
    """


@pointwise(np.fmin, public=True, numbers=False)
def fmin(self: Array, other: Array, /) -> Array:
    """Return the elementwise minimum; NaN only if both are NaN.

    Example:
        >>> tn.fmin(tn.tensor([1.0, tn.nan]), tn.tensor([2.0, 2.0]))
        tensor([1., 2.])
    """


fmax.grad(
    self=lambda g, self, other: without(g, ~((self >= other) | (other != other))),
    other=lambda g, self, other: without(g, (self >= other) | (other != other)),
)
fmin.grad(
    self=lambda g, self, other: without(g, ~((self <= other) | (other != other))),
    other=lambda g, self, other: without(g, (self <= other) | (other != other)),
)

# ---- replacement of NaN and infinity ------------------------------------------------------------


@operation(
    public=True,
    inplace="function",
    out=same_dtype("{name}: dtype of out: {out} should be same as input: {result}"),
    order="iterated",
)
def nan_to_num(
    self: Array,
    /,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Array:
    """Replace NaN and infinities by finite numbers.

    Takes any shape and dtype.

    Args:
        nan: replaces NaN; 0 by default.
        posinf: replaces infinity; the largest number of the dtype by default.
        neginf: replaces minus infinity; the smallest number of the dtype by default.

    Example:
        >>> tn.tensor([float("nan"), 1.0, float("inf")]).nan_to_num(posinf=9.0)
        tensor([0., 1., 9.])
    """
    if not dtypes.is_floating(self.dtype):
        return self.copy()
    return np.nan_to_num(self, nan=nan or 0.0, posinf=posinf, neginf=neginf)


nan_to_num.grad(self=lambda g, self: g * (abs(self) < math.inf))

# ---- clamp --------------------------------------------------------------------------------------


@pointwise(node="ClampBackward1")
def clamp_numbers(self: Array, /, min: float | None = None, max: float | None = None) -> Array:
    """Clamp to ``[min, max]``; either bound may be None."""
    if not dtypes.is_floating(self.dtype) and (isinstance(min, float) or isinstance(max, float)):
        self = self.astype(dtypes.default_float())
    if min is not None and max is not None and self.dtype.kind == "f":  # in one pass
        return self.clip(*(dtypes.representable(x, self.dtype) for x in (min, max)))
    if min is not None:
        self = np.maximum(self, dtypes.representable(min, self.dtype))
    return self if max is None else np.minimum(self, dtypes.representable(max, self.dtype))


clamp_numbers.grad(self=lambda g, self, min, max: where(_inside(self, min, max), g, 0.0))


def _inside(x: Any, low: float | None, high: float | None) -> Any:
    if low is None:
        return x <= high
    return x >= low if high is None else (x >= low) & (x <= high)


Bound = Tensor | float | None


@pointwise(node="ClampBackward0")
def clamp_tensors(self: Array, min: Array, max: Array, /) -> Array:
    """Clamp to the range between two tensors; where they cross, the upper bound wins."""
    return np.minimum(np.maximum(self, min), max)


clamp_tensors.grad(
    self=lambda g, self, min, max: where((self >= min) & (self <= max), g, 0.0),
    min=lambda g, self, min, max: where((self < min) & (min < max), g, 0.0),
    max=lambda g, self, min, max: where((self > max) | (max < min), g, 0.0),
)


@pointwise(node="ClampBackward0")
def clamp_from(self: Array, min: Array, /) -> Array:
    """Raise to at least ``min``, a tensor."""
    return np.maximum(self, min)


@pointwise(node="ClampBackward0")
def clamp_to(self: Array, max: Array, /) -> Array:
    """Lower to at most ``max``, a tensor."""
    return np.minimum(self, max)


@composite(out=True, aliases=("clip",))
def clamp(self: Tensor, min: Bound = None, max: Bound = None) -> Tensor:
    """Clamp all elements to ``[min, max]``; each bound is a number, a tensor or None.

    Raises:
        RuntimeError: no bound is given.

    Example:
        >>> tn.tensor([-1.0, 0.5, 2.0]).clamp(min=0, max=1)
        tensor([0.0000, 0.5000, 1.0000])
    """
    op, bounds = _bounds(self, min, max)
    return op.function(self, *bounds)


@composite(function=True)
def clamp_(self: Tensor, min: Bound = None, max: Bound = None) -> Tensor:
    """Clamp this tensor to ``[min, max]`` in place and return it."""
    op, bounds = _bounds(self, min, max)
    return in_place(op, "clamp_")(self, *bounds)


def _bounds(self: Tensor, low: Any, high: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the operation for these bounds, and the bounds in the form it takes."""
    if low is None and high is None:
        raise RuntimeError("tinynet.clamp: At least one of 'min' or 'max' must not be None")
    low, high = (x.item() if isinstance(x, np.generic) else x for x in (low, high))
    for bound in (low, high):
        if bound is not None and not isinstance(bound, (int, float, Tensor)):
            raise TypeError(
                "clamp(): argument 'min' or 'max' must be Number or Tensor, "
                f"not {type(bound).__name__}"
            )
    if not isinstance(low, Tensor) and not isinstance(high, Tensor):
        return clamp_numbers, (low, high)
    if high is None:
        return clamp_from, (low,)
    if low is None:
        return clamp_to, (high,)
    return clamp_tensors, (_as_tensor(self, low), _as_tensor(self, high))


def _as_tensor(like: Tensor, bound: Any) -> Tensor:
    """Return a number as a 0-d tensor in the dtype that promotion with ``like`` gives."""
    if isinstance(bound, Tensor):
        return bound
    kind = dtypes.result_type((like._array, bound))
    return wrap(np.asarray(dtypes.number(bound, kind)))


# ---- one bound ----------------------------------------------------------------------------------


@pointwise(public=True, inplace="function", node="ClampMinBackward1", numbers="other")
def clamp_min(self: Array, min: Array, /) -> Array:
    """Return the elements, raised to at least ``min`` (a number or a tensor).

    Example:
        >>> tn.tensor([1.0, 3.0]).clamp_min(2)
        tensor([2., 3.])
    """
    return np.maximum(self, min)


@pointwise(public=True, inplace="function", node="ClampMaxBackward1", numbers="other")
def clamp_max(self: Array, max: Array, /) -> Array:
    """Return the elements, lowered to at most ``max`` (a number or a tensor).

    Example:
        >>> tn.tensor([1.0, 3.0]).clamp_max(2)
        tensor([1., 2.])
    """
    return np.minimum(self, max)


for _op in (clamp_from, clamp_min):
    _op.grad(
        self=lambda g, self, min: where(self >= min, g, 0.0),
        min=lambda g, self, min: where(self < min, g, 0.0),
    )
for _op in (clamp_to, clamp_max):
    _op.grad(
        self=lambda g, self, max: where(self <= max, g, 0.0),
        max=lambda g, self, max: where(self > max, g, 0.0),
    )
