"""Scaled dot-product attention."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.onnx.errors import NoFormError
from tinynet.onnx.graph import Graph, Ref
from tinynet.onnx.operations.table import form
from tinynet.onnx.sizes import Varying


def _scores(g: Graph, query: Ref, key: Ref, noise: Any, scale: float) -> Any:
    if noise is not None:
        raise NoFormError("with dropout")
    order = [*range(key.rank - 2), key.rank - 1, key.rank - 2]
    return g("MatMul", g("Mul", query, scale), g("Transpose", key, perm=order))


def _weights(g: Graph, scores: Ref, masked: Any) -> Any:
    """Return the softmax of the scores, 0 where they are masked, also if all of a row are."""
    lowest = g.constant(np.finfo(scores.dtype).min, scores.dtype)
    weights = g("Softmax", g("Where", masked, lowest, scores, dtype=scores.dtype), axis=-1)
    return g("Where", masked, g.constant(0, scores.dtype), weights, dtype=scores.dtype)


@form("attend")
def attend(g: Graph, query: Ref, key: Ref, value: Ref, keep: Any, noise: Any, scale: float) -> Any:
    """Return for each query the mean of the values, weighted by softmax of its scores."""
    scores = _scores(g, query, key, noise, scale)
    if keep is None:
        return g("MatMul", g("Softmax", scores, axis=-1), value)
    return g("MatMul", _weights(g, scores, _masked(g, query, key, keep)), value)


def _masked(g: Graph, query: Ref, key: Ref, keep: Any) -> Ref:
    """Return where a mask is 0."""
    if isinstance(keep, Varying):
        if any(not np.array_equal(x, np.tri(*x.shape)) for x in keep.values):
            raise NoFormError("its mask follows a dynamic dimension")
        ones = g.full((query.shape[-2], key.shape[-2]), 1, np.float32)
        keep = g("Trilu", ones, g.constant(0, "int64"), upper=0)
    return g("Not", g.cast(keep if isinstance(keep, Ref) else np.asarray(keep), bool))


@form("attend_with_bias")
def attend_with_bias(
    g: Graph, query: Ref, key: Ref, value: Ref, bias: Ref, noise: Any, scale: float
) -> Any:
    """Return ``attend`` with a bias added to the scores."""
    scores = g("Add", _scores(g, query, key, noise, scale), bias)
    masked = g("Equal", scores, -np.inf, dtype=bool)
    return g("MatMul", _weights(g, scores, masked), value)
