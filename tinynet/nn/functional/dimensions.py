"""One implementation for 1, 2 and 3 spatial dimensions, under PyTorch's three names."""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType
from typing import Any

from tinynet.core.declaration.operation import Operation, operation

Ints = tuple[int, ...]


def by_rank(
    declared: Any,
    node: str,
    ranks: Iterable[int] = (1, 2, 3),
    batch: str = "folded",
    **options: Any,
) -> dict[int, Operation]:
    """Declare one operation once for each number of spatial dimensions.

    The kernel is the same for all; a graph shows the number, as PyTorch's does.

    Args:
        declared: the function, as ``@operation`` takes it.
        node: the name of the node, with ``{}`` for the number.
        ranks: the numbers.
        batch, options: those of ``@operation``.
    """
    made = {}
    for rank in ranks:
        copy = FunctionType(
            declared.__code__,
            declared.__globals__,
            f"{declared.__name__}{rank}d",
            declared.__defaults__,
            declared.__closure__,
        )
        copy.__doc__ = declared.__doc__
        copy.__module__ = declared.__module__
        made[rank] = operation(node=node.format(rank), methods=False, batch=batch, **options)(copy)
    return made


def per_dim(value: Any, rank: int) -> Ints:
    """Return an option as one int per spatial dimension: a single one counts for all."""
    if isinstance(value, (tuple, list)):
        return tuple(value) * rank if len(value) == 1 else tuple(value)
    return (value,) * rank


def spatial(shape: Ints, rank: int) -> Ints:
    """Return the lengths of the last ``rank`` dimensions."""
    return shape[len(shape) - rank :]
