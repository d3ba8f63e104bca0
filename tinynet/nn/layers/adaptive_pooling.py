"""Adaptive and fractional pooling."""

from __future__ import annotations

from collections.abc import Sequence

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.functional.checks import BATCHED_OR_NOT, per_dim
from tinynet.nn.functional.pooling.pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
)
from tinynet.nn.functional.pooling.unpooling import fractional_max_pool2d, fractional_max_pool3d
from tinynet.nn.layers.declaration import Spatial, complete, options_repr, with_options

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
]


Size = int | Sequence[int]

# ---- even shares --------------------------------------------------------------------------------

_AVERAGE = {1: adaptive_avg_pool1d, 2: adaptive_avg_pool2d, 3: adaptive_avg_pool3d}
_MAXIMUM = {1: adaptive_max_pool1d, 2: adaptive_max_pool2d, 3: adaptive_max_pool3d}


@with_options
class _AdaptivePool(Spatial):
    """Base class of adaptive pooling.

    Args:
        output_size: number of parts, one int or one for each dimension; None keeps a dimension.
        return_indices: also return the index of each maximum in its plane.

    Shape:
        ``[batch, channels, {sizes}]``, or without batch; the spatial dimensions become
        ``output_size``.

    Raises:
        RuntimeError: the input has the wrong number of dimensions or an empty one, or a size is
            negative.
        ValueError: ``output_size`` has more entries than the input has dimensions.
        NotImplementedError: the input has an integer dtype.

    Source: part i of n elements spans ``floor(i * n / size)`` to ``ceil((i + 1) * n / size)``.
    """

    output_size: int | Sequence[int | None] | None

    extra_repr = options_repr


class _AdaptiveAvgPoolNd(_AdaptivePool):
    """Base class of adaptive average pooling."""

    _expected_shapes = BATCHED_OR_NOT

    def forward(self, input: Tensor) -> Tensor:
        """Return the averages."""
        return _AVERAGE[self.rank](input, self.output_size)


@with_options
class _AdaptiveMaxPoolNd(_AdaptivePool):
    """Base class of adaptive max pooling."""

    output_size: int | Sequence[int | None] | None
    return_indices: bool = False

    _options = ("output_size",)  # in repr

    def forward(self, input: Tensor) -> Tensor:
        """Return the maxima and, with ``return_indices``, their indices."""
        return _MAXIMUM[self.rank](input, self.output_size, self.return_indices)


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """Averages over equal parts of the last dimension.

    Args:
        output_size: number of parts.

    Raises:
        RuntimeError: the input has the wrong number of dimensions or an empty one, or a size is
            negative.
        NotImplementedError: the input has an integer dtype.

    Example:
        >>> nn.AdaptiveAvgPool1d(2)(tn.tensor([[1.0, 3.0, 2.0, 5.0]]))
        tensor([[2.0000, 3.5000]])
    """

    rank = 1


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """Averages over equal parts of the last two dimensions.

    Example:
        >>> nn.AdaptiveAvgPool2d(1)(tn.arange(16.0).view(1, 4, 4))
        tensor([[[7.5000]]])
    """

    rank = 2


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """Averages over equal parts of the last three dimensions.

    Example:
        >>> nn.AdaptiveAvgPool3d((2, None, 3))(tn.zeros(8, 3, 4, 6, 8)).shape
        tinynet.Size([8, 3, 2, 6, 3])
    """

    rank = 3


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """Maxima of equal parts of the last dimension.

    Args:
        output_size: number of parts.

    Raises:
        RuntimeError: the input has the wrong number of dimensions or an empty one, or a size is
            negative.
        NotImplementedError: the input has an integer dtype.

    Example:
        >>> nn.AdaptiveMaxPool1d(2)(tn.tensor([[1.0, 3.0, 2.0, 5.0]]))
        tensor([[3., 5.]])
    """

    rank = 1


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """Maxima of equal parts of the last two dimensions.

    Example:
        >>> nn.AdaptiveMaxPool2d(2)(tn.arange(16.0).view(1, 4, 4))
        tensor([[[ 5.,  7.],
                 [13., 15.]]])
    """

    rank = 2


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """Maxima of equal parts of the last three dimensions.

    Example:
        >>> nn.AdaptiveMaxPool3d((2, None, 3))(tn.zeros(8, 3, 4, 6, 8)).shape
        tinynet.Size([8, 3, 2, 6, 3])
    """

    rank = 3


# ---- random windows -----------------------------------------------------------------------------


class _FractionalMaxPool(Spatial):
    """Base class of fractional max pooling.

    Args:
        kernel_size: size of the window.
        output_size: number of windows.
        output_ratio: alternatively, the output size as a fraction of the input, in (0, 1).
        return_indices: also return the index of each maximum in its plane.

    Shape:
        ``[batch, channels, {sizes}]``, or without batch; the spatial dimensions become
        ``output_size``.

    Raises:
        ValueError: not exactly one of size and ratio, or a ratio out of range.
        RuntimeError: the input has the wrong number of dimensions, or one that is too small for the
            windows.
        NotImplementedError: the input has an integer dtype.

    Source: Graham, "Fractional max-pooling", 2014, arXiv:1412.6071.
    """

    _expected_shapes = BATCHED_OR_NOT

    def __init__(
        self,
        kernel_size: Size,
        output_size: Size | None = None,
        output_ratio: float | Sequence[float] | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ):
        name, rank = type(self).__name__, self.rank
        if rank == 3 and min(per_dim(kernel_size, rank)) <= 0:
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        if output_size is None and output_ratio is None:
            raise ValueError(
                f"{name} requires specifying either an output size, or a pooling ratio"
            )
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        ratios = None if output_ratio is None else per_dim(output_ratio, rank)
        if ratios is not None and not all(0 < ratio < 1 for ratio in ratios):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")
        super().__init__()
        self.kernel_size = per_dim(kernel_size, rank)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else per_dim(output_size, rank)
        self.output_ratio = ratios

    def forward(self, input: Tensor) -> Tensor:
        """Return the maxima and, with ``return_indices``, their indices."""
        pool = fractional_max_pool2d if self.rank == 2 else fractional_max_pool3d
        windows = self.kernel_size, self.output_size, self.output_ratio
        return pool(input, *windows, self.return_indices, self._random_samples)


class FractionalMaxPool2d(_FractionalMaxPool):
    """Maxima of windows distributed over the last two dimensions at random.

    Example:
        >>> nn.FractionalMaxPool2d(2, output_size=3)(tn.ones(8, 3, 7, 7)).shape
        tinynet.Size([8, 3, 3, 3])
    """

    rank = 2


class FractionalMaxPool3d(_FractionalMaxPool):
    """Maxima of windows distributed over the last three dimensions at random.

    Example:
        >>> nn.FractionalMaxPool3d(2, output_ratio=0.5)(tn.ones(1, 3, 8, 8, 8)).shape
        tinynet.Size([1, 3, 4, 4, 4])
    """

    rank = 3


complete(__name__)
