"""The softmax family as modules: positive numbers with sum 1 along a dimension."""

from __future__ import annotations

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn.base.options import with_options
from tinynet.nn.layers.activation.family import _Activation
from tinynet.nn.layers.docstrings import complete

__all__ = ["Softmax", "LogSoftmax", "Softmin", "Softmax2d"]


@with_options
class Softmax(_Activation):
    """The exponentials divided by their sum along a dimension: positive, with sum 1.

    ``exp(x) / sum(exp(x))``.

    Args:
        dim: the dimension along which the result sums to 1. Leaving it out is deprecated.

    Raises:
        IndexError: ``dim`` is out of range.
        NotImplementedError: the input has an integer dtype.

    Example:
        >>> nn.Softmax(dim=0)(tn.zeros(2))
        tensor([0.5000, 0.5000])
    """

    dim: int | None = None

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim)


class LogSoftmax(Softmax):
    """The logarithm of softmax, computed without loss of precision.

    ``x - log(sum(exp(x)))``.

    Args:
        dim: the dimension along which the exponentials sum to 1. Leaving it out is deprecated.

    Raises:
        IndexError: ``dim`` is out of range.
        NotImplementedError: the input has an integer dtype.

    Example:
        >>> nn.LogSoftmax(dim=0)(tn.zeros(2))
        tensor([-0.6931, -0.6931])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim)


class Softmin(Softmax):
    """The softmax of the negated input.

    Args:
        dim: the dimension along which the result sums to 1. Leaving it out is deprecated.

    Raises:
        IndexError: ``dim`` is out of range.
        NotImplementedError: the input has an integer dtype.

    Source: ``exp(-x) / sum(exp(-x))``.

    Example:
        >>> nn.Softmin(dim=0)(tn.zeros(2))
        tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmin(input, self.dim)


class Softmax2d(_Activation):
    """Softmax over the channels at each pixel of an image.

    Shape:
        ``[batch, channels, height, width]`` or ``[channels, height, width]``; the output has the
        same shape.

    Raises:
        ValueError: the input has the wrong number of dimensions.
        NotImplementedError: the input has an integer dtype.

    Source: ``exp(x) / sum(exp(x))``, summed over the channels.

    Example:
        >>> nn.Softmax2d()(tn.zeros(2, 1, 3)).tolist()
        [[[0.5, 0.5, 0.5]], [[0.5, 0.5, 0.5]]]
    """

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return F.softmax(input, -3)


complete(__name__)
