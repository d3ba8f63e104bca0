"""Piecewise linear activations."""

from __future__ import annotations

import math
from typing import Any

from tinynet import dtypes
from tinynet.core.declaration.compiler import in_place
from tinynet.core.declaration.operation import composite
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.core.trace import traced
from tinynet.dtypes import Array
from tinynet.nn.functional import piecewise_activation_ops as ops
from tinynet.nn.functional.checks import tensor_only
from tinynet.ops.arguments import FOUND, name_of
from tinynet.ops.pointwise import exponential
from tinynet.ops.pointwise.where import pick
from tinynet.random import default_generator

__all__ = [
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "leaky_relu",
    "prelu",
    "relu",
    "relu6",
    "rrelu",
    "softshrink",
    "threshold",
]


def applied(
    op: Any, input: Tensor, inplace: bool, *attributes: Any, name: str | None = None
) -> Tensor:
    """Apply an operation, optionally in place; ``name`` appears in messages."""
    if not isinstance(input, Tensor):
        tensor_only(name or op.name, input=input)
    if inplace:
        return in_place(op, f"{name or op.name}_")(input, *attributes)
    return op.function(input, *attributes)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return ``max(x, 0)``.

    Example:
        >>> F.relu(tn.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """
    return applied(exponential.relu, input, inplace)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Return x above 0 and ``negative_slope * x`` below.

    Raises:
        NotImplementedError: the input has an integer dtype.

    Example:
        >>> F.leaky_relu(tn.tensor([-1.0, 2.0]), 0.5)
        tensor([-0.5000,  2.0000])
    """
    return applied(ops.leaky_relu, input, inplace, negative_slope)


@composite(module=True, autocast="lower")
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Return x above 0 and ``weight * x`` below; the weight is one number or one per channel.

    Args:
        input: ``[batch, channels, ...]``, or any shape for a single weight.
        weight: ``[1]`` or ``[channels]``.

    Raises:
        RuntimeError: the weight has another shape.

    Example:
        >>> F.prelu(tn.tensor([-1.0, 2.0]), tn.tensor([0.25]))
        tensor([-0.2500,  2.0000])
    """
    tensor_only("prelu", input=input, weight=weight)
    if weight.ndim > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}"
        )
    if weight.numel() != 1:
        if input.ndim == 0:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = input.shape[1] if input.ndim > 1 else 1
        if weight.numel() != channels:
            raise RuntimeError(
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{weight.numel()} and channel size = {channels}."
            )
        weight = weight.reshape(-1, *[1] * (input.ndim - 2))
    elif input.ndim == 0:
        weight = weight.reshape(())
    return ops.prelu.function(input, weight)


def hardtanh(
    input: Tensor,
    min_val: float = -1.0,
    max_val: float = 1.0,
    inplace: bool = False,
) -> Tensor:
    """Return x clamped to ``[min_val, max_val]``.

    ``max(min_val, min(x, max_val))``.

    Raises:
        ValueError: ``min_val`` is greater than ``max_val``.

    Example:
        >>> F.hardtanh(tn.tensor([-4.0, 0.5, 4.0]))
        tensor([-1.0000,  0.5000,  1.0000])
    """
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return applied(ops.hardtanh, input, inplace, min_val, max_val)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Return x clamped to [0, 6].

    ``min(max(x, 0), 6)`` (Krizhevsky, "Convolutional deep belief networks on CIFAR-10", 2010).

    Example:
        >>> F.relu6(tn.tensor([-1.0, 7.0]))
        tensor([0., 6.])
    """
    return applied(ops.hardtanh, input, inplace, 0.0, 6.0, name="relu6")


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """Return ``x / 6 + 1 / 2`` clamped to [0, 1].

    Raises:
        NotImplementedError: the input has an integer dtype.

    Example:
        >>> F.hardsigmoid(tn.tensor([-4.0, 0.0, 4.0]))
        tensor([0.0000, 0.5000, 1.0000])
    """
    return applied(ops.hardsigmoid, input, inplace)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return x times ``hardsigmoid(x)`` (Howard et al., "Searching for MobileNetV3", 2019).

    Raises:
        NotImplementedError: the input has an integer dtype.

    Example:
        >>> F.hardswish(tn.tensor([-4.0, 0.0, 4.0]))
        tensor([-0., 0., 4.])
    """
    return applied(ops.hardswish, input, inplace)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Return x above the threshold and ``value`` elsewhere.

    ``x if x > threshold else value``.

    Example:
        >>> F.threshold(tn.tensor([0.5, 2.0]), 1, -1)
        tensor([-1.,  2.])
    """
    return applied(ops.threshold, input, inplace, threshold, value)


def rrelu(
    input: Tensor,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """Return x above 0 and a slope times x below, drawn from U(lower, upper) for each element.

    Outside training the slope is the mean of the bounds. Random numbers come from the default
    generator.

    Raises:
        RuntimeError: the bounds are not finite, or ``lower`` is above ``upper``.

    Source: Xu et al., "Empirical evaluation of rectified activations in convolutional network",
    2015.

    Example:
        >>> F.rrelu(tn.tensor([-1.0, 2.0]), 0.2, 0.4)
        tensor([-0.3000,  2.0000])
    """
    tensor_only("rrelu", input=input)
    for name, bound in (("lower", lower), ("upper", upper)):
        if not math.isfinite(bound):
            raise RuntimeError(f"rrelu: {name} bound must be finite, got {bound:g}")
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    x = input._array
    if not dtypes.is_floating(x.dtype):
        kernel = "rrelu_with_noise_out_cpu" if training else "leaky_relu_cpu"
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{name_of(x)}'")
    noise = wrap(_slopes(x, lower, upper, training))
    if inplace:
        return in_place(ops.rrelu_with_noise, "rrelu_")(input, noise)
    return ops.rrelu_with_noise.function(input, noise)


@traced
def _slopes(x: Array, lower: float, upper: float, training: bool) -> Array:
    """Return the factor of each element of the input of ``rrelu``."""
    slope: Any = (lower + upper) / 2
    if training:
        slope = default_generator.numpy.uniform(lower, upper, x.shape)
    return pick(x > 0, 1.0, slope).astype(x.dtype)


@composite(module=True, out=FOUND)
def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Return x outside ``[-lambd, lambd]`` and 0 inside.

    ``x if abs(x) > lambd else 0``.

    Raises:
        NotImplementedError: the input has an integer dtype.

    Example:
        >>> F.hardshrink(tn.tensor([-1.0, 0.2]))
        tensor([-1.,  0.])
    """
    return applied(ops.hardshrink, input, False, lambd)


@composite(module=True, out=FOUND)
def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Return x shrunk towards 0 by ``lambd``; 0 where ``|x| <= lambd``.

    ``x - sign(x) * lambd if abs(x) > lambd else 0``.

    Raises:
        RuntimeError: ``lambd`` is negative.
        NotImplementedError: the input has an integer dtype.

    Example:
        >>> F.softshrink(tn.tensor([-1.0, 0.2]))
        tensor([-0.5000,  0.0000])
    """
    return applied(ops.softshrink, input, False, lambd)
