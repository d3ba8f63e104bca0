"""Batch, group, instance, layer and RMS normalization."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.onnx.errors import NoFormError
from tinynet.onnx.graph import Graph, Ref, fixed
from tinynet.onnx.operations.table import fits, form
from tinynet.onnx.sizes import Size, product


@form("batch_scaled")
def batch_scaled(
    g: Graph, x: Ref, mean: Ref, var: Ref, weight: Ref, bias: Ref, blocks: Any, eps: float
) -> Any:
    """Normalize by given means and variances, one per channel."""
    samples, groups, channels, places, _ = blocks
    if not isinstance(groups, Size) and fits(x, eps):
        vectors = [g.reshape(v, (groups,)) for v in (weight, bias, mean, var)]
        return g("BatchNormalization", x, *vectors, epsilon=float(eps))
    m, v, w, b = (g.reshape(v, (1, groups, channels, 1)) for v in (mean, var, weight, bias))
    scale = g("Div", w, g("Sqrt", g("Add", v, float(eps))))
    apart = g("Sub", g.reshape(x, (samples, groups, channels, places)), m)
    return g.reshape(g("Add", g("Mul", apart, scale), b), g.shape)


@form("batch_normalized", "group_normalized")
def group_normalized(g: Graph, x: Ref, weight: Ref, bias: Ref, blocks: Any, eps: float) -> Any:
    """Normalize by mean and variance of each group, of each sample or of all."""
    samples, groups, channels, places, shared = blocks
    x4 = g.reshape(x, (samples, groups, channels, places))
    made = _normalized(g, x4, [0, 2, 3] if shared else [2, 3], eps)
    for op, vector in (("Mul", weight), ("Add", bias)):
        if 0 not in vector.shape:
            made = g(op, made, g.reshape(vector, (1, groups, channels, 1)))
    return g.reshape(made, g.shape)


def _normalized(g: Graph, x: Ref, axes: list[int], eps: float) -> Any:
    apart = g("Sub", x, g("ReduceMean", x, g.integers(*axes), keepdims=1))
    variance = g("ReduceMean", g("Mul", apart, apart), g.integers(*axes), keepdims=1)
    return g("Div", apart, g("Sqrt", g("Add", variance, float(eps))))


def _rows(x: Ref, length: int) -> int:
    """Return the first of the last dimensions that have a number of elements together."""
    for axis in range(x.rank, -1, -1):
        if product(x.shape[axis:]) == length and (axis < x.rank or length == 1):
            return min(axis, x.rank - 1)
    raise NoFormError("over a dynamic dimension")


@form("layer_normalized")
def layer_normalized(g: Graph, x: Ref, weight: Ref, bias: Ref, length: int, eps: float) -> Any:
    """Normalize rows by their mean and variance."""
    axis = _rows(x, fixed(length))
    shape = x.shape[axis:]
    if not fits(x, eps):
        made = _normalized(g, x, [*range(axis, x.rank)], eps)
        vectors = (("Mul", weight), ("Add", bias))
        for op, vector in vectors:
            made = made if 0 in vector.shape else g(op, made, g.reshape(vector, shape))
        return made
    scale = g.constant(np.ones(shape, x.dtype)) if 0 in weight.shape else g.reshape(weight, shape)
    shift = None if 0 in bias.shape else g.reshape(bias, shape)
    return g("LayerNormalization", x, scale, shift, axis=axis, epsilon=float(eps))


@form("rms_normalized")
def rms_normalized(g: Graph, x: Ref, weight: Ref, length: int, eps: float) -> Any:
    """Divide rows by the root of their mean square."""
    axis = _rows(x, fixed(length))
    axes = g.integers(*range(axis, x.rank))
    mean = g("ReduceMean", g("Mul", x, x), axes, keepdims=1)
    made = g("Div", x, g("Sqrt", g("Add", mean, float(eps))))
    if 0 in weight.shape:
        return made
    return g("Mul", made, g.reshape(weight, x.shape[axis:]))
