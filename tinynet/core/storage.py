"""Giving a tensor other memory: ``set_``, ``resize_``, sharing, and exchanging two tensors."""

from __future__ import annotations

import math
import mmap
import weakref
from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.core.callsite import here, locate
from tinynet.core.inplace import wrote
from tinynet.core.messages import leaf_write_error
from tinynet.core.modes import mode
from tinynet.core.tensor import Tensor, method
from tinynet.core.version import refuse_inference
from tinynet.core.views import grad_fn, requires_grad
from tinynet.dtypes import Array


@method
def set_(self: Tensor, source: Tensor) -> Tensor:
    """Let the tensor use the memory, and take the shape, of another one, and return it.

    Its version counter stays its own, as in PyTorch: later writes through ``source`` are not seen.

    Raises:
        RuntimeError: the tensor requires grad, or the dtypes differ.

    Example:
        >>> x, y = tn.zeros(2), tn.ones(1, 3)
        >>> _ = x.set_(y).add_(1)
        >>> y
        tensor([[2., 2., 2.]])
    """
    if not isinstance(source, Tensor):
        raise errors.must_be_tensor("set_", "source", 1, source)
    refuse_inference(self._counter)
    if mode.grad and requires_grad(self):
        if grad_fn(self) is None:
            raise leaf_write_error(errors.LEAF_IN_PLACE, locate(here()))
        raise RuntimeError("the derivative for 'set_' is not implemented.")
    ours, theirs = self._array.dtype, source._array.dtype
    if ours != theirs:
        names = [dtypes.of(x._array).scalar_name.lower() for x in (source, self)]
        raise RuntimeError(
            f"Could not set tensor of type {names[0]} to a tensor of type {names[1]}"
        )
    self._array = source._array
    wrote(self, "set_")
    return self


@method
def resize_(self: Tensor, *sizes: Any) -> Tensor:
    """Give the tensor another shape, in its own memory if that is large enough, and return it.

    Elements keep their order in memory. What is added is zero (PyTorch leaves it undefined). Where
    new memory is needed, views keep the old one.

    Raises:
        RuntimeError: the tensor requires grad, or a length is negative.

    Example:
        >>> tn.arange(4).resize_(2, 3)
        tensor([[0, 1, 2],
                [3, 0, 0]])
    """
    shape = tuple(sizes[0]) if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes
    if requires_grad(self):
        raise RuntimeError("cannot resize variables that require grad")
    if any(n < 0 for n in shape):
        raise RuntimeError(f"requested resize to {list(shape)}, which has a negative dimension")
    refuse_inference(self._counter)
    self._array = resized(self._array, shape)
    wrote(self, "resize_")
    return self


@method
def resize_as_(self: Tensor, the_template: Tensor) -> Tensor:
    """Give the tensor the shape of another one, see ``resize_``, and return it.

    Args:
        the_template: the tensor with the wanted shape; its values do not matter.

    Raises:
        RuntimeError: the tensor requires grad.

    Example:
        >>> tn.arange(4).resize_as_(tn.zeros(2, 2))
        tensor([[0, 1],
                [2, 3]])
    """
    return self.resize_(the_template.shape)


@method
def share_memory_(self: Tensor) -> Tensor:
    """Move the elements to memory that processes forked from now on share, and return the tensor.

    All of them see what one writes. A process that is started anew (``"spawn"``) gets a copy. Views
    that were made before keep the old memory.

    Raises:
        RuntimeError: the tensor is a view: share what it is a view of.

    Example:
        >>> tn.zeros(2).share_memory_().is_shared()
        True
    """
    if self._view is not None:
        raise RuntimeError(
            "share_memory_() of a view would part it from its base. Share the base before views "
            "of it are made, or share a clone()."
        )
    if not is_shared(self):
        old = self._array
        memory = mmap.mmap(-1, max(old.nbytes, 1))  # anonymous, and shared with forks
        new = np.frombuffer(memory, old.dtype, old.size).reshape(old.shape)
        new[...] = old
        self._array = new
    return self


@method
def is_shared(self: Tensor) -> bool:
    """Return whether processes that are forked share the memory, see ``share_memory_``.

    Example:
        >>> tn.ones(2).is_shared()
        False
    """
    owner: Any = self._array
    while isinstance(owner, (np.ndarray, memoryview)):
        owner = owner.base if isinstance(owner, np.ndarray) else owner.obj
    return isinstance(owner, mmap.mmap)


@errors.allocating
def resized(array: Array, shape: tuple[int, ...]) -> Array:
    """Return an array of another shape that begins where ``array`` does, in the same memory."""
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    size = math.prod(shape)
    if owner.flags.contiguous:
        flat = owner.ravel(order="K").view(array.dtype)
        first = (array.ctypes.data - owner.ctypes.data) // array.itemsize
        if first + size <= flat.size:
            return flat[first : first + size].reshape(shape)
        old = flat[first:]
    else:
        old = array.ravel()
    made = np.zeros(size, array.dtype)
    made[: min(size, old.size)] = old[:size]
    return made.reshape(shape)


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Exchange everything that two tensors are: values, gradient, history, class and attributes.

    All references to the one then refer to the other. Graphs that were recorded with a leaf before
    lead to the object, whatever it is now.

    Raises:
        RuntimeError: there are weak references to one of them.

    Example:
        >>> a, b = tn.zeros(2), nn.Parameter(tn.ones(1))
        >>> tn.utils.swap_tensors(a, b)
        >>> a
        Parameter containing:
        tensor([1.], requires_grad=True)
    """
    for name, t in (("t1", t1), ("t2", t2)):
        if not isinstance(t, Tensor):
            raise TypeError(f"swap_tensors(): {name} must be Tensor, not {type(t).__name__}")
        if weakref.getweakrefcount(t):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
    slots = [s for s in Tensor.__slots__ if s not in ("__dict__", "__weakref__")]
    for slot in (*slots, "__dict__", "__class__"):
        ours, theirs = getattr(t1, slot), getattr(t2, slot)
        setattr(t1, slot, theirs)
        setattr(t2, slot, ours)
