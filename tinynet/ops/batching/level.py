"""A level of ``vmap``: how tensors enter and leave a batch, and how gradients pass its border."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet.core.declaration.operation import operation, view
from tinynet.core.graph.node import Node, count_nodes
from tinynet.core.modes import mode
from tinynet.core.seams import Recorded
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import Array
from tinynet.ops.batching import dispatch
from tinynet.ops.batching.array import BatchedArray, UnbatchableError, is_batched
from tinynet.ops.reduction.sums import sum_dims
from tinynet.ops.shaping.joining import cat, stack

_numbers = itertools.count(1)


class _Mine(threading.local):
    open = 0  # levels that this thread has opened


_mine = _Mine()


class Level:
    """One run over a batch; inner levels have larger numbers.

    While a level is alive, ``dispatch`` wraps the kernels. It is open in its ``with`` block, and
    stays alive in graphs that were recorded in it.

    Args:
        size: number of examples.

    Attributes:
        born: nodes with smaller numbers were recorded before the level was opened.
    """

    __slots__ = ("__weakref__", "born", "number", "open", "size")

    def __init__(self, size: int):
        self.size = size
        self.number = next(_numbers)
        self.born = count_nodes()
        self.open = False
        dispatch.begin(meets_batches)

    def __del__(self) -> None:
        dispatch.end()

    def __enter__(self) -> Level:
        self.open = True
        _mine.open += 1
        return self

    def __exit__(self, *exc: object) -> None:
        self.open = False
        _mine.open -= 1

    def __repr__(self) -> str:
        return f"Level({self.number})"

    def enter(self, t: Tensor, dim: int) -> Tensor:
        """Return the tensor with its dimension ``dim`` hidden as the batch dimension."""
        made: Tensor = enter.function(t, dim, self)
        return made

    def leave(self, t: Tensor, dim: int) -> Tensor:
        """Return the results of all examples, along dimension ``dim``."""
        made: Tensor = leave.function(t, dim, self)
        return made

    def holds(self, t: Tensor) -> bool:
        """Return whether examples of this level have a tensor each."""
        return self in levels_of(t)


def levels_of(t: Tensor) -> tuple[Level, ...]:
    """Return the levels over which a tensor runs."""
    array: Any = t._array
    return array.levels if type(array) is BatchedArray else ()


# ---- in and out ---------------------------------------------------------------------------------


def _into(array: Any, dim: int, level: Level) -> Any:
    if not is_batched(array):
        if not isinstance(array, np.ndarray):
            raise UnbatchableError("vmap: a sparse tensor")
        return BatchedArray(np.moveaxis(array, dim, 0), (level,))
    where = sum(outer.number < level.number for outer in array.levels)
    whole = np.moveaxis(array.array, dim % array.ndim + len(array.levels), where)
    return BatchedArray(whole, (*array.levels[:where], level, *array.levels[where:]))


def _out_of(array: Any, dim: int, level: Level) -> Any:
    if type(array) is not BatchedArray:
        return np.repeat(np.expand_dims(array, dim), level.size, dim)
    count = len(array.levels)
    if level not in array.levels:
        axis = dim % (array.ndim + 1) + count
        return array.like(np.repeat(np.expand_dims(array.array, axis), level.size, axis))
    where = array.levels.index(level)
    whole = np.moveaxis(array.array, where, dim % (array.ndim + 1) + count - 1)
    rest = tuple(one for one in array.levels if one is not level)
    return BatchedArray(whole, rest) if rest else whole


@view(node="BatchBackward0")
def enter(x: Array, /, dim: int, level: Level) -> Array:
    """Return the examples of a batch, without the dimension ``dim``."""
    return _into(x, dim, level)


@operation(node="UnbatchBackward0", complex=True, order="")
def leave(x: Array, /, dim: int, level: Level) -> Array:
    """Return the batch of the examples; a shared tensor is repeated."""
    return _out_of(x, dim, level)


enter.grad(x=lambda g, dim, level: leave(g, dim, level))
leave.grad(x=lambda g, dim, level: enter(g, dim, level))


def meets_batches(nodes: list[Node]) -> bool:
    """Return whether a pass over these nodes meets batched arrays."""
    outer = mode.backward_pass  # passes can be nested
    return (
        _mine.open > 0
        or (outer is not None and outer.batched)
        or any(getattr(node, "op", None) in (enter, leave) for node in nodes)
    )


# ---- gradients of shared tensors ----------------------------------------------------------------


def settled(g: Tensor, target: Node | Tensor) -> Tensor:
    """Return a gradient summed over the examples of closed levels, for targets outside of them.

    Inside a level each example has its own gradient, even for a shared tensor: these are the
    per-example gradients. Tensors from before the level belong to all examples together.
    """
    for level in levels_of(g):
        if level.open:
            continue
        if isinstance(target, Tensor):
            outside = not level.holds(target)
        else:
            outside = target.sequence < level.born
        if outside:
            g = sum_dims.function(leave.function(g, 0, level), 0)
    return g


Recorded.settled = staticmethod(settled)


# ---- rows ---------------------------------------------------------------------------------------
# Functions of single tensors applied to all rows of tensors at once; rows of Jacobians.


Found = Sequence[Any]  # tensors, and None


def by_rows(function: Callable[..., Found], *batches: Tensor) -> list[Any]:
    """Apply a function to the rows of its arguments, and stack the results.

    Args:
        function: of as many tensors; returns several tensors, or None, always in the same places.
        *batches: tensors with the rows as their first dimension, at least one.
    """
    try:
        level = Level(len(batches[0]))
        with level:
            found = function(*(level.enter(x, 0) for x in batches))
            return [None if t is None else level.leave(t, 0) for t in found]
    except UnbatchableError:
        return one_by_one(function, *batches)


def one_by_one(function: Callable[..., Found], *batches: Tensor) -> list[Any]:
    """Return the result of ``by_rows``, by a call for each row."""
    rows = [function(*row) for row in zip(*batches, strict=True)]
    return [
        None if column[0] is None else stack.function(list(column), 0)
        for column in zip(*rows, strict=True)
    ]


def jacobian_rows(
    product: Callable[[Tensor], Found],
    output: Tensor,
    inputs: Sequence[Tensor],
    chunk_size: int | None = None,
) -> list[Tensor]:
    """Return the Jacobians of an output by each input, ``[*output.shape, *input.shape]``.

    Args:
        product: multiplies a vector, of the shape of the output, by all Jacobians.
        chunk_size: the number of rows per call; None: all.
    """
    shapes = [output.shape + t.shape for t in inputs]
    if not output.numel():
        return [t.new_zeros(shape) for t, shape in zip(inputs, shapes, strict=True)]
    rows = _by_units(product, output, chunk_size or output.numel())
    return [row.reshape(shape) for row, shape in zip(rows, shapes, strict=True)]


def jacobian_columns(
    product: Callable[[Tensor], Found], input: Tensor, outputs: Sequence[Tensor]
) -> list[Tensor]:
    """Return the Jacobians of each output by an input, ``[*output.shape, *input.shape]``.

    Args:
        product: multiplies all Jacobians by a vector of the shape of the input.
    """
    shapes = [out.shape + input.shape for out in outputs]
    if not input.numel():
        return [out.new_zeros(shape) for out, shape in zip(outputs, shapes, strict=True)]
    columns = _by_units(product, input, input.numel())
    return [c.movedim(0, -1).reshape(shape) for c, shape in zip(columns, shapes, strict=True)]


def _by_units(function: Callable[[Tensor], Found], like: Tensor, size: int) -> list[Any]:
    """Apply a function to the unit vectors in the shape of a tensor, and stack the results.

    Args:
        like: its elements, at least one, are counted in row-major order.
        size: the number of unit vectors per call.
    """
    count, parts = like.numel(), []
    for begin in range(0, count, size):
        length = min(size, count - begin)
        units = np.zeros((length, count), like._array.dtype)
        units[np.arange(length), begin + np.arange(length)] = 1
        parts.append(by_rows(function, wrap(units.reshape(length, *like.shape))))
    if len(parts) == 1:
        return parts[0]
    return [
        None if column[0] is None else cat.function(list(column), 0)
        for column in zip(*parts, strict=True)
    ]
