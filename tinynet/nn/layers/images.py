"""Layers of images: padding, upsampling, and the shuffling of pixels and channels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn.base.module import Module
from tinynet.nn.layers.declaration import Spatial, complete, options_repr, with_options

__all__ = [
    "ChannelShuffle",
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "PixelShuffle",
    "PixelUnshuffle",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]


# ---- padding ------------------------------------------------------------------------------------
# With elements of the input, with a constant, and with zeros.


class _Padding(Spatial):
    """Base class of padding layers.

    Args:
        padding: one length, or the lengths before and after the last dimension, then those of the
            one before it, and so on: ``(left, right, top, bottom, front, back)``.

    Shape:
        ``[batch, channels, {sizes}]``, or without batch; the lengths are added to {last}.
    """

    _of_class = "rank", "mode"
    mode: str  # of ``F.pad``

    def __init__(self, padding: int | Sequence[int]):
        super().__init__()
        lengths = padding if isinstance(padding, Iterable) else (padding,) * (2 * self.rank)
        self.padding = tuple(lengths)

    def forward(self, input: Tensor) -> Tensor:
        """Pad the input."""
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        """Return the lengths."""
        return f"{self.padding}"


# ---- elements of the input ----------------------------------------------------------------------


class _ReflectionPadNd(_Padding):
    """Base class of reflection padding layers.

    Raises:
        RuntimeError: a length is not less than the dimension, or the result is empty.
        NotImplementedError: the input has the wrong number of dimensions.
    """

    mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    """Pads the last dimension by reflecting the input without repeating its end elements.

    Example:
        >>> nn.ReflectionPad1d((2, 1))(tn.tensor([[0.0, 1.0, 2.0]]))
        tensor([[2., 1., 0., 1., 2., 1.]])
    """

    rank = 1


class ReflectionPad2d(_ReflectionPadNd):
    """Pads the last two dimensions by reflecting the input.

    Example:
        >>> nn.ReflectionPad2d((1, 0, 1, 0))(tn.arange(4.0).view(1, 2, 2))
        tensor([[[3., 2., 3.],
                 [1., 0., 1.],
                 [3., 2., 3.]]])
    """

    rank = 2


class ReflectionPad3d(_ReflectionPadNd):
    """Pads the last three dimensions by reflecting the input.

    Example:
        >>> nn.ReflectionPad3d(1)(tn.ones(1, 2, 3, 4)).shape
        tinynet.Size([1, 4, 5, 6])
    """

    rank = 3


class _ReplicationPadNd(_Padding):
    """Base class of replication padding layers.

    Raises:
        RuntimeError: the input or the result is empty.
        NotImplementedError: the input has the wrong number of dimensions.
    """

    mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    """Pads the last dimension by repeating its end elements.

    Example:
        >>> nn.ReplicationPad1d((2, 1))(tn.tensor([[0.0, 1.0, 2.0]]))
        tensor([[0., 0., 0., 1., 2., 2.]])
    """

    rank = 1


class ReplicationPad2d(_ReplicationPadNd):
    """Pads the last two dimensions by repeating the edge elements.

    Example:
        >>> nn.ReplicationPad2d((1, 0, 1, 0))(tn.arange(4.0).view(1, 2, 2))
        tensor([[[0., 0., 1.],
                 [0., 0., 1.],
                 [2., 2., 3.]]])
    """

    rank = 2


class ReplicationPad3d(_ReplicationPadNd):
    """Pads the last three dimensions by repeating the edge elements.

    Example:
        >>> nn.ReplicationPad3d(1)(tn.ones(1, 2, 3, 4)).shape
        tinynet.Size([1, 4, 5, 6])
    """

    rank = 3


class _CircularPadNd(_Padding):
    """Base class of circular padding layers.

    Raises:
        RuntimeError: a length is larger than the dimension, or the result is empty.
        ValueError: the input has the wrong number of dimensions.
    """

    mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        """Pad the input."""
        few, many = self.rank + 1, self.rank + 2
        if input.ndim not in (few, many):
            raise ValueError(f"expected {few}D or {many}D input (got {input.ndim}D input)")
        return F.pad(input, self.padding, self.mode)


class CircularPad1d(_CircularPadNd):
    """Pads the last dimension circularly, from its opposite end.

    Example:
        >>> nn.CircularPad1d((2, 1))(tn.tensor([[0.0, 1.0, 2.0]]))
        tensor([[1., 2., 0., 1., 2., 0.]])
    """

    rank = 1


class CircularPad2d(_CircularPadNd):
    """Pads the last two dimensions circularly, from the opposite ends.

    Example:
        >>> nn.CircularPad2d((1, 0, 1, 0))(tn.arange(4.0).view(1, 2, 2))
        tensor([[[3., 2., 3.],
                 [1., 0., 1.],
                 [3., 2., 3.]]])
    """

    rank = 2


class CircularPad3d(_CircularPadNd):
    """Pads the last three dimensions circularly, from the opposite ends.

    Example:
        >>> nn.CircularPad3d(1)(tn.ones(1, 2, 3, 4)).shape
        tinynet.Size([1, 4, 5, 6])
    """

    rank = 3


# ---- constants ----------------------------------------------------------------------------------


class _ConstantBorder(_Padding):
    """Base class of layers that pad with constants and can also crop.

    Shape:
        ``[..., {sizes}]``; the lengths are added to {last}. Negative ones crop.

    Raises:
        RuntimeError: too few dimensions, an odd number of lengths, or cropping removes more than
            the dimension has.
    """

    mode = "constant"


class _ConstantPadNd(_ConstantBorder):
    """Base class of layers that pad with a constant.

    Args:
        value: the constant.
    """

    def __init__(self, padding: int | Sequence[int], value: float):
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """Pad the input."""
        return F.pad(input, self.padding, self.mode, self.value)

    def extra_repr(self) -> str:
        """Return the options shown by ``repr``."""
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """Pads the last dimension with a constant.

    Example:
        >>> nn.ConstantPad1d((1, 0), 7.0)(tn.ones(1, 2))
        tensor([[7., 1., 1.]])
    """

    rank = 1


class ConstantPad2d(_ConstantPadNd):
    """Pads the last two dimensions with a constant.

    Example:
        >>> nn.ConstantPad2d((1, 0, 0, 1), 7.0)(tn.ones(1, 2))
        tensor([[7., 1., 1.],
                [7., 7., 7.]])
    """

    rank = 2


class ConstantPad3d(_ConstantPadNd):
    """Pads the last three dimensions with a constant.

    Example:
        >>> nn.ConstantPad3d(1, 7.0)(tn.ones(1, 1, 2, 3, 4)).shape
        tinynet.Size([1, 1, 4, 5, 6])
    """

    rank = 3


class _ZeroPad(_ConstantBorder):
    """Base class of layers that pad with zeros."""

    value = 0.0


class ZeroPad1d(_ZeroPad):
    """Pads the last dimension with zeros.

    Example:
        >>> nn.ZeroPad1d((1, 0))(tn.ones(1, 2))
        tensor([[0., 1., 1.]])
    """

    rank = 1


class ZeroPad2d(_ZeroPad):
    """Pads the last two dimensions with zeros.

    Example:
        >>> nn.ZeroPad2d((1, 0, 0, 1))(tn.ones(1, 2))
        tensor([[0., 1., 1.],
                [0., 0., 0.]])
    """

    rank = 2


class ZeroPad3d(_ZeroPad):
    """Pads the last three dimensions with zeros.

    Example:
        >>> nn.ZeroPad3d(1)(tn.ones(1, 1, 2, 3, 4)).shape
        tinynet.Size([1, 1, 4, 5, 6])
    """

    rank = 3


# ---- upsampling ---------------------------------------------------------------------------------


Size = int | Sequence[int]
Scale = float | Sequence[float]


class Upsample(Module):
    """Resamples the input to another size.

    Args:
        size: the output size; or
        scale_factor: the factor for the input size; the product is rounded down.
        mode: ``"nearest"``, ``"linear"``, ``"bilinear"``, ``"bicubic"``, ``"trilinear"`` or another
            mode of ``F.interpolate``.
        align_corners: align the centers of the corner elements of input and output.
        recompute_scale_factor: recompute the factor from the rounded output size.

    Shape:
        ``[batch, channels, ...]`` with one to three spatial dimensions, which become ``size`` or
        ``floor(n * scale_factor)``.

    Raises:
        ValueError: not exactly one of size and factor, too many numbers, or ``align_corners`` for a
            mode without it (in the call).
        NotImplementedError: the input has an integer dtype, the mode is unknown, or it does not
            support the number of dimensions.
        RuntimeError: a size is not positive.

    Source: with ``s = n / m`` (or ``1 / scale_factor``) for n old and m new elements, element i is
    read at ``(i + 0.5) * s - 0.5``, with ``align_corners`` at ``i * (n - 1) / (m - 1)``;
    ``"nearest"`` reads at ``floor(i * s)``.

    Example:
        >>> nn.Upsample(scale_factor=2)(tn.tensor([[[0.0, 1.0]]]))
        tensor([[[0., 0., 1., 1.]]])
        >>> nn.Upsample(3, mode="linear", align_corners=True)(tn.tensor([[[0.0, 1.0]]]))
        tensor([[[0.0000, 0.5000, 1.0000]]])
    """

    scale_factor: float | tuple[float, ...] | None

    def __init__(
        self,
        size: Size | None = None,
        scale_factor: Scale | None = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ):
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        if isinstance(scale_factor, Sequence):
            self.scale_factor = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Resample the input."""
        again = self.recompute_scale_factor
        how: Any = (self.size, self.scale_factor, self.mode, self.align_corners, again)
        return F.interpolate(input, *how)

    def extra_repr(self) -> str:
        """Return the options shown by ``repr``."""
        if self.scale_factor is not None:
            return f"scale_factor={self.scale_factor!r}, mode={self.mode!r}"
        return f"size={self.size!r}, mode={self.mode!r}"


