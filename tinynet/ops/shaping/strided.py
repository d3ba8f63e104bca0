"""Views by strides, and sliding windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.declaration.operation import composite, operation, view
from tinynet.core.graph.inplace import run_inplace_view
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.kernels.strides import array_in, extent, integers
from tinynet.ops.arguments import name_of
from tinynet.ops.shaping.views import axis_of, copied

Ints = tuple[int, ...]

# ---- sliding windows ----------------------------------------------------------------------------


@copied("tn.unfold_copy(x, 1, 1, 1)", [[[1.0], [2.0]]])
@view(public=True)
def unfold(self: Array, /, dimension: int, size: int, step: int) -> Array:
    """Return a view of all windows of ``size`` elements along a dimension, ``step`` apart.

    The windows are a new last dimension.

    Raises:
        RuntimeError: a window is longer than the dimension, or the step is not positive.

    Example:
        >>> tn.arange(5).unfold(0, 3, 2)
        tensor([[0, 1, 2],
                [2, 3, 4]])
    """
    axis = axis_of(dimension, self.ndim)
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    n = self.shape[axis] if self.ndim else 1
    if size > n:
        raise RuntimeError(f"maximum size for tensor at dimension {axis} is {n} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if self.ndim == 0:
        return self.reshape(1)[:size]
    lengths, steps = list(self.shape), list(self.strides)
    lengths[axis], steps[axis] = (n - size) // step + 1, steps[axis] * step
    return np.lib.stride_tricks.as_strided(
        self, (*lengths, size), (*steps, self.strides[axis]), writeable=self.flags.writeable
    )


@operation(node="UnfoldBackwardBackward0", complex=True)
def windows_summed(self: Array, /, shape: Ints, dimension: int, size: int, step: int) -> Array:
    """Sum the windows into zeros of ``shape``: the derivative of ``unfold``."""
    if not shape:
        return self.reshape(()).copy() if size else np.zeros((), self.dtype)
    axis = axis_of(dimension, len(shape))
    whole = np.zeros(shape, self.dtype)
    for k in range(size):
        stop = k + step * (self.shape[axis] - 1) + 1
        whole[(slice(None),) * axis + (slice(k, stop, step),)] += self[..., k]
    return whole


unfold.grad(
    self=lambda g, self_shape, dimension, size, step: windows_summed(
        g, self_shape, dimension, size, step
    )
)
windows_summed.grad(self=lambda g, dimension, size, step: unfold(g, dimension, size, step))

# ---- by strides ---------------------------------------------------------------------------------


def memory_of(array: Array) -> tuple[Array, int]:
    """Return an array's memory as one dimension, and the offset of its first element."""
    root: Any = array
    while isinstance(getattr(root, "base", None), np.ndarray) or hasattr(root.base, "base"):
        root = root.base
    if not isinstance(root, np.ndarray) or not (root.flags.c_contiguous or root.flags.f_contiguous):
        root = array
    flat = root.reshape(-1, order="A")
    if flat.dtype != array.dtype:
        flat = flat.view(np.uint8)
        flat = flat[: flat.size // array.itemsize * array.itemsize].view(array.dtype)
    start = array.__array_interface__["data"][0] - flat.__array_interface__["data"][0]
    return flat, start // array.itemsize


def steps_of(array: Array) -> Ints:
    """Return the strides in elements."""
    return tuple(s // array.itemsize for s in array.strides)


@view(node="AsStridedBackward0")
def strided(self: Array, /, size: Ints, stride: Ints, start: int, steps: Ints) -> Array:
    """Return a view of the memory, ``start`` elements after the beginning of ``self``.

    ``steps`` are the strides of ``self``, needed by the derivative.
    """
    if self.size and steps_of(self) != steps and 1 not in self.shape:
        raise RuntimeError(
            "as_strided of memory with gaps can not be replayed on a gradient. Take as_strided of "
            "a contiguous tensor instead."
        )
    memory, own = memory_of(self)
    bytes_apart = [s * self.itemsize for s in stride]
    made = array_in(memory, size, self.dtype, max(own + start, 0) * self.itemsize, bytes_apart)
    made.flags.writeable &= self.flags.writeable
    return made


def _offsets(size: Ints, stride: Ints, start: int) -> Array:
    """Return the memory positions of the elements of a strided tensor."""
    at = np.full((), start)
    for n, step in zip(size, stride, strict=True):
        at = at[..., None] + np.arange(n) * step
    return at


def _moved(source: Array, at: Array, to: Array, shared: Array) -> Array:
    """Sum the source in memory, divide by the counts if ``shared``, and read ``to``."""
    if not source.size or not to.size:
        return np.zeros(to.shape, source.dtype)
    low = min(at.min(), to.min(), shared.min() if shared.size else 0)
    count = 1 + max(at.max(), to.max(), shared.max() if shared.size else 0) - low
    memory = np.zeros(count, source.dtype)
    np.add.at(memory, (at - low).ravel(), source.ravel())
    times = np.bincount((shared - low).ravel(), minlength=count)
    memory /= np.maximum(times, 1).astype(source.dtype)
    return memory[to - low]


@operation(complex=True)
def strided_sum(
    self: Array, /, shape: Ints, steps: Ints, size: Ints, stride: Ints, start: int
) -> Array:
    """Sum the elements of a strided view into the tensor it views."""
    own = _offsets(shape, steps, 0)
    return _moved(self, _offsets(size, stride, start), own, own)


@operation(complex=True)
def strided_copy(
    self: Array, /, shape: Ints, steps: Ints, size: Ints, stride: Ints, start: int
) -> Array:
    """Return a copy of the strided view of a tensor with this ``shape`` and these ``steps``."""
    own = _offsets(shape, steps, 0)
    return _moved(self, own, _offsets(size, stride, start), own)


strided.grad(
    self=lambda g, self_shape, size, stride, start, steps: strided_sum(
        g, self_shape, steps, size, stride, start
    )
)
strided_sum.grad(
    self=lambda g, shape, steps, size, stride, start: strided_copy(
        g, shape, steps, size, stride, start
    )
)
strided_copy.grad(
    self=lambda g, shape, steps, size, stride, start: strided_sum(
        g, shape, steps, size, stride, start
    )
)


def storage_needed(size: Ints, stride: Ints, width: int) -> int:
    """Return the number of elements of ``width`` bytes that a strided tensor needs.

    Raises:
        RuntimeError: a size is negative, or the tensor does not fit in memory.
    """
    low, high = extent(size, stride)
    if any(n < 0 for n in size) or low < 0 or (high + 1) * width >= 2**63:
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(size)} and "
            f"strides={list(stride)}"
        )
    return 0 if 0 in size else high + 1


