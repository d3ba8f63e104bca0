"""Pixel and channel shuffling.

They are operations for speed: as composites of views each would cost three nodes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.core.declaration.operation import operation
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.nn.functional.checks import tensor_only
from tinynet.ops.arguments import is_whole

__all__ = ["pixel_shuffle", "pixel_unshuffle", "channel_shuffle"]


def _factor(name: str, what: str, factor: Any) -> int:
    if isinstance(factor, bool) or not is_whole(factor):
        kind = type(factor).__name__
        raise TypeError(f"{name}(): argument '{what}' (position 2) must be int, not {kind}")
    return int(factor)


def _check(name: str, what: str, x: Array, factor: int) -> None:
    if x.ndim < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {x.ndim} "
            "dimension(s)"
        )
    if factor <= 0:
        raise RuntimeError(f"{name} expects a positive {what}, but got {factor}")


# ---- channels and space -------------------------------------------------------------------------


@operation(node="PixelShuffleBackward0", complex=True, order="as_image")
def shuffled_pixels(input: Array, /, factor: int) -> Array:
    """Return squares of ``factor * factor`` channels as planes that many times as large."""
    _check("pixel_shuffle", "upscale_factor", input, factor)
    *lead, channels, height, width = input.shape
    if channels % (factor * factor):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor, but input.size(-3)={channels} is not divisible by "
            f"{factor * factor}"
        )
    left = channels // (factor * factor)
    parts = input.reshape(*lead, left, factor, factor, height, width)
    moved = np.moveaxis(parts, (-4, -3), (-3, -1))  # [left, height, factor, width, factor]
    return np.array(moved, order="C").reshape(*lead, left, height * factor, width * factor)


@operation(node="PixelUnshuffleBackward0", complex=True, order="as_image")
def unshuffled_pixels(input: Array, /, factor: int) -> Array:
    """Return planes as squares of ``factor * factor`` channels, each that many times smaller."""
    _check("pixel_unshuffle", "downscale_factor", input, factor)
    *lead, channels, height, width = input.shape
    for name, n, place in (("height", height, -2), ("width", width, -1)):
        if n % factor:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
                f"input.size({place})={n} is not divisible by {factor}"
            )
    parts = input.reshape(*lead, channels, height // factor, factor, width // factor, factor)
    moved = np.moveaxis(parts, (-3, -1), (-4, -3))  # [channels, factor, factor, height, width]
    shape = (channels * factor * factor, height // factor, width // factor)
    return np.array(moved, order="C").reshape(*lead, *shape)


shuffled_pixels.grad(input=lambda g, factor: unshuffled_pixels(g, factor))
unshuffled_pixels.grad(input=lambda g, factor: shuffled_pixels(g, factor))


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Return ``[..., C * r * r, H, W]`` as ``[..., C, H * r, W * r]``.

    Args:
        input: at least three dimensions.
        upscale_factor: the factor r.

    Raises:
        RuntimeError: the channels are not a multiple of ``r * r``.

    Source: Shi et al., "Real-time single image and video super-resolution using an efficient
    sub-pixel convolutional neural network", 2016.

    Example:
        >>> F.pixel_shuffle(tn.arange(4.0).view(4, 1, 1), 2)
        tensor([[[0., 1.],
                 [2., 3.]]])
    """
    tensor_only("pixel_shuffle", input=input)
    factor = _factor("pixel_shuffle", "upscale_factor", upscale_factor)
    return shuffled_pixels.function(input, factor)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """Return ``[..., C, H * r, W * r]`` as ``[..., C * r * r, H, W]``.

    Args:
        input: at least three dimensions.
        downscale_factor: the factor r.

    Raises:
        RuntimeError: height or width is not a multiple of r.

    Example:
        >>> F.pixel_unshuffle(tn.arange(4.0).view(1, 2, 2), 2).flatten()
        tensor([0., 1., 2., 3.])
    """
    tensor_only("pixel_unshuffle", input=input)
    factor = _factor("pixel_unshuffle", "downscale_factor", downscale_factor)
    return unshuffled_pixels.function(input, factor)


# ---- groups of channels -------------------------------------------------------------------------


@operation(node="ChannelShuffleBackward0", complex=True, order="as_image")
def shuffled_channels(input: Array, /, groups: int) -> Array:
    """Return the first channels of all groups, then the second ones, and so on."""
    batch, channels, *rest = input.shape
    parts = input.reshape(batch, groups, channels // groups, *rest)
    return np.array(np.swapaxes(parts, 1, 2), order="C").reshape(input.shape)


shuffled_channels.grad(
    input=lambda g, input_shape, groups: shuffled_channels(g, max(1, input_shape[1] // groups))
)


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Interleave the channels of groups: the first of each group, then the second, and so on.

    Args:
        input: ``[batch, channels, ...]``.
        groups: number of groups that the channels are in.

    Raises:
        RuntimeError: ``groups`` does not divide the channels.

    Source: Zhang et al., "ShuffleNet: an extremely efficient convolutional neural network for
    mobile devices", 2018.

    Example:
        >>> F.channel_shuffle(tn.arange(4.0).view(1, 4, 1), 2).flatten()
        tensor([0., 2., 1., 3.])
    """
    tensor_only("channel_shuffle", input=input)
    count, shape = _factor("channel_shuffle", "groups", groups), input._array.shape
    if len(shape) < 3:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(shape)}"
        )
    if count <= 0:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{count}"
        )
    if shape[1] % count:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {shape[1]} channels and {count} "
            "groups."
        )
    return shuffled_channels.function(input, count)
