"""The state of a parameter between steps, and running an update on it."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array

BLOCK = 128 * 1024  # bytes of one array that are updated at a time
SMALL = 2048  # elements: above it, copying costs more than the saved calls
Rule = Callable[..., None]  # block(param, grad, *scratch, *buffers)
Numbers = dict[str, Array]  # the 0-d state of a parameter, by name
Kind = np.dtype[Any]


class Slot:
    """The data of one parameter between steps: views of its values, state and scratch memory.

    Attributes:
        array: the parameter's values; the slot is invalid once the parameter has other values.
        numbers: the 0-d state, by name.
        buffers: the state of the parameter's shape.
        fresh: whether the buffers were created for the coming step.
        order: the axes in memory order; None if values and state are not contiguous, or differ.
        lines: values and state, each in one dimension.
        is_small: whether it may be updated together with others.
    """

    __slots__ = (
        "array", "arrays", "blocks", "buffers", "fresh", "held", "is_small", "kind", "lines",
        "names", "numbers", "order", "rest",
    )  # fmt: skip

    def __init__(
        self,
        p: Tensor,
        held: dict[str, Any] | None,
        numbers: tuple[str, ...],
        names: tuple[str, ...],
        fresh: bool,
        scratch: list[Array],
    ):
        self.array = array = p._array
        self.kind = array.dtype.char  # hashes faster than a dtype
        self.held = held
        self.names = names
        self.fresh = fresh
        self.arrays = [] if held is None else [getattr(v, "_array", v) for v in held.values()]
        self.numbers = {} if held is None else {name: held[name]._array for name in numbers}
        self.buffers = [] if held is None else [held[name]._array for name in names]
        self.is_small = array.size <= SMALL and all(
            a.flags.c_contiguous for a in (array, *self.buffers)
        )
        self.order = in_memory_order([array, *self.buffers])
        self.lines, self.blocks = [], []
        if self.order is not None:
            self.lines = [a.transpose(self.order).reshape(-1) for a in (array, *self.buffers)]
        limit = BLOCK // array.itemsize
        if array.size <= limit:
            work = [a[: array.size].reshape(array.shape) for a in scratch]
            self.rest = (*work, *self.buffers)
            return
        if self.order is None:  # not contiguous: as a whole
            self.rest = (*[np.empty_like(array) for _ in scratch], *self.buffers)
            return
        self.blocks = [
            (start, start + limit, part, (*[a[: part.size] for a in scratch], *rest))
            for start in range(0, array.size, limit)
            for part, *rest in [[a[start : start + limit] for a in self.lines]]
        ]

    def stale(self, p: Tensor, held: dict[str, Any] | None, names: tuple[str, ...]) -> bool:
        """Return True if the values or the state have been replaced since the slot was created."""
        if self.array is not p._array or self.held is not held or self.names != names:
            return True
        if not held:
            return False
        now = [getattr(v, "_array", v) for v in held.values()]
        return len(now) != len(self.arrays) or not all(map(is_, now, self.arrays))

    def run(self, block: Rule, grad: Array) -> None:
        """Update the parameter."""
        self.fresh = False
        if self.order is None:
            block(self.array, grad, *self.rest)
        elif self.blocks:
            flat = grad.transpose(self.order).reshape(-1)
            for start, stop, part, rest in self.blocks:
                block(part, flat[start:stop], *rest)
        else:
            block(self.array, grad, *self.rest)


def in_memory_order(arrays: list[Array]) -> tuple[int, ...] | None:
    """Return the axis order in which all arrays are contiguous; None if there is none."""
    first = arrays[0]
    order = tuple(sorted(range(first.ndim), key=lambda d: -first.strides[d]))
    dense = all(a.transpose(order).flags.c_contiguous for a in arrays)
    return order if dense else None
