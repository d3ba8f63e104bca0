"""Activations: elementwise functions between layers."""

from __future__ import annotations

import math
from typing import Any

from tinynet.core.generator import default_generator
from tinynet.core.inplace import run_inplace
from tinynet.core.tensor import Tensor, wrap
from tinynet.nn.functional import activation_ops as ops
from tinynet.nn.functional import gelu_ops
from tinynet.nn.functional.checks import tensor_only
from tinynet.ops import exponential
from tinynet.ops.picking import pick
from tinynet.ops.refuse import name_of
from tinynet.ops.shape import axis_of

SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946


def _run(
    op: Any, input: Tensor, inplace: bool, *attributes: Any, name: str | None = None
) -> Tensor:
    """Apply an operation, in place if asked; messages call it ``name``."""
    name = name or op.name
    tensor_only(name, input=input)
    if inplace:
        return run_inplace(op, input, attributes, {}, what=f"{name}_")
    return op.function(input, *attributes)


# ---- made of straight pieces --------------------------------------------------------------------


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return ``max(x, 0)``.

    Example:
        >>> F.relu(tn.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """
    return _run(exponential.relu, input, inplace)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Return x above 0 and ``negative_slope * x`` below.

    Example:
        >>> F.leaky_relu(tn.tensor([-1.0, 2.0]), 0.5)
        tensor([-0.5000,  2.0000])
    """
    return _run(ops.leaky_relu, input, inplace, negative_slope)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Return x above 0 and ``weight * x`` below; the weight is one number or one per channel.

    Args:
        input: ``[batch, channels, ...]``, or any shape for a single weight.
        weight: ``[1]`` or ``[channels]``.

    Raises:
        RuntimeError: the weight fits neither.

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
    """Return x moved into ``[min_val, max_val]``.

    Raises:
        ValueError: ``min_val`` is greater than ``max_val``.

    Example:
        >>> F.hardtanh(tn.tensor([-4.0, 0.5, 4.0]))
        tensor([-1.0000,  0.5000,  1.0000])
    """
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return _run(ops.hardtanh, input, inplace, min_val, max_val)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Return x moved into [0, 6].

    Example:
        >>> F.relu6(tn.tensor([-1.0, 7.0]))
        tensor([0., 6.])
    """
    return _run(ops.hardtanh, input, inplace, 0.0, 6.0, name="relu6")


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """Return ``x / 6 + 1 / 2`` moved into [0, 1].

    Example:
        >>> F.hardsigmoid(tn.tensor([-4.0, 0.0, 4.0]))
        tensor([0.0000, 0.5000, 1.0000])
    """
    return _run(ops.hardsigmoid, input, inplace)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return x times ``hardsigmoid(x)`` (Howard et al., "Searching for MobileNetV3", 2019).

    Example:
        >>> F.hardswish(tn.tensor([-4.0, 0.0, 4.0]))
        tensor([-0., 0., 4.])
    """
    return _run(ops.hardswish, input, inplace)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Return x above the threshold and ``value`` elsewhere.

    Example:
        >>> F.threshold(tn.tensor([0.5, 2.0]), 1, -1)
        tensor([-1.,  2.])
    """
    return _run(ops.threshold, input, inplace, threshold, value)


def rrelu(
    input: Tensor,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """Return x above 0 and a slope times x below, drawn from U(lower, upper) for each element.

    Outside training the slope is the mean of the bounds. The draw is from the default generator.

    Raises:
        RuntimeError: the bounds are not finite, or not in order.

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
    if x.dtype.kind != "f":
        kernel = "rrelu_with_noise_out_cpu" if training else "leaky_relu_cpu"
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{name_of(x)}'")
    slope: Any = (lower + upper) / 2
    if training:
        slope = default_generator.numpy.uniform(lower, upper, x.shape)
    noise = wrap(pick(x > 0, 1.0, slope).astype(x.dtype))
    if inplace:
        return run_inplace(ops.rrelu_with_noise, input, (noise,), {}, what="rrelu_")
    return ops.rrelu_with_noise.function(input, noise)


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Return x outside ``[-lambd, lambd]`` and 0 inside.

    Example:
        >>> F.hardshrink(tn.tensor([-1.0, 0.2]))
        tensor([-1.,  0.])
    """
    return _run(ops.hardshrink, input, False, lambd)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Return x moved by ``lambd`` towards 0, and 0 where it would pass it.

    Raises:
        RuntimeError: ``lambd`` is negative.

    Example:
        >>> F.softshrink(tn.tensor([-1.0, 0.2]))
        tensor([-0.5000,  0.0000])
    """
    return _run(ops.softshrink, input, False, lambd)


# ---- exponential and logistic -------------------------------------------------------------------


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return x above 0 and ``alpha * (exp(x) - 1)`` below (Clevert et al., 2015).

    Example:
        >>> F.elu(tn.tensor([-1.0, 2.0]))
        tensor([-0.6321,  2.0000])
    """
    return _run(ops.elu, input, inplace, alpha, 1.0, 1.0)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return the scaled ELU that keeps activations normalised (Klambauer et al., 2017).

    Example:
        >>> F.selu(tn.tensor([-1.0, 2.0]))
        tensor([-1.1113,  2.1014])
    """
    return _run(ops.elu, input, inplace, SELU_ALPHA, SELU_SCALE, 1.0, name="selu")


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return x above 0 and ``alpha * (exp(x / alpha) - 1)`` below (Barron, 2017).

    Example:
        >>> F.celu(tn.tensor([-1.0, 2.0]))
        tensor([-0.6321,  2.0000])
    """
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _run(ops.celu, input, inplace, alpha)


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """Return x times the standard normal distribution function of x (Hendrycks and Gimpel, 2016).

    Args:
        input: any shape.
        approximate: ``"tanh"`` for the usual approximation.

    Raises:
        RuntimeError: ``approximate`` is neither ``"none"`` nor ``"tanh"``.

    Example:
        >>> F.gelu(tn.tensor([-1.0, 2.0]))
        tensor([-0.1587,  1.9545])
    """
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return _run(gelu_ops.gelu if approximate == "none" else gelu_ops.gelu_tanh, input, False)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return x times the logistic function of x (Elfwing et al., 2017).

    Example:
        >>> F.silu(tn.tensor([-1.0, 2.0]))
        tensor([-0.2689,  1.7616])
    """
    return _run(ops.silu, input, inplace)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return ``x * tanh(softplus(x))`` (Misra, 2019).

    Example:
        >>> F.mish(tn.tensor([-1.0, 2.0]))
        tensor([-0.3034,  1.9440])
    """
    return _run(ops.mish, input, inplace)


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """Return ``log(1 + exp(beta * x)) / beta``, or x itself where ``beta * x > threshold``.

    Example:
        >>> F.softplus(tn.tensor([-1.0, 30.0]))
        tensor([ 0.3133, 30.0000])
    """
    return _run(ops.softplus, input, False, beta, threshold)


def tanhshrink(input: Tensor) -> Tensor:
    """Return ``x - tanh(x)``.

    Example:
        >>> F.tanhshrink(tn.tensor([0.0, 1.0]))
        tensor([0.0000, 0.2384])
    """
    tensor_only("tanhshrink", input=input)
    return input - input.tanh()


def softsign(input: Tensor) -> Tensor:
    """Return ``x / (1 + |x|)``.

    Example:
        >>> F.softsign(tn.tensor([-1.0, 3.0]))
        tensor([-0.5000,  0.7500])
    """
    return input / (input.abs() + 1)


def logsigmoid(input: Tensor) -> Tensor:
    """Return the logarithm of the logistic function, exact for large negative x.

    Example:
        >>> F.logsigmoid(tn.tensor([-100.0, 0.0]))
        tensor([-100.0000,   -0.6931])
    """
    return _run(ops.log_sigmoid, input, False)


def sigmoid(input: Tensor) -> Tensor:
    """Return the logistic function, ``1 / (1 + exp(-x))``.

    Example:
        >>> F.sigmoid(tn.tensor([0.0, 2.0]))
        tensor([0.5000, 0.8808])
    """
    return _run(exponential.sigmoid, input, False)


def tanh(input: Tensor) -> Tensor:
    """Return the hyperbolic tangent.

    Example:
        >>> F.tanh(tn.tensor([0.0, 1.0]))
        tensor([0.0000, 0.7616])
    """
    return _run(exponential.tanh, input, False)


# ---- gated --------------------------------------------------------------------------------------


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """Return one half of the input times the logistic function of the other half.

    Args:
        input: of even length along ``dim``.
        dim: the dimension that is halved.

    Raises:
        RuntimeError: the length is odd.

    Source: Dauphin et al., "Language modeling with gated convolutional networks", 2017.

    Example:
        >>> F.glu(tn.tensor([3.0, 0.0]))
        tensor([1.5000])
    """
    tensor_only("glu", input=input)
    if input.ndim == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    return ops.glu.function(input, axis_of(dim, input.ndim))
