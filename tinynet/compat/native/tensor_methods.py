"""Methods of tensors from rooms above ``ops``, which load when they are first called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tinynet.base import lazy
from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor, method


def _function(name: str) -> Callable[..., Tensor]:
    function: Callable[..., Tensor] = lazy.load("tinynet", name)
    return function


@method
def prelu(self: Tensor, weight: Tensor) -> Tensor:
    """Return x above 0 and ``weight * x`` below; see ``nn.functional.prelu``.

    Args:
        weight: one number, or one for each channel.

    Raises:
        RuntimeError: the weight has another size.

    Example:
        >>> tn.tensor([-2.0, 1.0]).prelu(tn.tensor([0.5]))
        tensor([-1.,  1.])
    """
    return _function("prelu")(self, weight)


@method
def hardshrink(self: Tensor, lambd: float = 0.5) -> Tensor:
    """Return x outside ``[-lambd, lambd]`` and 0 inside; see ``nn.functional.hardshrink``.

    Args:
        lambd: the bound.

    Example:
        >>> tn.tensor([-2.0, 0.3]).hardshrink()
        tensor([-2.,  0.])
    """
    return _function("hardshrink")(self, lambd)


@method
def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """Raise RuntimeError: memory is pinned for an accelerator, and there is none.

    Args:
        device: ignored.

    Example:
        >>> tn.ones(1).pin_memory()
        Traceback (most recent call last):
        RuntimeError: Cannot access accelerator device when none is available.
    """
    raise RuntimeError("Cannot access accelerator device when none is available.")


@method
def is_distributed(self: Tensor) -> bool:
    """Return False: a tensor is in one process.

    Example:
        >>> tn.ones(1).is_distributed()
        False
    """
    return False


@method
def module_load(self: Tensor, other: Tensor, assign: bool = False) -> Tensor:
    """Return what becomes of the tensor when ``load_state_dict`` loads another one into it.

    Args:
        other: the tensor to load.
        assign: whether it takes the place of this one; otherwise its numbers are copied.

    Returns:
        A tensor without history that shares the memory of ``other``, or of this one.

    Raises:
        RuntimeError: the shapes do not fit, and the numbers are copied.

    Example:
        >>> tn.zeros(2).module_load(tn.ones(2))
        tensor([1., 1.])
    """
    if assign:
        return other.detach()
    with no_grad():
        return self.copy_(other).detach()


def _name(self: Tensor) -> None:
    """None: only PyTorch's graphs name tensors.

    Example:
        >>> tn.ones(1).name is None
        True
    """


method(property(_name), "name")
