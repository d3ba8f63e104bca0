"""Operations on Python objects, which travel as pickles."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.distributed.channel import TAGS, Message, Patience, pickled, to_all, unpickled
from tinynet.distributed.process_group import group_rank, member
from tinynet.dtypes import Array

PAIR = TAGS + 601  # of messages between two ranks, which collectives may overtake


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """Copy an object of each rank to a list on every rank.

    Args:
        object_list: the list to fill, with one entry for each rank.
        obj: the object of this rank; must be picklable.
        group: the group; by default all ranks.

    Raises:
        IndexError: the list is shorter than the group.

    Example:
        >>> metrics = [None] * 4  # doctest: +SKIP
        >>> tn.distributed.all_gather_object(metrics, {"loss": 0.5})  # doctest: +SKIP
    """
    pg = member(group, "all_gather_object")
    if pg is None:
        return
    found: list[Array] = []

    def body(patience: Patience) -> None:
        ranks = range(pg.size())
        found.extend(pg.channel.exchange_any(to_all(pickled(obj), pg.size()), ranks, patience))

    pg.run("all_gather_object", body)
    for rank, array in enumerate(found):
        object_list[rank] = unpickled(array)


def gather_object(
    obj: Any,
    object_gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: Any = None,
    group_dst: int | None = None,
) -> None:
    """Copy an object of each rank to a list on one rank.

    Args:
        obj: the object of this rank; must be picklable.
        object_gather_list: the list to fill on ``dst``, with one entry for each rank; None
            elsewhere.
        dst: the rank that receives, by default 0.
        group: the group; by default all ranks.
        group_dst: ``dst`` as a rank of the group, instead of the default group.

    Raises:
        ValueError: the list is missing on ``dst``, or given elsewhere.

    Example:
        >>> lines = [None] * 4 if rank == 0 else None  # doctest: +SKIP
        >>> tn.distributed.gather_object(f"rank {rank} is ready", lines)  # doctest: +SKIP
    """
    pg = member(group, "gather_object")
    if pg is None:
        return
    dst = 0 if dst is None and group_dst is None else dst
    root = group_rank(pg, dst, group_dst, "gather_object")
    if pg.rank() == root and not object_gather_list:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    if pg.rank() != root and object_gather_list:
        raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")
    found: list[Array] = []

    def body(patience: Patience) -> None:
        sources = range(pg.size()) if pg.rank() == root else ()
        found.extend(pg.channel.exchange_any([(root, pickled(obj))], list(sources), patience))

    pg.run("gather_object", body, detail=f"root={root}")
    for rank, array in enumerate(found):
        assert object_gather_list is not None
        object_gather_list[rank] = unpickled(array)


def broadcast_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: Any = None,
    device: Any = None,
    group_src: int | None = None,
) -> None:
    """Copy the objects of a list on one rank to the lists of all others.

    Args:
        object_list: the objects on ``src``; a list of the same length to fill elsewhere.
        src: the rank that sends, by default 0.
        group: the group; by default all ranks.
        device: ignored.
        group_src: ``src`` as a rank of the group, instead of the default group.

    Raises:
        RuntimeError: there is no such rank.

    Example:
        >>> settings = [config if rank == 0 else None]  # doctest: +SKIP
        >>> tn.distributed.broadcast_object_list(settings, src=0)  # doctest: +SKIP
    """
    pg = member(group, "broadcast_object_list")
    if pg is None:
        return
    src = 0 if src is None and group_src is None else src
    root = group_rank(pg, src, group_src, "broadcast_object_list")
    values = pickled(object_list) if pg.rank() == root else np.zeros(0, np.uint8)
    size = np.array([values.size])
    found: list[Array] = []

    def body(patience: Patience) -> None:
        pg.channel.broadcast(size, root, patience)
        array = values if pg.rank() == root else np.empty(int(size[0]), np.uint8)
        pg.channel.broadcast(array, root, patience)
        found.append(array)

    pg.run("broadcast_object_list", body, detail=f"root={root}")
    if pg.rank() != root:
        _fill(object_list, unpickled(found[0]))


def _fill(targets: list[Any], objects: list[Any]) -> None:
    if len(targets) != len(objects):
        raise ValueError(
            f"The list must have as many entries as that of the sender: {len(objects)}. "
            f"Got {len(targets)} instead."
        )
    targets[:] = objects


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any] | None = None,
    src: int | None = None,
    group: Any = None,
    group_src: int | None = None,
) -> None:
    """Copy the objects of a list on one rank to the ranks, the first to rank 0 ...

    Args:
        scatter_object_output_list: a list whose first entry becomes the object.
        scatter_object_input_list: the objects on ``src``, one for each rank; ignored elsewhere.
        src: the rank that sends, by default 0.
        group: the group; by default all ranks.
        group_src: ``src`` as a rank of the group, instead of the default group.

    Raises:
        ValueError: the output list is empty, or the input list is not as long as the group.

    Example:
        >>> own = [None]  # doctest: +SKIP
        >>> tn.distributed.scatter_object_list(own, ["a", "b", "c", "d"], src=0)  # doctest: +SKIP
    """
    pg = member(group, "scatter_object_list")
    if pg is None:
        return
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError(
            "Expected argument scatter_object_output_list to be a list of size at least 1."
        )
    src = 0 if src is None and group_src is None else src
    root = group_rank(pg, src, group_src, "scatter_object_list")
    outgoing: list[Message] = []
    if pg.rank() == root:
        objects = scatter_object_input_list
        if objects is None or len(objects) != pg.size():
            raise ValueError(
                "source rank must provide non-None scatter_object_input_list, with one object for "
                f"each rank: {pg.size()}. Got {objects and len(objects)} instead."
            )
        outgoing = [(rank, pickled(value)) for rank, value in enumerate(objects)]
    found: list[Array] = []

    def body(patience: Patience) -> None:
        found.extend(pg.channel.exchange_any(outgoing, [root], patience))

    pg.run("scatter_object_list", body, detail=f"root={root}")
    scatter_object_output_list[0] = unpickled(found[0])


def send_object_list(
    object_list: list[Any],
    dst: int | None = None,
    group: Any = None,
    device: Any = None,
    group_dst: int | None = None,
    use_batch: bool = False,
) -> None:
    """Send the objects of a list to another rank.

    Args:
        object_list: the objects.
        dst: the rank that receives.
        group: the group; by default all ranks.
        device, use_batch: ignored.
        group_dst: ``dst`` as a rank of the group, instead of the default group.

    Raises:
        RuntimeError: there is no such rank.
        ValueError: it is this one.

    Example:
        >>> tn.distributed.send_object_list([{"epoch": 3}], dst=1)  # doctest: +SKIP
    """
    pg = member(group, "send_object_list")
    if pg is None:
        return
    to = group_rank(pg, dst, group_dst, "send_object_list")
    if to == pg.rank():
        raise ValueError(
            "Invalid destination rank: destination rank should not be the same as the rank of "
            "the current process."
        )
    values = pickled(object_list)

    def body(patience: Patience) -> None:
        pg.channel.exchange_any([(to, values)], [], patience, PAIR)

    pg.run_message("send_object_list", body, [])


def recv_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: Any = None,
    device: Any = None,
    group_src: int | None = None,
    use_batch: bool = False,
) -> int:
    """Receive objects from another rank into a list; return that rank, or -1 outside the group.

    Args:
        object_list: a list of the same length as that of the sender.
        src: the rank that sends.
        group: the group; by default all ranks.
        device, use_batch: ignored.
        group_src: ``src`` as a rank of the group, instead of the default group.

    Raises:
        ValueError: ``src`` is missing or this rank, or the lists differ in length.

    Example:
        >>> state = [None]  # doctest: +SKIP
        >>> tn.distributed.recv_object_list(state, src=0)  # doctest: +SKIP
        0
    """
    pg = member(group, "recv_object_list")
    if pg is None:
        return -1
    source = group_rank(pg, src, group_src, "recv_object_list")
    if source == pg.rank():
        raise ValueError(
            "Invalid source rank: source rank should not be the same as the rank of the current "
            "process."
        )
    found: list[Array] = []

    def body(patience: Patience) -> None:
        found.extend(pg.channel.exchange_any([], [source], patience, PAIR))

    pg.run_message("recv_object_list", body, [pg.ranks[source]])
    _fill(object_list, unpickled(found[0]))
    return pg.ranks[source]
