"""One implementation for 1, 2 and 3 spatial dimensions, under PyTorch's three names."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, Concatenate, ParamSpec, TypeVar

from tinynet.core.declaration import casting
from tinynet.core.declaration.operation import Operation, operation

Ints = tuple[int, ...]
P = ParamSpec("P")
R = TypeVar("R")
WORDS = {
    1: ("the last dimension", "length"),
    2: ("the last two dimensions", "height, width"),
    3: ("the last three dimensions", "depth, height, width"),
}
BATCHED_OR_NOT = ("[N, C, {sizes}]", "[C, {sizes}]")  # see core/explanations/expected.py


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
    options |= {"methods": False, "batch": batch}
    return {
        rank: operation(node=node.format(rank), **options)(_copy(declared, rank)) for rank in ranks
    }


def of_rank(
    rank: int, family: Callable[Concatenate[int, P], R], autocast: str | None = None
) -> Callable[P, R]:
    """Return the function of a family for a number of spatial dimensions: ``conv2d`` of ``conv``.

    Args:
        rank: the number, which becomes the first argument of the family.
        family: the function. Its docstring is a format string with the fields ``rank``, ``last``
            ("the last two dimensions") and ``sizes`` ("height, width").
        autocast: the policy, see ``core/declaration/casting.py``.
    """
    named: Callable[Concatenate[int, P], R] = _copy(family, rank)

    @functools.wraps(named)
    def function(*args: P.args, **kwargs: P.kwargs) -> R:
        return named(rank, *args, **kwargs)

    last, sizes = WORDS[rank]
    function.__doc__ = (family.__doc__ or "").format(rank=rank, last=last, sizes=sizes)
    signature = inspect.signature(family)
    parameters = [*signature.parameters.values()][1:]
    function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return function if autocast is None else casting.autocast(autocast)(function)


def _copy(function: Any, rank: int) -> Any:
    """Return a copy of a function whose name ends in the number of dimensions."""
    copy = FunctionType(
        function.__code__,
        function.__globals__,
        f"{function.__name__}{rank}d",
        function.__defaults__,
        function.__closure__,
    )
    copy.__qualname__ = copy.__name__
    copy.__doc__, copy.__module__ = function.__doc__, function.__module__
    copy.__annotations__ = function.__annotations__
    return copy


def per_dim(value: Any, rank: int) -> Ints:
    """Return an option as one int per spatial dimension: a single one counts for all."""
    if isinstance(value, (tuple, list)):
        return tuple(value) * rank if len(value) == 1 else tuple(value)
    return (value,) * rank


def spatial(shape: Ints, rank: int) -> Ints:
    """Return the lengths of the last ``rank`` dimensions."""
    return shape[len(shape) - rank :]
