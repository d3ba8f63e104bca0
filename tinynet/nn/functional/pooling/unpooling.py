"""Fractional max pooling, and max unpooling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.core.trace import run_traced
from tinynet.nn.functional.checks import (
    Ints,
    of_rank,
    per_dim,
    require_floating,
    spatial,
    tensor_only,
)
from tinynet.nn.functional.geometry import Geometry
from tinynet.nn.functional.pooling.pooling_ops import fractional_max_pools, max_unpools
from tinynet.nn.functional.pooling.windows import COUNTS, check_no_empty_dim, check_outputs
from tinynet.ops.arguments import name_of
from tinynet.ops.creation.random import rand

__all__ = [
    "max_unpool1d", "max_unpool2d", "max_unpool3d", "fractional_max_pool2d",
    "fractional_max_pool3d"
]  # fmt: skip

Size = int | Sequence[int]

# ---- max unpooling ------------------------------------------------------------------------------


def max_unpool(
    rank: int,
    input: Tensor,
    indices: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Return zeros with the maxima where ``max_pool{rank}d`` found them.

    Args:
        input: the maxima, ``[batch, channels, {sizes}]`` or without batch.
        indices: their indices, from ``max_pool{rank}d``.
        kernel_size, stride, padding: those of the pooling.
        output_size: the shape before pooling, where it is ambiguous.

    Raises:
        ValueError: the pooling cannot come from that shape.
        RuntimeError: an index is out of range.

    Source: Zeiler and Fergus, "Visualizing and understanding convolutional networks", 2014.

    Example:
        >>> pooled = F.max_pool1d(tn.tensor([[1.0, 3.0, 2.0, 5.0]]), 2, return_indices=True)
        >>> F.max_unpool1d(*pooled, 2)
        tensor([[0., 3., 0., 5.]])
        >>> pooled = F.max_pool2d(tn.arange(4.0).view(1, 2, 2), 2, return_indices=True)
        >>> F.max_unpool2d(*pooled, 2)
        tensor([[[0., 0.],
                 [0., 3.]]])
        >>> pooled = F.max_pool3d(tn.ones(1, 2, 2, 2), 2, return_indices=True)
        >>> F.max_unpool3d(*pooled, 2).sum()
        tensor(1.)
    """
    tensor_only(f"max_unpool{rank}d", input=input, indices=indices)
    kernel = per_dim(kernel_size, rank)
    steps = kernel if stride is None else per_dim(stride, rank)
    sizes = _plane_sizes(input._array.shape, kernel, steps, per_dim(padding, rank), output_size)
    if rank == 1:
        wide, places = input.unsqueeze(-1), indices.unsqueeze(-1)
        _check_indices(wide._array, places._array, (*sizes, 1))
        return max_unpools[2].function(wide, places, (*sizes, 1)).squeeze(-1)
    if min(steps) <= 0 and rank == 3:
        raise RuntimeError(f"strides should be greater than zero, but got stride: {list(steps)}")
    _check_indices(input._array, indices._array, sizes)
    return max_unpools[rank].function(input, indices, sizes)


def _plane_sizes(
    shape: Ints, kernel: Ints, stride: Ints, padding: Ints, output_size: Sequence[int] | None
) -> Ints:
    """Return the sizes of the planes: the requested ones, or the smallest possible.

    Raises:
        ValueError: the pooling cannot come from the requested size.
    """
    rank = len(kernel)
    if not len(stride) == len(padding) == rank == len(spatial(shape, rank)):
        raise ValueError(
            "The 'kernel_size', 'stride' and 'padding' of max_unpool must have one number for each "
            f"spatial dimension. Got {kernel}, {stride} and {padding} instead."
        )
    usual = Geometry(kernel, stride, padding, (1,) * rank, spatial(shape, rank)).least
    shown = usual if output_size is None else output_size
    if len(shown) == rank + 2:
        shown = shown[2:]
    sizes = tuple(shown)
    if len(sizes) != rank:
        raise ValueError(
            f"output_size should be a sequence containing {rank} or {rank + 2} elements, but it "
            f"has a length of '{len(sizes)}'"
        )
    for d in range(rank if output_size is not None else 0):
        low, high = usual[d] - stride[d], usual[d] + stride[d]
        if not low < sizes[d] < high:
            raise ValueError(
                f'invalid output_size "{shown}" (dim {d} must be between {low} and {high})'
            )
    for d in range(rank):
        if sizes[d] < 0:
            raise ValueError(
                "max_unpooling: output_size must contain non-negative spatial dimensions, but got "
                f"output_size[{d}]={sizes[d]}"
            )
    return sizes


def _check_indices(x: Any, indices: Any, sizes: Ints) -> None:
    rank, shape = len(sizes), x.shape
    if indices.dtype != "int64":
        got = f" but got: {name_of(indices)}" if rank == 2 else ""
        raise RuntimeError(f"elements in indices should be type int64{got}")
    if len(shape) - rank not in (1, 2):
        raise RuntimeError(
            f"Input to max_unpooling{rank}d should be a {rank + 1}d or {rank + 2}d Tensor, but got "
            f"a tensor with {len(shape)} dimensions."
        )
    if shape != indices.shape:
        raise RuntimeError(
            "Expected shape of indices to be same as that of the input tensor "
            f"({list(shape)}) but got indices tensor with shape: {list(indices.shape)}"
        )
    name = f"max_unpool{rank}d"
    check_no_empty_dim(name, shape, "got {} with dimension {} being empty.")
    require_floating(name, x)
    run_traced(_refuse_outside, indices, sizes)


