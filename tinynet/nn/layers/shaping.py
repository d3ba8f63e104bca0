"""Layers that only rearrange elements: Flatten and Unflatten; the windows of images as columns."""

from __future__ import annotations

from collections.abc import Sequence

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn.base.module import Module
from tinynet.nn.layers.declaration import options_repr, with_options

__all__ = [
    "Flatten",
    "Fold",
    "Unflatten",
    "Unfold",
]


# ---- flatten ------------------------------------------------------------------------------------


@with_options
class Flatten(Module):
    """Flattens several dimensions into one, by default all but the batch.

    Args:
        start_dim: the first dimension to flatten.
        end_dim: the last dimension to flatten.

    Shape:
        ``[batch, a, b, ...]`` to ``[batch, a * b * ...]`` with the defaults.

    Raises:
        IndexError: the dimension is out of range.
        RuntimeError: ``end_dim`` comes before ``start_dim``.

    Example:
        >>> nn.Flatten()(tn.zeros(32, 1, 8, 8)).shape
        tinynet.Size([32, 64])
    """

    start_dim: int = 1
    end_dim: int = -1

    def forward(self, input: Tensor) -> Tensor:
        """Flatten the input."""
        return input.flatten(self.start_dim, self.end_dim)

    extra_repr = options_repr


class Unflatten(Module):
    """Splits one dimension into several.

    Args:
        dim: the dimension to split.
        unflattened_size: the new lengths; one may be -1.

    Shape:
        ``[..., n, ...]`` to ``[..., *unflattened_size, ...]``.

    Raises:
        TypeError: the lengths are not a sequence of ints.
        IndexError: ``dim`` is out of range.
        RuntimeError: the product of the lengths differs from the length of the dimension.

    Example:
        >>> nn.Unflatten(1, (8, 8))(tn.zeros(32, 64)).shape
        tinynet.Size([32, 8, 8])
    """

    def __init__(self, dim: int, unflattened_size: Sequence[int]):
        super().__init__()
        if not isinstance(unflattened_size, (tuple, list)):
            raise TypeError(
                "unflattened_size must be a tuple of ints, but found type "
                f"{type(unflattened_size).__name__}"
            )
        for position, n in enumerate(unflattened_size):
            if not isinstance(n, int):
                raise TypeError(
                    f"unflattened_size must be tuple of ints, but found element of type "
                    f"{type(n).__name__} at pos {position}"
                )
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        """Split the dimension."""
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        """Return the dimension and the lengths."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


# ---- fold ---------------------------------------------------------------------------------------
# Unfold and Fold: the windows of images as columns, and back.


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
