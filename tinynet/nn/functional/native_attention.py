"""Attention by the kernels that LLVM compiles, where they are enabled."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tinynet.dtypes import Array
from tinynet.kernels import native as native_kernels

_NO_MASK, _NO_NOISE = np.empty((0, 0), np.float32), np.empty((0, 0, 0, 0), np.float32)


def fits(query: Array, key: Array, value: Array, keep: Array | None) -> bool:
    """Return whether the kernels take these: matrices with contiguous rows, of one batch."""
    return (
        query.ndim in (3, 4)
        and query.shape[:-2] == key.shape[:-2]
        and query.shape[-1] == key.shape[-1]
        and key.shape == value.shape
        and (keep is None or keep.shape == (query.shape[-2], key.shape[-2]))
        and all(x.size and x.strides[-1] == x.itemsize for x in (query, key, value))
    )


def attend(
    query: Array,
    key: Array,
    value: Array,
    keep: Array | None,
    noise: Array | None,
    scale: float,
) -> tuple[Array, Array, Array]:
    """Return the output, exponentials of the scores up to a factor, and their sums."""
    output, rows = np.empty_like(query), query.shape[:-1]
    powers, sums = (np.empty((*rows, n), np.float32) for n in (key.shape[-2], 1))
    q, k, v, out, p, total = _with_heads(query, key, value, output, powers, sums)
    native_kernels.attention.attend(q, k, v, *_factors(keep, noise), scale, out, p, total)
    return output, powers, sums


def write_gradients(
    g: Array,
    inputs: Sequence[Array],
    saved: Sequence[Array],
    made: Sequence[Array],
    keep: Array | None,
    noise: Array | None,
    scale: float,
) -> None:
    """Write the gradients of query, key and value to ``made``; ``attend`` returned ``saved``."""
    q, k, v, out, p, total = _with_heads(*inputs, *saved)
    dq, dk, dv, g = _with_heads(*made, g)
    g = g if g.strides[-1] == g.itemsize else np.ascontiguousarray(g)
    native_kernels.attention.attend_slope(
        g, q, k, v, *_factors(keep, noise), scale, out, p, total, dq, dk, dv
    )


def _with_heads(*arrays: Array) -> list[Array]:
    """Return ``[batch, heads, length, size]`` of each; the batch may be missing."""
    return [x if x.ndim == 4 else x[None] for x in arrays]


def _factors(keep: Array | None, noise: Array | None) -> tuple[Array, Array]:
    """Return the mask and the dropout factors as the kernels take them."""
    mask = _NO_MASK if keep is None else np.ascontiguousarray(keep)
    return mask, _NO_NOISE if noise is None else _with_heads(noise)[0]
