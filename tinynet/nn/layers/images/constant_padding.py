"""Padding layers: a frame of a constant around the last one, two or three dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn.layers.images.padding import _Padding

__all__ = ["ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d"]


class _ConstantPad(_Padding):
    """What the layers share that pad with a constant."""

    def __init__(self, padding: int | Sequence[int], value: float):
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """Return the input with a frame of the constant."""
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        """Return the lengths and the constant."""
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPad):
    """Frames the last dimension with a constant.

    Args:
        padding: ``(left, right)``, or one length for both; negative ones cut off.
        value: the constant.

    Shape:
        ``[..., width]`` to ``[..., left + width + right]``.

    Raises:
        RuntimeError: an odd number of lengths, or more is cut off than there is.

    Example:
        >>> nn.ConstantPad1d((1, 0), 7.0)(tn.ones(1, 2))
        tensor([[7., 1., 1.]])
    """

    rank = 1


class ConstantPad2d(_ConstantPad):
    """Frames the last two dimensions with a constant.

    Args:
        padding: ``(left, right, top, bottom)``, or one length for all.
            Negative lengths cut off.
        value: the constant.

    Shape:
        ``[..., height, width]`` to ``[..., top + height + bottom, left + width + right]``.

    Raises:
        RuntimeError: less dimensions, an odd number of lengths, or more is cut off than there is.

    Example:
        >>> nn.ConstantPad2d((1, 0, 0, 1), 7.0)(tn.ones(1, 2))
        tensor([[7., 1., 1.],
                [7., 7., 7.]])
    """

    rank = 2


class ConstantPad3d(_ConstantPad):
    """Frames the last three dimensions with a constant.

    Args:
        padding: ``(left, right, top, bottom, front, back)``, or one length for all.
            Negative lengths cut off.
        value: the constant.

    Shape:
        ``[..., depth, height, width]``; each of them gets longer by its two lengths.

    Raises:
        RuntimeError: less dimensions, an odd number of lengths, or more is cut off than there is.

    Example:
        >>> nn.ConstantPad3d(1, 7.0)(tn.ones(1, 1, 2, 3, 4)).shape
        tinynet.Size([1, 1, 4, 5, 6])
    """

    rank = 3


class _ZeroPad(_Padding):
    """What the layers share that pad with zeros."""

    mode = "constant"
    value = 0.0


class ZeroPad1d(_ZeroPad):
    """Frames the last dimension with zeros.

    Args:
        padding: ``(left, right)``, or one length for both; negative ones cut off.

    Shape:
        ``[..., width]`` to ``[..., left + width + right]``.

    Raises:
        RuntimeError: an odd number of lengths, or more is cut off than there is.

    Example:
        >>> nn.ZeroPad1d((1, 0))(tn.ones(1, 2))
        tensor([[0., 1., 1.]])
    """

    rank = 1


class ZeroPad2d(_ZeroPad):
    """Frames the last two dimensions with zeros.

    Args:
        padding: ``(left, right, top, bottom)``, or one length for all.
            Negative lengths cut off.

    Shape:
        ``[..., height, width]`` to ``[..., top + height + bottom, left + width + right]``.

    Raises:
        RuntimeError: less dimensions, an odd number of lengths, or more is cut off than there is.

    Example:
        >>> nn.ZeroPad2d((1, 0, 0, 1))(tn.ones(1, 2))
        tensor([[0., 1., 1.],
                [0., 0., 0.]])
    """

    rank = 2


class ZeroPad3d(_ZeroPad):
    """Frames the last three dimensions with zeros.

    Args:
        padding: ``(left, right, top, bottom, front, back)``, or one length for all.
            Negative lengths cut off.

    Shape:
        ``[..., depth, height, width]``; each of them gets longer by its two lengths.

    Raises:
        RuntimeError: less dimensions, an odd number of lengths, or more is cut off than there is.

    Example:
        >>> nn.ZeroPad3d(1)(tn.ones(1, 1, 2, 3, 4)).shape
        tinynet.Size([1, 1, 4, 5, 6])
    """

    rank = 3
