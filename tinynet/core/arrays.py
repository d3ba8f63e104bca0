"""What the core itself does with arrays, outside of kernels and formulas.

These are functions, not expressions, so that a tracer can capture them.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tinynet.core.trace import traced, traced_write
from tinynet.dtypes import Array
from tinynet.kernels.sums import sums

add = traced(operator.add)


@traced
def ones(shape: tuple[int, ...], kind: np.dtype[Any]) -> Array:
    """Return an array of ones."""
    return np.ones(shape, kind) if shape else np.array(1, kind)  # faster than np.ones(())


@traced
def full(shape: tuple[int, ...] | int, value: Any, kind: np.dtype[Any]) -> Array:
    """Return an array filled with a value."""
    return np.full(shape, value, kind)


@traced
def copied(array: Array, order: Any = "C") -> Array:
    """Return a copy of an array."""
    return np.array(array, order=order)


@traced
def converted(array: Any, kind: np.dtype[Any]) -> Any:
    """Return an array or a numpy scalar in another dtype; itself if that is its dtype.

    Complex numbers in a real dtype are their real parts.
    """
    if array.dtype.kind == "c" and kind.kind != "c":
        array = array.real
    return array.astype(kind, copy=False)


@traced
def number(value: Any, kind: np.dtype[Any]) -> Array:
    """Return a number as an array of no dimensions."""
    return np.asarray(value, kind)


@traced
def dense(rows: Any) -> Array:
    """Return the dense form of rows, see graph/accumulate_grad.py."""
    return rows.dense()  # type: ignore[no-any-return]


@traced
def writable(array: Any) -> Array:
    """Return an array itself, or a copy of one that was broadcast and is read-only."""
    array = np.asarray(array)
    return array if array.flags.writeable else array.copy(order="C")  # type: ignore[no-any-return]


@traced_write
def assign(array: Array, values: Any) -> None:
    """Write values to an array."""
    array[...] = values


@traced_write
def update(array: Array, ufunc: np.ufunc, *operands: Any) -> None:
    """Write the result of a ufunc of an array and other operands over the array."""
    ufunc(array, *operands, out=array)


def sum_to(g: Array, shape: tuple[int, ...]) -> Array:
    """Undo broadcasting: sum ``g`` to ``shape``."""
    axes = broadcast_axes(g.shape, shape)
    return (sums(g, axes, True) if axes else g).reshape(shape)


def broadcast_axes(wide: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the axes along which ``shape`` was repeated to become ``wide``."""
    extra = len(wide) - len(shape)
    repeated = [i + extra for i, n in enumerate(shape) if n == 1 and wide[i + extra] != 1]
    return (*range(extra), *repeated)
