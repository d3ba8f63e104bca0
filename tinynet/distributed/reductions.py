"""Sums and other reductions of tensors over all ranks of a group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet.core.graph.accumulate_grad import Rows
from tinynet.core.graph.inplace import wrote
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.tensors.version import Writer
from tinynet.distributed import channel
from tinynet.distributed.buffers import (
    REMEDY,
    Buffer,
    check_dtypes,
    check_multiple,
    check_shapes,
    check_tensor,
    check_tensors,
    flat,
)
from tinynet.distributed.channel import Patience, to_all
from tinynet.distributed.constants import ReduceOp
from tinynet.distributed.process_group import ProcessGroup, group_rank, member
from tinynet.distributed.work import Work
from tinynet.dtypes import Array

# ---- sparse -------------------------------------------------------------------------------------
# Sums of sparse gradients, which have other rows on each rank.


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


# ---- reductions ---------------------------------------------------------------------------------


def _checked_op(op: Any, tensor: Tensor) -> ReduceOp:
    if not isinstance(op, ReduceOp):
        raise TypeError(f"op must be a tinynet.distributed.ReduceOp, not {op!r}")
    channel.refuse(op, tensor._array.dtype)
    return op


def all_reduce(
    tensor: Tensor, op: ReduceOp = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Reduce a tensor over all ranks, in place; all ranks get the same values.

    The reduction is ``((x0 + x1) + x2) + ...`` in the order of ranks, on every number of machines.
    Sparse gradients can be summed, too.

    Args:
        tensor: the summand of this rank, and the result.
        op: the operation.
        group: the group; by default all ranks.
        async_op: return a handle at once, and reduce while the program continues.

    Returns:
        None, or a `Work` if ``async_op`` is True.

    Raises:
        TypeError: ``tensor`` is not a tensor, or ``op`` not a ReduceOp.
        RuntimeError: the dtype does not suit the operation, or the ranks have different shapes.

    Example:
        >>> # in each of two processes
        >>> t = tn.tensor([1.0, 2.0]) * (1 + tn.distributed.get_rank())  # doctest: +SKIP
        >>> tn.distributed.all_reduce(t)  # doctest: +SKIP
        >>> t  # doctest: +SKIP
        tensor([3., 6.])
    """
    check_tensor(tensor, "tensor")
    pg = member(group, "all_reduce")
    if pg is None:
        return None
    operation = _checked_op(op, tensor)
    if tensor.is_sparse:
        if operation != ReduceOp.SUM:
            raise RuntimeError(f"all_reduce of sparse tensors only sums. Got {op!r} instead.")
        total = SparseSum(tensor, pg)
        return pg.run("all_reduce", total.body, [total], async_op, (), "sparse")
    buffer = Buffer(tensor, "all_reduce")

    def body(patience: Patience) -> None:
        channel.all_reduce(pg.channel, buffer.flat, operation, patience)

    return pg.run("all_reduce", body, [buffer], async_op, [tensor], operation.name)


