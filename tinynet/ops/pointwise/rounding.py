"""Rounding, fractions and signs."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.declaration.operation import pointwise
from tinynet.dtypes import Array
from tinynet.ops.arguments import BOOLEAN, FOUND, no_derivative, refuse_whole, same_dtype
from tinynet.ops.pointwise.arithmetic import where
from tinynet.ops.pointwise.where import zeros_for
from tinynet.ops.special_functions import special


def _whole_part(name: str, function: Any, x: Array) -> Array:
    if x.dtype.kind == "b":
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for 'Bool'")
    return function(x) if x.dtype.kind == "f" else x.copy()


@pointwise(public=True, inplace=True, out=FOUND)
def floor(self: Array, /) -> Array:
    """Return the largest integer less than or equal to each element.

    Example:
        >>> tn.tensor([-1.5, 1.5]).floor()
        tensor([-2.,  1.])
    """
    return _whole_part("floor", np.floor, self)


floor.grad(self=zeros_for)


@pointwise(public=True, inplace=True, out=FOUND)
def ceil(self: Array, /) -> Array:
    """Return the smallest integer greater than or equal to each element.

    Example:
        >>> tn.tensor([-1.5, 1.5]).ceil()
        tensor([-1.,  2.])
    """
    return _whole_part("ceil", np.ceil, self)


ceil.grad(self=zeros_for)


@pointwise(public=True, inplace=True, aliases=("fix",), out=FOUND)
def trunc(self: Array, /) -> Array:
    """Return the integer part.

    Example:
        >>> tn.tensor([-1.5, 1.5]).trunc()
        tensor([-1.,  1.])
    """
    return _whole_part("trunc", np.trunc, self)


trunc.grad(self=zeros_for)


@special()
@pointwise(public=True, inplace=True, out=FOUND)
def round(self: Array, /, *, decimals: int = 0) -> Array:
    """Round to the nearest integer (halves to even), or to ``decimals`` places.

    Example:
        >>> tn.tensor([0.5, 1.5, 1.25]).round()
        tensor([0., 2., 1.])
    """
    if self.dtype.kind == "f":
        return np.round(self, decimals)
    if self.dtype.kind == "b" or decimals:
        kind = dtypes.of(self).scalar_name
        raise NotImplementedError(f"\"round_cpu\" not implemented for '{kind}'")
    return self.copy()  # older versions of numpy return the array itself


round.grad(self=zeros_for)


@pointwise(public=True, inplace=True, out=FOUND)
def frac(self: Array, /) -> Array:
    """Return the fractional part, with the sign of the element.

    Example:
        >>> tn.frac(tn.tensor([1.25, -1.25]))
        tensor([ 0.2500, -0.2500])
    """
    refuse_whole("frac", self)
    return self - np.trunc(self)


frac.grad(self=lambda g: g)


@pointwise(public=True, numbers=False, out=BOOLEAN)
def signbit(self: Array, /) -> Array:
    """Return True where the sign bit is set: for negative numbers and -0.0.

    Example:
        >>> tn.tensor([-0.0, 0.0, -1.0]).signbit()
        tensor([ True, False,  True])
    """
    return np.signbit(self) if self.dtype.kind == "f" else np.less(self, 0)


@pointwise(public=True, inplace=True, node="CopysignBackward0", ints="float", numbers="other")
def copysign(self: Array, other: Array, /) -> Array:
    """Return the absolute value of ``self`` with the sign of ``other`` (-0.0 is negative).

    Example:
        >>> tn.copysign(tn.tensor([1.0, 2.0]), tn.tensor([-0.5, 0.5]))
        tensor([-1.,  2.])
    """
    return np.copysign(self, other)


def _flipped(g: Any, self: Any, result: Any) -> Any:
    """Give the gradient the sign of ``result / self``; zero at zero."""
    return g * where(self == 0, 0.0, result / self)


copysign.grad(self=lambda g, self, result: _flipped(g, self, result), other=zeros_for)


def _one_kind(a: Array, b: Array) -> None:
    if a.dtype != b.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")


@pointwise(
    public=True,
    inplace=True,
    node="NotImplemented",
    numbers=False,
    out=same_dtype("{name} is not yet implemented for tensors with different dtypes."),
)
def heaviside(self: Array, values: Array, /) -> Array:
    """Return 0 below zero, 1 above, and the element of ``values`` at zero; without derivative.

    Example:
        >>> tn.heaviside(tn.tensor([-1.5, 0.0, 2.0]), tn.tensor([0.5]))
        tensor([0.0000, 0.5000, 1.0000])
    """
    return np.where(self == 0, values, np.where(np.isnan(self), 0, self > 0).astype(self.dtype))


_no_slope = no_derivative("aten::heaviside")
heaviside.mixed = _one_kind
heaviside.grad(self=_no_slope, values=_no_slope)


@pointwise(public=True, inplace=True, numbers=False)
def nextafter(self: Array, other: Array, /) -> Array:
    """Return the next number of the dtype after ``self`` in the direction of ``other``.

    Example:
        >>> (tn.nextafter(tn.tensor(1.0), tn.tensor(2.0)) - 1).item()
        1.1920928955078125e-07
    """
    refuse_whole("nextafter", self)
    return np.nextafter(self, other)


vars(nextafter.kernel)["unwidened"] = nextafter.kernel  # bfloat16 has neighbours of its own
nextafter.grad(self=lambda g, self, other: where(self != other, g, 0.0), other=zeros_for)
