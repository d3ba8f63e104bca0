"""Normalisation of individual samples: layer, group, RMS and local response norm."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from tinynet.core.devices import require_cpu
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn import init
from tinynet.nn.base.module import Module
from tinynet.nn.layers.declaration import with_options
from tinynet.nn.parameter import Parameter
from tinynet.ops.creation.constructors import empty
from tinynet.ops.creation.ranges import arange

__all__ = [
    "CrossMapLRN2d",
    "GroupNorm",
    "LayerNorm",
    "LocalResponseNorm",
    "RMSNorm",
]


def _register(module: Module, shape: Any, device: Any, dtype: Any, **wanted: bool) -> None:
    """Register a parameter, or None, under each name."""
    if device is not None:
        require_cpu(device)
    for name, there in wanted.items():
        made = Parameter(empty(shape, dtype=dtype, device=device)) if there else None
        module.register_parameter(name, made)


def _shape_of(normalized_shape: int | Sequence[int]) -> tuple[int, ...]:
    if isinstance(normalized_shape, Sequence):
        return tuple(normalized_shape)
    return (operator.index(normalized_shape),)


class LayerNorm(Module):
    """Normalises the last dimensions to mean 0 and deviation 1, then scales and shifts them.

    ``(x - mean) / sqrt(var + eps) * weight + bias``, with mean and (biased) variance over the last
    dimensions.

    Args:
        normalized_shape: the lengths of the last dimensions, or the last one as an int.
        eps: added under the square root for numerical stability.
        elementwise_affine: whether to learn a weight and a bias.
        bias: whether to add a bias, if ``elementwise_affine``.
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype unless given.

    Shape:
        ``[..., *normalized_shape]``; the output has the same shape.

    Raises:
        RuntimeError: the input has other last dimensions or another dtype.
        NotImplementedError: the input has an integer dtype.

    Source: Ba, Kiros and Hinton, "Layer normalization", 2016, arXiv:1607.06450.

    Example:
        >>> nn.LayerNorm(2, eps=1e-9)(tn.tensor([[1.0, 3.0], [10.0, 30.0]])).tolist()
        [[-1.0, 1.0], [-1.0, 1.0]]
    """

    weight: Parameter  # or None, without affine parameters: annotated as most programs use it
    bias: Parameter

    _expected_shapes = ("[..., {normalized_shape}]",)

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        self.normalized_shape = shape = _shape_of(normalized_shape)
        self.eps = eps
        self.elementwise_affine = affine = elementwise_affine
        _register(self, shape, device, dtype, weight=affine, bias=affine and bias)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set weight and bias to ones and zeros."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """Normalise the input."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Return the options shown by ``repr``."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """Divides by the root of the mean square over the last dimensions, then scales by ``weight``.

    ``x / sqrt(mean(x ** 2) + eps) * weight``.

    Args:
        normalized_shape: the lengths of the last dimensions, or the last one as an int.
        eps: added under the square root for numerical stability; unless given, the machine epsilon
            of float64 for float64, else of float32.
        elementwise_affine: whether to learn a weight.
        device: must be the CPU.
        dtype: dtype of the weight; the default dtype unless given.

    Shape:
        ``[..., *normalized_shape]``; the output has the same shape.

    Raises:
        RuntimeError: the input has other last dimensions.
        NotImplementedError: the input has an integer dtype.

    Source: Zhang and Sennrich, "Root mean square layer normalization", 2019, arXiv:1910.07467.

    Example:
        >>> nn.RMSNorm(2, eps=1e-9)(tn.tensor([[3.0, 3.0], [-2.0, 2.0]])).tolist()
        [[1.0, 1.0], [-1.0, 1.0]]
    """

    weight: Parameter  # or None, without affine parameters: annotated as most programs use it

    _expected_shapes = ("[..., {normalized_shape}]",)

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        self.normalized_shape = shape = _shape_of(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        _register(self, shape, device, dtype, weight=elementwise_affine)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weight to ones."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        """Normalise the input."""
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """Return the options shown by ``repr``."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class GroupNorm(Module):
    """Normalises groups of channels of each sample, then scales and shifts each channel.

    ``(x - mean) / sqrt(var + eps) * weight + bias``, with mean and (biased) variance over the
    channels of a group and all positions.

    Args:
        num_groups: number of groups; divides ``num_channels``.
        num_channels: number of channels.
        eps: added under the square root for numerical stability.
        affine: whether to learn a weight and a bias.
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype unless given.
        bias: whether to add a bias, if ``affine``.

    Raises:
        ValueError: ``num_groups`` does not divide ``num_channels``, or a group has one element.
        RuntimeError: fewer than two dimensions, or the number of channels or the dtype does not
            match.
        NotImplementedError: the input has an integer dtype.

    Shape:
        ``[batch, channels, ...]``; the output has the same shape.

    Source: Wu and He, "Group normalization", 2018, arXiv:1803.08494.

    Example:
        >>> nn.GroupNorm(2, 4, eps=1e-9)(tn.tensor([[1.0, 3.0, 10.0, 30.0]])).tolist()
        [[-1.0, 1.0, -1.0, 1.0]]
    """

    weight: Parameter  # or None, without affine parameters: annotated as most programs use it
    bias: Parameter

    _expected_shapes = ("[N, {num_channels}, ...]",)

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ):
        super().__init__()
        if num_groups < 1:
            raise ValueError(
                f"The 'num_groups' parameter of GroupNorm must be >= 1. Got {num_groups} instead."
            )
        if num_channels % num_groups:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})"
            )
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        _register(self, num_channels, device, dtype, weight=affine, bias=affine and bias)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set weight and bias to ones and zeros."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """Normalise the input."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Return the options shown by ``repr``."""
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


