"""Messages from one rank to another, and a barrier that names who is missing."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import Tensor
from tinynet.distributed.buffers import Buffer, check_tensor, flat
from tinynet.distributed.channel import TAGS, Patience, sizes_differ
from tinynet.distributed.process_group import ProcessGroup, group_rank, member
from tinynet.distributed.work import Work


class Message(Work):
    """A message under way: what `isend` and `irecv` return.

    Args:
        pg: the group.
        request: MPI's request.
        name: the function that the user called.
        kept: the array that MPI reads from, or the buffer that it writes to.
        sources: the ranks of the default group that a message to receive may come from.
    """

    def __init__(
        self, pg: ProcessGroup, request: Any, name: str, kept: Any, sources: Sequence[int] = ()
    ):
        super().__init__([kept] if isinstance(kept, Buffer) else [])
        self._pg, self._request, self._name, self._kept = pg, request, name, kept
        self._status = pg.channel.MPI.Status()
        self._sources = sources
        self._patience = pg.patience(name, sources=sources)

    def is_completed(self) -> bool:
        """Return whether the message has been sent or received."""
        if not self._done.is_set() and self._request.Test(self._status):
            self._run(self._check)
        return super().is_completed()

    def _check(self) -> None:
        if isinstance(self._kept, Buffer):
            output = self._kept
            size = self._status.Get_count(self._pg.channel.MPI.BYTE)
            if size != output.flat.nbytes:
                detail = f"{size} bytes came, and {output.flat.nbytes} were expected"
                raise RuntimeError(sizes_differ(detail))

    def wait(self, timeout: datetime.timedelta | None = None) -> bool:
        """Wait until the message has been sent or received; return True.

        Args:
            timeout: the longest time to wait; by default the timeout of the group.

        Raises:
            RuntimeError: the sizes of the tensors differ, or the time is over.
        """
        seconds = timeout.total_seconds() if timeout else None
        patience = self._patience
        if seconds is not None:
            patience = self._pg.patience(self._name, seconds, self._sources)
        try:
            patience.wait(self.is_completed)
        except self._pg.channel.MPI.Exception as error:
            raise RuntimeError(sizes_differ(str(error))) from error
        return super().wait()

    def source_rank(self) -> int:
        """Return the rank that the message came from, a rank of the default group."""
        return self._pg.ranks[self._status.Get_source()]


def _check_tag(tag: int) -> None:
    if not 0 <= tag < TAGS:
        raise ValueError(f"The tag of a message must be at least 0 and below {TAGS}. Got {tag}.")


def isend(
    tensor: Tensor,
    dst: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> Work | None:
    """Start to send a tensor to another rank.

    Args:
        tensor: what to send; must not change before the returned work has completed.
        dst: the rank that receives.
        group: the group; by default all ranks.
        tag: a number that the receiver can ask for.
        group_dst: ``dst`` as a rank of the group, instead of the default group.

    Raises:
        RuntimeError: there is no such rank.
        ValueError: it is this one.

    Example:
        >>> work = tn.distributed.isend(tn.ones(2), dst=1)  # doctest: +SKIP
        >>> work.wait()  # doctest: +SKIP
        True
    """
    return _send("isend", tensor, dst, group, tag, group_dst)


def _send(
    name: str, tensor: Tensor, dst: int | None, group: Any, tag: int, group_dst: int | None
) -> Work | None:
    check_tensor(tensor, "tensor")
    pg = member(group, name)
    if pg is None:
        return None
    to = group_rank(pg, dst, group_dst, name)
    if to == pg.rank():
        raise ValueError(
            "Invalid destination rank: destination rank should not be the same as the rank of "
            "the current process."
        )
    _check_tag(tag)
    values = flat(tensor)
    return Message(pg, pg.channel.send(values, to, tag), name, values)


def irecv(
    tensor: Tensor,
    src: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_src: int | None = None,
) -> Work | None:
    """Start to receive a tensor from another rank.

    Args:
        tensor: the destination.
        src: the rank that sends; by default any.
        group: the group; by default all ranks.
        tag: the number that the sender gave.
        group_src: ``src`` as a rank of the group, instead of the default group.

    Raises:
        RuntimeError: there is no such rank.
        ValueError: it is this one.

    Example:
        >>> work = tn.distributed.irecv(tensor, src=0)  # doctest: +SKIP
        >>> work.wait()  # doctest: +SKIP
        True
    """
    return _receive("irecv", tensor, src, group, tag, group_src)


def _receive(
    name: str, tensor: Tensor, src: int | None, group: Any, tag: int, group_src: int | None
) -> Work | None:
    check_tensor(tensor, "tensor")
    pg = member(group, name)
    if pg is None:
        return None
    source = None
    if src is not None or group_src is not None:
        source = group_rank(pg, src, group_src, name)
        if source == pg.rank():
            raise ValueError(
                "Invalid source rank: source rank should not be the same as the rank of the "
                "current process."
            )
    _check_tag(tag)
    buffer = Buffer(tensor, name, keep=False)
    buffer.count_write()  # and again when the program waits for the end
    sources = [r for r in pg.ranks if r != pg.ranks[pg.rank()]]
    if source is not None:
        sources = [pg.ranks[source]]
    return Message(pg, pg.channel.receive(buffer.flat, source, tag), name, buffer, sources)


def send(
    tensor: Tensor,
    dst: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> None:
    """Send a tensor to another rank.

    Args:
        tensor, dst, group, tag, group_dst: see `isend`.

    Raises:
        RuntimeError: there is no such rank.
        ValueError: it is this one.

    Example:
        >>> tn.distributed.send(tn.ones(2), dst=1)  # doctest: +SKIP
    """
    work = _send("send", tensor, dst, group, tag, group_dst)
    if work is not None:
        work.wait()


def recv(
    tensor: Tensor,
    src: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_src: int | None = None,
) -> int:
    """Receive a tensor from another rank; return that rank, or -1 outside the group.

    Args:
        tensor, src, group, tag, group_src: see `irecv`.

    Raises:
        RuntimeError: there is no such rank.
        ValueError: it is this one.
        RuntimeError: the tensor has another size than the one that was sent.

    Example:
        >>> tn.distributed.recv(tensor)  # from any rank  # doctest: +SKIP
        0
    """
    work = _receive("recv", tensor, src, group, tag, group_src)
    if work is None:
        return -1
    work.wait()
    return work.source_rank()


class P2POp:
    """One message of `batch_isend_irecv`.

    Args:
        op: `isend` or `irecv`.
        tensor: what to send, or the destination.
        peer: the other rank.
        group, tag: see `isend`.
        group_peer: ``peer`` as a rank of the group, instead of the default group.

    Raises:
        ValueError: ``op`` is another function.

    Example:
        >>> tn.distributed.P2POp(tn.distributed.isend, tn.ones(2), 1)  # doctest: +SKIP
    """

    def __init__(
        self,
        op: Callable[..., Work | None],
        tensor: Tensor,
        peer: int | None = None,
        group: Any = None,
        tag: int = 0,
        group_peer: int | None = None,
    ):
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type ``tinynet.distributed.isend`` or "
                "``tinynet.distributed.irecv``."
            )
        check_tensor(tensor, "tensor")
        self.op, self.tensor, self.peer = op, tensor, peer
        self.group, self.tag, self.group_peer = group, tag, group_peer


def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> list[Work]:
    """Start the messages of a list; return a handle for each.

    Args:
        p2p_op_list: the messages.

    Raises:
        ValueError: the list is empty, or has something else in it.

    Example:
        >>> around = [  # doctest: +SKIP
        ...     tn.distributed.P2POp(tn.distributed.isend, mine, (rank + 1) % n),
        ...     tn.distributed.P2POp(tn.distributed.irecv, theirs, (rank - 1) % n),
        ... ]
        >>> for work in tn.distributed.batch_isend_irecv(around):  # doctest: +SKIP
        ...     work.wait()
    """
    if not p2p_op_list or not all(isinstance(op, P2POp) for op in p2p_op_list):
        raise ValueError(
            "Invalid ``p2p_op_list``. Each op is expected to to be of type "
            "``tinynet.distributed.P2POp``."
        )
    started = [
        op.op(op.tensor, op.peer, op.group, op.tag, op.group_peer)  # by position: see isend
        for op in p2p_op_list
    ]
    return [work for work in started if work is not None]


# ---- a barrier that names the ranks that do not arrive ----


TAG = TAGS + 600


def monitored_barrier(
    group: Any = None,
    timeout: datetime.timedelta | None = None,
    wait_all_ranks: bool = False,
) -> None:
    """Wait until all ranks have called this, and name a rank that does not.

    Args:
        group: the group; by default all ranks.
        timeout: the longest time to wait; by default the timeout of the group.
        wait_all_ranks: name all ranks that are missing, not only the first.

    Raises:
        RuntimeError: a rank did not arrive in time. Rank 0 names it.

    Example:
        >>> tn.distributed.monitored_barrier(timeout=timedelta(seconds=10))  # doctest: +SKIP
    """
    pg = member(group, "monitored_barrier")
    if pg is None:
        return
    seconds = (timeout or pg.timeout).total_seconds()
    if pg.rank() == 0:
        _wait_for_others(pg, seconds, wait_all_ranks)
    else:
        _report_to_first(pg, seconds)


def _wait_for_others(pg: ProcessGroup, seconds: float, wait_all_ranks: bool) -> None:
    others = range(1, pg.size())
    tokens = {rank: np.zeros(1, np.uint8) for rank in others}
    requests = {rank: pg.channel.receive(tokens[rank], rank, TAG) for rank in others}
    missing: list[int] = []

    def all_arrived() -> bool:
        missing[:] = [rank for rank, request in requests.items() if not request.Test()]
        return not missing

    def late() -> Exception:
        named = missing if wait_all_ranks else missing[:1]
        ranks = ", ".join(str(pg.ranks[rank]) for rank in named)
        return RuntimeError(
            f"Rank{'s' * (len(named) > 1)} {ranks} failed to pass monitoredBarrier in "
            f"{seconds * 1000:.0f} ms"
        )

    Patience(seconds, late).wait(all_arrived)
    pg.channel.exchange(list(tokens.items()), [], pg.patience("monitored_barrier"), TAG)


def _report_to_first(pg: ProcessGroup, seconds: float) -> None:
    def late() -> Exception:
        return RuntimeError(
            f"Rank {pg.ranks[pg.rank()]} successfully reached monitoredBarrier, but received "
            f"errors while waiting for rank {pg.ranks[0]}: no answer in {seconds * 1000:.0f} ms. "
            f"Please check rank {pg.ranks[0]} logs for faulty rank."
        )

    token = np.zeros(1, np.uint8)
    patience = Patience(seconds, late)
    pg.channel.exchange([(0, token)], [], patience, TAG)
    pg.channel.exchange([], [(0, token)], patience, TAG)
