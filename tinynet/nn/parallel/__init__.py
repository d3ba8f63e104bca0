"""Training one model on several devices, or in several processes.

    mpirun -n 4 python train.py

starts four processes. Each wraps its copy of the model in `DistributedDataParallel`.
"""

from typing import TYPE_CHECKING

from tinynet.base.lazy import attach as _attach
from tinynet.nn.parallel.data_parallel import data_parallel as data_parallel

if TYPE_CHECKING:
    from tinynet.nn.parallel.data_parallel import DataParallel as DataParallel
    from tinynet.nn.parallel.distributed import DistributedDataParallel as DistributedDataParallel
else:
    __getattr__, __dir__, __all__ = _attach(__name__)
