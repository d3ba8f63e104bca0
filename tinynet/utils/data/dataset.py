"""PyTorch's import path: ``from tinynet.utils.data.dataset import Dataset``."""

from tinynet.data.dataset import ChainDataset as ChainDataset
from tinynet.data.dataset import ConcatDataset as ConcatDataset
from tinynet.data.dataset import Dataset as Dataset
from tinynet.data.dataset import IterableDataset as IterableDataset
from tinynet.data.dataset import TensorDataset as TensorDataset
from tinynet.data.stack import StackDataset as StackDataset
from tinynet.data.subset import Subset as Subset
from tinynet.data.subset import random_split as random_split
