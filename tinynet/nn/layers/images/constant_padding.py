"""Padding with a constant over one, two or three dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn.layers.images.padding import _Padding

__all__ = ["ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d"]


class _ConstantPad(_Padding):
    """Base class of layers that pad with a constant."""

    def __init__(self, padding: int | Sequence[int], value: float):
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """Pad the input."""
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        """Return the options shown by ``repr``."""
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPad):
    """Pads the last dimension with a constant.

    Args:
        padding: ``(left, right)``, or one length for both; negative lengths crop.
        value: the constant.

    Shape:
        ``[..., width]`` to ``[..., left + width + right]``.

    Raises:
        RuntimeError: an odd number of lengths, or cropping removes more than the dimension has.

    Example:
        >>> nn.ConstantPad1d((1, 0), 7.0)(tn.ones(1, 2))
        tensor([[7., 1., 1.]])
    """

    rank = 1


class ConstantPad2d(_ConstantPad):
    """Pads the last two dimensions with a constant.

    Args:
        padding: ``(left, right, top, bottom)``, or one length for all. Negative lengths crop.
        value: the constant.

    Shape:
        ``[..., height, width]`` to ``[..., top + height + bottom, left + width + right]``.

    Raises:
        RuntimeError: too few dimensions, an odd number of lengths, or cropping removes more than
            the dimension has.

    Example:
        >>> nn.ConstantPad2d((1, 0, 0, 1), 7.0)(tn.ones(1, 2))
        tensor([[7., 1., 1.],
                [7., 7., 7.]])
    """

    rank = 2


class ConstantPad3d(_ConstantPad):
    """Pads the last three dimensions with a constant.

    Args:
        padding: ``(left, right, top, bottom, front, back)``, or one length for all. Negative
            lengths crop.
        value: the constant.

    Shape:
        ``[..., depth, height, width]``; each of them gets longer by its two lengths.

    Raises:
        RuntimeError: too few dimensions, an odd number of lengths, or cropping removes more than
            the dimension has.

    Example:
        >>> nn.ConstantPad3d(1, 7.0)(tn.ones(1, 1, 2, 3, 4)).shape
        tinynet.Size([1, 1, 4, 5, 6])
    """

    rank = 3


class _ZeroPad(_Padding):
    """Base class of layers that pad with zeros."""

    mode = "constant"
    value = 0.0


class ZeroPad1d(_ZeroPad):
    """Pads the last dimension with zeros.

    Args:
        padding: ``(left, right)``, or one length for both; negative lengths crop.

    Shape:
        ``[..., width]`` to ``[..., left + width + right]``.

    Raises:
        RuntimeError: an odd number of lengths, or cropping removes more than the dimension has.

    Example:
        >>> nn.ZeroPad1d((1, 0))(tn.ones(1, 2))
        tensor([[0., 1., 1.]])
    """

    rank = 1


class ZeroPad2d(_ZeroPad):
    """Pads the last two dimensions with zeros.

    Args:
        padding: ``(left, right, top, bottom)``, or one length for all. Negative lengths crop.

    Shape:
        ``[..., height, width]`` to ``[..., top + height + bottom, left + width + right]``.

    Raises:
        RuntimeError: too few dimensions, an odd number of lengths, or cropping removes more than
            the dimension has.

    Example:
        >>> nn.ZeroPad2d((1, 0, 0, 1))(tn.ones(1, 2))
        tensor([[0., 1., 1.],
                [0., 0., 0.]])
    """

    rank = 2


class ZeroPad3d(_ZeroPad):
    """Pads the last three dimensions with zeros.

    Args:
        padding: ``(left, right, top, bottom, front, back)``, or one length for all. Negative
            lengths crop.

    Shape:
        ``[..., depth, height, width]``; each of them gets longer by its two lengths.

    Raises:
        RuntimeError: too few dimensions, an odd number of lengths, or cropping removes more than
            the dimension has.

    Example:
        >>> nn.ZeroPad3d(1)(tn.ones(1, 1, 2, 3, 4)).shape
        tinynet.Size([1, 1, 4, 5, 6])
    """

    rank = 3
