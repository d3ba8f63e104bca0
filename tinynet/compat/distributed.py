"""Classes of ``torch.distributed`` that tinynet does not have."""

from __future__ import annotations

from typing import Any

_ONE = "every process has the whole model"


class FullyShardedDataParallel:
    """Not supported: every process has the whole model. Exists for `isinstance` checks.

    Raises:
        NotImplementedError: always.

    Example:
        >>> from tinynet.compat import distributed
        >>> isinstance(nn.Linear(1, 1), distributed.FullyShardedDataParallel)
        False
    """

    def __init__(self, module: Any, *args: Any, **kwargs: Any):
        raise NotImplementedError(f"tinynet has no FullyShardedDataParallel: {_ONE}")
