"""Layer, group, RMS and local response norm, where PyTorch has them."""

from tinynet.nn.normalization import GroupNorm, LayerNorm, LocalResponseNorm, RMSNorm

__all__ = [
    "GroupNorm",
    "LayerNorm",
    "LocalResponseNorm",
    "RMSNorm",
]
