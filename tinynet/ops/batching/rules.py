"""Batching rules of whole families of operations, and the calls that they take.

Pointwise operations align their operands. Parameters that name dimensions are shifted past those of
the batch; shapes get the batch's lengths prepended. ``dispatch.py`` finds the rule of an operation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet.core.declaration.operation import Operation
from tinynet.dtypes import Array
from tinynet.ops.batching.array import BatchedArray, full, is_batched, spread_out, spread_to, united
from tinynet.ops.reduction.statistics import vector_norm

Rule = Callable[["Call"], Any]


class NoRuleError(Exception):
    """A call that a rule does not support."""


class Call:
    """One call of a kernel with batched arrays among its arguments.

    Attributes:
        op: the operation.
        kernel: what runs it on arrays.
        args, kwargs: the arguments, tensor inputs first.
        levels: over which the call runs, the outermost first.
        batch: number of examples of each.
        count: number of levels: the leading dimensions of arrays of all examples.
    """

    def __init__(
        self, op: Any, kernel: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ):
        self.op, self.kernel = op, kernel
        self.args, self.kwargs = args, kwargs
        values = list(args)
        for a in args:
            if type(a) is tuple or type(a) is list:
                values += a
        batched = [x for x in values if type(x) is BatchedArray]
        first = batched[0]
        self.levels, self.batch = first.levels, first.batch
        if any([x.levels != first.levels for x in batched]):
            self.levels = united(batched)
            sizes = {n: k for x in batched for n, k in zip(x.levels, x.batch, strict=True)}
            self.batch = tuple(sizes[level] for level in self.levels)
        self.count = len(self.levels)
        self.examples = math.prod(self.batch)
        self.several = op.multiple or bool(op.hidden)

    @property
    def tensors(self) -> tuple[Any, ...]:
        """The arguments that are tensor inputs."""
        return self.args[: len(self.op.tensors)]

    def attributes(self) -> dict[str, Any]:
        """Return the other arguments by name, including keyword arguments."""
        given = self.args[len(self.op.tensors) :]
        return dict(zip(self.op.attributes, given, strict=False)) | self.kwargs

    def run(self, tensors: list[Any], attributes: dict[str, Any]) -> Any:
        """Run the kernel on other tensor inputs and attributes."""
        op = self.op
        split = len(op.attributes) - op.keyword_only
        positional = [attributes[n] for n in op.attributes[:split] if n in attributes]
        keyword = {n: attributes[n] for n in op.attributes[split:] if n in attributes}
        return self.kernel(*tensors, *positional, **keyword)

    def full(self, x: Any) -> Any:
        """Return the arrays of all examples; one that they share is repeated."""
        return full(x, self.levels, self.batch)

    def like(self, array: Array) -> BatchedArray:
        """Return a batched array over all levels of the call."""
        return BatchedArray(array, self.levels)

    def wrapped(self, found: Any) -> Any:
        """Return results of all examples as batched arrays."""
        if self.several:
            parts = [self.wrap(r) for r in found]
            return parts if self.op.many else tuple(parts)
        return self.wrap(found)

    def wrap(self, array: Any) -> Any:
        """Return an array of all examples as a batched one; None as it is."""
        if array is None:
            return None
        array = np.asarray(array)
        if array.shape[: self.count] != self.batch:
            raise NoRuleError
        return self.like(array)


# ---- families -----------------------------------------------------------------------------------


def elementwise(call: Call) -> Any:
    """Align the operands: dimensions of examples that are missing come after those of the batch."""
    found = call.kernel(*spread_out(call.args, call.levels), **call.kwargs)
    return _broadcast(call, found)


def _broadcast(call: Call, found: Any) -> Any:
    """Broadcast results to all examples, since a kernel may ignore an operand."""
    if call.several:
        return [_over_all(call, r) for r in found]
    return _over_all(call, found)


def _over_all(call: Call, found: Any) -> Any:
    shape = call.batch + found.shape[call.count :]
    return found if found.shape == shape else np.broadcast_to(found, shape)


def leading(call: Call) -> Any:
    """Put the batch before the leading dimensions, of which the kernel takes any number."""
    attributes = _no_arrays(call)
    ranks = [x.ndim for x in call.tensors]
    if attributes.get("vector"):  # it has one dimension less
        if ranks[1] != ranks[0] - 1:
            raise NoRuleError
        return call.run([call.full(x) for x in call.tensors], attributes)
    wholes = [call.like(call.full(x)) for x in call.tensors]
    return call.run(spread_out(wholes, call.levels), attributes)


def _no_arrays(call: Call) -> dict[str, Any]:
    attributes = call.attributes()
    for value in attributes.values():
        parts = value if isinstance(value, (tuple, list)) else (value,)
        if any(is_batched(part) for part in parts):
            raise NoRuleError
    return attributes


# Parameters that name dimensions, of the first tensor or of a parameter that is a shape.
DIMENSIONS = frozenset("dim dims dim0 dim1 dim2 dimension axis".split())
SHAPES = frozenset(["shape", "self_shape"])


def dimensions(call: Call, more: int = 0) -> Any:
    """Shift the parameters that name dimensions, and put the batch before those that are shapes."""
    if call.op.kind == "sequence":
        parts = call.args[0]
        if any(x.ndim != parts[0].ndim for x in parts):
            raise NoRuleError
        tensors: list[Any] = [[call.full(x) for x in parts]]
    else:
        parts = call.tensors
        tensors = [call.full(x) for x in parts]
    return call.run(tensors, _behind_batch(call, _no_arrays(call), parts[0].ndim + more))


def inserted(call: Call) -> Any:
    """Do as ``dimensions``, but count them in the result, which has one more."""
    return dimensions(call, 1)


def reduction(call: Call) -> Any:
    """Do as ``dimensions``, but None or no dimensions mean all."""
    (x,) = call.tensors
    attributes = _no_arrays(call)
    if attributes["dim"] in (None, ()):
        attributes["dim"] = tuple(range(x.ndim))
    return call.run([x.array], _behind_batch(call, attributes, x.ndim))


def slices(call: Call) -> Any:
    """Do as ``dimensions``, with a vector of indices of slices that all examples share."""
    tensors = []
    for name, x in zip(call.op.tensors, call.tensors, strict=True):
        shared = name in ("index", "value")
        if shared and is_batched(x):
            raise NoRuleError
        tensors.append(x if shared else call.full(x))
    return call.run(tensors, _behind_batch(call, _no_arrays(call), call.tensors[0].ndim))


def _behind_batch(call: Call, attributes: dict[str, Any], ndim: int) -> dict[str, Any]:
    """Return attributes with dimensions shifted past the batch and shapes extended by it.

    Negative dimensions count from ``ndim``, or from the end of a shape if there is one.
    """
    for name in SHAPES & attributes.keys():
        ndim = len(attributes[name])
        attributes[name] = (*call.batch, *attributes[name])
    for name in DIMENSIONS & attributes.keys():
        attributes[name] = _shifted(call, attributes[name], ndim)
    return attributes


def _shifted(call: Call, dim: Any, ndim: int) -> Any:
    if isinstance(dim, (tuple, list)) and len(dim):
        return tuple(_shifted(call, d, ndim) for d in dim)
    if not isinstance(dim, (int, np.integer)) or not -ndim <= dim < ndim:
        raise NoRuleError
    return dim % ndim + call.count


def norm_of_difference(call: Call) -> Any:
    """Return the p-norm of the difference of two operands."""
    left, right = spread_out(call.tensors, call.levels)
    gap = left - right
    if gap.dtype.kind != "f":
        raise NoRuleError
    return vector_norm.kernel(gap.reshape(*call.batch, -1), *call.args[2:], (-1,), False)


def of_all(twin: Operation) -> Rule:
    """Return the rule of a reduction of everything; its twin reduces a dimension."""

    def rule(call: Call) -> Any:
        (x,) = call.tensors
        whole = x.array.reshape(*call.batch, x.size)
        found = twin.kernel(whole, call.count, False, *call.args[1:])
        return found[0] if isinstance(found, tuple) else found

    return rule


def folded(call: Call) -> Any:
    """Fold the batch into the first dimension, the batch dimension of each example."""
    lengths = {x.shape[0] for x in call.tensors}
    if len(lengths) != 1:
        raise NoRuleError
    (n,) = lengths
    tensors = [call.full(x).reshape(-1 if x.size else 0, *x.shape[1:]) for x in call.tensors]
    found = call.run(tensors, _no_arrays(call))
    parts = list(found) if call.several else [found]
    parts = [r.reshape(*call.batch, n, *r.shape[1:]) for r in parts]
    return parts if call.several else parts[0]


# ---- shapes -------------------------------------------------------------------------------------


def expanded(call: Call) -> Any:
    """Repeat dimensions of length 1."""
    (x,), (shape,) = call.tensors, call.args[1:]
    if len(shape) < x.ndim:
        raise NoRuleError
    array, whole = spread_to(x, shape)
    return call.kernel(array, whole)


def repeated(call: Call) -> Any:
    """Repeat dimensions."""
    (x,), (repeats,) = call.tensors, call.args[1:]
    array, _ = spread_to(x, repeats)
    return call.kernel(array, (*(1,) * call.count, *repeats))


def embedded(call: Call) -> Any:
    """Put an array at an index of zeros."""
    (x,), (shape, index) = call.tensors, call.args[1:]
    if any(isinstance(part, np.ndarray) for part in index):
        raise NoRuleError
    key = (*(slice(None),) * call.count, *index)
    return call.kernel(x.array, (*call.batch, *shape), key)


def permuted(call: Call) -> Any:
    """Put the dimensions in another order."""
    (x,), (dims,) = call.tensors, call.args[1:]
    order = _shifted(call, tuple(dims), x.ndim)
    return call.kernel(x.array, (*range(call.count), *order))


def transposed(call: Call) -> Any:
    """Transpose a matrix."""
    (x,) = call.tensors
    if x.ndim > 2:
        raise NoRuleError
    return x.array.swapaxes(-1, -2) if x.ndim == 2 else x.array[...]


def all_squeezed(call: Call) -> Any:
    """Drop all dimensions of length 1."""
    (x,) = call.tensors
    axes = tuple(i + call.count for i, n in enumerate(x.shape) if n == 1)
    return x.array.squeeze(axes)[...]


def copied(call: Call) -> Any:
    """Broadcast values, a tensor input or an attribute, to the shape of a tensor."""
    x, source = call.args
    found = call.kernel(*spread_out([call.like(call.full(x)), source], call.levels))
    return np.broadcast_to(found, call.batch + x.shape)
