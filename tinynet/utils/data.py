"""The door under PyTorch's import path: ``from tinynet.utils.data import DataLoader``."""

from tinynet.data import BatchSampler as BatchSampler
from tinynet.data import DataLoader as DataLoader
from tinynet.data import Dataset as Dataset
from tinynet.data import RandomSampler as RandomSampler
from tinynet.data import Sampler as Sampler
from tinynet.data import SequentialSampler as SequentialSampler
from tinynet.data import Subset as Subset
from tinynet.data import SubsetRandomSampler as SubsetRandomSampler
from tinynet.data import TensorDataset as TensorDataset
from tinynet.data import default_collate as default_collate
from tinynet.data import default_convert as default_convert
from tinynet.data import random_split as random_split
