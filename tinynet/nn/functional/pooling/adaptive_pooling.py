"""Adaptive pooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.core.declaration.casting import autocast
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.functional.checks import tensor_only
from tinynet.nn.functional.dimensions import Ints, spatial
from tinynet.nn.functional.pooling.average_pooling_ops import adaptive_avg_pools, plane_mean
from tinynet.nn.functional.pooling.max_pooling_ops import adaptive_max_pools
from tinynet.nn.functional.pooling.windows import check_1d, ints
from tinynet.ops.argument_errors import name_of
from tinynet.ops.creation.constructors import refuse_huge

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool2d", "adaptive_max_pool3d"
]  # fmt: skip

Size = int | Sequence[int | None] | None

# ---- what they share ----------------------------------------------------------------------------


def _outputs(title: str, shape: Ints, output_size: Any, rank: int) -> Ints:
    """Return the number of windows per dimension; None keeps that of the input."""
    if isinstance(output_size, (int, np.integer)):
        return (int(output_size),) * rank
    if not isinstance(output_size, (tuple, list)) or None not in output_size:
        if isinstance(output_size, (tuple, list)):
            _check_count(title, shape, len(output_size), rank)
        return ints(title, "output_size", output_size, rank)
    _check_count(title, shape, len(output_size), rank)
    pairs = zip(output_size, spatial(shape, rank), strict=True)
    return ints(title, "output_size", tuple(n if m is None else m for m, n in pairs), rank)


def _check_count(title: str, shape: Ints, count: int, rank: int) -> None:
    if len(shape) <= count:
        raise ValueError(f"Input dimension should be at least {count + 1}")
    if count != rank:
        hint = f"(): internal error: output_size.size() must be {rank}"
        raise RuntimeError(title + (hint if "max" in title else f": output_size must be {rank}"))


@errors.allocating
def _check(title: str, x: Any, outputs: Ints, rank: int) -> None:
    """Raise PyTorch's error for an invalid input or output size."""
    shape = x.shape
    average = "avg" in title
    if average and min(outputs) < 0:
        raise RuntimeError(
            f"{title}: elements of output_size must be greater than or equal to 0 but received "
            f"{{{outputs[0]}, {','.join(map(str, outputs[1:]))}}}"
        )
    if len(shape) - rank not in (1, 2):
        colon = "" if average else ":"
        raise RuntimeError(
            f"{title}(): Expected {rank + 1}D or {rank + 2}D tensor, but got{colon} {list(shape)}"
        )
    for d in range(len(shape) - rank if title == "adaptive_avg_pool2d" else 1, len(shape)):
        if shape[d] == 0:
            raise RuntimeError(
                f"{title}(): Expected input to have non-zero size for non-batch dimensions, but "
                f"input has sizes {list(shape)} with dimension {d} being empty"
            )
    if not dtypes.is_floating(x.dtype):
        if average and set(outputs) == {1}:
            raise RuntimeError(
                "mean(): could not infer output dtype. Input dtype must be either a floating point "
                f"or complex dtype. Got: {name_of(x)}"
            )
        raise NotImplementedError(f"\"{title}\" not implemented for '{name_of(x)}'")
    if min(outputs) < 0:
        made = [*shape[: len(shape) - rank], *[1] * (rank == 1), *outputs]  # as 2d pooling
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {min(outputs)}: {made}"
        )
    # Windows are counted in Python, which would take memory until none is left.
    result = (*shape[: len(shape) - rank], *outputs)
    refuse_huge(result)
    np.empty(result, x.dtype)


# ---- averages -----------------------------------------------------------------------------------


def _adaptive_avg(input: Tensor, output_size: Any, rank: int) -> Tensor:
    title = f"adaptive_avg_pool{rank}d"
    tensor_only(title, input=input)
    array = input._array
    outputs = _outputs(title, array.shape, output_size, rank)
    _check(title, array, outputs, rank)
    if outputs == (1,) * rank:
        return plane_mean.function(input, rank)
    return adaptive_avg_pools[rank].function(input, outputs)


def adaptive_avg_pool1d(input: Tensor, output_size: Size) -> Tensor:
    """Return averages over ``output_size`` equal parts of the last dimension.

    See ``adaptive_avg_pool2d``; the arguments are the same.

    Example:
        >>> F.adaptive_avg_pool1d(tn.tensor([[1.0, 3.0, 2.0, 5.0]]), 2)
        tensor([[2.0000, 3.5000]])
    """
    tensor_only("adaptive_avg_pool1d", input=input)
    check_1d("adaptive_avg_pool1d", input._array.shape)
    (count,) = ints("adaptive_avg_pool1d", "output_size", output_size, 1)
    wide: Any = input.unsqueeze(-2)
    return _adaptive_avg(wide, (1, count), 2).squeeze(-2)


