"""Equal parameters and buffers on all ranks."""

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
