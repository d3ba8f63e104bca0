"""Batching rules of the fused operations of layers and losses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinynet.dtypes import Array
from tinynet.ops.batching.array import is_batched, spread_out
from tinynet.ops.batching.rules import Call, NoRuleError
from tinynet.ops.reduction.sums import mean_dims, sum_dims

# ---- convolution --------------------------------------------------------------------------------
# Batching rules of convolutions.
#
# A shared weight convolves one large batch. Weights per example become groups of one convolution,
# with the channels of all examples side by side.


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


# ---- layers -------------------------------------------------------------------------------------


def _shared(*tensors: Any) -> None:
    if any(map(is_batched, tensors)):
        raise NoRuleError


def row_norm(call: Call) -> Any:
    """Normalize rows, with weights that all examples share."""
    x, *weights = call.tensors
    _shared(*weights)
    return call.run([call.full(x), *weights], call.attributes())


def group_norm(call: Call) -> Any:
    """Normalize groups of channels, with weights (and statistics) that all examples share."""
    x, *weights = call.tensors
    _shared(*weights)
    given = call.attributes()
    blocks = given["blocks"]
    given["blocks"] = blocks._replace(samples=blocks.samples * call.examples)
    found = call.run([call.full(x).reshape(-1, *x.shape[1:]), *weights], given)
    parts = found if call.several else [found]
    parts = [r.reshape(*call.batch, -1, *r.shape[1:]) for r in parts]
    return parts if call.several else parts[0]


def entropy(call: Call) -> Any:
    """Compute the losses of all rows, and reduce those of each example."""
    logits, target = call.tensors
    ignored, reduction = call.args[2:]
    rows, classes = logits.shape
    losses, powers, totals, counted = call.kernel(
        call.full(logits).reshape(-1, classes), call.full(target).reshape(-1), ignored, "none"
    )
    losses = losses.reshape(*call.batch, rows)
    hidden = [r.reshape(*call.batch, rows, *r.shape[1:]) for r in (powers, totals)]
    if not counted.ndim:  # all rows count
        return [_reduced(losses, None, reduction), *hidden, counted]
    counted = counted.reshape(*call.batch, rows)
    return [_reduced(losses, counted, reduction), *hidden, counted]


def _reduced(losses: Array, counted: Array | None, reduction: str) -> Array:
    """Return losses ``[..., rows]``, their sum, or the mean of those that count."""
    if reduction == "none":
        return losses
    total = np.add.reduce(losses, axis=-1, dtype=np.float64)
    if reduction == "mean":
        count = losses.shape[-1] if counted is None else np.count_nonzero(counted, axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            total = total / count
    return total.astype(losses.dtype)


def nll_loss(call: Call) -> Any:
    """Compute the losses of all rows, and reduce those of each example."""
    scores, target = call.tensors
    ignored, reduction = call.args[2:]
    whole = call.full(scores).reshape(-1, *_row(scores.shape))
    wanted = call.full(target).reshape(-1, *target.shape[1:])
    losses = call.kernel(whole, wanted, ignored, "none").reshape(*call.batch, target.size)
    found = _reduced(losses, wanted.reshape(losses.shape) != ignored, reduction)
    return found.reshape(*call.batch, *target.shape) if reduction == "none" else found


def nll_loss_backward(call: Call) -> Any:
    """Distribute the gradient of each example over its rows."""
    g, target = call.tensors
    shape, ignored, reduction = call.args[2:]
    wanted, shares = call.full(target), call.full(g)
    if reduction != "none":
        shares = shares.reshape(*call.batch, *(1,) * target.ndim)
        if reduction == "mean":
            axes = tuple(range(call.count, wanted.ndim))
            count = np.count_nonzero(wanted != ignored, axis=axes, keepdims=True)
            with np.errstate(divide="ignore", invalid="ignore"):
                shares = shares / count.astype(shares.dtype)
        shares = np.broadcast_to(shares, wanted.shape)
    flat = [x.reshape(-1, *target.shape[1:]) for x in (shares, wanted)]
    made = call.kernel(*flat, (len(flat[0]), *_row(shape)), ignored, "none")
    return made.reshape(*call.batch, *shape)


def _row(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of the scores of one row; a single row has no batch dimension."""
    return shape[1:] or shape


def loss(call: Call) -> Any:
    """Compute the losses of all pairs of elements, and reduce those of each example."""
    given = call.attributes()
    losses = call.run(spread_out(call.tensors, call.levels), given | {"reduction": "none"})
    if given["reduction"] == "none":
        return losses
    twin = mean_dims if given["reduction"] == "mean" else sum_dims
    size = math.prod(losses.shape[call.count :])
    return twin.kernel(losses.reshape(*call.batch, size), call.count)


def loss_backward(call: Call) -> Any:
    """Distribute the gradient of each example over its pairs of elements."""
    g, *pair = call.tensors
    given = call.attributes()
    if given["reduction"] == "mean":
        g = g / (math.prod(np.broadcast_shapes(*(x.shape for x in pair))) or 1)
    return call.run(spread_out((g, *pair), call.levels), given | {"reduction": "none"})


# ---- tables of embeddings -----------------------------------------------------------------------


def _offset(call: Call, index: Any, count: int) -> Array:
    """Return indices into the tables of all examples, joined."""
    whole = call.full(index).reshape(call.examples, -1)
    if ((whole < 0) | (whole >= count)).any():
        raise NoRuleError  # the loop raises the error
    return whole + count * np.arange(call.examples)[:, None]


def table_rows(call: Call) -> Array:
    """Look up rows of a table, or of one for each example."""
    table, index = call.tensors
    if not is_batched(table):
        return call.kernel(table, call.full(index), *call.args[2:], **call.kwargs)
    joined = table.array.reshape(-1, table.shape[1]) if call.levels == table.levels else None
    if joined is None:
        joined = call.full(table).reshape(-1, table.shape[1])
    found = joined[_offset(call, index, table.shape[0])]
    return found.reshape(*call.batch, *index.shape, table.shape[1])


def table_rows_summed(call: Call) -> Array:
    """Add rows to a table for each example."""
    g, index = call.tensors
    given = call.attributes()
    count, padding = given["count"], given["padding_idx"]
    made = call.run(
        [call.full(g).reshape(-1, g.shape[-1]), _offset(call, index, count).reshape(-1)],
        given | {"count": count * call.examples, "padding_idx": -1},
    ).reshape(*call.batch, count, g.shape[-1])
    if padding >= 0:
        made[..., padding, :] = 0
    return made