def adaptive_avg_pool2d(input: Tensor, output_size: Size) -> Tensor:
    """Return averages over equal parts of the last two dimensions.

    ``result[i, j] = sum(x[a:b, c:d]) / ((b - a) * (d - c))``, where a to b is part i of the rows
    and c to d part j of the columns.

    Args:
        input: ``[batch, channels, height, width]``, or without batch.
        output_size: number of parts, one int or one for each dimension; None keeps a dimension.
            Part i of m is ``[floor(i n / m), ceil((i + 1) n / m))``.

    Raises:
        RuntimeError: the input has the wrong number of dimensions, or no elements.

    Example:
        >>> F.adaptive_avg_pool2d(tn.arange(16.0).view(1, 4, 4), 2)
        tensor([[[ 2.5000,  4.5000],
                 [10.5000, 12.5000]]])
    """
    return _adaptive_avg(input, output_size, 2)


@autocast("float32")
def adaptive_avg_pool3d(input: Tensor, output_size: Size) -> Tensor:
    """Return averages over equal parts of the last three dimensions.

    See ``adaptive_avg_pool2d``; the arguments are the same.

    Example:
        >>> F.adaptive_avg_pool3d(tn.ones(1, 4, 4, 4), 2).shape
        tinynet.Size([1, 2, 2, 2])
    """
    return _adaptive_avg(input, output_size, 3)


# ---- maxima -------------------------------------------------------------------------------------


def _adaptive_max(input: Tensor, output_size: Any, return_indices: bool, rank: int) -> Any:
    title = f"adaptive_max_pool{rank}d"
    tensor_only(title, input=input)
    array = input._array
    outputs = _outputs(title, array.shape, output_size, rank)
    _check(title, array, outputs, rank)
    found = adaptive_max_pools[rank].function(input, outputs)
    return found if return_indices else found[0]


def adaptive_max_pool1d(input: Tensor, output_size: Size, return_indices: bool = False) -> Any:
    """Return maxima of ``output_size`` equal parts of the last dimension.

    See ``adaptive_max_pool2d``; the arguments are the same.

    Example:
        >>> F.adaptive_max_pool1d(tn.tensor([[1.0, 3.0, 2.0, 5.0]]), 2)
        tensor([[3., 5.]])
    """
    title = "adaptive_max_pool1d"
    tensor_only(title, input=input)
    shape = input._array.shape
    check_1d(title, shape)
    (count,) = ints(title, "output_size", output_size, 1)
    _check(title, input._array, (count,), 1)
    values, indices = _adaptive_max(input.unsqueeze(-2), (1, count), True, 2)
    return (values.squeeze(-2), indices.squeeze(-2)) if return_indices else values.squeeze(-2)


def adaptive_max_pool2d(input: Tensor, output_size: Size, return_indices: bool = False) -> Any:
    """Return maxima of equal parts of the last two dimensions.

    ``result[i, j] = max(x[a:b, c:d])``; the parts are those of ``adaptive_avg_pool2d``.

    Args:
        input: ``[batch, channels, height, width]``, or without batch.
        output_size: number of parts, one int or one for each dimension; None keeps a dimension.
        return_indices: also return the index of each maximum in its plane, counted row by row.

    Raises:
        RuntimeError: the input has the wrong number of dimensions, or no elements.

    Example:
        >>> F.adaptive_max_pool2d(tn.arange(16.0).view(1, 4, 4), 2)
        tensor([[[ 5.,  7.],
                 [13., 15.]]])
    """
    return _adaptive_max(input, output_size, return_indices, 2)


@autocast("float32")
def adaptive_max_pool3d(input: Tensor, output_size: Size, return_indices: bool = False) -> Any:
    """Return maxima of equal parts of the last three dimensions.

    See ``adaptive_max_pool2d``; the arguments are the same.

    Example:
        >>> F.adaptive_max_pool3d(tn.ones(1, 4, 4, 4), 2).shape
        tinynet.Size([1, 2, 2, 2])
    """
    return _adaptive_max(input, output_size, return_indices, 3)
