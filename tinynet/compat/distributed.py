"""Classes of ``torch.distributed`` that tinynet does not have."""

from __future__ import annotations

from typing import Any

_ONE = "every process has the whole model"


class ZeroRedundancyOptimizer:
    """Not supported: every process has the whole model. Exists for `isinstance` checks.

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
