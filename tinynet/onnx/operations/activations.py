"""Activations and softmax."""

from __future__ import annotations

import math
from typing import Any

from tinynet.onnx.graph import Graph, Ref
from tinynet.onnx.operations.table import as_result, form, same

same({"hardswish": "HardSwish", "mish": "Mish"})


@form("leaky_relu")
def leaky_relu(g: Graph, x: Ref, negative_slope: float) -> Any:
    """Return x above 0 and ``negative_slope * x`` below."""
    return g("LeakyRelu", x, alpha=float(negative_slope))


@form("prelu")
def prelu(g: Graph, x: Ref, weight: Ref) -> Any:
    """Return x above 0 and ``weight * x`` below."""
    return g("Where", g("Greater", x, 0, dtype=bool), x, g("Mul", x, weight), dtype=x.dtype)


@form("rrelu_with_noise")
def rrelu(g: Graph, x: Ref, noise: Ref) -> Any:
    """Return x times its slope."""
    return g("Mul", x, noise)


@form("hardsigmoid")
def hardsigmoid(g: Graph, x: Ref) -> Any:
    """Return ``x / 6 + 1 / 2`` clamped to [0, 1]."""
    return g("HardSigmoid", x, alpha=1 / 6, beta=0.5)


@form("threshold")
def threshold(g: Graph, x: Ref, threshold: float, value: float) -> Any:
    """Return x above the threshold and ``value`` elsewhere."""
    above = g("Greater", x, threshold, dtype=bool)
    return g("Where", above, x, g.constant(value, x.dtype), dtype=x.dtype)


@form("hardshrink")
def hardshrink(g: Graph, x: Ref, lambd: float) -> Any:
    """Return x outside ``[-lambd, lambd]`` and 0 inside."""
    return g("Shrink", x, lambd=float(lambd), bias=0.0)


@form("softshrink")
def softshrink(g: Graph, x: Ref, lambd: float) -> Any:
    """Return x shrunk towards 0 by ``lambd``."""
    return g("Shrink", x, lambd=float(lambd), bias=float(lambd))


@form("elu")
def elu(g: Graph, x: Ref, alpha: float, scale: float, input_scale: float) -> Any:
    """Return ``scale * x`` above 0 and ``scale * alpha * (exp(input_scale * x) - 1)`` below."""
    if input_scale == 1:
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
    return g("Where", g("Greater", scaled, threshold, dtype=bool), x, soft, dtype=x.dtype)


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


@form("softmax")
def softmax(g: Graph, x: Ref, dim: int, dtype: Any = None) -> Any:
    """Return the exponentials divided by their sum along a dimension."""
    return g("Softmax", *as_result(g, x), axis=x.axis(dim))


@form("log_softmax")
def log_softmax(g: Graph, x: Ref, dim: int, dtype: Any = None) -> Any:
    """Return the logarithm of ``softmax``."""
    return g("LogSoftmax", *as_result(g, x), axis=x.axis(dim))
