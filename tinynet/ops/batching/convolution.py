"""Batching rules of convolutions.

A shared weight convolves one large batch. Weights per example become groups of one convolution,
with the channels of all examples side by side.
"""

from __future__ import annotations

from typing import Any

from tinynet.dtypes import Array
from tinynet.ops.batching.array import is_batched
from tinynet.ops.batching.rules import Call


def _in_batch(call: Call, x: Any) -> Array:
    """Return ``[examples * N, ...]``."""
    whole = call.full(x)
    return whole.reshape(-1, *x.shape[1:])


def _in_channels(call: Call, x: Any) -> Array:
    """Return ``[N, examples * C, ...]``."""
    whole = call.full(x).reshape(-1, *x.shape)
    return whole.swapaxes(0, 1).reshape(x.shape[0], -1, *x.shape[2:])


def _out_of_channels(call: Call, made: Array) -> Array:
    """Return ``[*batch, N, C, ...]`` of ``[N, examples * C, ...]``."""
    n, channels, *size = made.shape
    examples = call.examples
    made = made.reshape(n, examples, channels // examples, *size).swapaxes(0, 1)
    return made.reshape(*call.batch, *made.shape[1:])


def _joined(call: Call, x: Any) -> Array:
    """Return ``[examples * O, ...]`` of weights or biases."""
    return call.full(x).reshape(-1, *x.shape[1:])


def convolution(call: Call) -> Array:
    """Convolve: ``(x, weight[, bias], ..., groups)``."""
    return _convolved(call, call.attributes()["groups"] == 1)


def transposed_convolution(call: Call) -> Array:
    """Convolve transposed: ``(x, weight[, bias], ..., groups)``."""
    return _convolved(call, False)


def _convolved(call: Call, joins: bool) -> Array:
    """Convolve; ``joins``: joined weights give the outputs of all examples from one input."""
    x, weight, *bias = call.tensors
    given = call.attributes()
    if not any(map(is_batched, (weight, *bias))):
        made = call.run([_in_batch(call, x), weight, *bias], given)
        return made.reshape(*call.batch, -1, *made.shape[1:])
    shared = joins and not is_batched(x)
    side_by_side = x if shared else _in_channels(call, x)
    groups = 1 if shared else given["groups"] * call.examples
    parts = [_joined(call, p) for p in (weight, *bias)]
    return _out_of_channels(call, call.run([side_by_side, *parts], given | {"groups": groups}))


def convolution_weight(call: Call) -> Array:
    """Compute gradients of weights: ``(x, y, walk, groups)``."""
    x, y = call.tensors
    given = call.attributes()
    shared = not is_batched(x) and given["groups"] == 1
    side_by_side = x if shared else _in_channels(call, x)
    groups = 1 if shared else given["groups"] * call.examples
    made = call.run([side_by_side, _in_channels(call, y)], given | {"groups": groups})
    return made.reshape(*call.batch, -1, *made.shape[1:])
