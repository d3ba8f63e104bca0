"""Max and average pooling over sliding windows."""

from __future__ import annotations

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.base.options import options_repr
from tinynet.nn.base.spatial import Spatial
from tinynet.nn.functional.dimensions import BATCHED_OR_NOT, per_dim
from tinynet.nn.functional.pooling import pooling
from tinynet.nn.layers.docstrings import complete

__all__ = ["MaxPool1d", "MaxPool2d", "MaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d"]

Size = int | tuple[int, ...] | list[int]

# ---- maxima -------------------------------------------------------------------------------------

_MAX_POOL = {1: pooling.max_pool1d, 2: pooling.max_pool2d, 3: pooling.max_pool3d}


class _MaxPoolNd(Spatial):
    """Base class of max pooling.

    Args:
        kernel_size: size of the window.
        stride: step between windows; the kernel size unless given.
        padding: implicit minus infinity on each side, at most half the window.
        dilation: distance between the elements of a window.
        return_indices: also return the index of each maximum in its plane, for
            ``MaxUnpool{rank}d``.
        ceil_mode: also keep windows that extend past the right edge.

    Shape:
        ``[batch, channels, {sizes}]``, or without batch; each spatial n becomes
        ``(n + 2 * padding - dilation * (kernel_size - 1) - 1) // stride + 1``.

    Raises:
        RuntimeError: the input has the wrong number of dimensions, padding that exceeds half the
            window, or a window that does not fit.
        TypeError: a size is not an int.
        NotImplementedError: the input is bool or, in one dimension, has an integer dtype.

    Source: ``result[i] = max(input[i * stride + j * dilation - padding])`` over the positions j in
    a window.
    """

    _options = "kernel_size", "stride", "padding", "dilation", "ceil_mode"

    _expected_shapes = BATCHED_OR_NOT

    def __init__(
        self,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        dilation: Size = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        """Return the maxima and, with ``return_indices``, their indices."""
        windows = self.kernel_size, self.stride, self.padding, self.dilation
        return _MAX_POOL[self.rank](input, *windows, self.ceil_mode, self.return_indices)

    extra_repr = options_repr


class MaxPool1d(_MaxPoolNd):
    """The maximum of each window of the last dimension.

    Example:
        >>> nn.MaxPool1d(2)(tn.tensor([[1.0, 3.0, 2.0, 5.0]]))
        tensor([[3., 5.]])
    """

    rank = 1


class MaxPool2d(_MaxPoolNd):
    """The maximum of each window of the last two dimensions.

    Example:
        >>> nn.MaxPool2d(2)(tn.arange(16.0).view(1, 4, 4))
        tensor([[[ 5.,  7.],
                 [13., 15.]]])
    """

    rank = 2


class MaxPool3d(_MaxPoolNd):
    """The maximum of each window of the last three dimensions.

    Example:
        >>> nn.MaxPool3d(2)(tn.zeros(8, 3, 4, 6, 8)).shape
        tinynet.Size([8, 3, 2, 3, 4])
    """

    rank = 3


# ---- averages -----------------------------------------------------------------------------------


class _AvgPoolNd(Spatial):
    """Base class of average pooling.

    Args:
        kernel_size: size of the window.
        stride: step between windows; the kernel size unless given.
        padding: zeros added on each side, at most half the window.
        ceil_mode: also keep windows that extend past the right edge.
        count_include_pad: whether averages include the padding.
        divisor_override: divide the sums by this, not by the number of elements.

    Shape:
        ``[batch, channels, {sizes}]``, or without batch; each spatial n becomes
        ``(n + 2 * padding - kernel_size) // stride + 1``.

    Raises:
        RuntimeError: the input has the wrong number of dimensions, padding that exceeds half the
            window, or a window that does not fit.
        NotImplementedError: the input is bool.

    Source: ``result[i] = mean(input[i * stride + j - padding])`` over the positions j in a window.
    """

    _options = "kernel_size", "stride", "padding"

    _expected_shapes = BATCHED_OR_NOT

    def __init__(
        self,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        """Return the averages."""
        pool = pooling.avg_pool2d if self.rank == 2 else pooling.avg_pool3d
        windows = self.kernel_size, self.stride, self.padding, self.ceil_mode
        return pool(input, *windows, self.count_include_pad, self.divisor_override)

    extra_repr = options_repr


class AvgPool1d(_AvgPoolNd):
    """The average of each window of the last dimension.

    Example:
        >>> nn.AvgPool1d(2)(tn.tensor([[1.0, 3.0, 2.0, 5.0]]))
        tensor([[2.0000, 3.5000]])
    """

    rank = 1

    def __init__(
        self,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ):
        window = per_dim(kernel_size, 1)
        step = window if stride is None else per_dim(stride, 1)
        super().__init__(window, step, per_dim(padding, 1), ceil_mode, count_include_pad)

    def forward(self, input: Tensor) -> Tensor:
        """Return the averages."""
        windows = self.kernel_size, self.stride, self.padding, self.ceil_mode
        return pooling.avg_pool1d(input, *windows, self.count_include_pad)


class AvgPool2d(_AvgPoolNd):
    """The average of each window of the last two dimensions.

    Example:
        >>> nn.AvgPool2d(2)(tn.arange(16.0).view(1, 4, 4))
        tensor([[[ 2.5000,  4.5000],
                 [10.5000, 12.5000]]])
    """

    rank = 2


class AvgPool3d(_AvgPoolNd):
    """The average of each window of the last three dimensions.

    Example:
        >>> nn.AvgPool3d(2)(tn.zeros(8, 3, 4, 6, 8)).shape
        tinynet.Size([8, 3, 2, 3, 4])
    """

    rank = 3


complete(__name__)
