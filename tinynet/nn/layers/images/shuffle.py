"""Pixel and channel shuffling."""

from __future__ import annotations

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn.base.module import Module
from tinynet.nn.base.options import options_repr, with_options

__all__ = ["PixelShuffle", "PixelUnshuffle", "ChannelShuffle"]


@with_options
class PixelShuffle(Module):
    """Rearranges channels into planes that are ``upscale_factor`` times larger in each dimension.

    Args:
        upscale_factor: the factor r.

    Shape:
        ``[..., C * r * r, H, W]`` to ``[..., C, H * r, W * r]``.

    Raises:
        RuntimeError: r is not positive, r * r does not divide the channels, or fewer than three
            dimensions.

    Source: Shi et al., "Real-time single image and video super-resolution using an efficient
    sub-pixel convolutional neural network", 2016, arXiv:1609.05158.

    Example:
        >>> nn.PixelShuffle(2)(tn.zeros(8, 12, 3, 5)).shape
        tinynet.Size([8, 3, 6, 10])
    """

    upscale_factor: int

    def forward(self, input: Tensor) -> Tensor:
        """Rearrange channels into larger planes."""
        return F.pixel_shuffle(input, self.upscale_factor)

    extra_repr = options_repr


@with_options
class PixelUnshuffle(Module):
    """Rearranges planes into channels: the inverse of ``PixelShuffle``.

    Args:
        downscale_factor: the factor r.

    Shape:
        ``[..., C, H * r, W * r]`` to ``[..., C * r * r, H, W]``.

    Raises:
        RuntimeError: r is not positive or does not divide height and width, or fewer than three
            dimensions.

    Source: the inverse of ``PixelShuffle``.

    Example:
        >>> nn.PixelUnshuffle(2)(tn.zeros(8, 3, 6, 10)).shape
        tinynet.Size([8, 12, 3, 5])
    """

    downscale_factor: int

    def forward(self, input: Tensor) -> Tensor:
        """Rearrange planes into channels."""
        return F.pixel_unshuffle(input, self.downscale_factor)

    extra_repr = options_repr


@with_options
class ChannelShuffle(Module):
    """Interleaves the channels of groups: the first of each group, then the second, and so on.

    Args:
        groups: number of groups that the channels are in.

    Shape:
        ``[batch, channels, ...]``; the output has the same shape.

    Raises:
        RuntimeError: ``groups`` is not positive or does not divide the channels, or fewer than
            three dimensions.

    Source: Zhang et al., "ShuffleNet: an extremely efficient convolutional neural network for
    mobile devices", 2018, arXiv:1707.01083.

    Example:
        >>> nn.ChannelShuffle(2)(tn.arange(4.0).view(1, 4, 1)).flatten()
        tensor([0., 2., 1., 3.])
    """

    groups: int

    def forward(self, input: Tensor) -> Tensor:
        """Interleave the channels."""
        return F.channel_shuffle(input, self.groups)

    extra_repr = options_repr
