"""Names of ``torch.distributed`` and ``torch.nn.parallel`` that tinynet does not have."""

from __future__ import annotations

from typing import Any

from tinynet.compat.refusal import refusal

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


_CPU = "tinynet runs on the CPU only; call the module"
parallel_apply = refusal("nn.parallel.parallel_apply", _CPU)
replicate = refusal("nn.parallel.replicate", _CPU)
scatter = refusal("nn.parallel.scatter", _CPU)
scatter_kwargs = refusal("nn.parallel.scatter_kwargs", _CPU)
gather = refusal("nn.parallel.gather", _CPU)
