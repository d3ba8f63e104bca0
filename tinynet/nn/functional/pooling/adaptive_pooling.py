"""Adaptive pooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.functional.checks import Ints, not_implemented, of_rank, spatial, tensor_only
from tinynet.nn.functional.pooling.average_pooling_ops import adaptive_avg_pools, plane_mean
from tinynet.nn.functional.pooling.max_pooling_ops import adaptive_max_pools
from tinynet.nn.functional.pooling.windows import check_1d, check_no_empty_dim, check_outputs, ints
from tinynet.ops.arguments import name_of
from tinynet.ops.creation.constructors import refuse_huge

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool2d", "adaptive_max_pool3d"
]  # fmt: skip

Size = int | Sequence[int | None] | None

# ---- output sizes -------------------------------------------------------------------------------


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
    first = len(shape) - rank if title == "adaptive_avg_pool2d" else 1
    check_no_empty_dim(title, shape, "input has sizes {} with dimension {} being empty", first)
    if not dtypes.is_floating(x.dtype):
        if average and set(outputs) == {1}:
            raise RuntimeError(
                "mean(): could not infer output dtype. Input dtype must be either a floating point "
                f"or complex dtype. Got: {name_of(x)}"
            )
        raise not_implemented(title, x)
    check_outputs((*shape[: len(shape) - rank], *[1] * (rank == 1)), outputs)  # as 2d pooling
    result = (*shape[: len(shape) - rank], *outputs)
    # Refuse sizes that do not fit into memory: counting their windows in Python would fill it.
    refuse_huge(result)
    np.empty(result, x.dtype)


# ---- averages -----------------------------------------------------------------------------------


def adaptive_avg_pool(rank: int, input: Tensor, output_size: Size) -> Tensor:
    """Return averages over equal parts of {last}.

    In each dimension, ``result[i] = sum(x[a:b]) / (b - a)``. Of n elements in m parts, part i
    extends from ``a = floor(i n / m)`` to ``b = ceil((i + 1) n / m)``.

    Args:
        input: ``[batch, channels, {sizes}]``, or without batch.
        output_size: number of parts, one int or one for each dimension; None keeps a dimension.

    Raises:
        RuntimeError: the input has the wrong number of dimensions, or no elements.

    Example:
        >>> F.adaptive_avg_pool1d(tn.tensor([[1.0, 3.0, 2.0, 5.0]]), 2)
        tensor([[2.0000, 3.5000]])
        >>> F.adaptive_avg_pool2d(tn.arange(16.0).view(1, 4, 4), 2)
        tensor([[[ 2.5000,  4.5000],
                 [10.5000, 12.5000]]])
        >>> F.adaptive_avg_pool3d(tn.ones(1, 4, 4, 4), 2).shape
        tinynet.Size([1, 2, 2, 2])
    """
    name = f"adaptive_avg_pool{rank}d"
    tensor_only(name, input=input)
    if rank == 1:
        check_1d(name, input._array.shape)
        (count,) = ints(name, "output_size", output_size, 1)
        return adaptive_avg_pool2d(input.unsqueeze(-2), (1, count)).squeeze(-2)
    array = input._array
    outputs = _outputs(name, array.shape, output_size, rank)
    _check(name, array, outputs, rank)
    if outputs == (1,) * rank:
        return plane_mean.function(input, rank)
    return adaptive_avg_pools[rank].function(input, outputs)


adaptive_avg_pool1d = of_rank(1, adaptive_avg_pool)
adaptive_avg_pool2d = of_rank(2, adaptive_avg_pool)
adaptive_avg_pool3d = of_rank(3, adaptive_avg_pool, autocast="float32")

# ---- maxima -------------------------------------------------------------------------------------


def adaptive_max_pool(
    rank: int, input: Tensor, output_size: Size, return_indices: bool = False
) -> Any:
    """Return maxima of equal parts of {last}.

    In each dimension, ``result[i] = max(x[a:b])``; the parts are those of
    ``adaptive_avg_pool{rank}d``.

    Args:
        input: ``[batch, channels, {sizes}]``, or without batch.
        output_size: number of parts, one int or one for each dimension; None keeps a dimension.
        return_indices: also return the index of each maximum in its channel, counted row by row.

    Raises:
        RuntimeError: the input has the wrong number of dimensions, or no elements.

    Example:
        >>> F.adaptive_max_pool1d(tn.tensor([[1.0, 3.0, 2.0, 5.0]]), 2)
        tensor([[3., 5.]])
        >>> F.adaptive_max_pool2d(tn.arange(16.0).view(1, 4, 4), 2)
        tensor([[[ 5.,  7.],
                 [13., 15.]]])
        >>> F.adaptive_max_pool3d(tn.ones(1, 4, 4, 4), 2).shape
        tinynet.Size([1, 2, 2, 2])
    """
    name = f"adaptive_max_pool{rank}d"
    tensor_only(name, input=input)
    array = input._array
    if rank == 1:
        check_1d(name, array.shape)
        (count,) = ints(name, "output_size", output_size, 1)
        _check(name, array, (count,), 1)
        found = adaptive_max_pool2d(input.unsqueeze(-2), (1, count), return_indices)
        return tuple(t.squeeze(-2) for t in found) if return_indices else found.squeeze(-2)
    outputs = _outputs(name, array.shape, output_size, rank)
    _check(name, array, outputs, rank)
    found = adaptive_max_pools[rank].function(input, outputs)
    return found if return_indices else found[0]


adaptive_max_pool1d = of_rank(1, adaptive_max_pool)
adaptive_max_pool2d = of_rank(2, adaptive_max_pool)
adaptive_max_pool3d = of_rank(3, adaptive_max_pool, autocast="float32")
