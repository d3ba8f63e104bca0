"""PyTorch's import path: ``from tinynet.utils.data import DataLoader``."""

from tinynet.base.lazy import attach as _attach
from tinynet.data import BatchSampler as BatchSampler
from tinynet.data import ChainDataset as ChainDataset
from tinynet.data import ConcatDataset as ConcatDataset
from tinynet.data import DataLoader as DataLoader
from tinynet.data import Dataset as Dataset
from tinynet.data import DistributedSampler as DistributedSampler
from tinynet.data import IterableDataset as IterableDataset
from tinynet.data import RandomSampler as RandomSampler
from tinynet.data import Sampler as Sampler
from tinynet.data import SequentialSampler as SequentialSampler
from tinynet.data import StackDataset as StackDataset
from tinynet.data import Subset as Subset
from tinynet.data import SubsetRandomSampler as SubsetRandomSampler
from tinynet.data import TensorDataset as TensorDataset
from tinynet.data import WeightedRandomSampler as WeightedRandomSampler
from tinynet.data import WorkerInfo as WorkerInfo
from tinynet.data import default_collate as default_collate
from tinynet.data import default_convert as default_convert
from tinynet.data import get_worker_info as get_worker_info
from tinynet.data import random_split as random_split

__getattr__, __dir__, __all__ = _attach(__name__)
