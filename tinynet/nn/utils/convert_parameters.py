"""Conversion of parameters to one vector and back."""

from __future__ import annotations

from collections.abc import Iterable

from tinynet.core.tensors.tensor import Tensor
from tinynet.ops.shaping.joining import cat


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
