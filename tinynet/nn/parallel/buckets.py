"""Buckets: the gradients of several parameters side by side in one array, for one reduction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.core.graph.row_sparse import Rows
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import Array

MB = 1 << 20


def assign(
    sizes: Sequence[tuple[Any, int]], limits: Sequence[int], alone: Sequence[bool] = ()
) -> list[list[int]]:
    """Distribute parameters over buckets of one dtype each, in their order.

    A bucket is full when it has reached its limit.

    Args:
        sizes: the dtype and the number of bytes of each parameter.
        limits: of the first, the second, ... bucket of each dtype; the last holds for all others.
        alone: the parameters that have a bucket of their own.

    Returns:
        The indices of the parameters in each bucket. Buckets begin in the order of parameters.
    """
    buckets: list[list[int]] = []
    filling: dict[Any, list[int]] = {}
    filled: dict[Any, int] = {}
    full: dict[Any, int] = {}
    for index, (kind, nbytes) in enumerate(sizes):
        if alone and alone[index]:
            buckets.append([index])
            continue
        if kind not in filling:
            filling[kind], filled[kind] = [], 0
            buckets.append(filling[kind])
        filling[kind].append(index)
        filled[kind] += nbytes
        if filled[kind] >= limits[min(full.get(kind, 0), len(limits) - 1)]:
            del filling[kind]
            full[kind] = full.get(kind, 0) + 1
    return buckets


class Bucket:
    """The gradients of some parameters.

    Args:
        indices: of the parameters, in their order in the bucket.
        parameters: the parameters, of one dtype.

    Attributes:
        flat: all gradients, as one tensor.
        slots: the part of ``flat`` for each parameter, in its shape.
        missing: the number of parameters whose gradient has not arrived yet.
        work: the reduction that is under way, or None.
        rows: of a sparse gradient: the average, once the reduction has completed.
    """

    def __init__(self, indices: Sequence[int], parameters: Sequence[Tensor]):
        self.indices, self.parameters = list(indices), list(parameters)
        kind = parameters[0]._array.dtype
        ends = np.cumsum([0, *(p._array.size for p in parameters)])
        array = np.zeros(int(ends[-1]), kind)
        self.flat = wrap(array)
        self.slots: list[Array] = [
            array[a:b].reshape(p._array.shape)
            for a, b, p in zip(ends, ends[1:], parameters, strict=False)
        ]
        self.missing = len(self.indices)
        self.work: Any = None
        self.rows: list[Rows] = []

    def fill(self, place: int) -> None:
        """Copy the gradient of a parameter to its slot; zeros if it has none."""
        grad, slot = self.parameters[place].grad, self.slots[place]
        if grad is None:
            slot[...] = 0
        elif grad._array is not slot and not _same_memory(grad._array, slot):
            slot[...] = grad._array

    def replace(self, flat: Tensor) -> None:
        """Copy the result of a communication hook to the slots."""
        if flat is not self.flat:
            self.flat._array[...] = flat._array.reshape(-1)


def _same_memory(a: Array, b: Array) -> bool:
    return a.ctypes.data == b.ctypes.data and a.strides == b.strides and a.size > 0
