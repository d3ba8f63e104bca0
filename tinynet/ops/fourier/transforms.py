"""The three discrete Fourier transforms: complex to complex, real to complex, complex to real.

numpy computes them with the algorithms of pocketfft (Reinecke and Seljebotn, 2013), float32 in
float32. ``tinynet/fft`` makes PyTorch's functions of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.declaration.operation import operation
from tinynet.dtypes import Array
from tinynet.ops.shaping.joining import cat
from tinynet.ops.shaping.views import cut, embed

Axes = tuple[int, ...]

# numpy's names for how a transform is scaled: not at all, by 1 / sqrt(n), by 1 / n.
FORWARD: dict[str, Any] = {"none": "backward", "root": "ortho", "all": "forward"}
INVERSE: dict[str, Any] = {"none": "forward", "root": "ortho", "all": "backward"}


@operation(methods=False, node="FftC2CBackward0", batch="loop", complex="given")
def complex_transform(self: Array, /, axes: Axes, scale: str, forward: bool) -> Array:
    """Return the transform of complex numbers, ``sum(x[k] exp(-2 pi i j k / n))`` forward."""
    if not axes or not self.size:
        return self.copy()
    transform = np.fft.fftn if forward else np.fft.ifftn
    return transform(self, axes=axes, norm=(FORWARD if forward else INVERSE)[scale])


@operation(methods=False, node="FftR2CBackward0", batch="loop", complex="given")
def real_transform(self: Array, /, axes: Axes, scale: str, onesided: bool) -> Array:
    """Return the forward transform of real numbers; ``onesided``: the last axis up to n / 2."""
    dtypes.complex_of(self.dtype)  # prepares for complex numbers
    if not self.size:
        half = [n // 2 + 1 if onesided and i == axes[-1] else n for i, n in enumerate(self.shape)]
        return np.zeros(half, dtypes.complex_of(self.dtype))
    transform = np.fft.rfftn if onesided else np.fft.fftn
    return transform(self, axes=axes, norm=FORWARD[scale])


@operation(methods=False, node="FftC2RBackward0", batch="loop", complex="given")
def transform_to_real(self: Array, /, axes: Axes, scale: str, size: int) -> Array:
    """Return the inverse transform to real numbers, of length ``size`` along the last axis."""
    lengths = [*(self.shape[axis] for axis in axes[:-1]), size]
    if not self.size:
        shape = [size if i == axes[-1] else n for i, n in enumerate(self.shape)]
        return np.zeros(shape, dtypes.real_of(self.dtype))
    return np.fft.irfftn(self, lengths, axes, norm=INVERSE[scale])


def _of_real(g: Any, shape: tuple[int, ...], axes: Axes, scale: str, onesided: bool) -> Any:
    """Return the gradient of ``real_transform``; the other half of the spectrum counts as zero."""
    if onesided:
        g = embed(g, shape, (slice(None),) * axes[-1] + (slice(0, g.shape[axes[-1]]),))
    return complex_transform(g, axes, scale, False).real


def _of_half(g: Any, axes: Axes, scale: str, half: int, size: int) -> Any:
    """Return the gradient of ``transform_to_real``, twice where a number stands for two."""
    g = real_transform(g, axes, scale, True)
    axis, twice = axes[-1], size - half
    if twice <= 0:
        return g
    parts = (slice(0, 1), slice(1, 1 + twice), slice(1 + twice, None))
    first, middle, last = (cut(g, axis, part) for part in parts)
    return cat([first, middle * 2, last], axis)


complex_transform.grad(
    self=lambda g, axes, scale, forward: complex_transform(g, axes, scale, not forward)
)
real_transform.grad(
    self=lambda g, self_shape, axes, scale, onesided: _of_real(g, self_shape, axes, scale, onesided)
)
transform_to_real.grad(
    self=lambda g, self_shape, axes, scale, size: _of_half(
        g, axes, scale, self_shape[axes[-1]], size
    )
)
