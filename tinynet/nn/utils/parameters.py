"""The values of parameters: as one vector, in another order in memory, and left uninitialised."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any, TypeVar

from tinynet.core.layouts import memory_format as MemoryFormat
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import init
from tinynet.nn.base.module import Module
from tinynet.nn.layers.convolution import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d
from tinynet.ops.shaping.joining import cat

# ---- one vector ---------------------------------------------------------------------------------


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Return all parameters flattened into one vector; gradients flow through it.

    Raises:
        ValueError: there are no parameters.
        AttributeError: a parameter is not a tensor.

    Example:
        >>> nn.utils.parameters_to_vector(nn.Linear(2, 1).parameters()).shape
        tinynet.Size([3])
    """
    return cat.function([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Set the parameters to slices of a vector, sharing its memory.

    Raises:
        TypeError: ``vec`` is not a tensor.
        RuntimeError: the vector is too short.

    Example:
        >>> net = nn.Linear(2, 1)
        >>> nn.utils.vector_to_parameters(tn.tensor([1.0, 2.0, 3.0]), net.parameters())
        >>> net.bias
        Parameter containing:
        tensor([3.], requires_grad=True)
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected tinynet.Tensor, but got: {type(vec).__name__}")
    start = 0
    for p in parameters:
        end = start + p.numel()
        p.data = vec.detach()[start:end].view_as(p)
        start = end


def _check_param_device(param: Tensor, old_param_device: int | None) -> int:  # PyTorch's names
    """Return the number of the CPU, where all parameters are."""
    return -1


# ---- order in memory ----------------------------------------------------------------------------


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


# ---- no values ----------------------------------------------------------------------------------


def skip_init(module_cls: type[Module], *args: Any, **kwargs: Any) -> Any:
    """Return ``module_cls(*args, **kwargs)`` with uninitialised parameters.

    Skipping initialisation is faster and does not advance the random generator. Use it if
    parameters are loaded or initialised afterwards.

    Args:
        module_cls: the class; it must accept ``device`` and use ``nn.init``.
        args, kwargs: the arguments of the class.

    Raises:
        RuntimeError: the class is not a Module, or does not accept ``device``.

    Example:
        >>> nn.utils.skip_init(nn.Linear, 5, 1).weight.shape
        tinynet.Size([1, 5])
    """
    if not (isinstance(module_cls, type) and issubclass(module_cls, Module)):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    with init.skipped():
        return module_cls(*args, **kwargs)
