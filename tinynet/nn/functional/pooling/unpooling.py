"""Fractional max pooling, and max unpooling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tinynet import dtypes
from tinynet.core.declaration.casting import autocast
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.functional.checks import tensor_only
from tinynet.nn.functional.dimensions import Ints, per_dim, spatial
from tinynet.nn.functional.pooling.max_pooling_ops import fractional_max_pools, max_unpools
from tinynet.nn.functional.pooling.windows import COUNTS
from tinynet.ops.argument_errors import name_of
from tinynet.ops.creation.random import rand

__all__ = [
    "max_unpool1d", "max_unpool2d", "max_unpool3d", "fractional_max_pool2d",
    "fractional_max_pool3d"
]  # fmt: skip

Size = int | Sequence[int]

# ---- max unpooling ------------------------------------------------------------------------------


def _unpooled(
    rank: int,
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    output_size: Sequence[int] | None,
) -> Tensor:
    tensor_only(f"max_unpool{rank}d", input=input, indices=indices)
    kernel = per_dim(kernel_size, rank)
    steps = kernel if stride is None else per_dim(stride, rank)
    found = _whole_size(input._array.shape, kernel, steps, per_dim(padding, rank), output_size)
    if rank == 1:
        narrow: Any = input.unsqueeze(-1)
        _check_indices(narrow._array, indices.unsqueeze(-1)._array, (*found, 1))
        return max_unpools[2].function(narrow, indices.unsqueeze(-1), (*found, 1)).squeeze(-1)
    if min(steps) <= 0 and rank == 3:
        raise RuntimeError(f"strides should be greater than zero, but got stride: {list(steps)}")
    _check_indices(input._array, indices._array, found)
    return max_unpools[rank].function(input, indices, found)


def _whole_size(
    shape: Ints, kernel: Ints, stride: Ints, padding: Ints, output_size: Sequence[int] | None
) -> Ints:
    """Return the size of the planes: the requested one, or the smallest possible.

    Raises:
        ValueError: the pooling cannot come from the requested size.
    """
    rank = len(kernel)
    if not len(stride) == len(padding) == rank == len(spatial(shape, rank)):
        raise ValueError(
            "The 'kernel_size', 'stride' and 'padding' of max_unpool must have one number for each "
            f"spatial dimension. Got {kernel}, {stride} and {padding} instead."
        )
    dims = zip(spatial(shape, rank), kernel, stride, padding, strict=True)
    usual = tuple((n - 1) * s + k - 2 * p for n, k, s, p in dims)
    shown = usual if output_size is None else output_size
    if len(shown) == rank + 2:
        shown = shown[2:]
    found = tuple(shown)
    if len(found) != rank:
        raise ValueError(
            f"output_size should be a sequence containing {rank} or {rank + 2} elements, but it "
            f"has a length of '{len(found)}'"
        )
    for d in range(rank if output_size is not None else 0):
        low, high = usual[d] - stride[d], usual[d] + stride[d]
        if not low < found[d] < high:
            raise ValueError(
                f'invalid output_size "{shown}" (dim {d} must be between {low} and {high})'
            )
    for d in range(rank):
        if found[d] < 0:
            raise ValueError(
                "max_unpooling: output_size must contain non-negative spatial dimensions, but got "
                f"output_size[{d}]={found[d]}"
            )
    return found


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
    for d in range(1, len(shape)):
        if shape[d] == 0:
            raise RuntimeError(
                f"max_unpool{rank}d(): Expected input to have non-zero size for non-batch "
                f"dimensions, but got {list(shape)} with dimension {d} being empty."
            )
    if not dtypes.is_floating(x.dtype):
        raise NotImplementedError(f"\"max_unpool{rank}d\" not implemented for '{name_of(x)}'")
    wrong = indices[(indices < 0) | (indices >= math.prod(sizes))]
    if wrong.size:
        raise RuntimeError(
            f"Found an invalid max index: {wrong.flat[0]} (output volumes are of size "
            f"{'x'.join(map(str, sizes))})"
        )


@autocast("float32")
def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Return zeros with the maxima where ``max_pool1d`` found them; see ``max_unpool2d``.

    Example:
        >>> values, indices = F.max_pool1d(
        ...     tn.tensor([[1.0, 3.0, 2.0, 5.0]]), 2, return_indices=True
        ... )
        >>> F.max_unpool1d(values, indices, 2)
        tensor([[0., 3., 0., 5.]])
    """
    return _unpooled(1, input, indices, kernel_size, stride, padding, output_size)


