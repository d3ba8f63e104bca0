"""The door under PyTorch's import path: ``from tinynet.utils.data.sampler import Sampler``."""

from tinynet.data.sampler import BatchSampler as BatchSampler
from tinynet.data.sampler import RandomSampler as RandomSampler
from tinynet.data.sampler import Sampler as Sampler
from tinynet.data.sampler import SequentialSampler as SequentialSampler
from tinynet.data.sampler import SubsetRandomSampler as SubsetRandomSampler
from tinynet.data.sampler import WeightedRandomSampler as WeightedRandomSampler
