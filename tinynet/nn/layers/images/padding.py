"""Padding with elements of the input, with a constant, and with zeros."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn.base.options import Spatial
from tinynet.nn.layers.docstrings import complete

__all__ = [
    "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d",
    "ReplicationPad2d", "ReplicationPad3d", "CircularPad1d", "CircularPad2d", "CircularPad3d",
    "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d"
]  # fmt: skip


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


complete(__name__)
