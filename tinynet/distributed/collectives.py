"""Copies of tensors between all ranks of a group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import Tensor
from tinynet.distributed.buffers import (
    Buffer,
    check_dtypes,
    check_multiple,
    check_shapes,
    check_tensor,
    check_tensors,
    flat,
)
from tinynet.distributed.channel import Patience, parts, to_all
from tinynet.distributed.process_group import group_rank, member
from tinynet.distributed.work import Work
from tinynet.dtypes import Array


def broadcast(
    tensor: Tensor,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Copy the tensor of one rank to all other ranks.

    Args:
        tensor: the source on rank ``src``, and the destination elsewhere.
        src: the rank that sends.
        group, async_op: see `all_reduce`.
        group_src: ``src`` as a rank of the group, instead of the default group.

    Raises:
        RuntimeError: there is no such rank.

    Example:
        >>> for p in net.parameters():  # doctest: +SKIP
        ...     tn.distributed.broadcast(p, src=0)
    """
    check_tensor(tensor, "tensor")
    pg = member(group, "broadcast")
    if pg is None:
        return None
    root = group_rank(pg, src, group_src, "broadcast")
    if pg.rank() == root:
        outputs, values = [], flat(tensor)
    else:
        outputs = [Buffer(tensor, "broadcast", keep=False)]
        values = outputs[0].flat

    def body(patience: Patience) -> None:
        pg.channel.broadcast(values, root, patience)

    return pg.run("broadcast", body, outputs, async_op, [tensor], f"root={root}")


