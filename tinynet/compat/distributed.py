"""``torch.distributed``: there is only one process."""

from __future__ import annotations

from typing import Any

from tinynet.compat.refusal import refusal


def is_available() -> bool:
    """Return False: tinynet trains in one process.

    Example:
        >>> from tinynet.compat import distributed
        >>> distributed.is_available()
        False
    """
    return False


is_initialized = is_nccl_available = is_gloo_available = is_mpi_available = is_available
is_torchelastic_launched = is_available

_ONE = "there is one process; run the program without its launcher"
init_process_group = refusal("distributed.init_process_group", _ONE)
new_group = refusal("distributed.new_group", _ONE)
all_reduce = refusal("distributed.all_reduce", _ONE)
all_gather = refusal("distributed.all_gather", _ONE)
reduce = refusal("distributed.reduce", _ONE)
broadcast = refusal("distributed.broadcast", _ONE)
barrier = refusal("distributed.barrier", _ONE)


def get_rank(group: Any = None) -> int:
    """Raise: there is no process group.

    Args:
        group: ignored.

    Raises:
        ValueError: always.

    Example:
        >>> from tinynet.compat import distributed
        >>> distributed.get_rank()
        Traceback (most recent call last):
        ValueError: Default process group has not been initialized, please make sure to call \
init_process_group.
    """
    raise ValueError(
        "Default process group has not been initialized, please make sure to call "
        "init_process_group."
    )


get_world_size = get_backend = get_rank


def destroy_process_group(group: Any = None) -> None:
    """Do nothing: there is no process group.

    Args:
        group: ignored.

    Example:
        >>> from tinynet.compat import distributed
        >>> distributed.destroy_process_group()
    """


class ZeroRedundancyOptimizer:
    """Not supported: there is only one process. Exists for `isinstance` checks in libraries.

    Raises:
        NotImplementedError: always.

    Example:
        >>> from tinynet.compat import distributed
        >>> net = nn.Linear(1, 1)
        >>> isinstance(optim.SGD(net.parameters(), lr=0.1), distributed.ZeroRedundancyOptimizer)
        False
    """

    def __init__(self, params: Any, optimizer_class: Any, *args: Any, **kwargs: Any):
        raise NotImplementedError(f"tinynet has no ZeroRedundancyOptimizer: {_ONE}")


class FullyShardedDataParallel:
    """Not supported: there is only one process. Exists for `isinstance` checks in libraries.

    Raises:
        NotImplementedError: always.

    Example:
        >>> from tinynet.compat import distributed
        >>> isinstance(nn.Linear(1, 1), distributed.FullyShardedDataParallel)
        False
    """

    def __init__(self, module: Any, *args: Any, **kwargs: Any):
        raise NotImplementedError(f"tinynet has no FullyShardedDataParallel: {_ONE}")
