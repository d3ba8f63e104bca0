"""Activations and losses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinynet.onnx.graph import Graph, Ref, as_result, choose, fits, form, renamed
from tinynet.onnx.operations.arithmetic import compared
from tinynet.onnx.operations.reductions import mean

# ---- activations --------------------------------------------------------------------------------
# Activations and softmax.


renamed({"mish": "Mish"})


@form("leaky_relu")
def leaky_relu(g: Graph, x: Ref, negative_slope: float) -> Any:
    """Return x above 0 and ``negative_slope * x`` below."""
    if fits(x, negative_slope):
        return g("LeakyRelu", x, alpha=float(negative_slope))
    return choose(g, g("Greater", x, 0, dtype=bool), x, g("Mul", x, negative_slope), x.dtype)


@form("prelu")
def prelu(g: Graph, x: Ref, weight: Ref) -> Any:
    """Return x above 0 and ``weight * x`` below."""
    return choose(g, g("Greater", x, 0, dtype=bool), x, g("Mul", x, weight), x.dtype)


@form("rrelu_with_noise")
def rrelu(g: Graph, x: Ref, noise: Ref) -> Any:
    """Return x times its slope."""
    return g("Mul", x, noise)


@form("hardsigmoid")
def hardsigmoid(g: Graph, x: Ref) -> Any:
    """Return ``x / 6 + 1 / 2`` clamped to [0, 1]."""
    if fits(x, 1 / 6):
        return g("HardSigmoid", x, alpha=1 / 6, beta=0.5)
    return g("Min", g("Max", g("Add", g("Div", x, 6), 0.5), 0), 1)


@form("hardswish")
def hardswish(g: Graph, x: Ref) -> Any:
    """Return x times ``hardsigmoid`` of x."""
    return g("HardSwish", x) if fits(x, 1 / 6) else g("Mul", x, hardsigmoid(g, x))


@form("threshold")
def threshold(g: Graph, x: Ref, threshold: float, value: float) -> Any:
    """Return ``value`` up to the threshold, and x elsewhere and where it is NaN."""
    return choose(g, compared(g, "LessOrEqual", x, threshold), value, x, x.dtype)


@form("hardshrink")
def hardshrink(g: Graph, x: Ref, lambd: float) -> Any:
    """Return x outside ``[-lambd, lambd]`` and 0 inside."""
    low, high = (g.constant(n, x.dtype) for n in (-lambd, lambd))
    ends = g("GreaterOrEqual", x, low, dtype=bool), g("LessOrEqual", x, high, dtype=bool)
    return choose(g, g("And", *ends), 0, x, x.dtype)


@form("softshrink")
def softshrink(g: Graph, x: Ref, lambd: float) -> Any:
    """Return x shrunk towards 0 by ``lambd``."""
    inside = g("Min", g("Max", x, g.constant(-lambd, x.dtype)), g.constant(lambd, x.dtype))
    return g("Sub", x, inside)


@form("elu")
def elu(g: Graph, x: Ref, alpha: float, scale: float, input_scale: float) -> Any:
    """Return ``scale * x`` above 0 and ``scale * alpha * (exp(input_scale * x) - 1)`` below."""
    if input_scale == 1 and fits(x, alpha):
        made = g("Elu", x, alpha=float(alpha))
        return made if scale == 1 else g("Mul", made, scale)
    below = g("Sub", g("Exp", g("Mul", g("Min", x, 0), input_scale)), 1)
    above = g("Mul", g("Max", x, 0), scale)
    return g("Add", above, g("Mul", below, alpha * scale))


@form("celu")
def celu(g: Graph, x: Ref, alpha: float) -> Any:
    """Return x above 0 and ``alpha * (exp(x / alpha) - 1)`` below."""
    return elu(g, x, alpha, 1.0, 1 / alpha)


def _softplus(g: Graph, x: Ref) -> Any:
    """Return ``log(1 + exp(x))`` without overflow."""
    rest = g("Log", g("Add", g("Exp", g("Neg", g("Abs", x))), 1))
    return g("Add", g("Max", x, 0), rest)


@form("softplus")
def softplus(g: Graph, x: Ref, beta: float, threshold: float) -> Any:
    """Return ``log(1 + exp(beta * x)) / beta``, or x itself where ``beta * x > threshold``."""
    scaled = x if beta == 1 else g("Mul", x, beta)
    soft = _softplus(g, scaled)
    soft = soft if beta == 1 else g("Div", soft, beta)
    return choose(g, g("Greater", scaled, threshold, dtype=bool), x, soft, x.dtype)


@form("log_sigmoid")
def log_sigmoid(g: Graph, x: Ref) -> Any:
    """Return the logarithm of the logistic function."""
    return g("Neg", _softplus(g, g("Neg", x)))


@form("silu")
def silu(g: Graph, x: Ref) -> Any:
    """Return x times the logistic function of x."""
    return g("Mul", x, g("Sigmoid", x))


@form("gelu")
def gelu(g: Graph, x: Ref) -> Any:
    """Return x times the normal distribution function of x."""
    below = g("Add", g("Erf", g("Mul", x, math.sqrt(0.5))), 1)
    return g("Mul", g("Mul", x, 0.5), below)


@form("gelu_tanh")
def gelu_tanh(g: Graph, x: Ref) -> Any:
    """Return the approximation of ``gelu`` by tanh."""
    cubic = g("Mul", g("Mul", x, g("Mul", x, x)), 0.044715)
    inner = g("Mul", g("Add", x, cubic), math.sqrt(2 / math.pi))
    return g("Mul", g("Mul", x, 0.5), g("Add", g("Tanh", inner), 1))


@form("glu")
def glu(g: Graph, x: Ref, dim: int) -> Any:
    """Return the first half of x times the logistic function of the second half."""
    one, gate = g("Split", x, outputs=2, axis=x.axis(dim), num_outputs=2)
    return g("Mul", one, g("Sigmoid", gate))


def _along(g: Graph, op: str, x: Ref, dim: int) -> Any:
    (value,) = as_result(g, x)
    if x.rank:
        return g(op, value, axis=x.axis(dim))
    return g.reshape(g(op, g.reshape(value, (1,)), axis=0), ())


@form("softmax")
def softmax(g: Graph, x: Ref, dim: int, dtype: Any = None) -> Any:
    """Return the exponentials divided by their sum along a dimension."""
    return _along(g, "Softmax", x, dim)


@form("log_softmax")
def log_softmax(g: Graph, x: Ref, dim: int, dtype: Any = None) -> Any:
    """Return the logarithm of ``softmax``."""
    if g.dtype == np.float64 and x.rank:  # onnxruntime's LogSoftmax is wrong beside infinity
        (value,) = as_result(g, x)
        axes = g.integers(x.axis(dim))
        apart = g("Sub", value, g("ReduceMax", value, axes))
        return g("Sub", apart, g("Log", g("ReduceSum", g("Exp", apart), axes)))
    return _along(g, "LogSoftmax", x, dim)


# ---- losses -------------------------------------------------------------------------------------
# Losses, for models that return one.


def _reduced(g: Graph, losses: Ref, reduction: str, shape: Any) -> Any:
    if reduction == "none":
        return losses
    if reduction == "sum":
        return g("ReduceSum", losses, keepdims=0)
    losses.shape = shape
    return mean(g, losses)


@form("squared_error")
def squared_error(g: Graph, x: Ref, target: Ref, reduction: str) -> Any:
    """Return the squared difference."""
    apart = g("Sub", x, target)
    return _reduced(g, g("Mul", apart, apart), reduction, x.shape)


@form("entropy_of_logits")
def entropy_of_logits(g: Graph, x: Ref, target: Ref, reduction: str) -> Any:
    """Return the cross-entropy of ``sigmoid(x)``."""
    other = g("Mul", g("Sub", g.constant(1, x.dtype), target), x)
    return _reduced(g, g("Sub", other, log_sigmoid(g, x)), reduction, x.shape)


@form("binary_entropy")
def binary_entropy(g: Graph, x: Ref, target: Ref, reduction: str) -> Any:
    """Return ``-y log(x) - (1 - y) log(1 - x)``, at most 100."""
    one = g.constant(1, x.dtype)
    yes, no = g("Max", g("Log", x), -100), g("Max", g("Log", g("Sub", one, x)), -100)
    losses = g("Sub", g("Mul", g("Sub", target, 1), no), g("Mul", target, yes))
    return _reduced(g, losses, reduction, x.shape)


def _of_class(g: Graph, op: str, x: Ref, target: Ref, ignore_index: int, reduction: str) -> Any:
    """Return a loss of a batch, or of one example."""
    if x.rank == 1:
        x, target = g.reshape(x, (1, *x.shape)), g.reshape(target, (1,))
    made = g(op, x, target, ignore_index=ignore_index, reduction=reduction)
    return g.reshape(made, g.shape) if reduction == "none" else made


@form("indexed_cross_entropy")
def cross_entropy(g: Graph, x: Ref, target: Ref, ignore_index: int, reduction: str) -> Any:
    """Return ``-log softmax(x)[target]``."""
    return _of_class(g, "SoftmaxCrossEntropyLoss", x, target, ignore_index, reduction)


@form("likelihood", "likelihood_of_places")
def likelihood(g: Graph, x: Ref, target: Ref, ignore_index: int, reduction: str) -> Any:
    """Return ``-x[target]``."""
    return _of_class(g, "NegativeLogLikelihoodLoss", x, target, ignore_index, reduction)
