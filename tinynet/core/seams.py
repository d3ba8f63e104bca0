"""Operations on tensors that the engine needs and ``ops`` fills in, and undoing broadcasting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.kernels.sums import sums


class Recorded:
    """The operations that the engine needs when formulas run on tensors; set by ``ops``.

    Attributes:
        batched: whether a pass over these nodes involves arrays of ``batching``, which support
            operations only, so that formulas must run on tensors; None without such arrays.
        settled: converts a batched gradient for a node or leaf outside the batch.
    """

    add: Callable[[Tensor, Tensor], Tensor]
    clone: Callable[[Tensor], Tensor]
    sum_to: Callable[[Tensor, tuple[int, ...]], Tensor]
    cast: Callable[[Tensor, Any], Tensor]
    batched: Callable[[list[Any]], bool] | None = None
    settled: Callable[[Tensor, Any], Tensor]


def sum_to(g: Array, shape: tuple[int, ...]) -> Array:
    """Undo broadcasting: sum ``g`` to ``shape``."""
    axes = broadcast_axes(g.shape, shape)
    if axes:
        g = sums(g, axes, True)
    return g.reshape(shape)


def broadcast_axes(wide: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the axes along which ``shape`` was repeated to become ``wide``."""
    extra = len(wide) - len(shape)
    repeated = [i + extra for i, n in enumerate(shape) if n == 1 and wide[i + extra] != 1]
    return (*range(extra), *repeated)
