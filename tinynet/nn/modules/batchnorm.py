"""Batch norm and its base, where PyTorch has them."""

from tinynet.nn.batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d, _BatchNorm, _NormBase
from tinynet.nn.lazy_layers import LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "_BatchNorm",
    "_NormBase",
]
