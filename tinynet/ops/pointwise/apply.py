"""Python functions applied element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet import errors
from tinynet.core.graph.inplace import wrote
from tinynet.core.tensors.tensor import Tensor, method
from tinynet.ops.arguments import also_named


def _each(self: Tensor, name: str, others: tuple[Any, ...], call: Callable[..., Any]) -> Tensor:
    for t in (self, *others):
        if isinstance(t, Tensor) and t.requires_grad:
            raise RuntimeError(
                f"Can't call {name}() on Variable that requires grad. Use "
                f"var.detach().{name}() instead."
            )
    for t in others:
        if not isinstance(t, Tensor):
            raise errors.must_be_tensor(name, "other", 1, t)
        if t._array.dtype != self._array.dtype:
            raise TypeError(
                f"{name}: expected tinynet.{self.dtype.tensor_name} for 'other' (got "
                f"tinynet.{t.dtype.tensor_name})"
            )
    arrays = (np.broadcast_to(t._array, self._array.shape) for t in others)
    rows = zip(self._array.flat, *(a.flat for a in arrays), strict=True)
    values = [call(*(v.item() for v in row)) for row in rows]
    self._array[...] = np.asarray(values).reshape(self._array.shape)
    wrote(self, name)
    return self


@method
def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Apply a Python function to each element in place, and return the tensor; slow.

    Args:
        callable: takes and returns a Python number.

    Raises:
        RuntimeError: the tensor requires grad.

    Example:
        >>> tn.tensor([1.0, 2.0]).apply_(lambda v: v * 10)
        tensor([10., 20.])
    """
    return _each(self, "apply_", (), callable)


@method
@also_named(other="tensor")
def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Apply a Python function to the elements of this tensor and another one, in place.

    Args:
        tensor: the other tensor, broadcast to this one.
        callable: takes one number of each tensor and returns the new one.

    Raises:
        RuntimeError: the tensor requires grad.
        ValueError: the shapes do not broadcast.

    Example:
        >>> tn.tensor([1.0, 2.0]).map_(tn.tensor([3.0, 4.0]), lambda x, y: x * y)
        tensor([3., 8.])
    """
    return _each(self, "map_", (tensor,), callable)


@method
def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
    """Apply a Python function to the elements of this tensor and two others, in place.

    Args:
        x, y: the other tensors, broadcast to this one.
        callable: takes one number of each tensor and returns the new one.

    Raises:
        RuntimeError: the tensor requires grad.
        ValueError: the shapes do not broadcast.

    Example:
        >>> a = tn.tensor([1.0, 2.0])
        >>> a.map2_(a + 1, a + 2, lambda x, y, z: x + y + z)
        tensor([6., 9.])
    """
    return _each(self, "map2_", (x, y), callable)
