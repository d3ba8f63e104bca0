"""Batch norm and its base class, under PyTorch's path."""

from tinynet.nn.layers.normalization.batchnorm import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    _BatchNorm,
    _NormBase,
)
from tinynet.nn.layers.normalization.lazy import LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d
from tinynet.nn.layers.normalization.sync_batchnorm import SyncBatchNorm

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
