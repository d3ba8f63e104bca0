"""Operations behind layer, RMS and group norm, which normalise each sample separately.

See ``normalization_ops`` for the maths. An empty weight or bias stands for none and saves a pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tinynet.core.declaration.operation import operation
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.kernels import threads
from tinynet.kernels.sums import column_sums, numbers, row_dots, row_sums, weighted_sums
from tinynet.nn.functional.normalization_ops import (
    PART,
    Blocks,
    Grads,
    formula_gradients,
    is_small,
    recorded_gradients,
    shaped,
    small_gradients,
    small_normalized,
    wide,
)

# ---- rows ---------------------------------------------------------------------------------------
# Layer and RMS norm: each row of numbers is normalised separately.


_NONE = np.empty(0)
_LAYER_NORM = "NativeLayerNormBackwardBackward0"
_BLOCK = 65536  # elements per block of a larger input, which fits the cache
_LARGE = 2 * _BLOCK
_SMALL = 1 << 14  # elements up to which numpy's usual loops take less time than to change them


def _row_blocks(input: Any, length: int) -> Blocks:
    return Blocks(math.prod(input.shape) // max(length, 1), 1, length, 1)


def _as_rows(x: Array, length: int) -> Array:
    return wide(x).reshape(-1 if length else 0, length)


def _column(numbers: Array) -> Array:
    """Return a number per row as a column, which numpy combines faster without dimensions."""
    return numbers[0, ...] if len(numbers) == 1 else numbers[:, None]


def _row_parts(x: Array) -> list[slice]:
    """Return the rows that are computed at once: all if they fit the cache."""
    if x.size <= _LARGE:
        return [slice(None)]
    return threads.slices(len(x), max(1, _BLOCK // x.shape[1]))


def _in_parts(work: Callable[[slice], tuple[Any, ...]], x: Array) -> Any:
    """Return lists of the results for all rows, those of parts one after the other."""
    if x.size <= _SMALL:
        return zip(work(slice(None)), strict=True)
    with threads.row_by_row(x.shape[1]):
        return zip(*[work(part) for part in _row_parts(x)], strict=True)


def _row_normalized(
    input: Array,
    weight: Array,
    bias: Array,
    length: int,
    eps: float,
    centered: bool = True,
) -> tuple[Array, Array, Array]:
    """Return the result, and mean (unless ``centered``: none) and 1 / deviation of each row."""
    x, w, b = input, weight, bias
    if x.dtype.itemsize == 2:
        x, w, b = wide(x), wide(w), wide(b)
    x = x.reshape(-1 if length else 0, length)
    if max(weight.ndim, bias.ndim) > 1:
        w, b = w.reshape(-1), b.reshape(-1)
    if len(x) == 1:
        made, mean, inverse = _normalize_one(x, w, b, eps, centered)
    elif x.size <= _SMALL:
        made, mean, inverse = _normalize(x, w, b, eps, centered)
    else:
        made = np.empty(x.shape, x.dtype)

        def work(rows: slice) -> tuple[Array, ...]:
            return _normalize(x[rows], w, b, eps, centered, made[rows])[1:]

        mean, inverse = (
            found[0] if len(found) == 1 else np.concatenate(found) for found in _in_parts(work, x)
        )
    return made.astype(input.dtype, copy=False).reshape(input.shape), mean, inverse


def _normalize_one(
    x: Array, w: Array, b: Array, eps: float, centered: bool
) -> tuple[Array, Array, Array]:
    """Return what ``_normalize`` does for one row: its statistics are Python's numbers."""
    length, mean = x.shape[1], _NONE
    if centered:
        mean = np.array(row_sums(x).item() / length, x.dtype)
        x = np.subtract(x, mean)
    row = x[0]
    deviation = math.sqrt(row_dots(x, row).item() / length + eps)
    inverse = np.array(1 / deviation if deviation else math.inf, x.dtype)
    out = np.multiply(row, inverse)
    if w.size:
        np.multiply(out, w, out)
    if b.size:
        np.add(out, b, out)
    return out, mean, inverse


def _normalize(
    x: Array,
    w: Array,
    b: Array,
    eps: float,
    centered: bool,
    out: Array | None = None,
) -> tuple[Array, Array, Array]:
    """Return normalised rows, in ``out`` if given, and the mean and 1 / deviation of each."""
    length, mean = x.shape[1], _NONE
    count, root, small = numbers(x.dtype, length, math.sqrt(length), length * eps)
    if centered:
        mean = np.divide(row_sums(x), count).astype(x.dtype, copy=False)
        x = out = threads.combine_rows(np.subtract, x, mean[:, None], out)
    # Without ``out``, numpy takes half the time for a few numbers.
    inverse = np.divide(root, np.sqrt(np.add(row_dots(x, x), small)))
    out = np.multiply(x, inverse[:, None], out)
    if w.size:
        np.multiply(out, w, out)
    if b.size:
        np.add(out, b, out)
    return out, mean, inverse


