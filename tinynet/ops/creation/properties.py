"""Queries about a tensor and its memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.core.callsite import warn
from tinynet.core.declaration.operation import composite
from tinynet.core.devices import DeviceLike
from tinynet.core.tensors.tensor import Tensor, method, public_function
from tinynet.dtypes import DtypeLike
from tinynet.ops.arguments import refuse_others
from tinynet.ops.creation import ranges
from tinynet.ops.creation.tensor_types import legacy_tensor
from tinynet.ops.reduction.sums import sum_to
from tinynet.ops.shaping import views
from tinynet.ops.shaping.strided import memory_of

# ---- queries ------------------------------------------------------------------------------------


@composite(checks=True)
def is_nonzero(self: Tensor) -> bool:
    """Return whether the only element is nonzero.

    Raises:
        RuntimeError: the tensor does not have exactly one element.

    Example:
        >>> tn.is_nonzero(tn.tensor(2.0))
        True
    """
    return bool(self)


@composite
def is_same_size(self: Tensor, other: Tensor) -> bool:
    """Return whether two tensors have the same shape.

    Example:
        >>> tn.zeros(2).is_same_size(tn.ones(2))
        True
    """
    refuse_others("is_same_size", self=self, other=other)
    return self._array.shape == other._array.shape


@composite(checks=True)
def is_signed(self: Tensor) -> bool:
    """Return whether the dtype can represent negative values.

    Example:
        >>> tn.tensor([1]).is_signed(), tn.tensor([True]).is_signed()
        (True, False)
    """
    return self.dtype.is_signed


def _flag(name: str, value: bool) -> None:
    def get(self: Tensor) -> bool:
        return value

    get.__name__ = get.__qualname__ = name
    get.__doc__ = f"""Always {value}.

    Example:
        >>> tn.ones(2).{name}
        {value}
    """
    method(property(get), name)


_flag("is_cpu", True)
_flag("is_quantized", False)
_flag("is_meta", False)
_flag("is_nested", False)
for _device in "ipu maia mkldnn mps mtia sparse_csr vulkan xla xpu".split():
    _flag(f"is_{_device}", False)


@method
def is_pinned(self: Tensor, device: DeviceLike = None) -> bool:
    """Return False: memory is never page-locked.

    Args:
        self: any tensor.
        device: deprecated, without effect.

    Example:
        >>> tn.ones(2).is_pinned()
        False
    """
    if device is not None:
        warn(
            "The argument 'device' of Tensor.is_pinned() is deprecated. Please do not pass this "
            "argument.",
            DeprecationWarning,
        )
    return False


@method
def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Return whether two tensors are the same view of the same memory.

    Example:
        >>> x = tn.zeros(2)
        >>> x.is_set_to(x), x.is_set_to(x.clone())
        (True, False)
    """
    mine, other = (t._array.__array_interface__ for t in (self, tensor))
    same = mine["data"] == other["data"] and self._array.strides == tensor._array.strides
    return bool(same and self._array.shape == tensor._array.shape)


@method
def ndimension(self: Tensor) -> int:
    """Return the number of dimensions.

    Example:
        >>> tn.ones(2, 3).ndimension()
        2
    """
    return self._array.ndim


@public_function
@method
def get_device(self: Tensor) -> int:
    """Return -1: all tensors are on the CPU.

    Raises:
        TypeError: not a tensor.

    Example:
        >>> tn.ones(2).get_device()
        -1
    """
    refuse_others("get_device", self=self)
    return -1


@method
def dim_order(self: Tensor) -> tuple[int, ...]:
    """Return the dimensions in memory order, from the largest stride to the smallest.

    Example:
        >>> tn.ones(2, 3).dim_order(), tn.ones(2, 3).t().dim_order()
        ((0, 1), (1, 0))
    """
    steps = self._array.strides
    return tuple(sorted(range(self._array.ndim), key=lambda d: (-steps[d], d)))


# ---- memory -------------------------------------------------------------------------------------


@method
def storage_offset(self: Tensor) -> int:
    """Return the position of the first element in the storage, in elements.

    Example:
        >>> tn.arange(4)[2:].storage_offset()
        2
    """
    return memory_of(self._array)[1]


@method
def new(self: Tensor, *data: Any, **options: Any) -> Tensor:
    """Create a tensor of this dtype from a size (``x.new(2, 3)``; zeros) or from data.

    Args:
        *data: one or more sizes, one sequence of values, an array (shared if it has the dtype), or
            a tensor of the dtype (the result is a view of it).
        **options: ``size`` or ``data`` by name; ``device``, which must be the CPU.

    Raises:
        RuntimeError: a size is negative.
        TypeError: the data are not numbers, or a tensor of another dtype.

    Example:
        >>> tn.tensor([1, 2]).new(3).dtype
        tinynet.int64
    """
    return legacy_tensor(data, options, self._array.dtype)


@method
def new_empty_strided(
    self: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Create uninitialized values with the given size and strides in this tensor's dtype.

    Raises:
        RuntimeError: the numbers of strides and sizes differ.

    Example:
        >>> tn.zeros(1).new_empty_strided((2, 3), (1, 2)).stride()
        (1, 2)
    """
    kind = self.dtype if dtype is None else dtype
    return ranges.empty_strided(
        size, stride, dtype=kind, device=device, requires_grad=requires_grad
    )


@method
def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """Sum the tensor to a size that broadcasts to its shape.

    Raises:
        RuntimeError: the size does not broadcast to the shape.

    Example:
        >>> tn.ones(2, 3).sum_to_size(1, 3)
        tensor([[2., 2., 2.]])
    """
    wanted, own = views.sizes(size), self._array.shape
    try:
        fits = np.broadcast_shapes(wanted, own) == own
    except ValueError:
        fits = False
    if not fits:
        raise RuntimeError(f"size {{{list(wanted)}}} is not expandable to size {{{list(own)}}}.")
    return self if wanted == own else sum_to(self, wanted)
