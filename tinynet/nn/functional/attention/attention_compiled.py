"""Attention of short sequences with numba kernels: see ``numba_kernels.attention``."""

from __future__ import annotations

import math

import numpy as np

from tinynet import numba_kernels
from tinynet.dtypes import Array
from tinynet.numba_kernels import attention

_MOST = 2**16  # number of scores of a head that fit the cache


def takes(query: Array, key: Array, value: Array, *others: Array) -> bool:
    """Return whether to use the kernels: for short sequences with a key batch each."""
    return (
        numba_kernels.on
        and 2 <= query.ndim <= 4
        and query.shape[:-2] == key.shape[:-2] == value.shape[:-2]
        and 0 < query.shape[-2] * key.shape[-2] <= _MOST
        and query.size * value.size > 0
        and numba_kernels.takes(query, key, value, *others)
    )


def masks(keep: Array | None, scores: Array) -> Array:
    """Return the rows of a mask: one, one per query, or one per row of scores."""
    if keep is None:
        return np.ones((1, scores.shape[-1]), scores.dtype)
    if keep.shape == scores.shape[-2:] and keep.flags.c_contiguous:
        return keep
    if math.prod(keep.shape[:-2]) == 1:
        mask = np.broadcast_to(keep.reshape(keep.shape[-2:]), scores.shape[-2:])
    else:
        mask = np.broadcast_to(keep, scores.shape)
    return np.ascontiguousarray(mask).reshape(-1, scores.shape[-1])


def _rows(x: Array) -> Array:
    """Return the array with contiguous rows."""
    return x if x.strides[-1] == x.itemsize else np.ascontiguousarray(x)


def _heads(x: Array) -> Array:
    """Return a view, ``[batch, heads, length, size]``."""
    return x if x.ndim == 4 else x[(None,) * (4 - x.ndim)]


def _ends(keep: Array) -> Array:
    ends = np.empty(len(keep), np.int32)
    attention.reach(keep, ends)
    return ends


def attend(
    query: Array, key: Array, value: Array, keep: Array | None, scale: float
) -> tuple[Array, Array] | None:
    """Return the output and the weights; None if NaN or infinity require numpy."""
    shape = (*query.shape[:-1], key.shape[-2])
    weights, out = np.empty(shape, np.float32), _like(query, (*shape[:-1], value.shape[-1]))
    q, k, v = (_heads(_rows(x)) for x in (query, key, value))
    mask = masks(keep, weights)
    ends, rows, finite = _ends(mask), weights.reshape(-1, *shape[-2:]), np.ones(1, np.int32)
    attention.attend(
        q, k, v, mask, ends, np.float32(scale), rows, _heads(out), finite, 0, len(rows)
    )
    return (out, weights) if finite[0] else None


def _like(x: Array, shape: tuple[int, ...]) -> Array:
    """Allocate a result in the memory order of ``x`` if it has that shape."""
    result = np.empty_like(x, subok=False) if x.shape == shape else np.empty(shape, x.dtype)
    return result if result.strides[-1] == result.itemsize else np.empty(shape, x.dtype)
