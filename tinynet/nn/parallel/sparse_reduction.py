"""The average of sparse gradients, which have other rows on each rank."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet.core.graph.row_sparse import Rows
from tinynet.core.tensors.tensor import Tensor
from tinynet.distributed.channel import Patience
from tinynet.distributed.ordered import to_all
from tinynet.distributed.process_group import ProcessGroup


def rows_of_gradient(parameter: Tensor, name: str) -> Rows:
    """Return the gradient of a parameter whose module makes sparse ones.

    Raises:
        RuntimeError: the gradient is dense.
    """
    array = parameter._array
    grad: Any = None if parameter.grad is None else parameter.grad._array
    if grad is None:
        return Rows(np.empty(0, np.int64), np.empty((0, *array.shape[1:]), array.dtype), len(array))
    if grad.__class__ is not Rows:
        raise RuntimeError(
            f"Expected variable to have sparse gradient: {name} is the weight of an embedding with "
            "sparse=True, but another use of it made its gradient dense. Pass sparse=False."
        )
    found: Rows = grad
    return found


def gather_rows(
    group: ProcessGroup, own: Rows, divisor: int
) -> tuple[Callable[[Patience], None], list[Rows]]:
    """Return the exchange that averages sparse gradients, and the list that gets its result.

    The rows of rank 0 come first, as if one process had accumulated all gradients.
    """
    result: list[Rows] = []

    def body(patience: Patience) -> None:
        exchange, n = group.channel.exchange, group.size()
        counts = np.empty((n, 1), np.int64)
        exchange(to_all(np.array([len(own.index)]), n), list(enumerate(counts)), patience)
        numbers = [np.empty(int(count[0]), np.int64) for count in counts]
        index = np.ascontiguousarray(own.index, np.int64)
        exchange(to_all(index, n), list(enumerate(numbers)), patience)
        shape = own.values.shape[1:]
        values = [np.empty((int(count[0]), *shape), own.dtype) for count in counts]
        flat = np.ascontiguousarray(own.values)
        exchange(to_all(flat, n), list(enumerate(values)), patience)
        rows = [Rows(i, v, own.shape[0]) for i, v in zip(numbers, values, strict=True)]
        total = rows[0] if n > 1 else own.copy()
        for other in rows[1:]:
            total = total + other
        with np.errstate(all="ignore"):
            np.divide(total.values, total.values.dtype.type(divisor), out=total.values)
        result.append(total)

    return body, result
