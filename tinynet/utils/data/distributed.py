"""The door under PyTorch's import path: the sampler of one of several processes."""

from tinynet.data.loading.distributed import DistributedSampler as DistributedSampler
