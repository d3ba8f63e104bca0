"""Batch, group and instance norm with numba kernels: see ``normalization_ops``."""

from __future__ import annotations

import numpy as np

from tinynet import numba_kernels
from tinynet.dtypes import Array
from tinynet.nn.functional.normalization.layout import Blocks
from tinynet.numba_kernels import normalization as compiled

_FEW = 16  # number of places from which a kernel is faster than numpy


def compiled_rows(blocks: Blocks, *arrays: Array) -> CompiledRows | None:
    """Return the layout of arrays for the kernels; None if these do not support them."""
    if not numba_kernels.takes(*arrays) or 0 in blocks[:3]:
        return None
    if blocks.places == 1 and blocks.shared and blocks.groups >= _FEW:
        return CompiledColumns(blocks)
    return CompiledRows(blocks) if blocks.places >= _FEW else None


class CompiledRows:
    """An array as rows of places; the rows of a group share their mean and variance.

    Attributes:
        places: the length of a row.
        small: samples, groups and channels, whose product is the number of rows.
        moments: the shape of mean and variance, ``[samples or 1, groups, 1]``.
        steps: the steps from group to group and from row to row in a group, and the number of rows
            in a group.
    """

    def __init__(self, blocks: Blocks):
        samples, groups, channels, places, shared = blocks
        self.small, self.places = blocks[:3], places
        self.moments = (1 if shared else samples, groups, 1)
        self.steps = (1, groups, samples) if shared else (channels, 1, channels)

    def of(self, array: Array) -> Array:
        """Return an array as contiguous rows."""
        return np.ascontiguousarray(array).reshape(-1, self.places)

    def normalized(
        self, input: Array, weight: Array, bias: Array, eps: float
    ) -> tuple[Array, Array, Array]:
        """Return the result as rows, and mean and variance of each group.

        Args:
            input: any shape with that number of elements.
            weight, bias: a number for each channel of each group, in any shape.
            eps: added to the variance.
        """
        x, (w, b) = self.of(input), _vectors(weight, bias)
        y, (means, variances) = np.empty_like(x), np.empty((2, *self.moments), np.float32)
        m, v, small = means.reshape(-1), variances.reshape(-1), np.float32(eps)

        compiled.normalized(x, w, b, small, 0, means.size, *self.steps, y, m, v)
        return y, means, variances

    def slopes(
        self, g: Array, input: Array, weight: Array, mean: Array, var: Array, eps: float
    ) -> tuple[Array, Array, Array]:
        """Return the gradients by input, as rows, by weight and by bias."""
        g, x, (w, m, v) = self.of(g), self.of(input), _vectors(weight, mean, var)
        dx, sums, small = np.empty_like(x), np.empty((2, len(x)), np.float32), np.float32(eps)

        compiled.normalized_back(
            g, x, w, m, v, small, 0, mean.size, *self.steps, dx, sums[0], sums[1]
        )
        wide = np.add.reduce(sums.reshape(2, *self.small), axis=1, dtype=np.float64)
        by_weight, by_bias = wide.astype(np.float32)
        return dx, by_weight, by_bias

    def scaled(self, input: Array, middle: Array, factor: Array, offset: Array) -> Array:
        """Return ``(input - middle) * factor + offset`` as rows; one of each per channel."""
        x, (m, f, b) = self.of(input), _vectors(middle, factor, offset)
        y = np.empty_like(x)
        compiled.scaled(x, m, f, b, 0, len(x) // m.size, y)
        return y


class CompiledColumns(CompiledRows):
    """An array with one place per channel, as columns with a mean and variance each."""

    def of(self, array: Array) -> Array:
        """Return an array as contiguous rows, one for each sample."""
        return np.ascontiguousarray(array).reshape(self.small[:2])

    def normalized(
        self, input: Array, weight: Array, bias: Array, eps: float
    ) -> tuple[Array, Array, Array]:
        """Return the result, and mean and variance of each column."""
        x, (w, b) = self.of(input), _vectors(weight, bias)
        y, (m, v), small = np.empty_like(x), np.empty((2, w.size), np.float32), np.float32(eps)

        compiled.columns_normalized(x, w, b, small, 0, w.size, y, m, v)
        return y, m.reshape(self.moments), v.reshape(self.moments)

    def slopes(
        self, g: Array, input: Array, weight: Array, mean: Array, var: Array, eps: float
    ) -> tuple[Array, Array, Array]:
        """Return the gradients by input, weight and bias."""
        g, x, (w, m, v) = self.of(g), self.of(input), _vectors(weight, mean, var)
        dx, sums, small = np.empty_like(x), np.empty((2, w.size), np.float32), np.float32(eps)

        compiled.columns_normalized_back(g, x, w, m, v, small, 0, w.size, dx, sums[0], sums[1])
        return dx, sums[0], sums[1]

    def scaled(self, input: Array, middle: Array, factor: Array, offset: Array) -> Array:
        """Return ``(input - middle) * factor + offset``, with numpy, in two short passes."""
        m, f, b = _vectors(middle, factor, offset)
        y = self.of(input) * f
        y += b - m * f
        return y


def _vectors(*given: Array) -> list[Array]:
    return [np.ascontiguousarray(a, np.float32).reshape(-1) for a in given]
