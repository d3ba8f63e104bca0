"""Unfold and Fold: the windows of images as columns, and back."""

from __future__ import annotations

from collections.abc import Sequence

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn.base.module import Module
from tinynet.nn.base.options import options_repr, with_options

__all__ = ["Unfold", "Fold"]

Lengths = int | Sequence[int]


@with_options
class Unfold(Module):
    """Extracts the sliding windows of images, each as a column.

    Args:
        kernel_size: size of a window; this and the others are one number or (height, width).
        dilation: distance between the elements of a window.
        padding: number of zeros added on each side.
        stride: step between windows.

    Shape:
        ``[batch, channels, height, width]`` to ``[batch, channels * prod(kernel_size), windows]``;
        the batch dimension is optional.

    Raises:
        RuntimeError: the input has the wrong number of dimensions, an option is out of range, or no
            window fits.
        NotImplementedError: the input has an integer dtype.

    Source: ``result[n, (c, j), i] = input[n, c, i * stride + j * dilation - padding]`` for window i
    and position j in it.

    Example:
        >>> nn.Unfold(2)(tn.zeros(4, 3, 10, 12)).shape
        tinynet.Size([4, 12, 99])
    """

    kernel_size: Lengths
    dilation: Lengths = 1
    padding: Lengths = 0
    stride: Lengths = 1

    def forward(self, input: Tensor) -> Tensor:
        """Return the windows."""
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    extra_repr = options_repr


@with_options
class Fold(Module):
    """Assembles images from columns of windows, summing where they overlap.

    Args:
        output_size: size of the images; this and the others are one number or (height, width).
        kernel_size: size of a window.
        dilation: distance between the elements of a window.
        padding: number of elements cropped from each side.
        stride: step between windows.

    Shape:
        ``[batch, channels * prod(kernel_size), windows]`` to ``[batch, channels, *output_size]``;
        the batch dimension is optional.

    Raises:
        RuntimeError: the input has the wrong number of dimensions or windows, or an option is out
            of range.
        NotImplementedError: the input has an integer dtype.

    Source: the sum of all ``input[n, (c, j), i]`` at
    ``result[n, c, i * stride + j * dilation - padding]``.

    Example:
        >>> nn.Fold((10, 12), 2)(tn.zeros(4, 12, 99)).shape
        tinynet.Size([4, 3, 10, 12])
    """

    output_size: Lengths
    kernel_size: Lengths
    dilation: Lengths = 1
    padding: Lengths = 0
    stride: Lengths = 1

    def forward(self, input: Tensor) -> Tensor:
        """Return the images."""
        return F.fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )

    extra_repr = options_repr
