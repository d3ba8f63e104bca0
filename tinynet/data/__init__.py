"""Datasets, the DataLoader, and the data set that ships with tinynet."""

from tinynet.data.collate import default_collate as default_collate
from tinynet.data.collate import default_convert as default_convert
from tinynet.data.dataset import Dataset as Dataset
from tinynet.data.dataset import Subset as Subset
from tinynet.data.dataset import TensorDataset as TensorDataset
from tinynet.data.dataset import random_split as random_split
from tinynet.data.digits import Digits as Digits
from tinynet.data.loader import DataLoader as DataLoader
from tinynet.data.sampler import BatchSampler as BatchSampler
from tinynet.data.sampler import RandomSampler as RandomSampler
from tinynet.data.sampler import Sampler as Sampler
from tinynet.data.sampler import SequentialSampler as SequentialSampler
from tinynet.data.sampler import SubsetRandomSampler as SubsetRandomSampler
