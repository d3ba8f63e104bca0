"""PyTorch's import path of the distributed sampler."""

from tinynet.data.loading.distributed import DistributedSampler as DistributedSampler
