"""``torch.distributed.optim``: the class is in ``tinynet.optim.zero_redundancy_optimizer``."""

from tinynet.optim.zero_redundancy_optimizer import (
    ZeroRedundancyOptimizer as ZeroRedundancyOptimizer,
)
