"""Max unpooling."""

from __future__ import annotations

from collections.abc import Sequence

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.base.options import options_repr
from tinynet.nn.base.spatial import Spatial
from tinynet.nn.functional.dimensions import per_dim
from tinynet.nn.functional.pooling import unpooling
from tinynet.nn.layers.docstrings import complete

__all__ = ["MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d"]

Size = int | Sequence[int]

_MAX_UNPOOL = {1: unpooling.max_unpool1d, 2: unpooling.max_unpool2d, 3: unpooling.max_unpool3d}


class _MaxUnpool(Spatial):
    """Base class of max unpooling.

    Args:
        kernel_size, stride, padding: those of the pooling.

    Shape:
        The reverse of the pooling: each spatial n becomes
        ``(n - 1) * stride - 2 * padding + kernel_size``, or the given ``output_size``.

    Raises:
        RuntimeError: the indices have the wrong shape, are not int64, or are out of range.
        ValueError: ``output_size`` is too far from the size without it.

    Source: Zeiler and Fergus, "Visualizing and understanding convolutional networks", 2014,
    arXiv:1311.2901.
    """

    _options = "kernel_size", "stride", "padding"

    def __init__(self, kernel_size: Size, stride: Size | None = None, padding: Size = 0):
        super().__init__()
        self.kernel_size = per_dim(kernel_size, self.rank)
        self.stride = per_dim(kernel_size if stride is None else stride, self.rank)
        self.padding = per_dim(padding, self.rank)

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        """Restore the maxima at their indices; ``output_size`` is the shape before pooling."""
        windows = self.kernel_size, self.stride, self.padding
        return _MAX_UNPOOL[self.rank](input, indices, *windows, output_size)

    extra_repr = options_repr


class MaxUnpool1d(_MaxUnpool):
    """A partial inverse: zeros with the maxima where ``MaxPool1d`` found them.

    Example:
        >>> x = tn.tensor([[1.0, 3.0, 2.0, 5.0]])
        >>> nn.MaxUnpool1d(2)(*nn.MaxPool1d(2, return_indices=True)(x))
        tensor([[0., 3., 0., 5.]])
    """

    rank = 1


class MaxUnpool2d(_MaxUnpool):
    """A partial inverse: zeros with the maxima where ``MaxPool2d`` found them.

    Example:
        >>> x = tn.arange(4.0).view(1, 2, 2)
        >>> nn.MaxUnpool2d(2)(*nn.MaxPool2d(2, return_indices=True)(x))
        tensor([[[0., 0.],
                 [0., 3.]]])
    """

    rank = 2


class MaxUnpool3d(_MaxUnpool):
    """A partial inverse: zeros with the maxima where ``MaxPool3d`` found them.

    Example:
        >>> x = tn.ones(1, 3, 4, 4, 4)
        >>> nn.MaxUnpool3d(2)(*nn.MaxPool3d(2, return_indices=True)(x)).sum()
        tensor(24.)
    """

    rank = 3


complete(__name__)
