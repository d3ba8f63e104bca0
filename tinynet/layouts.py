"""PyTorch's memory formats and layouts: the order of a tensor's elements in memory.

tinynet accepts memory formats wherever PyTorch does; they change no values. Results of operations
are row-major (``contiguous_format``) or keep the order of an input (``preserve_format``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.dtypes import Array, namespace


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


def order(ndim: int, wanted: memory_format | None) -> tuple[int, ...]:
    """Return the dimensions of an array in the order of a format, slowest first.

    Raises:
        RuntimeError: the format is for arrays with another number of dimensions.
    """
    rank = None if wanted is None else _RANKS[wanted]
    if wanted is None or rank is None:
        return tuple(range(ndim))
    if ndim != rank:
        raise RuntimeError(f"required rank {rank} tensor to use {wanted.name} format")
    return (0, *range(2, ndim), 1)


def lies(array: Array, wanted: memory_format) -> bool:
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
    rank = _RANKS[wanted]
    if rank is None:
        return np.asarray(array, order="C")
    if array.ndim != rank:
        raise RuntimeError(f"required rank {rank} tensor to use {wanted.name} format")
    return np.moveaxis(np.asarray(np.moveaxis(array, 1, -1), order="C"), -1, 1)


def like(array: Array, model: Array, wanted: memory_format | None) -> Array:
    """Return a new array in the order of a format, or (None, ``preserve_format``) of ``model``.

    A model whose elements share memory (expanded) has no order: the array is returned unchanged.
    """
    if wanted not in (None, preserve_format):
        return arranged(array, wanted)
    if model.flags.c_contiguous or 0 in model.strides:
        return array
    made = np.empty_like(model, array.dtype, subok=False)
    made[...] = array
    return made
