"""Sums and other reductions in the order of ranks, on arrays.

MPI's own reductions may add in any order, for example along a tree, and the order may depend on the
number of ranks and the size of the message. These gather the summands of an element in one place
and add them in the order of ranks. Large arrays are cut into one part per rank: each rank receives
its part from all others, adds, and sends the sum to all. A rank sends ``2 * (n - 1) / n`` times the
size of the array, which is the least possible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.distributed.channel import Channel, Patience
from tinynet.distributed.constants import ReduceOp
from tinynet.dtypes import Array

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
