"""Undoing broadcasting, on arrays and (by operations that ``ops`` lends) on tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tinynet.core.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.sums import sums


class Recorded:
    """The operations that the engine itself needs when gradients are recorded; set by ``ops``."""

    add: Callable[[Tensor, Tensor], Tensor]
    clone: Callable[[Tensor], Tensor]
    sum_to: Callable[[Tensor, tuple[int, ...]], Tensor]
    cast: Callable[[Tensor, Any], Tensor]


def sum_to(g: Array, shape: tuple[int, ...]) -> Array:
    """Undo broadcasting: sum ``g`` to ``shape``."""
    extra = g.ndim - len(shape)
    axes = [*range(extra)]
    axes += [i + extra for i, n in enumerate(shape) if n == 1 and g.shape[i + extra] != 1]
    if axes:
        g = sums(g, tuple(axes), True)
    return g.reshape(shape)
