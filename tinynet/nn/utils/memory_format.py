"""Weights of convolutions in another order in memory."""

from __future__ import annotations

from typing import TypeVar

from tinynet.core.layouts import memory_format as MemoryFormat
from tinynet.nn.base.module import Module
from tinynet.nn.layers.convolution import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d

M = TypeVar("M", bound=Module)


def _convert(module: M, kinds: tuple[type[Module], ...], memory_format: MemoryFormat) -> M:
    for layer in module.modules():
        if isinstance(layer, kinds):
            layer.weight.data = layer.weight.detach().clone(memory_format=memory_format)
    return module


def convert_conv2d_weight_memory_format(module: M, memory_format: MemoryFormat) -> M:
    """Convert the weights of all two-dimensional convolutions, and return the module.

    Args:
        module: a convolution, or a module that contains some.
        memory_format: such as ``channels_last``.

    Example:
        >>> conv = nn.Conv2d(8, 4, 3)
        >>> conv = nn.utils.convert_conv2d_weight_memory_format(conv, tn.channels_last)
        >>> conv.weight.stride()
        (72, 1, 24, 8)
    """
    return _convert(module, (Conv2d, ConvTranspose2d), memory_format)


def convert_conv3d_weight_memory_format(module: M, memory_format: MemoryFormat) -> M:
    """Convert the weights of all three-dimensional convolutions, and return the module.

    Args:
        module: a convolution, or a module that contains some.
        memory_format: such as ``channels_last_3d``.

    Example:
        >>> conv = nn.Conv3d(8, 4, 1)
        >>> conv = nn.utils.convert_conv3d_weight_memory_format(conv, tn.channels_last_3d)
        >>> conv.weight.shape
        tinynet.Size([4, 8, 1, 1, 1])
    """
    return _convert(module, (Conv3d, ConvTranspose3d), memory_format)