def _strided_arguments(
    self: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None
) -> tuple[Ints, Ints, int, Ints]:
    """Return the arguments of ``strided``; refuse elements outside the memory."""
    lengths, steps = integers(size), integers(stride)
    if len(lengths) != len(steps):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(s < 0 for s in steps):
        raise RuntimeError(
            "as_strided: Negative strides are not supported at the moment, got strides: "
            f"{list(steps)}"
        )
    needed = storage_needed(lengths, steps, self._array.itemsize)
    if storage_offset is not None and storage_offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {storage_offset}")
    memory, own = memory_of(self._array)
    start = own if storage_offset is None else storage_offset
    width = self._array.itemsize
    end = start + needed
    if needed and end > memory.size:
        raise RuntimeError(
            f"setStorage: sizes {list(lengths)}, strides {list(steps)}, storage offset {start}, "
            f"and itemsize {width} requiring a storage size of {end * width} are out of bounds "
            f"for storage of size {memory.size * width}"
        )
    return lengths, steps, start - own, steps_of(self._array)


@copied("tn.as_strided_copy(x, (2,), (1,))", [1.0, 2.0])
@composite
def as_strided(
    self: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """Return a view of the tensor's memory with the given size and strides, in elements.

    Args:
        size: the shape.
        stride: the distance between neighbours in memory, for each dimension.
        storage_offset: the memory position of the first element; that of the tensor by default.

    Raises:
        RuntimeError: an element would lie outside the memory.

    Example:
        >>> tn.arange(5).as_strided((3, 2), (1, 2))
        tensor([[0, 2],
                [1, 3],
                [2, 4]])
    """
    args = _strided_arguments(self, size, stride, storage_offset)
    return strided.function(self, *args)


@composite(function=True)
def as_strided_(
    self: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """Make this tensor a view of its memory with the given strides, and return it."""
    args = _strided_arguments(self, size, stride, storage_offset)
    _, steps, start, old_steps = args
    back = (strided, (self._array.shape, old_steps, -start, steps))
    return run_inplace_view(strided, self, args, "as_strided_", back)


# ---- in another dtype ---------------------------------------------------------------------------


@view()
def viewed_as(self: Array, /, kind: Any) -> Array:
    """Return a view of the same bytes as another dtype."""
    if kind.itemsize != self.itemsize:
        mine, other = name_of(self), dtypes.from_numpy(kind).scalar_name
        _refuse_view(self, kind, f"to view {mine} as {other} (different element sizes)")
        if self.size == 0:  # numpy has no strides for it
            last = self.shape[-1] * self.itemsize // kind.itemsize
            return np.empty((*self.shape[:-1], last), kind)
    return self.view(kind)


def _refuse_view(self: Array, kind: Any, why: str) -> None:
    """Refuse a view in a dtype of another size where its elements would lie across those."""
    if self.ndim == 0:
        raise RuntimeError(f"self.dim() cannot be 0 {why}")
    steps = steps_of(self) if self.size else (1,)
    if steps[-1] != 1:
        raise RuntimeError(f"self.stride(-1) must be 1 {why}, but got {steps[-1]}")
    times = kind.itemsize // self.itemsize
    if times <= 1:
        return
    numbers = {"self.size(-1)": self.shape[-1], "self.storage_offset()": memory_of(self)[1]}
    numbers |= {f"self.stride({i})": step for i, step in enumerate(steps[:-1])}
    for name, number in numbers.items():
        if number % times:
            raise RuntimeError(f"{name} must be divisible by {times} {why}, but got {number}")
