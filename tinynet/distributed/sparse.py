"""Sums of sparse gradients, which have other rows on each rank."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet.core.graph.row_sparse import Rows
from tinynet.core.tensors.inplace import wrote
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.tensors.version import Writer
from tinynet.distributed.buffers import REMEDY
from tinynet.distributed.channel import Patience
from tinynet.distributed.ordered import to_all
from tinynet.distributed.process_group import ProcessGroup


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


class SparseSum:
    """The sum of a sparse tensor over all ranks, as the output of an operation.

    Args:
        tensor: the summand of this rank, and the result.
        group: the ranks.
    """

    def __init__(self, tensor: Tensor, group: ProcessGroup):
        self.tensor = tensor
        own: Any = tensor._array
        self.body, self._found = gather_rows(group, own, 1)

    def store(self) -> None:
        """Replace the rows of the tensor."""
        (self.tensor._array,) = self._found  # type: ignore[assignment]

    def count_write(self) -> None:
        """Count a write to the tensor, at the line of the user that runs."""
        wrote(self.tensor, Writer("all_reduce", REMEDY.format("t", "all_reduce")))
