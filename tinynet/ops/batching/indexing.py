"""Batching rules of indexing by arrays, for batched arrays, batched indices, or both."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.dtypes import Array
from tinynet.ops.batching.array import is_batched, spread_out
from tinynet.ops.batching.rules import Call, NoRuleError


class _Key:
    """The indices of a call behind those of the batch.

    Attributes:
        indices: what indexes an array of all examples: with batched indices, one that counts the
            examples stands first for each level.
        first: how many dimensions stay before the first index.
        width: number of dimensions that the indices make.
        apart: a dimension lies between two indices: what they make comes first.
    """

    def __init__(self, call: Call, indices: tuple[Any, ...], self_batched: bool):
        given = [i for i, x in enumerate(indices) if x is not None]
        self.first = given[0]
        self.apart = given[-1] - given[0] + 1 != len(given)
        arrays = [indices[i] for i in given]
        self.batched = any(map(is_batched, arrays))
        masks = [x for x in arrays if x.dtype == bool]
        if self.batched and masks:
            raise NoRuleError
        self.width = max([1] * bool(masks) + [x.ndim for x in arrays if x.dtype != bool])
        before: list[Any] = [None] * call.count
        if self.batched:
            places = iter(spread_out(arrays, call.levels))
            indices = tuple(None if x is None else next(places) for x in indices)
            before = [
                np.arange(n).reshape(-1, *(1,) * (call.count - i - 1 + self.width))
                for i, n in enumerate(call.batch)
            ]
        self.indices = (*before, *indices) if self_batched else indices


def index_taken(call: Call) -> Array:
    """Take the elements at the indices."""
    (x,), (indices,) = call.tensors, call.args[1:]
    key = _Key(call, indices, is_batched(x))
    count, width = call.count, key.width
    if not is_batched(x):
        found = call.kernel(x, key.indices)
        if key.first and not key.apart:
            found = _moved(found, key.first, count, 0)
        return found
    found = call.kernel(call.full(x), key.indices)
    if not key.batched:
        return _moved(found, width, count, 0) if key.apart else found
    if key.first and not key.apart:
        found = _moved(found, count, width, count + key.first)
    return found


def _moved(x: Array, start: int, width: int, to: int) -> Array:
    """Move ``width`` dimensions from ``start``, so that they begin at ``to``."""
    return np.moveaxis(x, range(start, start + width), range(to, to + width))


def index_summed(call: Call) -> Array:
    """Add elements at the indices: the derivative of taking them."""
    (g,), (shape, indices) = call.tensors, call.args[1:]
    key = _Key(call, indices, True)
    whole, count, width = call.full(g), call.count, key.width
    if key.apart and not key.batched:
        whole = _moved(whole, count, width, 0)
    elif key.batched and key.first and not key.apart:
        whole = _moved(whole, count + key.first, width, count)
    return call.kernel(whole, (*call.batch, *shape), key.indices)


def index_cleared(call: Call) -> Array:
    """Write zeros at the indices."""
    (x,), (indices,) = call.tensors, call.args[1:]
    return call.kernel(call.full(x), _Key(call, indices, True).indices)


def index_put(call: Call) -> Array:
    """Write values at the indices."""
    (x, values), (indices, accumulate) = call.tensors, call.args[2:]
    key = _Key(call, indices, True)
    if (
        key.apart
        or (key.batched and key.first)
        or any(i is not None and i.dtype == bool for i in key.indices)
    ):
        raise NoRuleError
    used = sum(i is not None for i in indices)
    region = x.ndim - used + key.width
    if values.ndim > region:
        raise NoRuleError
    whole = call.full(values)
    count = call.count
    whole = whole.reshape(call.batch + (1,) * (region - values.ndim) + whole.shape[count:])
    return call.kernel(call.full(x), whole, key.indices, accumulate)
