"""The names that arguments and answers of ``tinynet.distributed`` use."""

from __future__ import annotations

import datetime
import enum

default_pg_timeout = datetime.timedelta(minutes=30)


class ReduceOp(enum.IntEnum):
    """The operations of `all_reduce`, `reduce` and `reduce_scatter`.

    Every result is computed in the order of ranks, ``((x0 + x1) + x2) + ...``, so it is the same,
    to the bit, on all ranks and in all runs. ``AVG`` is the sum divided by the number of ranks.

    Example:
        >>> tn.distributed.ReduceOp.SUM
        <RedOpType.SUM: 0>
    """

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7

    def __repr__(self) -> str:
        return f"<RedOpType.{self.name}: {self.value}>"

    def __str__(self) -> str:
        return f"RedOpType.{self.name}"


reduce_op = ReduceOp  # its first name


ReduceOp.RedOpType = ReduceOp  # type: ignore[attr-defined]  # the class of its values, in PyTorch


class Backend(str):
    """The name of a backend, in lower case.

    Example:
        >>> tn.distributed.Backend("MPI") == tn.distributed.Backend.MPI
        True
    """

    UNDEFINED = "undefined"
    GLOO = "gloo"
    NCCL = "nccl"
    UCC = "ucc"
    MPI = "mpi"
    XCCL = "xccl"

    def __new__(cls, name: str) -> Backend:
        """Return the name in lower case."""
        if not isinstance(name, str):
            raise ValueError(f"Backend constructor parameter must be string-ish. Got: {name}")
        return super().__new__(cls, name.lower())


class DebugLevel(enum.Enum):
    """What the variable ``TORCH_DISTRIBUTED_DEBUG`` switches on; see `set_debug_level`.

    Example:
        >>> tn.distributed.DebugLevel.DETAIL
        <DebugLevel.DETAIL: 2>
    """

    OFF = 0
    INFO = 1
    DETAIL = 2
