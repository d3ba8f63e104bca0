"""Upsampling layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn.base.module import Module
from tinynet.nn.layers.docstrings import complete

__all__ = ["Upsample", "UpsamplingNearest2d", "UpsamplingBilinear2d"]

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


complete(__name__)
