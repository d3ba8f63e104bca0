"""Equal parameters and buffers on all ranks, and rows that ``max_norm`` scales.

A look-up scales the rows that it returns, and each rank looks up others. Scaling a row twice may
round twice, so ranks must agree on the number of times, too. Rank k scales the rows of the ranks 0
to k before its look-up, and those of the others after its backward pass: then each look-up sees
what it would see if one process computed the batches of all ranks in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.core.graph.inplace import wrote
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.tensors.version import Writer
from tinynet.distributed.channel import Patience
from tinynet.distributed.objects import all_gather_object
from tinynet.distributed.process_group import ProcessGroup
from tinynet.dtypes import Array
from tinynet.nn.functional.lookup import check_rows, renormalise_rows

_WRITER = Writer(
    "DistributedDataParallel (buffers of rank 0)",
    "call backward() before the next forward(), or pass forward_sync_buffers=False",
)


def check_same_model(group: ProcessGroup, parameters: Sequence[tuple[str, Tensor]]) -> None:
    """Raise on all ranks if their models have different parameters.

    Raises:
        RuntimeError: names the ranks and the first parameter that differs.
    """
    own = [(name, tuple(p._array.shape), str(p.dtype)) for name, p in parameters]
    models: list[Any] = [None] * group.size()
    all_gather_object(models, own, group=group)
    for rank, model in enumerate(models):
        if len(model) != len(models[0]):
            names = {name for name, *_ in model} ^ {name for name, *_ in models[0]}
            raise RuntimeError(
                f"DDP expects same model across all ranks, but Rank 0 has {len(models[0])} params, "
                f"while rank {rank} has inconsistent {len(model)} params."
                + (f" Only one of them has: {', '.join(sorted(names))}." if names else "")
            )
        for index, (first, other) in enumerate(zip(models[0], model, strict=True)):
            if first[1:] != other[1:]:
                raise RuntimeError(
                    f"DDP expects same model across all ranks, but params[{index}] "
                    f"({other[0]}) of rank {rank} with sizes {list(other[1])} and dtype {other[2]} "
                    f"appears not to match sizes of the same param in process 0: {first[0]} "
                    f"with sizes {list(first[1])} and dtype {first[2]}."
                )


def broadcast_coalesced(tensors: Sequence[Tensor], group: ProcessGroup, src: int = 0) -> None:
    """Copy the values of one rank's tensors to those of all others, in one message.

    A write counts as one only where a value changes.

    Args:
        tensors: the tensors, of the same shapes and dtypes on all ranks.
        group: the ranks.
        src: the rank in the group.
    """
    if group.size() == 1 or not tensors:
        return
    parts = [np.ascontiguousarray(t._array).reshape(-1).view(np.uint8) for t in tensors]
    flat = np.concatenate(parts)

    def body(patience: Patience) -> None:
        group.channel.broadcast(flat, src, patience)

    group.run("DistributedDataParallel", body)
    start = 0
    for tensor, own in zip(tensors, parts, strict=True):
        received = flat[start : start + own.size]
        start += own.size
        if not np.array_equal(received, own):
            array = tensor._array
            array[...] = received.view(array.dtype).reshape(array.shape)
            wrote(tensor, _WRITER)


Lookup = tuple[Array, float, float]  # the distinct rows, max_norm and norm_type


class Renormalization:
    """What scales the rows of one weight.

    Args:
        weight: the weight of embeddings.
        group: the ranks that have a copy of it.

    Attributes:
        is_shared: a forward pass of all ranks is running, in which they make the same look-ups.
    """

    def __init__(self, weight: Tensor, group: ProcessGroup):
        self.weight, self.group = weight, group
        self.is_shared = False
        self._own: list[Lookup] = []  # of this rank alone, which the others have not scaled
        self._later: list[Lookup] = []  # of higher ranks

    def __call__(self, indices: Array, max_norm: float, norm_type: float) -> None:
        """Scale rows before a look-up."""
        check_rows(self.weight, indices)
        lookup = (np.unique(indices), max_norm, norm_type)
        if not self.is_shared:
            self._own.append(lookup)
            renormalise_rows(self.weight, *lookup)
            return
        lookups = self._exchange(lookup)
        for rows in lookups[: self.group.rank() + 1]:
            renormalise_rows(self.weight, *rows)
        self._later += lookups[self.group.rank() + 1 :]

    def _exchange(self, lookup: Any) -> list[Any]:
        """Return what each rank passes; scale the rows that single ranks have looked up."""
        every: list[Any] = [None] * self.group.size()
        all_gather_object(every, (self._own, lookup), group=self.group)
        self._own = []
        for rank, (others, _) in enumerate(every):
            for rows in others if rank != self.group.rank() else ():
                renormalise_rows(self.weight, *rows)
        return [found for _, found in every]

    def complete(self) -> None:
        """Scale the rows of the look-ups of higher ranks."""
        later, self._later = self._later, []
        for rows in later:
            renormalise_rows(self.weight, *rows)
