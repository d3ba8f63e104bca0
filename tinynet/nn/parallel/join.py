"""Training on uneven inputs: a rank without inputs answers the messages of the others."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tinynet.core.tensors.tensor import wrap
from tinynet.distributed.collectives import all_gather_into_tensor
from tinynet.nn.layers.batchnorm import SyncBatchNorm
from tinynet.nn.parallel.module_state import broadcast_coalesced


class Status(NamedTuple):
    """What a rank is about to do, as numbers of which 0 is no.

    Attributes:
        trains: a forward pass.
        reduces: the averages of a backward pass.
        rebuilds: a new layout of the buckets.
        copies_buffers: the broadcast of buffers.
    """

    trains: int = 0
    reduces: int = 0
    rebuilds: int = 0
    copies_buffers: int = 0


class Join:
    """The exchange of what ranks are about to do, before each forward pass.

    Args:
        ddp: the wrapped model.
        by_initial_size: divide sums by the number of all ranks, not of those that still train.
        throws: raise on all ranks as soon as one has no inputs.
    """

    def __init__(self, ddp: Any, by_initial_size: bool, throws: bool):
        if any(isinstance(module, SyncBatchNorm) for module in ddp.modules()):
            raise NotImplementedError(
                "join() does not work with SyncBatchNorm, whose messages a rank without inputs "
                "cannot answer: give all ranks equally many batches, as DistributedSampler does."
            )
        self.ddp, self.by_initial_size, self.throws = ddp, by_initial_size, throws
        self.last = list(range(ddp.process_group.size()))  # the ranks that trained last

    def exchange(self, own: Status) -> list[Status]:
        """Return what all ranks are about to do."""
        group = self.ddp.process_group
        every = np.empty((group.size(), len(own)), np.int64)
        all_gather_into_tensor(wrap(every), wrap(np.array([own])), group)
        statuses = [Status(*map(int, row)) for row in every]
        training = [rank for rank, status in enumerate(statuses) if status.trains]
        if training:
            self.last = training
            reducer = self.ddp.reducer
            reducer.divisor = group.size() if self.by_initial_size else len(training)
        if self.throws and own.trains and len(training) < group.size():
            raise RuntimeError(
                "Detected at least one rank that exhausted inputs. Throwing across all ranks."
            )
        return statuses

    def answer(self) -> None:
        """Answer the messages of the other ranks until all are without inputs."""
        ddp = self.ddp
        while True:
            statuses = self.exchange(Status())
            training = [status for status in statuses if status.trains]
            if not training:
                return
            if self.throws:
                raise RuntimeError(f"Rank {ddp.process_group.rank()} exhausted all inputs.")
            reduces = any(status.reduces for status in training)
            if any(status.rebuilds for status in training):
                ddp.reducer.rebuild()
            if any(status.copies_buffers for status in training):
                ddp.sync_buffers(self.last[-1])
            ddp.reducer.synced = reduces
            if reduces:
                ddp.reducer.contribute_nothing()


@contextlib.contextmanager
def joining(ddp: Any, by_initial_size: bool, enable: bool, throws: bool) -> Iterator[None]:
    """Do what `DistributedDataParallel.join` documents."""
    if not enable:
        yield
        return
    ddp.joined = join = Join(ddp, by_initial_size, throws)
    try:
        yield
        join.answer()
        state = [*ddp.module.parameters()]
        if ddp.forward_sync_buffers:
            state += ddp.module.buffers()
        broadcast_coalesced(state, ddp.process_group, join.last[-1])
    finally:
        ddp.joined = None
        ddp.reducer.divisor = ddp.process_group.size()