@autocast("float32")
def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Return zeros with the maxima where ``max_pool2d`` found them.

    Args:
        input: the maxima, ``[batch, channels, height, width]`` or without batch.
        indices: their indices, from ``max_pool2d``.
        kernel_size, stride, padding: those of the pooling.
        output_size: the shape before pooling, where it is ambiguous.

    Raises:
        ValueError: the pooling cannot come from that shape.
        RuntimeError: an index is out of range.

    Source: Zeiler and Fergus, "Visualizing and understanding convolutional networks", 2014.

    Example:
        >>> values, indices = F.max_pool2d(
        ...     tn.arange(4.0).view(1, 2, 2), 2, return_indices=True
        ... )
        >>> F.max_unpool2d(values, indices, 2)
        tensor([[[0., 0.],
                 [0., 3.]]])
    """
    return _unpooled(2, input, indices, kernel_size, stride, padding, output_size)


@autocast("float32")
def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Return zeros with the maxima where ``max_pool3d`` found them; see ``max_unpool2d``.

    Example:
        >>> pooled = F.max_pool3d(tn.ones(1, 2, 2, 2), 2, return_indices=True)
        >>> F.max_unpool3d(*pooled, 2).sum()
        tensor(1.)
    """
    return _unpooled(3, input, indices, kernel_size, stride, padding, output_size)


# ---- random windows -----------------------------------------------------------------------------


def _fractional(
    rank: int,
    input: Tensor,
    kernel_size: Any,
    output_size: Any,
    output_ratio: Any,
    return_indices: bool,
    samples: Tensor | None,
) -> Any:
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
    if samples is None:
        batch = 1 if array.ndim == rank + 1 else array.shape[0]
        samples = rand(batch, array.shape[-rank - 1], rank, dtype=input.dtype)
    _check_samples(samples._array, array, rank)
    found = fractional_max_pools[rank].function(input, samples, kernel, outputs)
    return found if return_indices else found[0]


def _ints(title: str, name: str, value: Any, rank: int, position: int) -> Ints:
    found = per_dim(value, rank)
    for n in found:
        if not isinstance(n, int):
            raise TypeError(
                f"{title}(): argument '{name}' (position {position}) must be tuple of ints, not "
                f"{type(value).__name__}"
            )
    if len(found) != rank:
        count = "" if rank == 2 else f"{COUNTS[rank]} "
        raise RuntimeError(f"{title}: {name} must either be a single Int or tuple of {count}Ints")
    return found


def _check_fractional(title: str, x: Any, kernel: Ints, outputs: Ints) -> None:
    rank = len(kernel)
    for d in range(1, x.ndim):
        if x.shape[d] == 0:
            raise RuntimeError(
                f"{title}(): Expected input to have non-zero size for non-batch dimensions, but "
                f"got{list(x.shape)} with dimension {d} being empty."
            )
    if min(kernel) <= 0:
        raise RuntimeError(f"{title}: kernel_size must be greater than 0, but got {min(kernel)}")
    if min(outputs) < 0:
        made = [*x.shape[: x.ndim - rank], *outputs]
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {min(outputs)}: {made}"
        )
    names, sizes = ("time", "height", "width")[-rank:], spatial(x.shape, rank)
    for d in (0, 1) if rank == 2 else (0, 2, 1):
        k, n = kernel[d], sizes[d]
        if outputs[d] + k - 1 > n - (rank == 3):  # PyTorch's 3d wants one to spare
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


@autocast("float32")
def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Size,
    output_size: Size | None = None,
    output_ratio: Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Return maxima of windows distributed over the last two dimensions at random.

    Args:
        input: ``[batch, channels, height, width]``, or without batch.
        kernel_size: size of the window.
        output_size: number of windows, one number or one for each dimension.
        output_ratio: alternatively, the output size as a fraction of the input.
        return_indices: also return the index of each maximum in its plane.

    Raises:
        ValueError: neither a size nor a ratio is given.
        RuntimeError: the windows do not fit.

    Source: Graham, "Fractional max-pooling", 2014.

    Example:
        >>> F.fractional_max_pool2d(tn.ones(1, 1, 7, 7), 2, 3).shape
        tinynet.Size([1, 1, 3, 3])
    """
    how = (kernel_size, output_size, output_ratio, return_indices, _random_samples)
    return _fractional(2, input, *how)


@autocast("float32")
def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Size,
    output_size: Size | None = None,
    output_ratio: Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Return maxima of windows distributed over the last three dimensions at random.

    See ``fractional_max_pool2d``; the arguments are the same.

    Example:
        >>> F.fractional_max_pool3d(tn.ones(1, 1, 7, 7, 7), 2, output_ratio=0.5).shape
        tinynet.Size([1, 1, 3, 3, 3])
    """
    how = (kernel_size, output_size, output_ratio, return_indices, _random_samples)
    return _fractional(3, input, *how)
