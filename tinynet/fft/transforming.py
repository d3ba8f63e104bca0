"""Transforms over any number of dimensions, which all functions of ``tinynet.fft`` share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet import dtypes, errors, ops
from tinynet.core.complex_rules import conjugate
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.trace import traced
from tinynet.ops.arguments import name_of
from tinynet.ops.fourier import complex_transform, real_transform, transform_to_real
from tinynet.ops.pointwise.conversion import converted
from tinynet.ops.shaping.views import axis_of, cut

Lengths = Sequence[int] | None


def scale_of(norm: str | None, forward: bool) -> str:
    """Return how a transform is scaled: ``"none"``, ``"root"`` or ``"all"``."""
    if norm == "ortho":
        return "root"
    if norm not in (None, "forward", "backward"):
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    return "all" if (norm == "forward") == forward else "none"


def _numbers(name: str, x: Any, real: bool) -> Tensor:
    """Return the input in a floating-point or complex dtype, which ``real`` excludes."""
    if not isinstance(x, Tensor):
        raise errors.must_be_tensor(f"fft_{name}", "input", 1, x)
    if real and x.is_complex():
        if name == "ihfftn":
            raise RuntimeError(
                f"Only supports floating-point dtypes, but found: {name_of(x._array)}"
            )
        what = "real-valued" if name.endswith("n") else "real"
        raise RuntimeError(f"{name} expects a {what} input tensor, but got {name_of(x._array)}")
    kind = x._array.dtype
    if not dtypes.is_inexact(kind):
        return converted(x, dtypes.default_float())
    if kind.itemsize == 2:
        raise RuntimeError(f"Unsupported dtype {name_of(x._array)}")
    return x


def _axes(x: Tensor, s: Lengths, dim: Any) -> tuple[tuple[int, ...], list[int]]:
    """Return the dimensions to transform and their lengths."""
    shape, ndim = x._array.shape, x._array.ndim
    if dim is not None:
        if not ndim and len(dim):
            raise IndexError(f"Dimension specified as {dim[0]} but tensor has no dimensions")
        axes = [axis_of(d, ndim) for d in dim]
        if len(set(axes)) < len(axes):
            raise RuntimeError("FFT dims must be unique")
        if s is not None and len(s) != len(axes):
            raise RuntimeError("When given, dim and shape arguments must have the same length")
    elif s is not None:
        if len(s) > ndim:
            raise RuntimeError(
                f"Got shape with {len(s)} values but input tensor only has {ndim} dimensions."
            )
        axes = [*range(ndim - len(s), ndim)]
    else:
        axes = [*range(ndim)]
    lengths = [shape[a] for a in axes] if s is None else [*s]
    return tuple(axes), [shape[a] if n == -1 else n for a, n in zip(axes, lengths, strict=True)]


def _resized(x: Tensor, axes: Sequence[int], lengths: Sequence[int]) -> Tensor:
    """Cut dimensions to lengths, or append zeros."""
    for axis, length in zip(axes, lengths, strict=True):
        own = x._array.shape[axis]
        if length < own:
            x = cut.function(x, axis, slice(0, length))
        elif length > own:
            more = [length - own if i == axis else n for i, n in enumerate(x._array.shape)]
            x = ops.cat([x, ops.zeros(more, dtype=x.dtype)], axis)
    return x


def _refuse_empty(lengths: Sequence[int]) -> None:
    for length in lengths:
        if length < 1:
            raise RuntimeError(f"Invalid number of data points ({length}) specified")


def _some(name: str, axes: Sequence[int]) -> None:
    if not axes:
        raise RuntimeError(f"{name} must transform at least one axis")


def to_complex(name: str, x: Any, s: Lengths, dim: Any, norm: str | None, forward: bool) -> Tensor:
    """Return the transform of real or complex numbers: ``fftn``, ``ifftn``."""
    x = _numbers(name, x, real=False)
    axes, lengths = _axes(x, s, dim)
    _refuse_empty(lengths)
    x, scale = _resized(x, axes, lengths), scale_of(norm, forward)
    if x.is_complex() or not axes:
        x = converted(x, dtypes.complex_of(x._array.dtype))
        return complex_transform.function(x, axes, scale, forward)
    found = real_transform.function(x, axes, scale, False)
    return found if forward else conjugate(found)


def from_real(name: str, x: Any, s: Lengths, dim: Any, norm: str | None, forward: bool) -> Tensor:
    """Return half of the spectrum of real numbers: ``rfftn``, ``ihfftn``."""
    x = _numbers(name, x, real=True)
    axes, lengths = _axes(x, s, dim)
    _some(name, axes)
    _refuse_empty(lengths)
    x, scale = _resized(x, axes, lengths), scale_of(norm, forward)
    if forward:
        return real_transform.function(x, axes, scale, True)
    half = conjugate(real_transform.function(x, axes[-1:], scale, True))
    return complex_transform.function(half, axes[:-1], scale, False) if axes[:-1] else half


def to_real(name: str, x: Any, s: Lengths, dim: Any, norm: str | None, forward: bool) -> Tensor:
    """Return the real numbers of half a spectrum: ``irfftn``, ``hfftn``."""
    x = _numbers(name, x, real=False)
    axes, lengths = _axes(x, s, dim)
    _some(name, axes)
    if s is None or s[-1] == -1:
        lengths[-1] = 2 * (x._array.shape[axes[-1]] - 1)
    _refuse_empty(lengths)
    x = _resized(x, axes, [*lengths[:-1], lengths[-1] // 2 + 1])
    x = converted(x, dtypes.complex_of(x._array.dtype))
    scale = scale_of(norm, forward)
    if not forward:
        return transform_to_real.function(x, axes, scale, lengths[-1])
    if axes[:-1]:
        x = complex_transform.function(x, axes[:-1], scale, True)
    return transform_to_real.function(conjugate(x), axes[-1:], scale, lengths[-1])


@traced
def frequencies(n: int, d: float, half: bool) -> Any:
    """Return the frequencies of a transform in cycles per unit, of a whole or half a spectrum."""
    return np.fft.rfftfreq(n, d) if half else np.fft.fftfreq(n, d)
