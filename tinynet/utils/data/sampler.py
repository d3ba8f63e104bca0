"""PyTorch's import path: ``from tinynet.utils.data.sampler import Sampler``."""

from tinynet.data.loading.sampler import BatchSampler as BatchSampler
from tinynet.data.loading.sampler import RandomSampler as RandomSampler
from tinynet.data.loading.sampler import Sampler as Sampler
from tinynet.data.loading.sampler import SequentialSampler as SequentialSampler
from tinynet.data.loading.sampler import SubsetRandomSampler as SubsetRandomSampler
from tinynet.data.loading.sampler import WeightedRandomSampler as WeightedRandomSampler
