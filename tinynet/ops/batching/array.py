"""An array with hidden leading dimensions: the batches over which ``vmap`` runs.

It replaces ``Tensor._array`` and has the shape of one example, so shapes, dtypes, views, recording
and backward passes need not handle batches. Kernels do not see it: while a level is alive,
``dispatch.py`` wraps each kernel. It has the part of numpy's interface that tinynet uses outside
kernels; anything else raises ``UnbatchableError``, and the examples run one by one.
"""

from __future__ import annotations

import math
import sys
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from tinynet import errors
from tinynet.core.callsite import is_outside
from tinynet.core.graph.views import requires_grad
from tinynet.core.tensors.tensor import wrap
from tinynet.dtypes import Array

ITEM = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling "
    ".item() on a Tensor, please try to rewrite what you're doing with other operations. If error "
    "is occurring somewhere inside PyTorch internals, please file a bug report."
)
CONTROL_FLOW = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We "
    "don't support that yet, please file an issue at https://github.com/pytorch/pytorch/issues ."
)


class UnbatchableError(RuntimeError):
    """An operation that is only possible on single examples, not on a batch."""


def _refused(message: str) -> RuntimeError:
    """Return the error for the user's line, or another one if tinynet itself reads a value."""
    frame = sys._getframe(3)  # of what called Tensor.item, Tensor.__bool__, ...
    return (RuntimeError if is_outside(frame.f_code.co_filename) else UnbatchableError)(message)


