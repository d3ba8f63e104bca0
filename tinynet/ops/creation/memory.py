"""Queries about a tensor, and its memory: ``set_``, ``resize_``, sharing, swapping two tensors."""

from __future__ import annotations

import mmap
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.core import layouts
from tinynet.core.callsite import here, locate, warn
from tinynet.core.declaration.operation import composite
from tinynet.core.devices import DeviceLike
from tinynet.core.graph.inplace import wrote
from tinynet.core.graph.views import grad_fn, requires_grad
from tinynet.core.messages import leaf_write_error
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import Tensor, method, public_function
from tinynet.core.tensors.version import refuse_inference
from tinynet.dtypes import Array, DtypeLike
from tinynet.kernels.strides import array_in, resized
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


# ---- changes of memory --------------------------------------------------------------------------


class StorageBase:
    """The base class of storages (``compat/storage.py``): a one-dimensional array."""

    _array: Array


@method
def set_(
    self: Tensor,
    source: Tensor | StorageBase | None = None,
    storage_offset: int = 0,
    size: Sequence[int] | None = None,
    stride: Sequence[int] | None = None,
) -> Tensor:
    """Make the tensor use other memory, and return it.

    It keeps its own version counter, as in PyTorch, so it does not see later writes through
    ``source``.

    Args:
        source: a tensor, whose shape is used, too, or a storage. None: no elements.
        storage_offset, size, stride: the position of the first element in the storage, the shape
            and the strides, all in elements; by default the whole storage.

    Raises:
        RuntimeError: the tensor requires grad, the dtypes differ, or the storage is too small.

    Example:
        >>> x, y = tn.zeros(2), tn.ones(1, 3)
        >>> _ = x.set_(y).add_(1)
        >>> y
        tensor([[2., 2., 2.]])
        >>> x.set_(tn.arange(4.0).storage(), 1, (2,), (2,))
        tensor([1., 3.])
    """
    if source is not None and not isinstance(source, (Tensor, StorageBase)):
        raise errors.must_be_tensor("set_", "source", 1, source)
    refuse_inference(self._counter)
    if mode.grad and requires_grad(self):
        if grad_fn(self) is None:
            raise leaf_write_error(errors.LEAF_IN_PLACE, locate(here()))
        raise RuntimeError("the derivative for 'set_' is not implemented.")
    self._array = _from(source, self._array.dtype, storage_offset, size, stride)
    wrote(self, "set_")
    return self


def _from(source: Any, dtype: Any, offset: int, size: Any, stride: Any) -> Array:
    """Return an array of a dtype in the memory of a tensor or storage."""
    if source is None:
        return np.empty(0, dtype)
    found: Array = source._array
    untyped = hasattr(source, "untyped") and not hasattr(source, "dtype")
    if found.dtype != dtype and not untyped:
        wanted, given = (dtypes.of(np.empty(0, d)).scalar_name for d in (dtype, found.dtype))
        if isinstance(source, Tensor):
            names = given.lower(), wanted.lower()
            raise RuntimeError(
                f"Could not set tensor of type {names[0]} to a tensor of type {names[1]}"
            )
        raise RuntimeError(
            f"Expected a Storage of type {wanted.lower()} or an UntypedStorage, but got type "
            f"{given} for argument 1 'storage'"
        )
    if isinstance(source, Tensor):
        if size is None:
            return found
        found = source.untyped_storage()._array
    there, item = found.nbytes, dtype.itemsize
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    size = [there // item - offset] if size is None else [*size]
    try:
        apart = None if stride is None else [s * item for s in stride]
        return array_in(found, size, dtype, offset * item, apart)
    except ValueError as error:
        raise RuntimeError(f"set_(): out of bounds for storage of size {there}: {error}") from None


@method
def resize_(
    self: Tensor, *sizes: Any, memory_format: layouts.memory_format | None = None
) -> Tensor:
    """Change the shape of the tensor, in its own memory if large enough, and return it.

    Elements keep their order in memory. New elements are zero (undefined in PyTorch). If new memory
    is needed, views keep the old memory.

    Args:
        *sizes: the lengths, as separate arguments or a sequence.
        memory_format: the memory order of the new shape.

    Raises:
        RuntimeError: the tensor requires grad, or a length is negative.

    Example:
        >>> tn.arange(4).resize_(2, 3)
        tensor([[0, 1, 2],
                [3, 0, 0]])
    """
    shape = tuple(sizes[0]) if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes
    if requires_grad(self) and not mode.inference:
        raise RuntimeError("cannot resize variables that require grad")
    if any(n < 0 for n in shape):
        raise RuntimeError(f"requested resize to {list(shape)}, which has a negative dimension")
    refuse_inference(self._counter)
    if memory_format is not None or shape != self._array.shape:
        order = layouts.order(len(shape), memory_format)
        made = resized(self._array, tuple(shape[d] for d in order))
        self._array = made.transpose(np.argsort(order)) if order else made
        wrote(self, "resize_")
    return self


@composite(checks=True, function=True)
def resize_as_(
    self: Tensor, the_template: Tensor, *, memory_format: layouts.memory_format | None = None
) -> Tensor:
    """Change the shape to that of another tensor, see ``resize_``, and return the tensor.

    Args:
        the_template: the tensor with the new shape; its values are not used.
        memory_format: see ``resize_``; ``preserve_format`` uses that of the template.

    Raises:
        RuntimeError: the tensor requires grad.

    Example:
        >>> tn.arange(4).resize_as_(tn.zeros(2, 2))
        tensor([[0, 1],
                [2, 3]])
    """
    if memory_format is layouts.preserve_format:
        formats = layouts.channels_last, layouts.channels_last_3d
        memory_format = next(
            (f for f in formats if layouts.has_memory_format(the_template._array, f)), None
        )
    return self.resize_(the_template.shape, memory_format=memory_format)


@method
def share_memory_(self: Tensor) -> Tensor:
    """Move the elements to memory shared with processes forked later, and return the tensor.

    Writes by one process are visible in all. A process started with ``"spawn"`` gets a copy.
    Existing views keep the old memory.

    Raises:
        RuntimeError: the tensor is a view: share its base instead.

    Example:
        >>> tn.zeros(2).share_memory_().is_shared()
        True
    """
    if self._view is not None:
        raise RuntimeError(
            "share_memory_() would separate a view from its base. Share the base before making "
            "views of it, or share a clone()."
        )
    if not is_shared(self):
        self._array = in_shared_memory(self._array)
    return self


@method
def is_shared(self: Tensor) -> bool:
    """Return whether forked processes share the memory, see ``share_memory_``.

    Example:
        >>> tn.ones(2).is_shared()
        False
    """
    return shares_memory(self._array)


def in_shared_memory(old: Array) -> Array:
    """Return a copy in memory shared with processes forked later."""
    memory = mmap.mmap(-1, max(old.nbytes, 1))  # anonymous, and shared with forks
    new = np.frombuffer(memory, old.dtype, old.size).reshape(old.shape)
    new[...] = old
    return new


def shares_memory(array: Array) -> bool:
    """Return whether forked processes share the memory of an array."""
    owner: Any = array
    while isinstance(owner, (np.ndarray, memoryview)):
        owner = owner.base if isinstance(owner, np.ndarray) else owner.obj
    return isinstance(owner, mmap.mmap)


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Swap all data of two tensors: values, gradient, history, class and attributes.

    References to one object then see the other's data. Graphs recorded before refer to the
    objects, whatever data they hold now.

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