def _refuse_outside(indices: Any, sizes: Ints) -> None:
    wrong = indices[(indices < 0) | (indices >= math.prod(sizes))]
    if wrong.size:
        raise RuntimeError(
            f"Found an invalid max index: {wrong.flat[0]} (output volumes are of size "
            f"{'x'.join(map(str, sizes))})"
        )


max_unpool1d = of_rank(1, max_unpool, autocast="float32")
max_unpool2d = of_rank(2, max_unpool, autocast="float32")
max_unpool3d = of_rank(3, max_unpool, autocast="float32")

# ---- fractional max pooling --------------------------------------------------------------------


def fractional_max_pool(
    rank: int,
    input: Tensor,
    kernel_size: Size,
    output_size: Size | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Return maxima of windows distributed over {last} at random.

    Args:
        input: ``[batch, channels, {sizes}]``, or without batch.
        kernel_size: size of the window.
        output_size: number of windows, one number or one for each dimension.
        output_ratio: alternatively, the output size as a fraction of the input.
        return_indices: also return the index of each maximum in its channel, counted row by row.

    Raises:
        ValueError: neither a size nor a ratio is given.
        RuntimeError: the windows do not fit.

    Source: Graham, "Fractional max-pooling", 2014.

    Example:
        >>> F.fractional_max_pool2d(tn.ones(1, 1, 7, 7), 2, 3).shape
        tinynet.Size([1, 1, 3, 3])
        >>> F.fractional_max_pool3d(tn.ones(1, 1, 7, 7, 7), 2, output_ratio=0.5).shape
        tinynet.Size([1, 1, 3, 3, 3])
    """
    title = f"fractional_max_pool{rank}d"
    tensor_only(title, input=input)
    array = input._array
    if output_size is None and output_ratio is None:
        raise ValueError(f"{title} requires specifying either an output_size or an output_ratio")
    if len(array.shape) - rank not in (1, 2):
        raise RuntimeError(
            f"{title}(): Expected {rank + 1}D or {rank + 2}D tensor, but got: {list(array.shape)}"
        )
    if output_size is None:
        ratios = per_dim(output_ratio, rank)
        if len(ratios) != rank:
            raise ValueError(
                f"{title} requires output_ratio to either be a single Int or tuple of Ints."
            )
        sizes = spatial(array.shape, rank)
        output_size = tuple(int(n * ratio) for n, ratio in zip(sizes, ratios, strict=True))
    kernel = _ints(title, "kernel_size", kernel_size, rank, 2)
    outputs = _ints(title, "output_size", output_size, rank, 3)
    _check_fractional(title, array, kernel, outputs)
    samples = _random_samples
    if samples is None:
        batch = 1 if array.ndim == rank + 1 else array.shape[0]
        samples = rand(batch, array.shape[-rank - 1], rank, dtype=input.dtype)
    _check_samples(samples._array, array, rank)
    found = fractional_max_pools[rank].function(input, samples, kernel, outputs)
    return found if return_indices else found[0]


def _ints(title: str, name: str, value: Any, rank: int, position: int) -> Ints:
    values = tuple(value) if isinstance(value, (tuple, list)) else per_dim(value, rank)
    for n in values:
        if not isinstance(n, int):
            raise TypeError(
                f"{title}(): argument '{name}' (position {position}) must be tuple of ints, not "
                f"{type(value).__name__}"
            )
    if len(values) != rank:
        count = "" if rank == 2 else f"{COUNTS[rank]} "
        raise RuntimeError(f"{title}: {name} must either be a single Int or tuple of {count}Ints")
    return values


def _check_fractional(title: str, x: Any, kernel: Ints, outputs: Ints) -> None:
    rank = len(kernel)
    check_no_empty_dim(title, x.shape, "got{} with dimension {} being empty.")
    if min(kernel) <= 0:
        raise RuntimeError(f"{title}: kernel_size must be greater than 0, but got {min(kernel)}")
    check_outputs(x.shape[: x.ndim - rank], outputs)
    names, sizes = ("time", "height", "width")[-rank:], spatial(x.shape, rank)
    for d in (0, 1) if rank == 2 else (0, 2, 1):
        k, n = kernel[d], sizes[d]
        if outputs[d] + k - 1 > n - (rank == 3):  # PyTorch's 3d pooling needs one more
            raise RuntimeError(
                f"{title}(): pool {names[d]} {k} too large relative to input {names[d]} {n}"
            )


def _check_samples(samples: Any, x: Any, rank: int) -> None:
    if samples.dtype != x.dtype:
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    if samples.ndim != 3:
        raise RuntimeError(f"Expect _random_samples to have 3 dimensions, got {samples.ndim}")
    if x.ndim == rank + 2 and samples.shape[0] < x.shape[0]:
        raise RuntimeError("Expect _random_samples.size(0) no less then input batch size.")
    if samples.shape[1] != x.shape[-rank - 1]:
        raise RuntimeError("Expect _random_samples.size(1) equals to input channel size.")
    if samples.shape[2] != rank:
        raise RuntimeError(
            f"Expect _random_samples.size(2) equals to {rank}; got {samples.shape[2]}."
        )


fractional_max_pool2d = of_rank(2, fractional_max_pool, autocast="float32")
fractional_max_pool3d = of_rank(3, fractional_max_pool, autocast="float32")