@with_options
class LocalResponseNorm(Module):
    """Divides by ``(k + alpha * mean of squares over nearby channels) ** beta``.

    Args:
        size: number of neighbouring channels in the sum.
        alpha: the factor of the mean of squares.
        beta: the exponent of the divisor.
        k: the constant in the divisor.

    Shape:
        ``[batch, channels, places, ...]``; the output has the same shape.

    Raises:
        ValueError: fewer than three dimensions, or ``size`` is not positive.

    Source: Krizhevsky et al., "ImageNet classification with deep convolutional neural networks",
    2012.

    Example:
        >>> nn.LocalResponseNorm(3, alpha=3.0, beta=1.0)(tn.ones(1, 3, 1)).flatten()
        tensor([0.3333, 0.2500, 0.3333])
    """

    size: int
    alpha: float = 1e-4
    beta: float = 0.75
    k: float = 1.0

    def forward(self, input: Tensor) -> Tensor:
        """Normalise the input."""
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        """Return the options."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


@with_options
class CrossMapLRN2d(Module):
    """Divides by ``(k + alpha / size * sum of squares over nearby channels) ** beta``.

    The sum is over the ``(size - 1) / 2`` channels on each side and, as in PyTorch, also the first
    channel. ``LocalResponseNorm`` does not have this quirk and accepts more shapes.

    Args:
        size: number of neighbouring channels in the sum; even numbers are rounded down to odd ones.
        alpha: the factor of the mean of squares.
        beta: the exponent of the divisor.
        k: the constant in the divisor.

    Shape:
        ``[batch, channels, height, width]``; the output has the same shape.

    Raises:
        ValueError: the input does not have four dimensions.

    Source: Krizhevsky et al., "ImageNet classification with deep convolutional neural networks",
    2012.

    Example:
        >>> nn.CrossMapLRN2d(3, alpha=3.0, beta=1.0)(tn.ones(1, 4, 1, 1)).flatten()
        tensor([0.3333, 0.2500, 0.2000, 0.2500])
    """

    size: int
    alpha: float = 1e-4
    beta: float = 0.75
    k: float = 1

    def forward(self, input: Tensor) -> Tensor:
        """Normalise the input."""
        if input.ndim != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.ndim}D instead.")
        channel = arange(input.shape[1])
        near = ((channel[:, None] - channel).abs() < (self.size + 1) // 2) | (channel == 0)
        total = near.to(input.dtype) @ (input * input).flatten(2)
        divisor = total.reshape(input.shape) * (self.alpha / self.size) + self.k
        return input * divisor**-self.beta

    def extra_repr(self) -> str:
        """Return the options."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
