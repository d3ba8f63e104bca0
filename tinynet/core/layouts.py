"""PyTorch's memory formats and layouts: the order of a tensor's elements in memory.

tinynet accepts memory formats wherever PyTorch does; they change no values. The functions at the
end lay out results: numpy and PyTorch choose other orders where inputs are not row-major.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet.dtypes import Array, namespace
from tinynet.kernels.strides import restrided


class _Named:
    """A named constant."""

    __slots__ = ("name",)

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return f"{namespace(type(self))}.{self.name}"

    def __reduce__(self) -> str:
        return self.name


class memory_format(_Named):  # noqa: N801  # PyTorch's names
    """The order of the elements, such as ``tinynet.channels_last``.

    Args:
        name: users make none: they are all there.

    Example:
        >>> tn.channels_last, isinstance(tn.channels_last, tn.memory_format)
        (tinynet.channels_last, True)
    """


class layout(_Named):  # noqa: N801
    """The storage layout of a tensor, such as ``tinynet.strided``: all elements are stored.

    Args:
        name: users make none: they are all there.

    Example:
        >>> tn.ones(2).layout
        tinynet.strided
    """


contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")
strided = layout("strided")
sparse_coo = layout("sparse_coo")
sparse_csr = layout("sparse_csr")


class _Ranks(dict[Any, int | None]):
    def __missing__(self, wanted: Any) -> int:
        kind = type(wanted).__name__
        raise TypeError(f"argument 'memory_format' must be tinynet.memory_format, not {kind}")


_RANKS = _Ranks.fromkeys((contiguous_format, preserve_format))
_RANKS.update({channels_last: 4, channels_last_3d: 5})
_orders: dict[Any, tuple[int, ...] | None] = {}  # shapes and strides -> the order of a result


def order(ndim: int, wanted: memory_format | None) -> tuple[int, ...]:
    """Return the dimensions of an array in the order of a format, slowest first.

    Raises:
        RuntimeError: the format is for arrays with another number of dimensions.
    """
    if wanted is None or (rank := _RANKS[wanted]) is None:
        return tuple(range(ndim))
    if ndim != rank:
        raise RuntimeError(f"required rank {rank} tensor to use {wanted.name} format")
    return (0, *range(2, ndim), 1)


def has_memory_format(array: Array, wanted: memory_format) -> bool:
    """Return whether the elements of an array have the order of a memory format."""
    rank = _RANKS[wanted]
    if rank is None:
        return bool(array.flags.c_contiguous)
    return array.ndim == rank and bool(np.moveaxis(array, 1, -1).flags.c_contiguous)


def arranged(array: Array, wanted: memory_format) -> Array:
    """Return an array in the order of a memory format; itself if it has that order.

    Raises:
        RuntimeError: the format is for arrays with another number of dimensions.
    """
    order(array.ndim, wanted)  # refuses other numbers of dimensions
    if _RANKS[wanted] is None:
        return np.asarray(array, order="C")
    return np.moveaxis(np.asarray(np.moveaxis(array, 1, -1), order="C"), -1, 1)


def like(array: Array, model: Array, wanted: memory_format | None) -> Array:
    """Return a new array in the order of a format, or (None, ``preserve_format``) of ``model``."""
    if wanted not in (None, preserve_format):
        return arranged(array, wanted)
    return iterated(array, model)


def suggested(array: Array) -> memory_format:
    """Return ``channels_last`` for an image whose strides have that order, else row-major."""
    if array.ndim not in (4, 5) or array.strides[1] == 0:
        return contiguous_format
    least = 0
    for axis in (1, *range(array.ndim - 1, 1, -1), 0):
        n, step = array.shape[axis], array.strides[axis]
        if n == 0 or step < least or (axis == 0 and least == array.strides[1]):
            return contiguous_format
        least = step * n if n > 1 else step
    return channels_last if array.ndim == 4 else channels_last_3d


def expanded(array: Array, shape: Sequence[int]) -> Array | None:
    """Return an array broadcast to a shape (-1 keeps a size) with PyTorch's strides, or None."""
    own, after, extra = array.shape, array.itemsize, len(shape) - array.ndim
    full = steps = tuple[int, ...]()
    for i in reversed(range(len(shape))):
        size, step = (own[i - extra], array.strides[i - extra]) if i >= extra else (1, after)
        n = size if shape[i] == -1 and i >= extra else shape[i]
        if n != size and (size != 1 or n < 0):
            return None
        step = step if n == size else 0
        full, steps, after = (n, *full), (step, *steps), n * step
    return restrided(array, full, steps) if extra >= 0 else None


