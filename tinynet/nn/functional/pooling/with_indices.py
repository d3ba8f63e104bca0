"""Max pooling functions that always return the indices of the maxima, too."""

from __future__ import annotations

from collections.abc import Sequence

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.functional.pooling import adaptive_pooling, pooling, unpooling
from tinynet.nn.functional.pooling.adaptive_pooling import Size as Outputs
from tinynet.nn.functional.pooling.pooling import Size

__all__ = [
    "max_pool1d_with_indices", "max_pool2d_with_indices", "max_pool3d_with_indices",
    "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d_with_indices", "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d_with_indices"
]  # fmt: skip

Pair = tuple[Tensor, Tensor]

# Each takes ``return_indices``, too, as in PyTorch, and returns them whatever it says.


def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Pair:
    """Return ``max_pool1d(..., return_indices=True)``.

    Example:
        >>> F.max_pool1d_with_indices(tn.tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
        (tensor([[3., 2.]]), tensor([[1, 2]]))
    """
    how = (kernel_size, stride, padding, dilation, ceil_mode, True)
    return pooling.max_pool1d(input, *how)


def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Pair:
    """Return ``max_pool2d(..., return_indices=True)``.

    Example:
        >>> values, indices = F.max_pool2d_with_indices(tn.rand(1, 4, 4), 2)
        >>> values.shape, indices.shape
        (tinynet.Size([1, 2, 2]), tinynet.Size([1, 2, 2]))
    """
    how = (kernel_size, stride, padding, dilation, ceil_mode, True)
    return pooling.max_pool2d(input, *how)


def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Pair:
    """Return ``max_pool3d(..., return_indices=True)``.

    Example:
        >>> values, indices = F.max_pool3d_with_indices(tn.rand(1, 4, 4, 4), 2)
        >>> values.shape, indices.shape
        (tinynet.Size([1, 2, 2, 2]), tinynet.Size([1, 2, 2, 2]))
    """
    how = (kernel_size, stride, padding, dilation, ceil_mode, True)
    return pooling.max_pool3d(input, *how)


def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: Outputs, return_indices: bool = False
) -> Pair:
    """Return ``adaptive_max_pool1d(..., return_indices=True)``.

    Example:
        >>> F.adaptive_max_pool1d_with_indices(tn.tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
        (tensor([[3., 2.]]), tensor([[1, 2]]))
    """
    return adaptive_pooling.adaptive_max_pool1d(input, output_size, True)


def adaptive_max_pool2d_with_indices(
    input: Tensor, output_size: Outputs, return_indices: bool = False
) -> Pair:
    """Return ``adaptive_max_pool2d(..., return_indices=True)``.

    Example:
        >>> values, indices = F.adaptive_max_pool2d_with_indices(tn.rand(1, 4, 4), 2)
        >>> values.shape, indices.shape
        (tinynet.Size([1, 2, 2]), tinynet.Size([1, 2, 2]))
    """
    return adaptive_pooling.adaptive_max_pool2d(input, output_size, True)


def adaptive_max_pool3d_with_indices(
    input: Tensor, output_size: Outputs, return_indices: bool = False
) -> Pair:
    """Return ``adaptive_max_pool3d(..., return_indices=True)``.

    Example:
        >>> values, indices = F.adaptive_max_pool3d_with_indices(tn.rand(1, 4, 4, 4), 2)
        >>> values.shape, indices.shape
        (tinynet.Size([1, 2, 2, 2]), tinynet.Size([1, 2, 2, 2]))
    """
    return adaptive_pooling.adaptive_max_pool3d(input, output_size, True)


def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: unpooling.Size,
    output_size: unpooling.Size | None = None,
    output_ratio: Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Pair:
    """Return ``fractional_max_pool2d(..., return_indices=True)``.

    The arguments are those of ``fractional_max_pool2d``.

    Example:
        >>> values, indices = F.fractional_max_pool2d_with_indices(tn.rand(1, 6, 6), 2, 3)
        >>> values.shape, indices.shape
        (tinynet.Size([1, 3, 3]), tinynet.Size([1, 3, 3]))
    """
    how = (kernel_size, output_size, output_ratio, True, _random_samples)
    return unpooling.fractional_max_pool2d(input, *how)


def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: unpooling.Size,
    output_size: unpooling.Size | None = None,
    output_ratio: Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Pair:
    """Return ``fractional_max_pool3d(..., return_indices=True)``.

    The arguments are those of ``fractional_max_pool3d``.

    Example:
        >>> values, indices = F.fractional_max_pool3d_with_indices(tn.rand(1, 6, 6, 6), 2, 3)
        >>> values.shape, indices.shape
        (tinynet.Size([1, 3, 3, 3]), tinynet.Size([1, 3, 3, 3]))
    """
    how = (kernel_size, output_size, output_ratio, True, _random_samples)
    return unpooling.fractional_max_pool3d(input, *how)