def all_reduce_coalesced(
    tensors: Sequence[Tensor],
    op: ReduceOp = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Reduce each tensor of a list over all ranks, in place, as one operation.

    Args:
        tensors: the tensors.
        op, group, async_op: see `all_reduce`.

    Raises:
        TypeError: ``tensors`` is not a list of tensors.
        ValueError: the dtypes differ.

    Example:
        >>> grads = [p.grad for p in net.parameters()]  # doctest: +SKIP
        >>> tn.distributed.all_reduce_coalesced(grads)  # doctest: +SKIP
    """
    check_tensors(tensors, "tensors")
    check_dtypes(*tensors)
    pg = member(group, "all_reduce_coalesced")
    if pg is None:
        return None
    operations = [_checked_op(op, tensor) for tensor in tensors]
    buffers = [Buffer(tensor, "all_reduce_coalesced") for tensor in tensors]

    def body(patience: Patience) -> None:
        for operation, buffer in zip(operations, buffers, strict=True):
            channel.all_reduce(pg.channel, buffer.flat, operation, patience)

    return pg.run("all_reduce_coalesced", body, buffers, async_op, tensors, str(op))


def reduce(
    tensor: Tensor,
    dst: int | None = None,
    op: ReduceOp = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Reduce a tensor over all ranks, into the tensor of one rank; the others keep theirs.

    Args:
        tensor: the summand of this rank, and, on ``dst``, the result.
        dst: the rank that receives the result.
        op, group, async_op: see `all_reduce`.
        group_dst: ``dst`` as a rank of the group, instead of the default group.

    Raises:
        RuntimeError: there is no such rank.

    Example:
        >>> tn.distributed.reduce(loss, dst=0)  # doctest: +SKIP
    """
    check_tensor(tensor, "tensor")
    pg = member(group, "reduce")
    if pg is None:
        return None
    root = group_rank(pg, dst, group_dst, "reduce")
    operation = _checked_op(op, tensor)
    buffer = Buffer(tensor, "reduce")

    def body(patience: Patience) -> None:
        channel.reduce(pg.channel, buffer.flat, root, operation, patience)

    return pg.run(
        "reduce",
        body,
        [buffer] if pg.rank() == root else [],
        async_op,
        [tensor],
        f"{operation.name}, root={root}",
    )


def reduce_scatter(
    output: Tensor,
    input_list: Sequence[Tensor],
    op: ReduceOp = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Reduce each tensor of a list over all ranks, the first for rank 0, the next for rank 1 ...

    Args:
        output: the result for this rank.
        input_list: the summands, one for each rank.
        op, group, async_op: see `all_reduce`.

    Raises:
        RuntimeError: the list has another length than the group.
        ValueError: the dtypes differ.

    Example:
        >>> own = tn.zeros(2)  # doctest: +SKIP
        >>> tn.distributed.reduce_scatter(own, [tn.ones(2), tn.ones(2)])  # doctest: +SKIP
    """
    check_tensor(output, "output")
    check_tensors(input_list, "input_list")
    check_dtypes(output, *input_list)
    pg = member(group, "reduce_scatter")
    if pg is None:
        return None
    if len(input_list) != pg.size():
        raise RuntimeError("invalid input tensor list size, must be world size")
    check_shapes("reduce_scatter", [input_list[pg.rank()]], output._array.shape)
    return _reduce_scatter(
        "reduce_scatter", [flat(t) for t in input_list], output, op, pg, async_op
    )


def reduce_scatter_tensor(
    output: Tensor,
    input: Tensor,
    op: ReduceOp = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Reduce a tensor over all ranks; each rank gets one part of the result.

    Args:
        output: the result, with the part number ``rank`` of ``n`` equal parts.
        input: the summand of this rank.
        op, group, async_op: see `all_reduce`.

    Raises:
        RuntimeError: ``input`` does not have ``n`` times the elements of ``output``.
        ValueError: the dtypes differ.

    Example:
        >>> own = tn.zeros(2)  # doctest: +SKIP
        >>> tn.distributed.reduce_scatter_tensor(own, tn.arange(4.0))  # doctest: +SKIP
    """
    check_tensor(output, "output")
    check_tensor(input, "input")
    check_dtypes(output, input)
    pg = member(group, "reduce_scatter_tensor")
    if pg is None:
        return None
    check_multiple(input, output, pg.size(), "input")
    pieces = channel.parts(flat(input), pg.size())
    return _reduce_scatter("reduce_scatter_tensor", pieces, output, op, pg, async_op)


def _reduce_scatter(
    name: str, pieces: Sequence[Array], output: Tensor, op: Any, pg: Any, async_op: bool
) -> Work | None:
    operation, buffer = _checked_op(op, output), Buffer(output, name, keep=False)

    def body(patience: Patience) -> None:
        channel.reduce_parts(pg.channel, pieces, buffer.flat, operation, patience)

    work: Work | None = pg.run(name, body, [buffer], async_op, [output], operation.name)
    return work