def inserted(array: Array, axis: int) -> Array:
    """Return a view with a dimension of length 1, with PyTorch's stride."""
    old, shape = array.strides, (*array.shape[:axis], 1, *array.shape[axis:])
    step = array.itemsize if axis == array.ndim else array.shape[axis] * old[axis]
    steps = (*old[:axis], step, *old[axis:])
    return restrided(array, shape, steps) if type(array) is np.ndarray else array.reshape(shape)


# ---- orders of results --------------------------------------------------------------------------


def _strides(array: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides in elements of an array that is broadcast to a shape."""
    extra = len(shape) - array.ndim
    steps = [0] * extra
    for n, wide, step in zip(array.shape, shape[extra:], array.strides, strict=True):
        steps.append(0 if n == 1 and wide != 1 else step // array.itemsize)
    return tuple(steps)


@functools.lru_cache(maxsize=4096)
def _axes(shape: tuple[int, ...], strides: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """Return the dimensions in the order in which PyTorch's TensorIterator walks, slowest first.

    The first operand whose strides tell two dimensions apart decides; 0 tells nothing.
    """
    axes = list(range(len(shape)))[::-1]  # fastest first

    def later(a: int, b: int) -> int:
        for steps in strides:
            if steps[a] == 0 or steps[b] == 0:
                continue
            if steps[a] != steps[b]:
                return 1 if steps[a] > steps[b] else -1
            if shape[a] > shape[b]:
                return 1
        return 0

    for i in range(1, len(axes)):
        at = i
        for j in range(i - 1, -1, -1):
            decision = later(axes[j], axes[at])
            if decision > 0:
                axes[j], axes[at] = axes[at], axes[j]
                at = j
            elif decision < 0:
                break
    return tuple(reversed(axes))


def _in_axes(result: Array, axes: Sequence[int]) -> Array:
    """Return a result with its dimensions in an order, slowest first; itself if it has it."""
    step = result.itemsize
    for axis in reversed(axes):
        if result.strides[axis] != step and result.size:
            moved = np.empty([result.shape[axis] for axis in axes], result.dtype)
            made = moved.transpose(sorted(range(len(axes)), key=list(axes).__getitem__))
            made[...] = result
            return made
        step *= result.shape[axis]
    return result


def iterated(result: Array, *inputs: Any) -> Array:
    """Return the result of an elementwise operation in PyTorch's order for these inputs.

    Inputs of one order without gaps pass it on. Otherwise, it is that of the walk over them all.
    """
    arrays = [a for a in inputs if type(a) is np.ndarray and a.ndim]
    ndim = max([a.ndim for a in arrays], default=99)  # larger than that of a reduced loss
    if type(result) is not np.ndarray or not result.size or ndim > result.ndim:
        return result
    key = tuple([(a.shape, a.strides, a.itemsize) for a in (result, *arrays)])
    if (axes := _orders.get(key, ())) == ():
        if len(_orders) >= 4096:
            _orders.clear()
        axes = _orders[key] = _iteration(result, arrays)
    return result if axes is None else _in_axes(result, axes)


def _iteration(result: Array, arrays: list[Array]) -> tuple[int, ...] | None:
    """Return the order of the dimensions of a result; None for that which it has."""
    strides = tuple(_strides(a, result.shape) for a in arrays)
    if all(a.shape == result.shape for a in arrays):
        for wanted in (contiguous_format, channels_last, channels_last_3d):
            if all(has_memory_format(a, wanted) for a in arrays):
                return order(result.ndim, wanted)
        if len({*strides}) == 1 and result.strides == arrays[0].strides:
            return None
    return _axes(result.shape, strides)


def preserved(result: Array, *inputs: Any) -> Array:
    """Return a result in the order of the first input: ``empty_like`` and ``clone``."""
    return iterated(result, *inputs[:1])


def in_rows(result: Array, *inputs: Any) -> Array:
    """Return a result in row-major order."""
    return _in_axes(result, range(result.ndim)) if type(result) is np.ndarray else result


def in_columns(result: Array, *inputs: Any) -> Array:
    """Return matrices like the first input in column-major order: as LAPACK writes them."""
    if type(result) is not np.ndarray or result.ndim < 2 or result.ndim != inputs[0].ndim:
        return in_rows(result)
    return _in_axes(result, (*range(result.ndim - 2), result.ndim - 1, result.ndim - 2))


def as_image(result: Array, *inputs: Any) -> Array:
    """Return a result in the memory format that the strides of the first input suggest."""
    image = inputs[0]
    if type(result) is not np.ndarray or type(image) is not np.ndarray:
        return result
    return _in_axes(result, order(result.ndim, suggested(image) if result.ndim > 3 else None))


def as_plane(result: Array, *inputs: Any) -> Array:
    """Return a result like ``as_image`` if it has two spatial dimensions, else row-major."""
    return as_image(result, *inputs) if result.ndim == 4 else in_rows(result)


def as_convolved(result: Array, *inputs: Any) -> Array:
    """Return a convolution in the memory format that the input or the weight suggests."""
    given = [a for a in inputs[:2] if type(a) is np.ndarray]
    if type(result) is not np.ndarray or len(given) < 2:
        return result
    if result.ndim == 3:  # as an image of one row, which PyTorch makes contiguous first
        row = inserted(given[1], 2)
        return _in_axes(result, (0, 2, 1) if suggested(row) is channels_last else (0, 1, 2))
    return as_image(result, given[suggested(given[0]) is contiguous_format])


def as_spread(result: Array, *inputs: Any) -> Array:
    """Return a transposed convolution like ``as_convolved``; row-major for volumes."""
    return as_convolved(result, *inputs) if result.ndim < 5 else in_rows(result)


def in_memory(result: Array, *inputs: Any) -> Array:
    """Return a result with the strides of the first input, gaps included."""
    array = inputs[0]
    if type(result) is not np.ndarray or result.strides == array.strides or not result.size:
        return result
    if 0 in array.strides or min(array.strides) < 0:
        return preserved(result, array)
    last = sum((n - 1) * step for n, step in zip(array.shape, array.strides, strict=True))
    made = restrided(np.zeros(last // array.itemsize + 1, result.dtype), array.shape, array.strides)
    made[...] = result
    return made


def selected(result: Array, array: Array, indices: Sequence[Any]) -> Array:
    """Return ``array[indices]`` in the order of PyTorch's walk over the array and the indices.

    The indexed dimensions are one block: at the place of the first index, or at the front if
    others stand between them.
    """
    keys = [k for i in indices if i is not None for k in (i.nonzero() if i.dtype == bool else (i,))]
    at, block = [], np.broadcast_shapes(*(k.shape for k in keys))
    for i in indices:
        at += [i is not None] * (1 if i is None or i.dtype != bool else i.ndim)
    at += [False] * (array.ndim - len(at))
    kept = [array.strides[d] // array.itemsize for d in range(array.ndim) if not at[d]]
    inside = [d for d, chosen in enumerate(at) if chosen]
    place = at.index(True) if inside == [*range(inside[0], inside[-1] + 1)] else 0
    none = [0] * len(block)
    walks = [(*kept[:place], *none, *kept[place:])]
    for k in keys:
        walks.append((*[0] * place, *_strides(k, block), *[0] * (len(kept) - place)))
    return _in_axes(result, _axes(result.shape, tuple(walks)))


def of_parts(result: Array, parts: Sequence[Array]) -> Array:
    """Return joined parts in the memory format that all of them suggest, else row-major."""
    plain = all([a.flags.c_contiguous for a in parts]) or contiguous_format in map(suggested, parts)
    if plain and result.flags.c_contiguous:
        return result
    formats = {contiguous_format} if plain else {suggested(a) for a in parts}
    return _in_axes(result, order(result.ndim, formats.pop() if len(formats) == 1 else None))


_FUNCTIONS: tuple[Callable[..., Array], ...] = (
    *(iterated, preserved, in_memory, in_rows, in_columns),
    *(as_image, as_plane, as_convolved, as_spread),
)
ORDERS = {function.__name__: function for function in _FUNCTIONS}
