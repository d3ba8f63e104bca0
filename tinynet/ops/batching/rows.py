"""Functions of single tensors applied to all rows of tensors at once; rows of Jacobians."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.ops.batching.array import UnbatchableError
from tinynet.ops.batching.level import Level
from tinynet.ops.shaping.joining import cat, stack

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
