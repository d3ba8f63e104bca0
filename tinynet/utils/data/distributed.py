"""The door under PyTorch's import path: the sampler of one of several processes."""

from tinynet.data.distributed import DistributedSampler as DistributedSampler
