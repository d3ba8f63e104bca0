"""Messages between the ranks of a group, and reductions of arrays in the order of ranks.

MPI's own waiting calls use a whole processor and cannot be interrupted. With more ranks than
processors they take the time of the rank that they wait for. So all calls are non-blocking, and a
rank that waits sleeps between its looks.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.distributed.constants import ReduceOp
from tinynet.dtypes import Array

EAGER_LOOKS = 20  # without a pause: the answer of a rank that is ready takes some µs
YIELDS = 200  # that offer the processor to others, some 0.2 ms
LONGEST_SLEEP = 1e-3
TAGS = 32000  # MPI guarantees tags up to 32767; those from here on are our own

Message = tuple[int, Array]  # a rank of the group, and a contiguous array


class Patience:
    """How a rank waits: pauses that grow, a time limit, and looks at the other ranks.

    Args:
        seconds: the limit.
        late: returns the error for a wait that exceeded the limit.
        look: called twice per second; raises if the wait is in vain.

    Attributes:
        yields: how many times a wait offers the processor to others before it sleeps.
    """

    def __init__(
        self,
        seconds: float,
        late: Callable[[], Exception],
        look: Callable[[], None] | None = None,
    ):
        self.seconds, self.late, self.look = seconds, late, look
        self.yields = YIELDS

    def wait(self, is_done: Callable[[], bool]) -> None:
        """Wait until ``is_done()`` is true."""
        for number in range(EAGER_LOOKS + self.yields):
            if is_done():
                return
            if number >= EAGER_LOOKS:
                time.sleep(0)
        started = looked = time.monotonic()
        pause = 2e-5
        while not is_done():
            time.sleep(pause)
            pause = min(1.1 * pause, LONGEST_SLEEP)
            now = time.monotonic()
            if now - started > self.seconds:
                raise self.late()
            if self.look is not None and now - looked > 0.5:
                self.look()
                looked = now


def as_bytes(flat: Array) -> Array:
    """Return the bytes of a contiguous array: MPI does not know all dtypes."""
    return flat.reshape(-1).view(np.uint8)


def pickled(value: Any) -> Array:
    """Return the pickle of an object as an array of bytes."""
    return np.frombuffer(pickle.dumps(value), np.uint8)


def unpickled(content: Any) -> Any:
    """Return the object in a pickle: an array of bytes, or another buffer."""
    return pickle.loads(memoryview(content))


class Channel:
    """The communicator of a group.

    Args:
        MPI: the module of mpi4py.
        comm: an MPI communicator that no one else uses.
    """

    def __init__(self, MPI: Any, comm: Any):
        self.MPI, self.comm = MPI, comm
        self.rank, self.size = comm.Get_rank(), comm.Get_size()

    def send(self, flat: Array, rank: int, tag: int) -> Any:
        """Start to send an array; return MPI's request."""
        return self.comm.Isend([as_bytes(flat), self.MPI.BYTE], rank, tag)

    def receive(self, flat: Array, rank: int | None, tag: int) -> Any:
        """Start to receive an array, from any rank if ``rank`` is None; return MPI's request."""
        source = self.MPI.ANY_SOURCE if rank is None else rank
        return self.comm.Irecv([as_bytes(flat), self.MPI.BYTE], source, tag)

    def complete(self, requests: Sequence[Any], patience: Patience) -> list[Any]:
        """Wait for requests; return MPI's status of each."""
        pending = list(requests)
        statuses = [self.MPI.Status() for _ in pending]
        patience.wait(lambda: self.MPI.Request.Testall(pending, statuses))
        return statuses

    def exchange(
        self,
        outgoing: Sequence[Message],
        incoming: Sequence[Message],
        patience: Patience,
        tag: int = TAGS,
    ) -> None:
        """Send arrays to ranks and receive arrays from ranks, and wait for all of them.

        Raises:
            RuntimeError: a rank sent more or fewer bytes than expected.
        """
        own = [flat for rank, flat in outgoing if rank == self.rank]
        mine = [flat for rank, flat in incoming if rank == self.rank]
        for source, target in zip(own, mine, strict=True):
            if source.ctypes.data != target.ctypes.data:
                target[...] = source
        expected = [message for message in incoming if message[0] != self.rank]
        requests = [self.receive(flat, rank, tag) for rank, flat in expected]
        requests += [self.send(flat, rank, tag) for rank, flat in outgoing if rank != self.rank]
        try:
            statuses = self.complete(requests, patience)
        except self.MPI.Exception as error:
            raise RuntimeError(sizes_differ(str(error))) from error
        for (rank, flat), status in zip(expected, statuses, strict=False):
            received = status.Get_count(self.MPI.BYTE)
            if received != flat.nbytes:
                detail = f"rank {rank} of the group sent {received} bytes"
                raise RuntimeError(sizes_differ(f"{detail}, and {flat.nbytes} were expected"))

    def exchange_any(
        self,
        outgoing: Sequence[Message],
        sources: Sequence[int],
        patience: Patience,
        tag: int = TAGS,
    ) -> list[Array]:
        """Send arrays of bytes of any size to ranks; return those that come from ``sources``."""
        sizes = [(rank, np.array([flat.size])) for rank, flat in outgoing]
        lengths = [(rank, np.zeros(1, np.int64)) for rank in sources]
        self.exchange(sizes, lengths, patience, tag)
        received = [(rank, np.empty(int(length[0]), np.uint8)) for rank, length in lengths]
        self.exchange(outgoing, received, patience, tag)
        return [flat for _rank, flat in received]

    def broadcast(self, flat: Array, root: int, patience: Patience) -> None:
        """Send an array from a rank to all others."""
        request = self.comm.Ibcast([as_bytes(flat), self.MPI.BYTE], root)
        try:
            patience.wait(request.Test)
        except self.MPI.Exception as error:
            raise RuntimeError(sizes_differ(str(error))) from error

    def barrier(self, patience: Patience) -> None:
        """Wait for all ranks."""
        patience.wait(self.comm.Ibarrier().Test)


