"""The operation behind group norm: each group of channels of a sample is normalised separately.

See ``normalization_ops`` for the maths. A group is a row of numbers for its statistics, and a few
rows of places for the weights of its channels. As many groups as fit the cache are computed at
once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tinynet.core.declaration.operation import operation
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.kernels import threads
from tinynet.kernels.sums import column_sums, row_dots, row_sums
from tinynet.nn.functional.normalization.normalization_ops import (
    PART,
    Blocks,
    Grads,
    formula_gradients,
    is_small,
    shaped,
    small_gradients,
    small_normalized,
    wide,
)

_SHORT = 32  # places: numpy combines shorter rows with a column slower than it repeats the column


def _parts(blocks: Blocks) -> Iterator[slice]:
    """Yield the groups of all samples that are computed at once."""
    size = blocks.channels * blocks.places
    with threads.row_by_row(size if blocks.places == 1 else blocks.places):
        yield from threads.slices(blocks.samples * blocks.groups, max(1, PART // size))


def _as_groups(x: Array, blocks: Blocks) -> Array:
    """Return the rows of all groups, ``[samples * groups, channels * places]``."""
    return wide(x).reshape(blocks.samples * blocks.groups, blocks.channels * blocks.places)


def _given(vector: Array, default: float, blocks: Blocks) -> Array:
    """Return a weight or bias; an empty one stands for none."""
    if vector.size:
        return vector
    return np.full(blocks.groups * blocks.channels, default, vector.dtype)


def _merged(blocks: Blocks, *vectors: Array) -> Blocks:
    """Return the blocks with one channel per group, if no channel has a weight or bias."""
    if any(v.size for v in vectors):
        return blocks
    return blocks._replace(channels=1, places=blocks.channels * blocks.places)


def _of_channels(vector: Array, blocks: Blocks) -> Array:
    """Return one number per channel for all samples, ``[samples * groups, channels]``."""
    each = np.empty((blocks.samples, vector.size), wide(vector).dtype)
    each[...] = vector.reshape(-1)
    return each.reshape(blocks.samples * blocks.groups, vector.size // blocks.groups)


def _by_channel(ufunc: np.ufunc, x: Array, channels: Array, out: Array) -> None:
    """Write ``ufunc(x, channels)`` for rows of groups and one number per channel of each."""
    places = x.shape[1] // channels.shape[1]
    if places == 1:
        ufunc(x, channels, out=out)
        return
    column = channels.reshape(-1, 1)
    if places < _SHORT:
        column = np.repeat(column, places, 1)
    ufunc(x.reshape(-1, places), column, out=out.reshape(-1, places))


def _write_normalized(x: Array, w: Array, b: Array, eps: float, out: Array) -> tuple[Array, Array]:
    """Write normalised rows of groups; return their means and 1 / deviations, ``[groups, 1]``."""
    mean = (row_sums(x) / x.shape[1]).astype(x.dtype, copy=False)[:, None]
    np.subtract(x, mean, out=out)
    inverse = 1 / np.sqrt(row_dots(out, out)[:, None] / x.dtype.type(x.shape[1]) + eps)
    _by_channel(np.multiply, out, w * inverse, out)
    if b.size:
        _by_channel(np.add, out, b, out)
    return mean, inverse


def _write_slopes(
    g: Array, x: Array, w: Array, mean: Array, inverse: Array, out: Array
) -> tuple[Array, Array]:
    """Write the gradient by rows of groups; return its terms ``sum(g * h)`` and ``sum(g)``.

    The sums are those over places, ``[groups, channels]``.
    """
    count = x.dtype.type(x.shape[1])
    c = np.subtract(x, mean, out=out)
    places = x.reshape(w.size, -1).shape
    by_weight, by_bias = (
        sums.astype(x.dtype, copy=False).reshape(w.shape)
        for sums in (row_dots(g.reshape(places), c.reshape(places)), row_sums(g.reshape(places)))
    )
    by_weight *= inverse
    middle, factor = (np.vecdot(sums, w)[:, None] / count for sums in (by_bias, by_weight))
    np.multiply(c, -factor * inverse * inverse, out=c)
    np.subtract(c, middle * inverse, out=c)
    slopes = np.empty_like(c)
    _by_channel(np.multiply, g, w * inverse, slopes)
    np.add(c, slopes, out=c)
    return by_weight, by_bias


@operation(node="NativeGroupNormBackward0", hidden=("mean", "inverse"), order="as_image")
def group_normalized(
    input: Array, weight: Array, bias: Array, /, blocks: Blocks, eps: float
) -> tuple[Array, ...]:
    """Return the input normalised by mean and variance of each group of each sample."""
    if is_small(input):
        given = _given(weight, 1.0, blocks), _given(bias, 0.0, blocks)
        made, mean, var = small_normalized(input, *given, blocks, eps)
        return made, mean, 1 / np.sqrt(var + eps)
    blocks = _merged(blocks, weight, bias)
    weight = _given(weight, 1.0, blocks)
    x, w, b = _as_groups(input, blocks), _of_channels(weight, blocks), _of_channels(bias, blocks)
    made, (mean, inverse) = (
        np.empty(input.shape, x.dtype),
        np.empty((2, blocks.samples, blocks.groups, 1), x.dtype),
    )
    out, means, inverses = made.reshape(x.shape), *(a.reshape(-1, 1) for a in (mean, inverse))
    for part in _parts(blocks) if x.size else ():
        found = _write_normalized(x[part], w[part], b[part], eps, out[part])
        means[part], inverses[part] = found
    return made.astype(input.dtype, copy=False), mean, inverse


def _group_gradients(
    g: Array, input: Array, weight: Array, mean: Array, inverse: Array, blocks: Blocks, needs: Any
) -> Grads:
    """Return the gradients by input, weight and bias."""
    if not g.size:  # means of no elements are NaN
        empty = np.zeros(weight.size, g.dtype)
        by_weight = empty if blocks.channels * blocks.places else np.full_like(empty, np.nan)
        return np.zeros(g.shape, g.dtype), by_weight, empty
    if is_small(g):
        whole = _given(weight, 1.0, blocks)
        return small_gradients(g, input, whole, mean, inverse, blocks)
    blocks = blocks if needs[2] else _merged(blocks, weight)
    weight = _given(weight, 1.0, blocks)
    means, inverses = mean.reshape(-1, 1), inverse.reshape(-1, 1)
    slopes, x, w = _as_groups(g, blocks), _as_groups(input, blocks), _of_channels(weight, blocks)
    dx, terms = np.empty(g.shape, x.dtype), np.empty((2, *w.shape), x.dtype)
    out = dx.reshape(x.shape)
    for part in _parts(blocks):
        given = x[part], w[part], means[part], inverses[part]
        terms[0, part], terms[1, part] = _write_slopes(slopes[part], *given, out[part])
    by_weight, by_bias = (column_sums(term.reshape(blocks.samples, -1)) for term in terms)
    return dx, by_weight, by_bias


def _group_formula(
    g: Any,
    input: Any,
    weight: Any,
    bias_shape: tuple[int, ...],
    mean: Any,
    inverse: Any,
    blocks: Blocks,
    eps: float,
    needs: tuple[bool, ...],
) -> Grads:
    if isinstance(g, Tensor):
        found = formula_gradients(g, input, weight, blocks, eps)
    else:
        found = _group_gradients(g, input, weight, mean, inverse, blocks, needs)
    return shaped(found, weight, bias_shape, needs)


group_normalized.grads(_group_formula)
