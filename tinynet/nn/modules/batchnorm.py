"""Batch norm and its base class, under PyTorch's path."""

from tinynet.nn.layers.normalization.batchnorm import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    SyncBatchNorm,
    _BatchNorm,
    _NormBase,
)
from tinynet.nn.layers.normalization.lazy import LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "SyncBatchNorm",
    "_BatchNorm",
    "_NormBase",
]
