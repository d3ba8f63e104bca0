"""Separable linear maps: one sparse matrix per dimension."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from tinynet.dtypes import Array


class LinearMap:
    """A matrix ``[outputs, inputs]`` of one dimension.

    Args:
        inputs: the number of inputs.
        columns: ``[taps, outputs]``, the inputs of each output.
        weights: the weights of these inputs, of the same shape; None for one tap of weight 1.
    """

    def __init__(self, inputs: int, columns: Array, weights: Array | None):
        self.inputs = inputs
        self.columns = columns
        self.weights = weights
        self.taps, self.outputs = columns.shape

    @cached_property
    def dense(self) -> Array:
        """The matrix itself, in float64."""
        matrix = np.zeros((self.outputs, self.inputs))
        rows = np.broadcast_to(np.arange(self.outputs), self.columns.shape)
        np.add.at(matrix, (rows, self.columns), 1.0 if self.weights is None else self.weights)
        return matrix

    @cached_property
    def transposed(self) -> LinearMap:
        """The transposed matrix."""
        columns = self.columns.T.reshape(-1)
        order = np.argsort(columns, kind="stable")
        rows = columns[order]
        counts = np.bincount(rows, minlength=self.inputs)
        tap = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        shape = (max(1, int(counts.max(initial=0))), self.inputs)
        weights, outputs = np.zeros(shape), np.zeros(shape, np.int64)
        values = np.ones(self.columns.shape) if self.weights is None else self.weights
        weights[tap, rows] = values.T.reshape(-1)[order]
        outputs[tap, rows] = np.repeat(np.arange(self.outputs), self.taps)[order]
        return LinearMap(self.outputs, outputs, weights)


def apply(x: Array, maps: Sequence[LinearMap | None]) -> Array:
    """Map the last dimensions of ``x``; None leaves a dimension unchanged."""
    first = x.ndim - len(maps)
    work = x.astype(np.float32) if x.dtype == np.float16 else x
    for axis, one in reversed(list(enumerate(maps, first))):
        if one is not None:
            work = _along(work, axis, one)
    return work.astype(x.dtype) if work is x or work.dtype != x.dtype else work


def _along(x: Array, axis: int, one: LinearMap) -> Array:
    """Map one dimension: as a product if the matrix is small, else tap by tap."""
    last = axis == x.ndim - 1
    if one.weights is None or one.inputs > (40 if last else 15) * one.taps or not x.size:
        return _by_taps(x, axis, one)
    matrix = one.dense.astype(x.dtype)
    if last:
        rows = x.reshape(x.size // one.inputs, one.inputs)
        return np.dot(rows, matrix.T).reshape(*x.shape[:-1], one.outputs)
    before, after = x.shape[:axis], x.shape[axis + 1 :]
    blocks = x.reshape(math.prod(before), one.inputs, math.prod(after))
    return np.matmul(matrix, blocks).reshape(*before, one.outputs, *after)


def _by_taps(x: Array, axis: int, one: LinearMap) -> Array:
    total = np.take(x, one.columns[0], axis)
    if one.weights is None:
        return total
    shape: Any = (one.outputs, *(1,) * (x.ndim - 1 - axis))
    weights = [w.astype(x.dtype).reshape(shape) for w in one.weights]
    total *= weights[0]
    for columns, weight in zip(one.columns[1:], weights[1:], strict=True):
        part = np.take(x, columns, axis)
        part *= weight
        total += part
    return total
