"""Instance norm and its base, where PyTorch has them."""

from tinynet.nn.batchnorm import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d, _InstanceNorm
from tinynet.nn.lazy_layers import LazyInstanceNorm1d, LazyInstanceNorm2d, LazyInstanceNorm3d

__all__ = [
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
    "_InstanceNorm",
]
