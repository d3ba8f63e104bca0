"""Padding with elements of the input: reflection, replication and circular."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn.base.module import Module

__all__ = [
    "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d",
    "ReplicationPad2d", "ReplicationPad3d", "CircularPad1d", "CircularPad2d", "CircularPad3d"
]  # fmt: skip


class _Padding(Module):
    """Base class of padding layers.

    Attributes:
        padding: the lengths before and after the last dimension, then the one before it, and so on,
            as in ``F.pad``.
        rank: the number of dimensions to pad.
        mode: the padding mode of ``F.pad``.
    """

    rank: int
    mode: str

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


class _ReflectionPad(_Padding):
    """Base class of reflection padding layers."""

    mode = "reflect"


class ReflectionPad1d(_ReflectionPad):
    """Pads the last dimension by reflecting the input without repeating its end elements.

    Args:
        padding: ``(left, right)``, or one length for both.

    Raises:
        RuntimeError: a length is not less than the dimension, or the result is empty.
        NotImplementedError: the input has the wrong number of dimensions.

    Shape:
        ``[batch, channels, width]`` or ``[channels, width]`` to
        ``[..., left + width + right]``.

    Example:
        >>> nn.ReflectionPad1d((2, 1))(tn.tensor([[0.0, 1.0, 2.0]]))
        tensor([[2., 1., 0., 1., 2., 1.]])
    """

    rank = 1


class ReflectionPad2d(_ReflectionPad):
    """Pads the last two dimensions by reflecting the input.

    Args:
        padding: ``(left, right, top, bottom)``, or one length for all.

    Raises:
        RuntimeError: a length is not less than the dimension, or the result is empty.
        NotImplementedError: the input has the wrong number of dimensions.

    Shape:
        ``[batch, channels, height, width]`` or ``[channels, height, width]`` to
        ``[..., top + height + bottom, left + width + right]``.

    Example:
        >>> nn.ReflectionPad2d((1, 0, 1, 0))(tn.arange(4.0).view(1, 2, 2))
        tensor([[[3., 2., 3.],
                 [1., 0., 1.],
                 [3., 2., 3.]]])
    """

    rank = 2


class ReflectionPad3d(_ReflectionPad):
    """Pads the last three dimensions by reflecting the input.

    Args:
        padding: ``(left, right, top, bottom, front, back)``, or one length for all.

    Raises:
        RuntimeError: a length is not less than the dimension, or the result is empty.
        NotImplementedError: the input has the wrong number of dimensions.

    Shape:
        ``[batch, channels, depth, height, width]`` or without batch; each of the last three
        dimensions gets longer by its two lengths.

    Example:
        >>> nn.ReflectionPad3d(1)(tn.ones(1, 2, 3, 4)).shape
        tinynet.Size([1, 4, 5, 6])
    """

    rank = 3


class _ReplicationPad(_Padding):
    """Base class of replication padding layers."""

    mode = "replicate"


class ReplicationPad1d(_ReplicationPad):
    """Pads the last dimension by repeating its end elements.

    Args:
        padding: ``(left, right)``, or one length for both.

    Raises:
        RuntimeError: the input or the result is empty.
        NotImplementedError: the input has the wrong number of dimensions.

    Shape:
        ``[batch, channels, width]`` or ``[channels, width]`` to
        ``[..., left + width + right]``.

    Example:
        >>> nn.ReplicationPad1d((2, 1))(tn.tensor([[0.0, 1.0, 2.0]]))
        tensor([[0., 0., 0., 1., 2., 2.]])
    """

    rank = 1


class ReplicationPad2d(_ReplicationPad):
    """Pads the last two dimensions by repeating the edge elements.

    Args:
        padding: ``(left, right, top, bottom)``, or one length for all.

    Raises:
        RuntimeError: the input or the result is empty.
        NotImplementedError: the input has the wrong number of dimensions.

    Shape:
        ``[batch, channels, height, width]`` or ``[channels, height, width]`` to
        ``[..., top + height + bottom, left + width + right]``.

    Example:
        >>> nn.ReplicationPad2d((1, 0, 1, 0))(tn.arange(4.0).view(1, 2, 2))
        tensor([[[0., 0., 1.],
                 [0., 0., 1.],
                 [2., 2., 3.]]])
    """

    rank = 2


class ReplicationPad3d(_ReplicationPad):
    """Pads the last three dimensions by repeating the edge elements.

    Args:
        padding: ``(left, right, top, bottom, front, back)``, or one length for all.

    Raises:
        RuntimeError: the input or the result is empty.
        NotImplementedError: the input has the wrong number of dimensions.

    Shape:
        ``[batch, channels, depth, height, width]`` or without batch; each of the last three
        dimensions gets longer by its two lengths.

    Example:
        >>> nn.ReplicationPad3d(1)(tn.ones(1, 2, 3, 4)).shape
        tinynet.Size([1, 4, 5, 6])
    """

    rank = 3


class _CircularPad(_Padding):
    """Base class of circular padding layers."""

    mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        """Pad the input."""
        few, many = self.rank + 1, self.rank + 2
        if input.ndim not in (few, many):
            raise ValueError(f"expected {few}D or {many}D input (got {input.ndim}D input)")
        return F.pad(input, self.padding, self.mode)


class CircularPad1d(_CircularPad):
    """Pads the last dimension circularly, from its opposite end.

    Args:
        padding: ``(left, right)``, or one length for both.

    Raises:
        RuntimeError: a length is larger than the dimension, or the result is empty.
        ValueError: the input has the wrong number of dimensions.

    Shape:
        ``[batch, channels, width]`` or ``[channels, width]`` to
        ``[..., left + width + right]``.

    Example:
        >>> nn.CircularPad1d((2, 1))(tn.tensor([[0.0, 1.0, 2.0]]))
        tensor([[1., 2., 0., 1., 2., 0.]])
    """

    rank = 1


class CircularPad2d(_CircularPad):
    """Pads the last two dimensions circularly, from the opposite ends.

    Args:
        padding: ``(left, right, top, bottom)``, or one length for all.

    Raises:
        RuntimeError: a length is larger than the dimension, or the result is empty.
        ValueError: the input has the wrong number of dimensions.

    Shape:
        ``[batch, channels, height, width]`` or ``[channels, height, width]`` to
        ``[..., top + height + bottom, left + width + right]``.

    Example:
        >>> nn.CircularPad2d((1, 0, 1, 0))(tn.arange(4.0).view(1, 2, 2))
        tensor([[[3., 2., 3.],
                 [1., 0., 1.],
                 [3., 2., 3.]]])
    """

    rank = 2


class CircularPad3d(_CircularPad):
    """Pads the last three dimensions circularly, from the opposite ends.

    Args:
        padding: ``(left, right, top, bottom, front, back)``, or one length for all.

    Raises:
        RuntimeError: a length is larger than the dimension, or the result is empty.
        ValueError: the input has the wrong number of dimensions.

    Shape:
        ``[batch, channels, depth, height, width]`` or without batch; each of the last three
        dimensions gets longer by its two lengths.

    Example:
        >>> nn.CircularPad3d(1)(tn.ones(1, 2, 3, 4)).shape
        tinynet.Size([1, 4, 5, 6])
    """

    rank = 3
