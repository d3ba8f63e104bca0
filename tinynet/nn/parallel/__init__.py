"""Training one model on several devices, or in several processes.

    mpirun -n 4 python train.py

starts four processes. Each wraps its copy of the model in `DistributedDataParallel`.
"""

from tinynet.nn.parallel.data_parallel import DataParallel as DataParallel
from tinynet.nn.parallel.data_parallel import data_parallel as data_parallel
from tinynet.nn.parallel.distributed import DistributedDataParallel as DistributedDataParallel