def sizes_differ(detail: str) -> str:
    """Return the message about ranks that disagree on the size of a tensor."""
    return (
        f"The tensors of a collective differ between the ranks: {detail}. "
        "TORCH_DISTRIBUTED_DEBUG=DETAIL, or tinynet.autograd.checked(), names the lines."
    )


# ---- reductions ---------------------------------------------------------------------------------
# Sums and other reductions in the order of ranks, on arrays.
#
# MPI's own reductions may add in any order, for example along a tree, and the order may depend on
# the number of ranks and the size of the message. These gather the summands of an element in one
# place and add them in the order of ranks. Large arrays are cut into one part per rank: each rank
# receives its part from all others, adds, and sends the sum to all. A rank sends ``2 * (n - 1) /
# n`` times the size of the array, which is the least possible.

SMALL = 1 << 14  # bytes; below, latency counts, and all ranks add all elements

_UFUNCS: dict[ReduceOp, Callable[..., Any]] = {
    ReduceOp.SUM: np.add,
    ReduceOp.AVG: np.add,
    ReduceOp.PRODUCT: np.multiply,
    ReduceOp.MIN: np.minimum,
    ReduceOp.MAX: np.maximum,
    ReduceOp.BAND: np.bitwise_and,
    ReduceOp.BOR: np.bitwise_or,
    ReduceOp.BXOR: np.bitwise_xor,
}


def refuse(op: ReduceOp, kind: np.dtype[Any]) -> None:
    """Raise if an operation is not defined for a dtype."""
    floating = dtypes.is_floating(kind)
    if floating and op in (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR):
        raise RuntimeError(f"Cannot use ReduceOp.{op.name} with non-integral dtype")
    if op == ReduceOp.AVG and not floating:
        raise errors.cannot_cast("Float", dtypes.from_numpy(kind).scalar_name)


def combine(rows: Sequence[Array], op: ReduceOp, out: Array) -> None:
    """Write ``((rows[0] + rows[1]) + rows[2]) + ...`` to ``out``, for ``op`` in place of the sum.

    ``out`` may be one of the rows if it is the first or second one.
    """
    ufunc = _UFUNCS[op]
    with np.errstate(all="ignore"):
        if len(rows) == 1:
            out[...] = rows[0]
        else:
            ufunc(rows[0], rows[1], out=out)
        for row in rows[2:]:
            ufunc(out, row, out=out)
        if op == ReduceOp.AVG:
            np.divide(out, out.dtype.type(len(rows)), out=out)


def parts(flat: Array, number: int) -> list[Array]:
    """Cut a flat array into parts whose sizes differ by at most one."""
    ends = [len(flat) * k // number for k in range(number + 1)]
    return [flat[a:b] for a, b in zip(ends, ends[1:], strict=False)]


def all_reduce(channel: Channel, flat: Array, op: ReduceOp, patience: Patience) -> None:
    """Reduce an array over all ranks, in place."""
    n = channel.size
    if n == 1:
        return
    if flat.nbytes <= SMALL:
        rows = np.empty((n, flat.size), flat.dtype)
        # Point to point: unlike MPI's gather, it notices a rank with an array of another size.
        channel.exchange(to_all(flat, n), list(enumerate(rows)), patience)
        combine(list(rows), op, flat)
        return
    pieces = parts(flat, n)
    own = pieces[channel.rank]
    reduce_parts(channel, pieces, own, op, patience)
    channel.exchange(to_all(own, n), list(enumerate(pieces)), patience)


def reduce_parts(
    channel: Channel, pieces: Sequence[Array], out: Array, op: ReduceOp, patience: Patience
) -> None:
    """Reduce the part of this rank over all ranks, into ``out``."""
    rows = np.empty((channel.size, out.size), out.dtype)
    channel.exchange(list(enumerate(pieces)), list(enumerate(rows)), patience)
    combine(list(rows), op, out)


def reduce(channel: Channel, flat: Array, root: int, op: ReduceOp, patience: Patience) -> None:
    """Reduce an array over all ranks into the array of rank ``root``; the others keep theirs."""
    if channel.rank != root:
        channel.exchange([(root, flat)], [], patience)
        return
    rows = np.empty((channel.size, flat.size), flat.dtype)
    channel.exchange([(root, flat)], list(enumerate(rows)), patience)
    combine(list(rows), op, flat)


def to_all(flat: Array, number: int) -> list[tuple[int, Array]]:
    """Return the messages that send an array to all ranks."""
    return [(rank, flat) for rank in range(number)]
