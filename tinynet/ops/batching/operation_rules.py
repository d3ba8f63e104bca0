"""Batching rules of single operations: products, indexing by arrays, fused operations of layers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinynet.dtypes import Array
from tinynet.ops.batching.array import at_levels, is_batched, spread_out
from tinynet.ops.batching.rules import Call, NoRuleError
from tinynet.ops.products.matmul import gemm
from tinynet.ops.reduction.sums import mean_dims, sum_dims

# ---- products -----------------------------------------------------------------------------------
# One large product if an operand is shared, else one per example.


def _product(call: Call, a: Any, b: Any) -> Array:
    """Return ``a @ b`` of matrices, or of stacks of the same length."""
    if a.dtype != b.dtype or a.dtype.kind == "b" or a.shape[-1] != b.shape[-2]:
        raise NoRuleError  # the loop raises the error
    if is_batched(a) and not is_batched(b) and b.ndim == 2:
        rows = a.array.reshape(-1, a.shape[-1])
        return gemm(rows, b).reshape(*a.array.shape[:-1], b.shape[1])
    left, right = (at_levels(x, call.levels) if is_batched(x) else x for x in (a, b))
    return np.matmul(left, right)


def _of_rank(x: Any, ndim: int) -> Any:
    if x.ndim != ndim:
        raise NoRuleError
    return x


def matrices(call: Call) -> Array:
    """Multiply two matrices."""
    a, b = call.tensors
    return _product(call, _of_rank(a, 2), _of_rank(b, 2))


def stacks(call: Call) -> Array:
    """Multiply two stacks of matrices."""
    a, b = call.tensors
    if _of_rank(a, 3).shape[0] != _of_rank(b, 3).shape[0]:
        raise NoRuleError
    return _product(call, a, b)


def matrix_vector(call: Call) -> Array:
    """Multiply a matrix and a vector."""
    a, v = call.tensors
    if not is_batched(a):
        return _product(call, _as_row(_of_rank(v, 1)), _of_rank(a, 2).T)[..., 0, :]
    return _product(call, _of_rank(a, 2), _as_column(_of_rank(v, 1)))[..., 0]


def vector_matrix(call: Call) -> Array:
    """Multiply a vector and a matrix."""
    v, a = call.tensors
    return _product(call, _as_row(_of_rank(v, 1)), _of_rank(a, 2))[..., 0, :]


def vectors(call: Call) -> Array:
    """Multiply two vectors."""
    v, w = call.tensors
    return _product(call, _as_row(_of_rank(v, 1)), _as_column(_of_rank(w, 1)))[..., 0, 0]


def _as_row(v: Any) -> Any:
    return v[None, :]


def _as_column(v: Any) -> Any:
    return v[:, None]


def linear(call: Call) -> Array:
    """Multiply rows and the transpose of a matrix, and add the bias if there is one."""
    x, weight, *bias = call.tensors
    if any(b.shape != weight.shape[:1] or b.dtype != weight.dtype for b in bias):
        raise NoRuleError
    rows = x.reshape(-1 if x.size else 0, x.shape[-1]) if x.ndim != 2 else x
    turned = weight.like(weight.array.swapaxes(-1, -2)) if is_batched(weight) else weight.T
    made = _product(call, rows, _of_rank(turned, 2))
    if bias:
        made = np.add(*spread_out([call.like(made), *bias], call.levels))
    return made.reshape(*made.shape[: call.count], *x.shape[:-1], weight.shape[0])


def _added(call: Call, made: Array) -> Array:
    """Return ``beta * self + alpha * made``."""
    factors = {"beta": 1, "alpha": 1} | call.attributes()
    beta, alpha = factors["beta"], factors["alpha"]
    if made.dtype.kind != "f" or call.tensors[0].dtype != made.dtype:
        raise NoRuleError
    if alpha != 1:
        made = made * alpha
    if not beta:
        return made
    summand, product = spread_out([call.tensors[0], call.like(made)], call.levels)
    found = summand * beta + product if beta != 1 else summand + product
    if found.shape[call.count :] != product.shape[call.count :]:
        raise NoRuleError
    return found


def added_matrices(call: Call) -> Array:
    """Add the product of two matrices to a matrix."""
    _, a, b = call.tensors
    return _added(call, _product(call, _of_rank(a, 2), _of_rank(b, 2)))


def added_stacks(call: Call) -> Array:
    """Add the product of two stacks of matrices to a stack."""
    _, a, b = call.tensors
    if _of_rank(a, 3).shape[0] != _of_rank(b, 3).shape[0]:
        raise NoRuleError
    return _added(call, _product(call, a, b))


def added_vector(call: Call) -> Array:
    """Add the product of a matrix and a vector to a vector."""
    _, a, v = call.tensors
    return _added(call, _product(call, _of_rank(a, 2), _as_column(_of_rank(v, 1)))[..., 0])


# ---- indexing -----------------------------------------------------------------------------------
# By arrays, for batched arrays, batched indices, or both.


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


# ---- layers and losses --------------------------------------------------------------------------
# Their fused operations.


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
    whole = call.full(scores).reshape(-1, *_row_of(scores.shape))
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
    made = call.kernel(*flat, (len(flat[0]), *_row_of(shape)), ignored, "none")
    return made.reshape(*call.batch, *shape)


def _row_of(shape: tuple[int, ...]) -> tuple[int, ...]:
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
