"""Fan-in and fan-out of weights, and gains of nonlinearities."""

from __future__ import annotations

import math

from tinynet.core.tensors.tensor import Tensor

_LINEAR = {
    "linear", "conv1d", "conv2d", "conv3d",
    "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
}  # fmt: skip


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return the gain that preserves the variance of a signal through a nonlinearity.

    Args:
        nonlinearity: ``"linear"``, ``"sigmoid"``, ``"tanh"``, ``"relu"``, ``"leaky_relu"``, ...
        param: the slope of leaky_relu; 0.01 unless given.

    Raises:
        ValueError: the nonlinearity is unknown, or the slope is not a number.

    Source: ``1 / sqrt(mean(f(x) ** 2))`` over N(0, 1) for relu, ``sqrt(2)``, and leaky_relu,
    ``sqrt(2 / (1 + param ** 2))``; the others are PyTorch's: 5 / 3 for tanh, 3 / 4 for selu, 1
    elsewhere.

    Example:
        >>> nn.init.calculate_gain("tanh")
        1.6666666666666667
    """
    if nonlinearity in _LINEAR or nonlinearity == "sigmoid":
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "selu":
        return 3.0 / 4  # empirical, as in PyTorch
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """Return the fan-in and fan-out of a weight; custom layers may call it."""
    shape = tensor._array.shape
    if len(shape) < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    """Return the fan for a mode, ``"fan_in"`` or ``"fan_out"``."""
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _calculate_fan_in_and_fan_out(tensor)[mode == "fan_out"]