def _row_gradients(
    g: Array,
    input: Array,
    weight: Array,
    mean: Array,
    inverse: Array,
    length: int,
    needs: Sequence[bool],
    centered: bool = True,
) -> tuple[Array, Array | None, Array | None]:
    """Return the gradients by input, weight and bias, if they are needed."""
    if not length:
        none = np.zeros(0, g.dtype)
        return np.zeros(g.shape, g.dtype), none, none
    x, g2 = _as_rows(input, length), _as_rows(g, length)
    w, (count,) = wide(weight).reshape(-1), numbers(x.dtype, length)
    mean, inverse = mean.reshape(-1), inverse.reshape(-1)  # without dimensions for one row
    dx = np.empty_like(x)

    def work(rows: slice) -> tuple[Array | None, Array | None]:
        g_rows, middle = g2[rows], mean[rows] if centered else _NONE
        by_weight = _write_row_slopes(g_rows, x[rows], w, middle, inverse[rows], count, dx[rows])
        return by_weight, column_sums(g_rows) if needs[2] else None

    by_weight, by_bias = (
        None if found[0] is None else column_sums(np.array(found)).astype(x.dtype, copy=False)
        for found in _in_parts(work, x)
    )
    return dx.reshape(g.shape), by_weight, by_bias


def _write_row_slopes(
    g: Array, x: Array, w: Array, mean: Array, inverse: Array, count: Array, out: Array
) -> Array | None:
    """Write the gradient by the rows; return that by the weight, ``sum(r * g * (x - mean))``.

    With ``c = x - mean``, ``r`` the inverse deviation and ``s = g * weight``, it is
    ``r * (s - <s> - c * r * r * <s * c>)``.
    """
    c = threads.combine_rows(np.subtract, x, _column(mean), out) if mean.size else x
    s, by_weight = g, None
    if w.size:
        products = g * c
        by_weight = weighted_sums(inverse, products)
        factor, middle = row_dots(products, w), row_dots(g, w)
        s = threads.combine_rows(np.multiply, g, w, products)
    else:
        factor, middle = row_dots(s, c), row_sums(s).astype(s.dtype, copy=False)
    for scale in (inverse, inverse, 1 / count):
        np.multiply(factor, scale, out=factor)
    np.subtract(s, np.multiply(c, _column(factor), out=out), out=out)
    if mean.size:
        np.subtract(out, _column(np.divide(middle, count, out=middle)), out=out)
    np.multiply(out, _column(inverse), out=out)
    return by_weight


@operation(_row_normalized, node="NativeLayerNormBackward0", hidden=("mean", "inverse"))
def layer_normalized(
    input: Array, weight: Array, bias: Array, /, length: int, eps: float
) -> tuple[Array, ...]:
    """Return the input normalised by mean and variance of each row of ``length`` numbers."""
    return _row_normalized(input, weight, bias, length, eps)


def _layer_formula(
    g: Any,
    input: Any,
    weight: Any,
    bias_shape: tuple[int, ...],
    mean: Any,
    inverse: Any,
    length: int,
    eps: float,
    needs: tuple[bool, ...],
) -> Grads:
    if isinstance(g, Tensor):
        blocks = _row_blocks(input, length)
        return recorded_gradients(_LAYER_NORM, g, input, weight, blocks, eps, bias_shape, needs)
    found = _row_gradients(g, input, weight, mean, inverse, length, needs)
    return shaped(found, weight, bias_shape, needs)


layer_normalized.grads(_layer_formula)


@operation(node="MulBackward0", hidden=("inverse",))
def rms_normalized(input: Array, weight: Array, /, length: int, eps: float) -> tuple[Array, Array]:
    """Return the input divided by the root of the mean square of each row of ``length`` numbers."""
    output, _, inverse = _row_normalized(input, weight, _NONE, length, eps, False)
    return output, inverse


def _rms_formula(
    g: Any, input: Any, weight: Any, inverse: Any, length: int, eps: float, needs: tuple[bool, ...]
) -> Grads:
    if isinstance(g, Tensor):
        found: Grads = formula_gradients(g, input, weight, _row_blocks(input, length), eps, False)
    else:
        found = _row_gradients(g, input, weight, _NONE, inverse, length, (*needs, False), False)
    return shaped(found, weight, (), (*needs, False))[:2]


rms_normalized.grads(_rms_formula)


# ---- groups -------------------------------------------------------------------------------------
# Group norm: a group of channels is a row of numbers for its statistics, and a few rows of places
# for the weights of its channels. As many groups as fit the cache are computed at once.


_SHORT = 32  # places: numpy combines shorter rows with a column slower than it repeats the column


def _group_parts(blocks: Blocks) -> Iterator[slice]:
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


def _write_group_slopes(
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
    for part in _group_parts(blocks) if x.size else ():
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
    for part in _group_parts(blocks):
        given = x[part], w[part], means[part], inverses[part]
        terms[0, part], terms[1, part] = _write_group_slopes(slopes[part], *given, out[part])
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