class BatchedArray(NDArrayOperatorsMixin):
    """An array that represents one array per example.

    Args:
        array: the arrays of all examples; its first dimensions are those of the levels.
        levels: the levels of ``vmap`` that it runs over, the outermost first.
    """

    __slots__ = ("array", "levels")

    def __init__(self, array: Array, levels: tuple[Any, ...]):
        self.array = array
        self.levels = levels

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """Make ``isinstance`` treat it as an array."""
        return np.ndarray

    # ---- properties of an example -----------------------------------------------------------

    @property
    def batch(self) -> tuple[int, ...]:
        """Number of examples of each level."""
        return self.array.shape[: len(self.levels)]

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one example."""
        return self.array.shape[len(self.levels) :]

    @property
    def ndim(self) -> int:
        """Number of dimensions of one example."""
        return self.array.ndim - len(self.levels)

    @property
    def size(self) -> int:
        """Number of elements of one example."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of one example."""
        return self.size * self.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """Steps in memory between elements of one example."""
        return self.array.strides[len(self.levels) :]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Data type of the elements."""
        kind: np.dtype[Any] = self.array.dtype
        return kind

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return self.array.itemsize

    @property
    def flags(self) -> Any:
        """Flags of the array of all examples."""
        return self.array.flags

    @property
    def base(self) -> Any:
        """The owner of the memory: never None, so that in-place operations take the slow path."""
        return self.array

    def __len__(self) -> int:
        return self.shape[0]

    # ---- other arrays of it -----------------------------------------------------------------

    def like(self, array: Array) -> BatchedArray:
        """Return an array over the same levels."""
        return BatchedArray(array, self.levels)

    def for_each(self, array: Array | BatchedArray) -> BatchedArray:
        """Return a copy of a plain array for each example; a batched array unchanged."""
        if isinstance(array, BatchedArray):
            return array
        return self.like(np.broadcast_to(array, self.batch + array.shape).copy())

    def show(self, t: Any) -> str:
        """Return what ``repr`` shows for a tensor that holds this array."""
        value = wrap(self.array)
        value._edge, value._requires_grad = t._edge, requires_grad(t)
        text = repr(value)
        for number in range(1, len(self.levels) + 1):
            inner = textwrap.indent(text, "    ")
            text = f"BatchedTensor(lvl={number}, bdim=0, value=\n{inner}\n)"
        return text

    def astype(self, dtype: Any, copy: bool = True) -> BatchedArray:
        """Return the array in another dtype; itself if nothing changes and ``copy`` is False."""
        made = self.array.astype(dtype, copy=copy)
        return self if made is self.array else self.like(made)

    def copy(self, order: Any = "C") -> BatchedArray:
        """Return a copy."""
        return self.like(self.array.copy(order))

    def reshape(self, *shape: Any, copy: bool | None = None) -> BatchedArray:
        """Return the examples in another shape."""
        sizes = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        if -1 in sizes:
            rest = math.prod(n for n in sizes if n != -1)
            sizes = tuple(self.size // max(rest, 1) if n == -1 else n for n in sizes)
        return self.like(self.array.reshape((*self.batch, *sizes), copy=copy))

    def __getitem__(self, key: Any) -> BatchedArray:
        parts = key if isinstance(key, tuple) else (key,)
        if any(isinstance(p, (np.ndarray, list)) for p in parts):
            raise UnbatchableError("vmap: indexing an array by arrays outside of an operation")
        return self.like(self.array[(*(slice(None),) * len(self.levels), *parts)])

    def __setitem__(self, key: Any, value: Any) -> None:
        parts = key if isinstance(key, tuple) else (key,)
        whole = aligned((self, value), self.levels)
        if whole is None:
            raise RuntimeError(errors.VMAP_IN_PLACE)
        if any(isinstance(p, (np.ndarray, list)) for p in parts):
            raise UnbatchableError("vmap: writing to places of an array outside of an operation")
        target = self.array[(*(slice(None),) * len(self.levels), *parts)]
        if isinstance(whole[1], np.ndarray) and whole[1].ndim > target.ndim:
            whole[1] = whole[1].reshape(target.shape)
        target[...] = whole[1]

    def swapaxes(self, axis1: int, axis2: int) -> BatchedArray:
        """Return the examples with two dimensions exchanged."""
        return self.like(self.array.swapaxes(self._behind(axis1), self._behind(axis2)))

    def view(self, dtype: Any) -> BatchedArray:
        """Return the same memory as another dtype of the same size."""
        return self.like(self.array.view(dtype))

    def any(self, axis: Any = None, **options: Any) -> Any:
        """Return whether any element is true: of all examples, for checks of arguments, or along
        an axis."""
        return self._reduced(np.logical_or, axis, **options)

    def all(self, axis: Any = None, **options: Any) -> Any:
        """Return whether all elements are true: of all examples, for checks of arguments, or along
        an axis."""
        return self._reduced(np.logical_and, axis, **options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise UnbatchableError(f"vmap: {name} of an array outside of an operation")

    # ---- single values ----------------------------------------------------------------------

    def item(self) -> Any:
        """Raise an error: there is a value for each example."""
        raise _refused(ITEM)

    tolist = item

    def __bool__(self) -> bool:
        raise _refused(CONTROL_FLOW)

    # ---- numpy's functions ------------------------------------------------------------------

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        raise UnbatchableError("vmap: the arrays of all examples are not a single array")

    @property
    def __array_interface__(self) -> Any:
        """Raise an error: the memory belongs to all examples."""
        raise UnbatchableError("vmap: the memory of an array outside of an operation")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "reduce" and inputs[0] is self:
            return self._reduced(ufunc, *inputs[1:], **options)
        if method != "__call__" or ufunc.signature is not None:
            raise UnbatchableError(f"vmap: numpy.{ufunc.__name__} outside of an operation")
        levels = united(inputs)
        if "out" in options:
            return _written(ufunc, inputs, levels, **options)
        found = ufunc(*spread_out(inputs, levels), **options)
        if isinstance(found, tuple):
            return tuple(BatchedArray(r, levels) for r in found)
        return BatchedArray(found, levels)

    def _reduced(self, ufunc: Any, axis: Any = 0, **options: Any) -> Any:
        if "out" in options:
            raise UnbatchableError(f"vmap: numpy.{ufunc.__name__}.reduce outside of an operation")
        if axis is None:  # a check of arguments, over all examples
            return ufunc.reduce(self.array, axis=None, **options)
        return self.like(ufunc.reduce(self.array, axis=self._behind(axis), **options))

    def _behind(self, axis: Any) -> Any:
        """Return an axis, or several, behind the dimensions of the batch."""
        if isinstance(axis, tuple):
            return tuple(map(self._behind, axis))
        return axis % self.ndim + len(self.levels)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func is np.may_share_memory:
            return False  # no one compares arrays of one batch
        if func is np.where and len(args) == 3:
            levels = united(args)
            return BatchedArray(np.where(*spread_out(args, levels)), levels)
        if func is np.isneginf:
            return args[0] == -np.inf
        if func is np.expand_dims:
            ndim = self.ndim + 1
            return self.like(np.expand_dims(self.array, args[1] % ndim + len(self.levels)))
        if func is np.broadcast_to:
            return self.like(np.broadcast_to(*spread_to(self, args[1])))
        if func in (np.zeros_like, np.ones_like, np.empty_like, np.full_like):
            return self.like(func(self.array, *args[1:], **kwargs))
        raise UnbatchableError(f"vmap: numpy.{func.__name__} outside of an operation")


def _written(
    ufunc: Any, inputs: Sequence[Any], levels: tuple[Any, ...], out: tuple[Any], **options: Any
) -> Any:
    """Apply a ufunc with ``out=`` a batched array."""
    (target,) = out
    if type(target) is not BatchedArray or any(level not in target.levels for level in levels):
        raise RuntimeError(errors.VMAP_IN_PLACE)
    ufunc(*spread_out(inputs, target.levels), out=target.array, **options)
    return target


def is_batched(x: Any) -> bool:
    """Return whether ``x`` is a batched array; ``isinstance`` takes it for a plain one."""
    return type(x) is BatchedArray


def united(values: Sequence[Any]) -> tuple[Any, ...]:
    """Return all levels of the batched arrays among values, the outermost first."""
    found = {level for x in values if type(x) is BatchedArray for level in x.levels}
    return tuple(sorted(found, key=lambda level: level.number))


def at_levels(x: BatchedArray, levels: tuple[Any, ...]) -> Array:
    """Return the arrays of ``x`` with one leading dimension per level, of length 1 for others."""
    if x.levels == levels:
        return x.array
    sizes = iter(x.batch)
    batch = tuple(next(sizes) if level in x.levels else 1 for level in levels)
    return x.array.reshape(batch + x.shape)


def spread_out(values: Sequence[Any], levels: tuple[Any, ...]) -> list[Any]:
    """Return operands whose examples broadcast: missing dimensions follow those of the batch."""
    ndim = max([getattr(x, "ndim", 0) for x in values], default=0)
    found = []
    for x in values:
        if type(x) is BatchedArray:
            array = at_levels(x, levels)
            if x.ndim < ndim:
                count = len(levels)
                array = array.reshape(
                    array.shape[:count] + (1,) * (ndim - x.ndim) + array.shape[count:]
                )
            found.append(array)
        else:
            found.append(x)
    return found


def spread_to(x: BatchedArray, shape: Sequence[int]) -> tuple[Array, tuple[int, ...]]:
    """Return the arrays of ``x``, and the shape of the whole, for examples of another shape."""
    missing = (1,) * (len(shape) - x.ndim)
    return x.array.reshape(x.batch + missing + x.shape), (*x.batch, *shape)


def aligned(values: Sequence[Any], levels: tuple[Any, ...]) -> list[Any] | None:
    """Return ``spread_out(values, levels)``; None if a value has another level."""
    if any(level not in levels for level in united(values)):
        return None
    return spread_out(values, levels)


def full(x: Any, levels: tuple[Any, ...], batch: tuple[int, ...]) -> Array:
    """Return the arrays of all examples; one that they share is repeated."""
    array = at_levels(x, levels) if type(x) is BatchedArray else np.asarray(x)
    shape = x.shape if type(x) is BatchedArray else array.shape
    return array if array.shape == batch + shape else np.broadcast_to(array, batch + shape)
