"""PyTorch's import path of the distributed sampler."""

from tinynet.data.loading.sampler import DistributedSampler as DistributedSampler
