"""Convolutions as products with rows of windows, most of which are not copied.

In memory that is ordered ``[rows, channels, results]``, the rows below a kernel follow each other,
so a slice is the operand of a whole product. Products are added for the columns of the kernel; with
few channels, elements are copied once for each column instead, ``[rows, channels, columns,
results]``. Columns of windows in all directions would be ``prod(kernel)`` copies. Products of about
a hundred results are the fastest, and their operands stay in the cache.

Arrays are seen as volumes ``[batch, channels, depth, height, width]``: along the depth, which has
the longest kernel, rows follow each other; along the height, products are added; along the width,
they are added or elements are copied. A long depth is cut into segments, which join the batch.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tinynet.dtypes import Array
from tinynet.nn.functional.convolution.im2col import BLOCK, parts_of, share
from tinynet.nn.functional.geometry import Geometry, windows_inside

Ints = tuple[int, ...]
RESULTS = 96  # of a product
_SMALL = 1_000_000  # multiply-adds up to which OpenBLAS copies no operand
_DEEP = 64  # elements of channels and rows of the kernel from which no column is copied
_WIDE = 32  # results in rows that are long enough for a product of their own
_LEAST = 1 << 21  # multiply-adds that are worth the calls
_LARGE = 1 << 22  # multiply-adds of an image that is worth the calls of its own
_TOGETHER = 1 << 17  # results of products that are added while they are in the cache
SUMMED = 512  # results of a product that is a part of the gradient of a weight
SHORT = 16  # width of results below which the batch is the last dimension
_NEUTRAL = 1, 1, 0, 1, 1  # the windows of a dimension of length 1


class Plan(NamedTuple):
    """How a convolution is cut into products.

    Attributes:
        axes: the spatial dimensions that are depth, height and width; -1 for one of length 1.
        walk: the windows along these.
        frame: the sizes of an image with the zeros around it.
        length: the number of results along the depth of a segment.
        segments: the number of segments.
        rows, lines: elements along depth and height that the windows of a segment have, divided by
            the number of their residues.
        images, pieces: the numbers of images, and of segments of each, in a block.
        batch_last: whether the batch is the last dimension of the results.
        columns: the number of copies of an element, for the columns of the kernel: if it is 1,
            products are added along the width, too.
        residues: the number of residues of the elements along the width, modulo the stride.
        width: then the number of elements with a residue, and otherwise of the results.
    """

    axes: Ints
    walk: Geometry
    frame: Ints
    length: int
    segments: int
    rows: int
    lines: int
    images: int
    pieces: int
    batch_last: bool
    columns: int
    residues: int
    width: int


@functools.lru_cache(maxsize=512)
def _plan(batch: int, channels: int, groups: int, each: int, given: Geometry, turned: bool) -> Plan:
    """Return how to cut a convolution.

    Args:
        batch, channels: the first dimensions of the input.
        groups: the number of groups.
        each: the number of elements of the weight in a group.
        given: the windows.
        turned: whether to cut the gradient of the weight.
    """
    dims = len(given.out)
    first = max(range(dims), key=given.kernel.__getitem__)
    rest = [d for d in range(dims) if d != first]
    axes = (first, *((-1,) * (2 - len(rest)) + (*rest,)))
    pairs = zip(given, _NEUTRAL, strict=True)
    walk = Geometry(*[tuple([f[a] if a >= 0 else neutral for a in axes]) for f, neutral in pairs])
    (kernel, _, columns), (step, step_up, step_on), _, (spacing, *_), (out, high, wide) = walk
    deep = _DEEP if wide < _WIDE else 2 * _DEEP
    summed = not turned and kernel * channels // groups >= deep
    residues_on, width = (step_on, -(-(walk.reach[2] + 1) // step_on)) if summed else (1, wide)
    columns = 1 if summed else columns
    residues, reach = step if turned else spacing, spacing * (kernel - 1)
    lines = -(-(walk.reach[1] + 1) // step_up)
    row = channels * columns * step_up * lines * residues_on * width * 4
    most = max(1, out * step // (4 * reach + 1))  # else elements of two segments would be too many
    wanted = max(1, -(-RESULTS // max(1, batch * high * wide)))
    fitting = max((BLOCK // max(1, row) - reach - 1) // step + 1, reach // step, 1)
    length = max(1, min(-(-out // min(wanted, most)), fitting))
    segments = -(-out // length)
    rows = -(-(step * (length - 1) + reach + 1) // residues)
    if turned:
        results = -(-SUMMED // max(1, high * wide))
    else:
        work = each * out * high * wide
        each //= walk.kernel[1] * (walk.kernel[2] if summed else 1)
        few = 32 * each <= _SMALL
        results = -(-min(_SMALL // each if few else 128, 128 if summed else 512) // max(1, wide))
        if few and wide >= _WIDE and work >= _LARGE:
            results = 1  # an image fills the cache
    room = max(1, min(BLOCK // max(1, row * residues * rows), min(results, 128)))
    pieces = min(segments, room)
    images = max(1, min(batch, room // segments))
    depth = step * length * (segments - 1) + residues * rows
    frame = depth, step_up * lines, max(walk.reach[2] + 1, residues_on * width if summed else 0)
    last = summed or (wide < SHORT and images > 1)
    cut = length, segments, rows, lines, images, pieces
    return Plan(axes, walk, frame, *cut, last, columns, residues_on, width)


def pays(shape: Ints, outputs: int, walk: Geometry, groups: int, turned: bool = False) -> bool:
    """Return whether this algorithm is faster, as measured.

    Args:
        shape: that of the input.
        outputs: the number of channels of the result in a group.
        walk: the windows.
        groups: the number of groups.
        turned: whether to compute the gradient of the weight.
    """
    channels, places, longest = shape[1] // groups, walk.out, max(walk.kernel)
    longer = longest >= 5 and len(places) < 3
    if outputs == 1 or longest < 2 or (max(walk.stride) > 1 and not longer):
        return False
    each = outputs * channels * math.prod(walk.kernel)
    if turned:
        inner = channels * walk.kernel[-1]
        results = shape[0] * math.prod(places)
        large = each * results >= _LEAST
        return large and len(places) > 1 and inner >= 16 and each <= results << 10
    if len(places) == 1:
        plain = longer and max(walk.stride) == groups == 1 and each >= 2 * _DEEP * outputs
        return plain and each <= shape[0] * places[0] << 6
    results = math.prod(places)
    if results < 16 or each * results * shape[0] < _LEAST:
        return False
    return each // min(walk.kernel) <= shape[0] * results // max(places) << 12


def _volumes(x: Array, axes: Ints) -> Array:
    """Return a view of images, or of a kernel, as volumes."""
    chosen = [2 + a for a in axes if a >= 0]
    x = x.transpose(0, 1, *chosen)
    return x.reshape(x.shape) if len(chosen) == 3 else np.expand_dims(x, (3, 4)[: 3 - len(chosen)])


def _framed(x: Array, plan: Plan) -> Array:
    """Return volumes with zeros around them, from the first window to the end of the last."""
    padding, sizes = plan.walk.padding, zip(x.shape[2:], plan.walk.padding, plan.frame, strict=True)
    used: Any = [slice(max(-p, 0), max(min(n, m - p), max(-p, 0))) for n, p, m in sizes]
    x = x[(..., *used)]
    if x.shape[2:] == plan.frame and not plan.batch_last:
        return x
    if plan.batch_last:
        frame = np.moveaxis(np.zeros((x.shape[1], *plan.frame, len(x)), x.dtype), -1, 0)
    else:
        frame = np.zeros((*x.shape[:2], *plan.frame), x.dtype)
    places: Any = [slice(s.start + p, s.stop + p) for s, p in zip(used, padding, strict=True)]
    frame[(..., *places)] = x
    return frame


def _blocks(
    x: Array, part: slice, plan: Plan, groups: int, turned: bool
) -> Iterator[tuple[slice, slice, Array]]:
    """Yield images, segments of them, and the elements of their windows.

    These are ``[groups, residues, lines, residues, rows, channels, columns, results]`` or, if
    ``turned``, ``[groups, channels, columns, residues, residues, rows, lines, results]``; the next
    block overwrites them. Rows and lines with the same residue follow each other: modulo the
    dilation those of one window, modulo the stride those of all.
    """
    walk, channels, buffer = plan.walk, x.shape[1] // groups, None
    (step, step_up, step_on), (spacing, _, apart) = walk.stride, walk.dilation
    residues = step if turned else spacing
    order = [0, 3, 4, 5, 1, 2, 6] if turned else [0, 5, 6, 1, 2, 3, 4]
    order += [9, 10, 7, 8] if plan.batch_last else [7, 8, 9, 10]
    in_place = residues == step_up == plan.residues == plan.segments == 1
    in_place = in_place and (plan.columns == 1 or not plan.batch_last)
    for start in range(part.start, part.stop, plan.images):
        images = slice(start, min(start + plan.images, part.stop))
        frame = x[images] if in_place else _framed(x[images], plan)
        image, channel, row, line, element = frame.strides
        for first in range(0, plan.segments, plan.pieces):
            pieces = slice(first, min(first + plan.pieces, plan.segments))
            shape = (
                groups, residues, plan.rows, channels, plan.columns, step_up, plan.lines,
                len(frame), pieces.stop - first, plan.residues, plan.width,
            )  # fmt: skip
            if buffer is None or buffer.size != math.prod(shape):
                buffer = (np.zeros if in_place else np.empty)([shape[i] for i in order], x.dtype)
            memory = buffer.transpose(np.argsort(order))
            if in_place:
                _fill(memory[:, 0, :, :, :, 0, :, :, 0, 0], frame, walk)
            else:
                steps = (
                    channels * channel, row, residues * row, channel, apart * element, line,
                    step_up * line, image, plan.length * step * row, element, step_on * element,
                )  # fmt: skip
                source = as_strided(frame[:, :, first * plan.length * step :], shape, steps)
                np.copyto(memory, source)
            yield images, pieces, buffer


def _fill(memory: Array, x: Array, walk: Geometry) -> None:
    """Copy volumes to ``[groups, rows, channels, columns, lines, batch, results]``."""
    groups, rows, channels, columns, lines, _, wide = memory.shape
    sizes = zip(x.shape[2:4], walk.padding[:2], (rows, lines), strict=True)
    used = [slice(max(-p, 0), max(min(n, m - p), max(-p, 0))) for n, p, m in sizes]
    low, under = (slice(s.start + p, s.stop + p) for s, p in zip(used, walk.padding, strict=False))
    x = x.reshape(len(x), groups, channels, *x.shape[2:]).transpose(1, 3, 2, 4, 0, 5)
    x = x[:, used[0], :, used[1]]
    step, padding, apart, _ = (field[2] for field in walk[1:])
    for k in range(columns):
        left, right = windows_inside(x.shape[5], apart * k - padding, step, wide)
        start = step * left + apart * k - padding
        if left < right:
            places = slice(start, start + step * (right - left), step)
            memory[:, low, :, k, under, :, left:right] = x[..., places]


def _split(y: Array, plan: Plan, groups: int) -> Array:
    """Return a view of results as ``[batch, groups, channels, segments, depth, height, width]``."""
    y = _volumes(y, plan.axes)
    shape = y.shape[0], groups, y.shape[1] // groups, plan.segments, plan.length, *y.shape[3:]
    return y.reshape(shape, copy=False)


def _whole(y: Array | None, shape: Ints, plan: Plan, dtype: Any) -> Array:
    """Return results, or memory for them, with whole segments along the depth."""
    axis, depth = 2 + plan.axes[0], plan.segments * plan.length
    if y is not None and shape[axis] == depth:
        return y
    longer = (*shape[:axis], depth, *shape[axis + 1 :])
    if y is None:
        return np.empty(longer, dtype)
    whole = np.zeros(longer, dtype)
    np.moveaxis(whole, axis, -1)[..., : shape[axis]] = np.moveaxis(y, axis, -1)
    return whole


def _factor(n: int, most: int) -> int:
    """Return the largest divisor of ``n`` that is at most ``most``, or 1."""
    return next((k for k in range(min(n, most), 1, -1) if n % k == 0), 1)


def convolved(x: Array, weight: Array, bias: Array | None, walk: Geometry, groups: int) -> Array:
    """Return the convolution of ``[batch, channels, *size]`` and a weight, plus the bias."""
    outputs = len(weight) // groups
    plan = _plan(len(x), x.shape[1], groups, weight.size // groups, walk, False)
    x, matrices = _volumes(x, plan.axes), _matrices(_volumes(weight, plan.axes), plan, groups)
    shape = len(x), len(weight), *walk.out
    result = _whole(None, shape, plan, x.dtype)
    target, (_, high, wide) = _split(result, plan, groups), plan.walk.out
    offset = None if bias is None else bias.reshape(groups, 1, 1, outputs, 1)

    def work(part: slice) -> None:
        for images, pieces, memory in _blocks(x, part, plan, groups, False):
            count = len(x[images]), pieces.stop - pieces.start
            total = np.empty((groups, high, plan.length, outputs, wide * math.prod(count)), x.dtype)
            _multiply(matrices, memory, plan, total)
            if offset is not None:
                total += offset
            if plan.batch_last:
                made = total.reshape(*total.shape[:4], wide, *count).transpose(5, 0, 3, 6, 2, 1, 4)
            else:
                made = total.reshape(*total.shape[:4], *count, wide).transpose(4, 0, 3, 5, 2, 1, 6)
            np.copyto(target[images, :, :, pieces], made)

    share(work, parts_of(len(x), plan.images), len(x) * math.prod(walk.out) * weight.size)
    if result.shape == shape:
        return result
    return np.ascontiguousarray(result[tuple(map(slice, shape))])


def _matrices(weight: Array, plan: Plan, groups: int) -> Array:
    """Return the weights of each product, ``[lines, columns, groups, 1, 1, outputs, ...]``."""
    outputs, channels = len(weight) // groups, weight.shape[1]
    deep, up, across = plan.walk.kernel
    summed = across // plan.columns
    weight = weight.reshape(groups, outputs, channels, deep, up, summed, plan.columns)
    matrices = np.ascontiguousarray(weight.transpose(4, 5, 0, 1, 3, 2, 6))
    return matrices.reshape(up, summed, groups, 1, 1, outputs, deep * channels * plan.columns)


def _multiply(matrices: Array, memory: Array, plan: Plan, total: Array) -> None:
    """Write products to ``[groups, high, length, outputs, results]``."""
    (step, step_up, _), (spacing, apart, along) = plan.walk.stride, plan.walk.dilation
    up, summed, groups, _, _, outputs, inner = matrices.shape
    item, results = memory.itemsize, total.shape[-1]
    each = results // plan.walk.out[2]
    pitch = plan.residues * plan.width * each
    row = inner // plan.walk.kernel[0] * pitch
    line = row * plan.rows * spacing
    cycle = spacing // math.gcd(step, spacing)
    strides = memory.strides[0], item * line, item * row * (step * cycle // spacing), item * pitch
    length = max(1, _TOGETHER // (groups * outputs * results))
    high = max(1, length // plan.length) if summed * up > 1 else total.shape[1]
    chosen = itertools.product(
        range(0, total.shape[1], high), range(cycle), range(0, plan.length, length * cycle)
    )
    for top, j, first in chosen:
        made = total[:, top : top + high, first + j : first + length * cycle : cycle]
        if not made.size:
            continue
        view = (*made.shape[:3], inner, results)
        begin = top * line + (step * j % spacing * plan.rows + step * (first + j) // spacing) * row
        for number, (k, m) in enumerate(np.ndindex(up, summed)):
            at = apart * k % step_up * plan.lines + apart * k // step_up
            at = begin + at * line
            at += (along * m % plan.residues * plan.width + along * m // plan.residues) * each
            operand = np.ndarray(view, total.dtype, memory, item * at, (*strides, item))
            if number == 0:
                np.matmul(matrices[k, m], operand, out=made)
            else:
                made += np.matmul(matrices[k, m], operand)


def correlated(x: Array, y: Array, walk: Geometry, groups: int) -> Array:
    """Return the gradient of the weight, from the input and the gradient of the output."""
    plan = _plan(len(x), x.shape[1], groups, 1, walk, True)
    slopes = _split(_whole(y, y.shape, plan, y.dtype), plan, groups)
    x = _volumes(x, plan.axes)
    (deep, up, across), (step, step_up, _), _, (spacing, apart, _), (_, high, _) = plan.walk
    inner, outputs = x.shape[1] // groups * across, slopes.shape[2]
    parts = parts_of(len(x), plan.images)
    totals = np.zeros((len(parts), deep, up, groups, inner, outputs), x.dtype)

    def work(number: int) -> None:
        total = totals[number]
        for images, pieces, memory in _blocks(x, parts[number], plan, groups, True):
            count = math.prod(memory.shape[-4:])
            row, item = plan.lines * count, x.itemsize
            order = (1, 4, 5, 6, 0, 3, 2) if plan.batch_last else (1, 4, 5, 0, 3, 6, 2)
            against = slopes[images, :, :, pieces].transpose(order)
            rows = 1
            if plan.lines == high:  # rows follow each other
                rows = _factor(plan.length, SUMMED // (high * count))
            length = rows * high * count
            against = np.ascontiguousarray(against).reshape(groups, -1, length, outputs)
            view = (*against.shape[:2], inner, length)
            steps = memory.strides[0], item * rows * row, memory.strides[2], item
            for j in range(deep):
                for k in range(up):
                    rest, lower = spacing * j % step, spacing * j // step
                    beside, under = apart * k % step_up, apart * k // step_up
                    at = (beside * step + rest) * plan.rows + lower
                    start = at * row + under * count
                    operand = np.ndarray(view, x.dtype, memory, item * start, steps)
                    total[j, k] += np.matmul(operand, against).sum(axis=1)

    share(work, range(len(parts)), len(x) * math.prod(walk.out) * totals[0].size)
    total = totals.sum(axis=0).reshape(deep, up, groups, -1, across, outputs)
    weight = total.transpose(2, 5, 3, 0, 1, 4).reshape(groups * outputs, -1, deep, up, across)
    made = np.empty((len(weight), weight.shape[1], *walk.kernel), x.dtype)
    _volumes(made, plan.axes)[...] = weight
    return made
