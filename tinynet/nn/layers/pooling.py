"""Max and average pooling over sliding windows."""

from __future__ import annotations

from collections.abc import Sequence

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.functional.checks import BATCHED_OR_NOT, per_dim
from tinynet.nn.functional.pooling import pooling, unpooling
from tinynet.nn.layers.declaration import Spatial, complete, options_repr, with_options

__all__ = [
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]


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


# ---- unpooling ----------------------------------------------------------------------------------
# Max unpooling.


Unpooled = int | Sequence[int]

_MAX_UNPOOL = {1: unpooling.max_unpool1d, 2: unpooling.max_unpool2d, 3: unpooling.max_unpool3d}


class _MaxUnpoolNd(Spatial):
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

    def __init__(
        self, kernel_size: Unpooled, stride: Unpooled | None = None, padding: Unpooled = 0
    ):
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


class MaxUnpool1d(_MaxUnpoolNd):
    """A partial inverse: zeros with the maxima where ``MaxPool1d`` found them.

    Example:
        >>> x = tn.tensor([[1.0, 3.0, 2.0, 5.0]])
        >>> nn.MaxUnpool1d(2)(*nn.MaxPool1d(2, return_indices=True)(x))
        tensor([[0., 3., 0., 5.]])
    """

    rank = 1


class MaxUnpool2d(_MaxUnpoolNd):
    """A partial inverse: zeros with the maxima where ``MaxPool2d`` found them.

    Example:
        >>> x = tn.arange(4.0).view(1, 2, 2)
        >>> nn.MaxUnpool2d(2)(*nn.MaxPool2d(2, return_indices=True)(x))
        tensor([[[0., 0.],
                 [0., 3.]]])
    """

    rank = 2


class MaxUnpool3d(_MaxUnpoolNd):
    """A partial inverse: zeros with the maxima where ``MaxPool3d`` found them.

    Example:
        >>> x = tn.ones(1, 3, 4, 4, 4)
        >>> nn.MaxUnpool3d(2)(*nn.MaxPool3d(2, return_indices=True)(x)).sum()
        tensor(24.)
    """

    rank = 3


# ---- power --------------------------------------------------------------------------------------
# Power-average pooling over sliding windows.


PowerSize = int | tuple[int, ...] | list[int]

_LP_POOL = {1: pooling.lp_pool1d, 2: pooling.lp_pool2d, 3: pooling.lp_pool3d}


@with_options
class _LPPoolNd(Spatial):
    """Base class of power-average pooling.

    Args:
        norm_type: the power.
        kernel_size: size of the window.
        stride: step between windows; the kernel size unless given.
        ceil_mode: also keep windows that extend past the right edge.

    Shape:
        ``[batch, channels, {sizes}]``, or without batch; each spatial n becomes
        ``(n - kernel_size) // stride + 1``.

    Raises:
        RuntimeError: the input has the wrong number of dimensions, or a window that does not fit.
        ZeroDivisionError: ``norm_type`` is 0.
    """

    norm_type: float
    kernel_size: PowerSize
    stride: PowerSize | None = None
    ceil_mode: bool = False

    _expected_shapes = BATCHED_OR_NOT

    def forward(self, input: Tensor) -> Tensor:
        """Return the p-norms."""
        pool, power = _LP_POOL[self.rank], float(self.norm_type)
        return pool(input, power, self.kernel_size, self.stride, self.ceil_mode)

    extra_repr = options_repr


class LPPool1d(_LPPoolNd):
    """``sum(x ** norm_type) ** (1 / norm_type)`` of each window of the last dimension.

    Example:
        >>> nn.LPPool1d(2, 2)(tn.tensor([[3.0, 4.0, 6.0, 8.0]]))
        tensor([[ 5., 10.]])
    """

    rank = 1


class LPPool2d(_LPPoolNd):
    """``sum(x ** norm_type) ** (1 / norm_type)`` of each window of the last two dimensions.

    Example:
        >>> nn.LPPool2d(2, 2)(tn.full((1, 2, 2), 2.0))
        tensor([[[4.]]])
    """

    rank = 2


class LPPool3d(_LPPoolNd):
    """``sum(x ** norm_type) ** (1 / norm_type)`` of each window of the last three dimensions.

    Example:
        >>> nn.LPPool3d(1, 2)(tn.ones(1, 2, 2, 2))
        tensor([[[[8.]]]])
    """

    rank = 3


complete(__name__)
