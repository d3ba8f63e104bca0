"""The processes that ``mpirun`` started, which share the batches of each step.

Batch k of a step belongs to rank ``k % size``. Gradients are added in the order of batches, so any
number of processes gives the same weights, to the bit. Three things would otherwise depend on what
a process has computed before, and are set for each batch: its random numbers, the buffers that it
starts from, and the rows that ``max_norm`` of embeddings has scaled.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tinynet import distributed, nn
from tinynet.core.callsite import warn
from tinynet.core.graph.accumulate_grad import Rows, dense_gradient, sparse
from tinynet.core.seams import shared_weights
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.loading.worker import mix
from tinynet.distributed.mpi import launched_size
from tinynet.distributed.reductions import gather_rows
from tinynet.dtypes import Array
from tinynet.nn.parallel.module_state import Renormalization, broadcast_coalesced
from tinynet.random import default_generator
from tinynet.train.base.problems import UsageError

_SYNC = (
    "SyncBatchNorm normalises by the batches that all processes compute at once, so their number "
    "changes the result. BatchNorm does not: the step keeps the statistics of its first batch."
)


class Ranks:
    """The processes of a run.

    Args:
        group: the processes; None for this one alone.

    Attributes:
        rank: the number of this process, from 0.
        size: the number of processes.
    """

    def __init__(self, group: Any = None) -> None:
        self.group = group
        self.rank: int = 0 if group is None else group.rank()
        self.size: int = 1 if group is None else group.size()
        self._scaled: list[Renormalization] = []

    @property
    def is_first(self) -> bool:
        """Whether this is the rank that prints, and writes the run folder."""
        return self.rank == 0

    def places(self, count: int) -> list[int]:
        """Return which of ``count`` batches this rank computes.

        Ranks for which none is left compute the last one, which does not count: all ranks take
        part in each sum.
        """
        return [min(k + self.rank, count - 1) for k in range(0, count, self.size)]

    def counts(self, turn: int, count: int) -> bool:
        """Return whether the batch of this rank's n-th turn counts."""
        return turn * self.size + self.rank < count

    def in_order(self, own: Sequence[Any], count: int) -> list[Any]:
        """Return an object for each of ``count`` batches, given those of this rank's turns."""
        if self.size == 1:
            return [*own]
        every: list[Any] = [None] * self.size
        distributed.all_gather_object(every, [*own], group=self.group)
        return [every[k % self.size][k // self.size] for k in range(count)]

    def largest(self, number: int) -> int:
        """Return the largest of the numbers of all ranks."""
        if self.size == 1:
            return number
        found = wrap(np.array([number], np.int64))
        distributed.all_reduce(found, distributed.ReduceOp.MAX, self.group)
        return int(found._array[0])

    # ---- gradients --------------------------------------------------------------------------

    def before_backward(self, parameters: Sequence[Tensor], turn: int) -> None:
        """Let only rank 0 add to the gradients of the turns before."""
        if turn and self.rank:
            for parameter in parameters:
                parameter.grad = None

    def add_up(self, parameters: Sequence[Tensor], counts: bool) -> None:
        """Replace the gradients of all ranks by their sum, in the order of ranks.

        Args:
            parameters: the leaves.
            counts: whether the gradients of this rank count.
        """
        grads = [dense_gradient(p) for p in parameters]
        if self.size == 1:
            return
        flags = np.array([0 if g is None else 2 if g.is_sparse else 1 for g in grads]) * counts
        distributed.all_reduce(wrap(flags), distributed.ReduceOp.MAX, self.group)
        dense = [(p, g) for p, g, flag in zip(parameters, grads, flags, strict=True) if flag == 1]
        for kind in dict.fromkeys(p._array.dtype for p, _ in dense):
            same = [(p, g) for p, g in dense if p._array.dtype == kind]
            # Adding -0.0 changes nothing, not even a zero.
            parts = [
                np.full(p._array.size, -0.0, kind)
                if g is None or not counts
                else g._array.reshape(-1)
                for p, g in same
            ]
            flat = np.concatenate(parts)
            distributed.all_reduce(wrap(flat), distributed.ReduceOp.SUM, self.group)
            start = 0
            for p, g in same:
                part = flat[start : (start := start + p._array.size)].reshape(p._array.shape)
                if g is None:
                    p.grad = wrap(part.copy())
                else:
                    g._array[...] = part
        for p, g, flag in zip(parameters, grads, flags, strict=True):
            if flag == 2:
                self._add_rows(p, g if counts else None)

    def _add_rows(self, parameter: Tensor, grad: Tensor | None) -> None:
        own: Any = None if grad is None else grad._array
        if own is None:
            array = parameter._array
            empty = np.empty((0, *array.shape[1:]), array.dtype)
            own = Rows(np.empty(0, np.int64), empty, len(array))
        body, found = gather_rows(self.group, own, 1)
        self.group.run("the sum of gradients", body)
        parameter.grad = sparse(found[0])

    # ---- what a batch depends on ------------------------------------------------------------

    @contextlib.contextmanager
    def training(self, model: nn.Module) -> Iterator[None]:
        """Give all ranks the same model; let them scale the same rows of its embeddings."""
        if self.size > 1:
            if any(isinstance(module, nn.SyncBatchNorm) for module in model.modules()):
                warn(_SYNC)
            broadcast_coalesced([*model.parameters(), *model.buffers()], self.group)
            weights = {
                id(module.weight): module.weight
                for module in model.modules()
                if isinstance(module, (nn.Embedding, nn.EmbeddingBag)) and module.max_norm
            }
            self._scaled = [Renormalization(w, self.group) for w in weights.values()]
            shared_weights.update({id(one.weight): one for one in self._scaled})
        try:
            yield
        finally:
            for one in self._scaled:
                shared_weights.pop(id(one.weight), None)
            self._scaled = []

    @contextlib.contextmanager
    def scaling(self) -> Iterator[None]:
        """Scale rows of embeddings for the look-ups of all ranks, until the block ends."""
        for one in self._scaled:
            one.complete()
            one.is_shared = True
        try:
            yield
        finally:
            for one in self._scaled:
                one.is_shared = False

    def complete_scaling(self) -> None:
        """Scale the rows that higher ranks have looked up."""
        for one in self._scaled:
            one.complete()

    def copy_buffers(self, buffers: Sequence[Tensor]) -> None:
        """Give all ranks the buffers of rank 0."""
        if self.size > 1:
            broadcast_coalesced(buffers, self.group)


class Apart:
    """The batches of one step, each computed as if it were the first.

    Args:
        model: the model, for its buffers.
        ranks: the processes that compute them.
        seeds: for each batch, the seed of its random numbers.
    """

    def __init__(self, model: nn.Module, ranks: Ranks, seeds: Sequence[int]) -> None:
        self.ranks, self.seeds = ranks, seeds
        self.buffers = [buffer for buffer in model.buffers() if buffer._array.size]

    @contextlib.contextmanager
    def all(self, shared: bool) -> Iterator[None]:
        """Begin the step with these buffers; end it with those after the first batch."""
        self._before = self._copies() if len(self.seeds) > 1 else []
        self._after = self._before
        yield
        self._restore(self._after)
        if shared:
            self.ranks.copy_buffers(self.buffers)

    @contextlib.contextmanager
    def batch(self, turn: int) -> Iterator[None]:
        """Compute a batch."""
        if turn:
            self._restore(self._before)
        with default_generator.forked(self.seeds[turn]):
            yield
        if not turn and self._before:
            self._after = self._copies()

    def _copies(self) -> list[Array]:
        return [buffer._array.copy() for buffer in self.buffers]

    def _restore(self, arrays: Sequence[Array]) -> None:
        for buffer, array in zip(self.buffers, arrays, strict=False):
            buffer._array[...] = array


def seeds_of(places: Sequence[int]) -> list[int]:
    """Return the seeds of batches of the next step; draws one number, the same on all ranks."""
    base = int(default_generator.numpy.integers(2**62))
    return [mix(base, 0, place) for place in places]


def join() -> Ranks | None:
    """Join the processes that ``mpirun`` started; None if this is the only one.

    Raises:
        UsageError: MPI is not installed.
    """
    if not distributed.is_initialized():
        if launched_size() == 1:
            return None
        try:
            distributed.init_process_group("mpi")
        except RuntimeError as error:
            raise UsageError(str(error)) from None
    ranks = Ranks(distributed.group.WORLD)
    return ranks if ranks.size > 1 else None