class _Upsampling2d(Upsample):
    """Base class of upsampling of images in one mode.

    Args:
        size: the output height and width; or
        scale_factor: the factor for the input size.

    Shape:
        ``[batch, channels, height, width]``; the last two become ``size``.

    Raises:
        ValueError: not exactly one of size and factor (in the call).
        NotImplementedError: the input has an integer dtype or the wrong number of dimensions.
        RuntimeError: a size is not positive.
    """


class UpsamplingNearest2d(_Upsampling2d):
    """Upsamples images by repeating pixels: ``Upsample(mode="nearest")``.

    Source: ``result[i, j] = input[floor(i * h / H), floor(j * w / W)]``.

    Example:
        >>> nn.UpsamplingNearest2d(scale_factor=2)(tn.arange(2.0).view(1, 1, 1, 2))
        tensor([[[[0., 0., 1., 1.],
                  [0., 0., 1., 1.]]]])
    """

    def __init__(self, size: Size | None = None, scale_factor: Scale | None = None):
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(_Upsampling2d):
    """Upsamples images bilinearly: ``Upsample(mode="bilinear", align_corners=True)``.

    Source: the mean of the four neighbours of ``i * (n - 1) / (m - 1)``, weighted by proximity.

    Example:
        >>> nn.UpsamplingBilinear2d((1, 3))(tn.arange(2.0).view(1, 1, 1, 2))
        tensor([[[[0.0000, 0.5000, 1.0000]]]])
    """

    def __init__(self, size: Size | None = None, scale_factor: Scale | None = None):
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


# ---- shuffling ----------------------------------------------------------------------------------


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


complete(__name__)
