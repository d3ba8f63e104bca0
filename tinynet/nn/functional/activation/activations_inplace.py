"""In-place activations."""

from __future__ import annotations

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.functional.activation import piecewise as straight
from tinynet.nn.functional.activation import smooth as smooth

__all__ = ["relu_", "leaky_relu_", "rrelu_", "threshold_", "hardtanh_", "elu_", "selu_", "celu_"]


def relu_(input: Tensor) -> Tensor:
    """Write ``relu`` of the input to the input and return it."""
    return straight.relu(input, inplace=True)


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """Write ``leaky_relu`` of the input to the input and return it."""
    return straight.leaky_relu(input, negative_slope, inplace=True)


def rrelu_(
    input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False
) -> Tensor:
    """Write ``rrelu`` of the input to the input and return it."""
    return straight.rrelu(input, lower, upper, training, inplace=True)


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """Write ``threshold`` of the input to the input and return it."""
    return straight.threshold(input, threshold, value, inplace=True)


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """Write ``hardtanh`` of the input to the input and return it."""
    return straight.hardtanh(input, min_val, max_val, inplace=True)


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """Write ``elu`` of the input to the input and return it."""
    return smooth.elu(input, alpha, inplace=True)


def selu_(input: Tensor) -> Tensor:
    """Write ``selu`` of the input to the input and return it."""
    return smooth.selu(input, inplace=True)


def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """Write ``celu`` of the input to the input and return it."""
    return smooth.celu(input, alpha, inplace=True)
