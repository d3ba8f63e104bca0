"""Distances between rows of matrices, from blocks of differences that fit the cache."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tinynet.dtypes import Array
from tinynet.kernels.sums import column_sums
from tinynet.kernels.threads import BLOCK

Block = tuple[slice, slice, slice]
_ELEMENTS = 2 * BLOCK  # of a block: a few arrays of it fit the cache
_SMALL = 2048  # elements: fewer are subtracted in one call
_PAIRS = 4096  # pairs of rows for which a product takes longer than its call


def stacks(*arrays: Array) -> tuple[list[Array], tuple[int, ...]]:
    """Return arrays of matrices with one common dimension in front, and the dimensions in it."""
    batch = np.broadcast_shapes(*(x.shape[:-2] for x in arrays))
    every = (np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in arrays)
    return [x.reshape(math.prod(batch), *x.shape[-2:]) for x in every], batch


def gaps(x1: Array, x2: Array, after: bool = False) -> Iterator[tuple[Block, slice, Array]]:
    """Yield blocks of ``x1[b, i, k] - x2[b, j, k]``: the slices of (b, i, j), that of k, and them.

    A difference is a product of two columns with two rows: ``[x1, 1] @ [1, -x2]``, rounded once.
    BLAS writes it in a fraction of the time of numpy's broadcasting.

    Args:
        x1: ``[batch, n, d]``.
        x2: ``[batch, m, d]``.
        after: leave out most j <= i.

    Yields:
        Arrays ``[b, k, i, j]``, which the caller may overwrite, and the next block does.
    """
    (batch, n, d), m = x1.shape, x2.shape[1]
    if batch * n * m * d <= _SMALL:
        yield (slice(batch), slice(n), slice(m)), slice(d), x1.mT[..., None] - x2.mT[:, :, None]
        return
    left, right = np.ones((batch, d, n, 2), x1.dtype), np.ones((batch, d, 2, m), x1.dtype)
    left[..., 0] = x1.mT
    np.negative(x2.mT, out=right[:, :, 1])
    most = max(n * m // 8, 1024) if after else _PAIRS  # fewer rows at once leave out more
    step = max(_ELEMENTS // min(n * m, most, _PAIRS), 1)
    pairs = _ELEMENTS // min(d, step)
    buffer = np.empty(_ELEMENTS, x1.dtype)
    for b, i, j in _blocks(batch, n, m, min(pairs, most) if after else pairs, after):
        for k in range(0, d, step):
            rows, columns = left[b, k : k + step, i], right[b, k : k + step, :, j]
            shape = (*rows.shape[:3], columns.shape[3])
            out = buffer[: math.prod(shape)].reshape(shape)
            yield (b, i, j), slice(k, k + step), np.matmul(rows, columns, out=out)


def _blocks(batch: int, n: int, m: int, pairs: int, after: bool) -> Iterator[Block]:
    """Yield slices of at most ``pairs`` elements."""
    if n * m <= pairs:
        step = pairs // (n * m)
        yield from ((slice(b, b + step), slice(n), slice(m)) for b in range(0, batch, step))
        return
    for b in range(batch):
        end = 0
        while end < n:
            start, first = end, end * after
            columns = min(m - first, pairs)
            end += pairs // columns
            for j in range(first, m, columns):
                yield slice(b, b + 1), slice(start, end), slice(j, j + columns)


def distances(x1: Array, x2: Array, p: float, after: bool = False) -> Array:
    """Return the p-norms of ``x1[..., i, :] - x2[..., j, :]``, ``[..., n, m]``.

    With ``after``, those of j <= i may be anything.
    """
    (x1, x2), batch = stacks(x1, x2)
    found = np.zeros((len(x1), x1.shape[1], x2.shape[1]), x1.dtype)
    join = np.maximum if p == math.inf else np.add
    if x1.size and x2.size:
        for at, _, gap in gaps(x1, x2, after):
            join(found[at], _powers(gap, p), out=found[at])
    if p == 2:
        np.sqrt(found, out=found)
    elif p not in (0, 1, math.inf):
        np.power(found, 1 / p, out=found)
    return found.reshape(*batch, *found.shape[1:])


def _powers(gap: Array, p: float) -> Array:
    """Return the sums of the powers of ``[b, k, i, j]`` over k, or the largest; overwrite them."""
    (np.square if p == 2 else np.abs)(gap, out=gap)
    if p == math.inf:
        return np.maximum.reduce(gap, axis=1)
    if p == 0:
        np.minimum(np.ceil(gap, out=gap), 1, out=gap)
    elif p not in (1, 2):
        np.power(gap, p, out=gap)
    b, k, i, j = gap.shape
    return column_sums(gap.reshape(b, k, i * j)).reshape(b, i, j)


def distances_by_product(x1: Array, x2: Array) -> Array:
    """Return Euclidean distances by ``|a - b|^2 = |a|^2 - 2ab + |b|^2``."""
    squares = np.matmul(x1, np.swapaxes(x2, -1, -2))
    squares *= -2
    squares += np.square(x1).sum(-1)[..., :, None]
    squares += np.square(x2).sum(-1)[..., None, :]
    return np.sqrt(np.maximum(squares, 0, out=squares), out=squares)


def pair_distances(x: Array, p: float) -> Array:
    """Return the p-norms of ``x[i] - x[j]`` for j > i, row by row."""
    rows = distances(x, x, p, after=True)
    return np.concatenate([row[i:] for i, row in enumerate(rows, 1)] or [x.reshape(0)])


def symmetric(pairs: Array, n: int) -> Array:
    """Return ``[n, n]`` with ``pairs`` above its diagonal, row by row, and below."""
    found, end = np.zeros((n, n), pairs.dtype), 0
    for i in range(1, n):
        start, end = end, end + n - i
        found[i - 1, i:] = pairs[start:end]
    return found + found.T
