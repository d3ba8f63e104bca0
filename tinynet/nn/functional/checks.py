"""Shared checks, and the reduction of losses."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from tinynet import dtypes, errors
from tinynet.core.callsite import warn
from tinynet.core.declaration.composite import called
from tinynet.core.declaration.operation import Operation, operation
from tinynet.core.modes import is_grad_enabled
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.ops.arguments import is_whole, name_of

# ---- dimensions ---------------------------------------------------------------------------------
# One implementation for 1, 2 and 3 spatial dimensions, under PyTorch's three names.


Ints = tuple[int, ...]
P = ParamSpec("P")
R = TypeVar("R")
WORDS = {
    1: ("the last dimension", "length"),
    2: ("the last two dimensions", "height, width"),
    3: ("the last three dimensions", "depth, height, width"),
}
BATCHED_OR_NOT = ("[N, C, {sizes}]", "[C, {sizes}]")  # see core/explanations/arguments.py


def by_rank(
    declared: Any,
    node: str,
    ranks: Iterable[int] = (1, 2, 3),
    **options: Any,
) -> dict[int, Operation]:
    """Declare one operation once for each number of spatial dimensions.

    The kernel is the same for all; a graph shows the number, as PyTorch's does.

    Args:
        declared: the function, as ``@operation`` takes it.
        node: the name of the node, with ``{}`` for the number.
        ranks: the numbers.
        options: those of ``@operation``.
    """
    return {
        rank: operation(node=node.format(rank), **options)(
            _copy(declared, f"{declared.__name__}{rank}d")
        )
        for rank in ranks
    }


def of_rank(
    rank: int,
    family: Callable[Concatenate[int, P], R],
    autocast: str | None = None,
    name: str | None = None,
) -> Callable[P, R]:
    """Return the function of a family for a number of spatial dimensions: ``conv2d`` of ``conv``.

    Args:
        rank: the number, which becomes the first argument of the family.
        family: the function. Its docstring is a format string with the fields ``rank``, ``last``
            ("the last two dimensions") and ``sizes`` ("height, width").
        autocast: the policy, see ``core/declaration/casting.py``.
        name: the function's; by default the family's and the number.
    """
    named: Callable[Concatenate[int, P], R] = _copy(family, name or f"{family.__name__}{rank}d")

    @functools.wraps(named)
    def function(*args: P.args, **kwargs: P.kwargs) -> R:
        return named(rank, *args, **kwargs)

    last, sizes = WORDS[rank]
    function.__doc__ = (family.__doc__ or "").format(rank=rank, last=last, sizes=sizes)
    signature = inspect.signature(family)
    parameters = [*signature.parameters.values()][1:]
    function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return called(function, autocast=autocast)


def _copy(function: Any, name: str) -> Any:
    """Return a copy of a function with another name."""
    copy = FunctionType(
        function.__code__,
        function.__globals__,
        name,
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


_HASHED = {int, bool, str, type(None)}
_are_ints = {int}.issuperset


def per_shapes(function: Callable[P, R]) -> Callable[P, R]:
    """Cache what a function checks and computes from shapes and options, since layers repeat both.

    Other arguments (a list has no hash, and 1.0 would find the result of 1) reach the function in
    each call. Pass arguments by position.
    """
    cached: Any = functools.lru_cache(maxsize=512, typed=True)(function)

    @functools.wraps(function)
    def lookup(*args: P.args, **kwargs: P.kwargs) -> R:
        for value in args:
            if type(value) is tuple:
                if not _are_ints(map(type, value)):
                    return function(*args, **kwargs)
            elif type(value) not in _HASHED:
                return function(*args, **kwargs)
        found: R = cached(*args, **kwargs)
        return found

    return lookup


# ---- checks -------------------------------------------------------------------------------------


REDUCTIONS = ("none", "mean", "sum")


def tensor_only(function: str, **given: Any) -> None:
    """Raise TypeError for the first argument that is not a tensor."""
    for position, (name, value) in enumerate(given.items()):
        if not isinstance(value, Tensor):
            raise errors.must_be_tensor(function, name, position + 1, value)


def refuse_gradient(function: str, **given: Tensor) -> None:
    """Raise RuntimeError for the first argument that requires grad, where that is recorded."""
    for name, value in given.items():
        if value.requires_grad and is_grad_enabled():
            raise RuntimeError(
                f"The function '{function}' is not differentiable with respect to argument "
                f"'{name}'. This input cannot have requires_grad True."
            )


def int_tuple(function: str, name: str, position: int, value: Any) -> tuple[int, ...]:
    """Return a sequence of ints as a tuple; TypeError for any other value of an argument."""
    expected = f"{function}(): argument '{name}' (position {position}) must be tuple of ints, "
    if not isinstance(value, (tuple, list)):
        raise TypeError(f"{expected}not {type(value).__name__}")
    for index, n in enumerate(value):
        if not is_whole(n):
            kind = type(n).__name__
            raise TypeError(f"{expected}but found element of type {kind} at pos {index}")
    return tuple(int(n) for n in value)


def not_implemented(kernel: str, array: Array) -> NotImplementedError:
    """Return the error for a dtype that a kernel does not support."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{name_of(array)}'")


def require_floating(kernel: str, array: Array) -> None:
    """Raise NotImplementedError for a dtype that is not floating-point."""
    if not dtypes.is_floating(array.dtype):
        raise not_implemented(kernel, array)


def check_reduction(reduction: str, allowed: tuple[str, ...] = REDUCTIONS) -> None:
    """Raise ValueError unless ``reduction`` is one of the allowed ones."""
    if reduction not in allowed:
        raise ValueError(f"{reduction} is not a valid value for reduction")


def legacy_reduction(
    size_average: bool | None,
    reduce: bool | None,
    reduction: str,
    allowed: tuple[str, ...] = REDUCTIONS,
) -> str:
    """Check and return ``reduction``; if deprecated arguments override it, warn.

    Raises:
        ValueError: the reduction is not allowed.
    """
    if size_average is None and reduce is None and reduction in allowed:
        return reduction
    if size_average is not None or reduce is not None:
        if reduce is None or reduce:
            reduction = "mean" if size_average is None or size_average else "sum"
        else:
            reduction = "none"
        warn(
            "size_average and reduce args will be deprecated, please use "
            f"reduction='{reduction}' instead."
        )
    if reduction == "elementwise_mean":
        warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.")
        reduction = "mean"
    check_reduction(reduction, allowed)
    return reduction


def reduced(loss: Tensor, reduction: str) -> Tensor:
    """Return the loss itself, its mean or its sum."""
    check_reduction(reduction)
    if reduction == "mean":
        return loss.mean()
    return loss.sum() if reduction == "sum" else loss


def broadcast(one: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
    """Return two tensors expanded to one shape; RuntimeError if there is none."""
    shapes = one._array.shape, other._array.shape
    if shapes[0] == shapes[1]:
        return one, other
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        raise errors.not_broadcastable(*shapes) from None
    return one.expand(shape), other.expand(shape)


def warn_of_broadcasting(input: Tensor, target: Tensor) -> None:
    """Warn when a loss is about to broadcast its target: nearly always a mistake."""
    if input._array.shape != target._array.shape:
        labels = target._array.dtype.kind in "iu" and target.ndim == input.ndim - 1
        warn(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}). This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size."
            + "\n  Targets that are numbers of classes belong to nn.CrossEntropyLoss."
            * labels
        )