def all_gather(
    tensor_list: Sequence[Tensor], tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """Copy the tensors of all ranks to a list on every rank.

    Args:
        tensor_list: the destinations, one for each rank.
        tensor: the source.
        group, async_op: see `all_reduce`.

    Raises:
        RuntimeError: the list has another length than the group, or tensors of another shape.
        ValueError: the dtypes differ.

    Example:
        >>> all_losses = [tn.zeros(()) for _ in range(4)]  # doctest: +SKIP
        >>> tn.distributed.all_gather(all_losses, loss.detach())  # doctest: +SKIP
    """
    check_tensors(tensor_list, "tensor_list")
    check_tensor(tensor, "tensor")
    check_dtypes(tensor, *tensor_list)
    pg = member(group, "all_gather")
    if pg is None:
        return None
    if len(tensor_list) != pg.size():
        raise RuntimeError(
            "allgather: invalid output tensor list at index 0 (expected length "
            f"{pg.size()}, got {len(tensor_list)})"
        )
    check_shapes("allgather", tensor_list, tensor._array.shape)
    source = flat(tensor)
    outputs = [Buffer(t, "all_gather", keep=False) for t in tensor_list]

    def body(patience: Patience) -> None:
        incoming = [(rank, output.flat) for rank, output in enumerate(outputs)]
        pg.channel.exchange(to_all(source, pg.size()), incoming, patience)

    return pg.run("all_gather", body, outputs, async_op, [tensor])


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """Copy the tensors of all ranks into one tensor on every rank, concatenated or stacked.

    Args:
        output_tensor: the destination, of shape ``(n * size, ...)`` or ``(n, size, ...)`` for
            inputs of shape ``(size, ...)`` on ``n`` ranks.
        input_tensor: the source.
        group, async_op: see `all_reduce`.

    Raises:
        RuntimeError: the destination has another number of elements or another dtype.

    Example:
        >>> rows = tn.zeros(4, 10)  # doctest: +SKIP
        >>> tn.distributed.all_gather_into_tensor(rows, tn.rand(10))  # doctest: +SKIP
    """
    check_tensor(input_tensor, "input_tensor")
    check_tensor(output_tensor, "output_tensor")
    check_dtypes(input_tensor, output_tensor)
    pg = member(group, "all_gather_into_tensor")
    if pg is None:
        return None
    check_multiple(output_tensor, input_tensor, pg.size(), "output")
    source, output = flat(input_tensor), Buffer(output_tensor, "all_gather_into_tensor", False)

    def body(patience: Patience) -> None:
        incoming = list(enumerate(parts(output.flat, pg.size())))
        pg.channel.exchange(to_all(source, pg.size()), incoming, patience)

    return pg.run("all_gather_into_tensor", body, [output], async_op, [input_tensor])


def gather(
    tensor: Tensor,
    gather_list: Sequence[Tensor] | None = None,
    dst: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Copy the tensors of all ranks to a list on one rank.

    Args:
        tensor: the source.
        gather_list: the destinations on ``dst``, one for each rank; None elsewhere.
        dst: the rank that receives, by default 0.
        group, async_op: see `all_reduce`.
        group_dst: ``dst`` as a rank of the group, instead of the default group.

    Raises:
        ValueError: ``gather_list`` is missing on ``dst``, or given elsewhere.
        RuntimeError: the list has another length than the group, or tensors of another shape.

    Example:
        >>> rows = [tn.zeros(3) for _ in range(4)] if rank == 0 else None  # doctest: +SKIP
        >>> tn.distributed.gather(tn.rand(3), rows, dst=0)  # doctest: +SKIP
    """
    check_tensor(tensor, "tensor")
    targets = gather_list or []
    check_tensors(targets, "gather_list")
    check_dtypes(tensor, *targets)
    pg = member(group, "gather")
    if pg is None:
        return None
    root = group_rank(pg, 0 if dst is None and group_dst is None else dst, group_dst, "gather")
    if pg.rank() == root:
        if not targets:
            raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
        _check_length("gather: Incorrect output", targets, pg.size())
        check_shapes("gather", targets, tensor._array.shape)
    elif targets:
        raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")
    source, outputs = flat(tensor), [Buffer(t, "gather", keep=False) for t in targets]

    def body(patience: Patience) -> None:
        incoming = [(rank, output.flat) for rank, output in enumerate(outputs)]
        pg.channel.exchange([(root, source)], incoming, patience)

    return pg.run("gather", body, outputs, async_op, [tensor], f"root={root}")


def _check_length(problem: str, tensors: Sequence[Tensor], size: int) -> None:
    if len(tensors) != size:
        side = problem.rpartition(" ")[2]
        raise RuntimeError(
            f"{problem} list size {len(tensors)}. {side.capitalize()} list size should be {size}, "
            "same as size of the process group."
        )


def scatter(
    tensor: Tensor,
    scatter_list: Sequence[Tensor] | None = None,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Copy the tensors of a list on one rank to the ranks, the first to rank 0 ...

    Args:
        tensor: the destination.
        scatter_list: the sources on ``src``, one for each rank; None elsewhere.
        src: the rank that sends, by default 0.
        group, async_op: see `all_reduce`.
        group_src: ``src`` as a rank of the group, instead of the default group.

    Raises:
        ValueError: ``scatter_list`` is missing on ``src``, or given elsewhere.
        RuntimeError: the list has another length than the group, or tensors of another shape.

    Example:
        >>> parts = list(tn.arange(4.0).split(1)) if rank == 0 else None  # doctest: +SKIP
        >>> tn.distributed.scatter(tn.zeros(1), parts, src=0)  # doctest: +SKIP
    """
    check_tensor(tensor, "tensor")
    sources = scatter_list or []
    check_tensors(sources, "scatter_list")
    check_dtypes(tensor, *sources)
    pg = member(group, "scatter")
    if pg is None:
        return None
    root = group_rank(pg, 0 if src is None and group_src is None else src, group_src, "scatter")
    if pg.rank() == root:
        if not sources:
            raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
        _check_length("scatter: Incorrect input", sources, pg.size())
        check_shapes("scatter", sources, tensor._array.shape)
    elif sources:
        raise ValueError("Argument ``scatter_list`` must NOT be specified on non-source ranks.")
    output = Buffer(tensor, "scatter", keep=False)
    values = [flat(t) for t in sources]

    def body(patience: Patience) -> None:
        pg.channel.exchange(list(enumerate(values)), [(root, output.flat)], patience)

    return pg.run("scatter", body, [output], async_op, [tensor], f"root={root}")


def all_to_all(
    output_tensor_list: Sequence[Tensor],
    input_tensor_list: Sequence[Tensor],
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Send the tensors of a list to the ranks, the first to rank 0 ..., and receive as many.

    Args:
        output_tensor_list: the destinations, one for each rank, of the shapes that they send.
        input_tensor_list: the sources, one for each rank.
        group, async_op: see `all_reduce`.

    Raises:
        RuntimeError: the lists have other lengths than the group.
        ValueError: the dtypes differ.

    Example:
        >>> into = [tn.zeros(2) for _ in range(4)]  # doctest: +SKIP
        >>> tn.distributed.all_to_all(into, [tn.ones(2)] * 4)  # doctest: +SKIP
    """
    check_tensors(output_tensor_list, "output_tensor_list")
    check_tensors(input_tensor_list, "input_tensor_list")
    check_dtypes(*output_tensor_list, *input_tensor_list)
    pg = member(group, "all_to_all")
    if pg is None:
        return None
    for side, given in (("input", input_tensor_list), ("output", output_tensor_list)):
        if len(given) != pg.size():
            raise RuntimeError(
                f"alltoall: {side} tensor list size {len(given)} does not match world size "
                f"{pg.size()}"
            )
    sources = [flat(t) for t in input_tensor_list]
    outputs = [Buffer(t, "all_to_all", keep=False) for t in output_tensor_list]

    def body(patience: Patience) -> None:
        incoming = [(rank, output.flat) for rank, output in enumerate(outputs)]
        pg.channel.exchange(list(enumerate(sources)), incoming, patience)

    return pg.run("all_to_all", body, outputs, async_op)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Send the parts of a tensor along dimension 0 to the ranks, and receive as many.

    Args:
        output: the destination.
        input: the source.
        output_split_sizes: the rows from each rank; by default equal parts.
        input_split_sizes: the rows for each rank; by default equal parts.
        group, async_op: see `all_reduce`.

    Raises:
        RuntimeError: the sizes do not suit the tensors.
        ValueError: the dtypes differ.

    Example:
        >>> into = tn.zeros(4)  # doctest: +SKIP
        >>> tn.distributed.all_to_all_single(into, tn.arange(4.0))  # doctest: +SKIP
    """
    check_tensor(output, "output")
    check_tensor(input, "input")
    check_dtypes(output, input)
    pg = member(group, "all_to_all_single")
    if pg is None:
        return None
    buffer = Buffer(output, "all_to_all_single", keep=False)
    sources = _rows(flat(input), input, input_split_sizes, pg.size())
    targets = _rows(buffer.flat, output, output_split_sizes, pg.size())

    def body(patience: Patience) -> None:
        pg.channel.exchange(list(enumerate(sources)), list(enumerate(targets)), patience)

    return pg.run("all_to_all_single", body, [buffer], async_op)


def _rows(values: Array, tensor: Tensor, sizes: Sequence[int] | None, n: int) -> list[Array]:
    """Cut the values of a tensor into ``n`` parts along dimension 0."""
    length = tensor._array.shape[0] if tensor._array.ndim else 1
    if not sizes:
        if length % n:
            raise RuntimeError("Tensor's dim 0 does not divide equally across group size")
        sizes = [length // n] * n
    if len(sizes) != n:
        raise RuntimeError("Number of tensor splits not equal to group size")
    if sum(sizes) != length:
        raise RuntimeError("Split sizes doesn't match total dim 0 size")
    row = values.size // length if length else 0
    return np.split(values, np.cumsum([row * size for size in sizes])[:-1])


def barrier(
    group: Any = None, async_op: bool = False, device_ids: Any = None, timeout: Any = None
) -> Work | None:
    """Wait until all ranks have called this.

    Args:
        group, async_op: see `all_reduce`.
        device_ids, timeout: ignored.

    Raises:
        RuntimeError: the timeout of the group is over.

    Example:
        >>> tn.distributed.barrier()  # doctest: +SKIP
    """
    pg = member(group, "barrier")
    if pg is None:
        return None
    return pg.run("barrier", pg.channel.barrier, (), async_op)
