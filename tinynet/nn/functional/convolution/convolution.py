"""Convolutions and transposed convolutions over one, two or three dimensions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from tinynet import errors
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.functional.checks import Ints, not_implemented, of_rank, per_shapes, tensor_only
from tinynet.nn.functional.convolution.convolution_ops import (
    convolve,
    convolve_biased,
    spread,
    spread_biased,
)
from tinynet.nn.functional.geometry import Geometry
from tinynet.ops import complex
from tinynet.ops.arguments import c_name, is_whole, name_of

__all__ = ["conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"]


# ---- convolution checks -------------------------------------------------------------------------
# Checks of convolutions, with PyTorch's messages.


def option_tuple(function: str, option: str, value: Any, rank: int) -> Ints:
    """Return an option, an int or a sequence of ints, as a tuple: of ``rank`` ints for one int."""
    values = (value,) * rank if is_whole(value) else value
    if not isinstance(values, (tuple, list)) or not all(map(is_whole, values)):
        kind = type(value).__name__
        raise TypeError(f"{function}(): argument '{option}' must be tuple of ints, not {kind}")
    return tuple(map(int, values))


def lengths(function: str, option: str, value: Any, rank: int, dims: int) -> Ints:
    """Return an option as one int for each dimension of the weight."""
    values = option_tuple(function, option, value, rank)
    if len(values) not in (1, dims):
        raise RuntimeError(
            f"expected {option} to be a single integer value or a list of {dims} values to match "
            f"the convolution dimensions, but got {option}={list(values)}"
        )
    return values * dims if len(values) == 1 else values


def named(what: str, values: Ints, separator: str = " ") -> str:
    """Return numbers as PyTorch prints them: ``"stride_height: 1 stride_width: 2"``."""
    if len(values) == 1:
        values = (int(what != "output_padding"), *values)
    names = ("depth", "height", "width")[3 - len(values) :]
    return separator.join(f"{what}_{n}: {v}" for n, v in zip(names, values, strict=True))


def product(sizes: Sequence[int]) -> str:
    """Return sizes as PyTorch prints them: ``"(2 x 3)"``."""
    return f"({' x '.join(map(str, sizes))})"


def check_options(
    padding: Ints, output_padding: Ints, stride: Ints, dilation: Ints, groups: int
) -> None:
    """Raise RuntimeError for invalid options."""
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    if min(padding) < 0:
        raise RuntimeError("negative padding is not supported")
    if min(output_padding) < 0:
        raise RuntimeError("negative output_padding is not supported")
    if min(stride) <= 0:
        raise RuntimeError("non-positive stride is not supported")
    if min(dilation) < 0:
        raise RuntimeError("dilation should be greater than zero")


def check_dims(input: Ints, weight: Ints, space: str = " ") -> None:
    """Raise RuntimeError if the numbers of dimensions differ."""
    given, shape = list(input), list(weight)
    if len(given) != len(shape):
        raise RuntimeError(
            f"Expected {len(shape)}-dimensional input for {len(shape)}-dimensional weight{space}"
            f"{shape}, but got {len(given)}-dimensional input of size {given} instead"
        )


def check_weight(
    input: Ints, weight: Ints, bias: Ints | None, groups: int, transposed: bool
) -> None:
    """Raise RuntimeError if channels or dimensions do not match."""
    check_dims(input, weight)
    given, shape = list(input), list(weight)
    if shape[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but "
            f"got weight of size {shape} instead"
        )
    if shape[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, "
            f"but got weight of size [{shape}] instead"
        )
    inputs, channels = shape[1] * groups, shape[0]
    if transposed:
        inputs, channels = channels, inputs
    if given[1] != inputs:
        raise RuntimeError(
            f"Given {'transposed=1' if transposed else f'groups={groups}'}, weight of size {shape},"
            f" expected input{given} to have {inputs} channels, but got {given[1]} channels instead"
        )
    if bias is not None and bias != (channels,):
        raise RuntimeError(
            f"Given {'transposed=1, ' if transposed else ''}weight of size {shape}, expected bias "
            f"to be 1-dimensional with {channels} elements, but got bias of size "
            f"{list(bias)} instead"
        )


def check_sizes(input: Ints, kernel: Ints, dilation: Ints, transposed: bool) -> None:
    """Raise RuntimeError for empty inputs and kernels."""
    if min(kernel) <= 0:
        raise RuntimeError(
            f"kernel size should be greater than zero, but got {named('kernel', kernel)}"
        )
    if min(dilation) == 0:
        shown = named("dilation", dilation, ", ") if transposed else list(dilation)
        raise RuntimeError(f"dilation should be greater than zero, but got {shown}")
    if not all(input[2:]):
        raise RuntimeError(
            "Only zero batch or zero channel inputs are supported, but got input shape: "
            f"{list(input)}"
        )


def check_dtypes(input: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    """Raise RuntimeError unless all have one dtype."""
    x, w = input._array, weight._array
    if bias is not None and bias._array.dtype != x.dtype:
        raise errors.mixed_dtypes(
            f"Input type ({c_name(x)}) and bias type ({c_name(bias._array)}) should be the same"
        )
    if x.dtype != w.dtype:
        raise errors.mixed_dtypes(f"expected scalar type {name_of(x)} but found {name_of(w)}")
    if x.dtype.kind == "b":
        raise not_implemented("slow_conv2d_cpu", x)


def check_rank(function: str, input: Ints, weight: Ints, rank: int) -> None:
    """Raise RuntimeError for too few or too many dimensions."""
    if len(input) not in (rank + 1, rank + 2):
        raise RuntimeError(
            f"Expected {rank + 1}D (unbatched) or {rank + 2}D (batched) input to {function}, but "
            f"got input of size: {list(input)}"
        )
    if len(weight) < 3:
        raise RuntimeError("weight should have at least three dimensions")


def check_reach(size: Ints, walk: Geometry) -> None:
    """Raise RuntimeError for an input that is smaller than the kernel."""
    padded = tuple(n + 2 * p for n, p in zip(size, walk.padding, strict=True))
    spans = walk.spans
    if any(map(operator.lt, padded, spans)):
        raise RuntimeError(
            f"Calculated padded input size per channel: {product(padded)}. Kernel size: "
            f"{product(spans)}. Kernel size can't be greater than actual input size"
        )


def check_output(size: Ints, out: Ints, output_padding: Ints, stride: Ints, dilation: Ints) -> None:
    """Raise RuntimeError if the result of a transposed convolution is too small or overpadded."""
    if any(p >= max(s, d) for p, s, d in zip(output_padding, stride, dilation, strict=True)):
        raise RuntimeError(
            "output padding must be smaller than either stride or dilation, but got "
            f"{named('output_padding', output_padding)} {named('stride', stride)} "
            f"{named('dilation', dilation)}"
        )
    if min(out) < 1:
        raise RuntimeError(
            f"Given input size per channel: {product(size)}. Calculated output size per channel: "
            f"{product(out)}. Output size is too small"
        )


# ---- convolutions -------------------------------------------------------------------------------

Lengths = int | Sequence[int]


def _padding(
    function: str, padding: Any, rank: int, kernel: Ints, stride: Ints, dilation: Ints
) -> Ints:
    """Return the padding before the first element."""
    if not isinstance(padding, str):
        return lengths(function, "padding", padding, rank, len(kernel))
    if padding == "valid":
        return (0,) * len(kernel)
    if padding != "same":
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    if max(stride) > 1:
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    return tuple(d * (k - 1) // 2 for d, k in zip(dilation, kernel, strict=True))


@per_shapes
def geometry(
    rank: int,
    input: Ints,
    weight: Ints,
    bias: Ints | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Geometry:
    """Return the windows of a convolution of arrays of these shapes, once all is checked.

    Raises:
        RuntimeError: shapes or options do not match.
    """
    function = f"conv{rank}d"
    check_rank(function, input, weight, rank)
    if padding == "same":
        check_dims(input, weight, space="")
    size, kernel = input[2:], weight[2:]
    steps = lengths(function, "stride", stride, rank, len(kernel))
    spacing = lengths(function, "dilation", dilation, rank, len(kernel))
    before = _padding(function, padding, rank, kernel, steps, spacing)
    check_options(before, (0,), steps, spacing, groups)
    check_weight(input, weight, bias, groups, transposed=False)
    walk = Geometry.over(size, kernel, steps, before, spacing)
    if padding == "same":
        walk = walk._replace(out=size)
    else:
        check_reach(size, walk)
    check_sizes(input, kernel, spacing, transposed=False)
    return walk


def conv(
    rank: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Lengths = 1,
    padding: str | Lengths = 0,
    dilation: Lengths = 1,
    groups: int = 1,
) -> Tensor:
    """Return the convolution over {last}.

    In each dimension, ``result[o, x] = bias[o] + sum of weight[o, c, k] * input[c, stride * x +
    dilation * k - padding]`` over c and k; the input is 0 outside. Each option is one int, or one
    for each dimension.

    Args:
        input: ``[batch, channels, {sizes}]`` or ``[channels, {sizes}]``.
        weight: ``[out channels, channels / groups, *kernel]``.
        bias: ``[out channels]``, or None.
        stride: step between windows.
        padding: number of zeros on each side; ``"valid"`` adds none, ``"same"`` makes the result as
            large as the input.
        dilation: distance between the elements of a window.
        groups: number of groups that the channels are split into, each convolved separately.

    Returns:
        ``[batch, out channels, *size]`` with ``size = floor((n + 2 * padding - dilation * (kernel -
        1) - 1) / stride) + 1``.

    Raises:
        RuntimeError: shapes, dtypes or options do not match.

    Example:
        >>> F.conv1d(tn.tensor([[1.0, 2.0, 4.0]]), tn.tensor([[[-1.0, 1.0]]]))
        tensor([[1., 2.]])
        >>> F.conv2d(tn.ones(1, 1, 3, 3), tn.ones(1, 1, 3, 3), padding=1)
        tensor([[[[4., 6., 4.],
                  [6., 9., 6.],
                  [4., 6., 4.]]]])
        >>> F.conv3d(tn.ones(1, 4, 4, 4), tn.ones(2, 1, 2, 2, 2), stride=2).shape
        tinynet.Size([2, 2, 2, 2])
    """
    tensor_only(f"conv{rank}d", input=input, weight=weight)
    shapes = input._array.shape, weight._array.shape, None if bias is None else bias._array.shape
    if len(shapes[0]) == rank + 1:
        check_rank(f"conv{rank}d", *shapes[:2], rank)
        image = input.unsqueeze(0)
        return conv(rank, image, weight, bias, stride, padding, dilation, groups).squeeze(0)
    walk = geometry(rank, *shapes, stride, padding, dilation, groups)
    check_dtypes(input, weight, bias)
    if input._array.dtype.kind == "c":
        return _of_parts(lambda x, w: convolve.function(x, w, walk, groups), input, weight, bias)
    if bias is None:
        return convolve.function(input, weight, walk, groups)
    return convolve_biased.function(input, weight, bias, walk, groups)


def _of_parts(
    product: Callable[[Tensor, Tensor], Tensor], input: Tensor, weight: Tensor, bias: Tensor | None
) -> Tensor:
    """Return a convolution of complex numbers from three of real ones, as in PyTorch."""
    reals, imaginaries = product(input.real, weight.real), product(input.imag, weight.imag)
    both = product(input.real + input.imag, weight.real + weight.imag)
    made = complex(reals - imaginaries, both - reals - imaginaries)
    return made if bias is None else made + bias.reshape(-1, *[1] * (weight.ndim - 2))


conv1d = of_rank(1, conv, autocast="lower")
conv2d = of_rank(2, conv, autocast="lower")
conv3d = of_rank(3, conv, autocast="lower")

# ---- transposed convolutions --------------------------------------------------------------------


@per_shapes
def transposed_geometry(
    rank: int,
    input: Ints,
    weight: Ints,
    bias: Ints | None,
    stride: Any,
    padding: Any,
    output_padding: Any,
    dilation: Any,
    groups: int,
) -> tuple[Ints, Geometry]:
    """Return the size of a transposed convolution and its windows, once all is checked.

    Raises:
        RuntimeError: shapes or options do not match.
    """
    function = f"conv_transpose{rank}d"
    size, kernel = input[2:], weight[2:]
    dims = len(kernel)
    steps = lengths(function, "stride", stride, rank, dims)
    before = lengths(function, "padding", padding, rank, dims)
    spacing = lengths(function, "dilation", dilation, rank, dims)
    extra = lengths(function, "output_padding", output_padding, rank, dims)
    check_options(before, extra, steps, spacing, groups)
    check_weight(input, weight, bias, groups, transposed=True)
    check_sizes(input, kernel, spacing, transposed=True)
    walk = Geometry(kernel, steps, before, spacing, size)
    out = tuple(map(operator.add, walk.least, extra))
    check_output(size, out, extra, steps, spacing)
    return out, walk


def conv_transpose(
    rank: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Lengths = 1,
    padding: Lengths = 0,
    output_padding: Lengths = 0,
    groups: int = 1,
    dilation: Lengths = 1,
) -> Tensor:
    """Return the transposed convolution over {last}: the gradient of ``conv{rank}d``.

    In each dimension ``result[stride * x + dilation * k - padding] += weight[k] * input[x]``, over
    all k.

    Each element of the input, times the weight, is added to a window of the result; the windows are
    those of ``conv{rank}d`` with the same options.

    Args:
        input: ``[batch, channels, {sizes}]`` or ``[channels, {sizes}]``.
        weight: ``[channels, out channels / groups, *kernel]``.
        bias: ``[out channels]``, or None.
        stride: step between windows.
        padding: number of elements cropped from each side.
        output_padding: number of elements added at the end of each dimension, since inputs of
            several sizes give the same convolution size.
        groups: number of groups that the channels are split into, each convolved separately.
        dilation: distance between the elements of a window.

    Returns:
        ``[batch, out channels, *size]`` with ``size = (n - 1) * stride - 2 * padding + dilation *
        (kernel - 1) + output_padding + 1``.

    Raises:
        RuntimeError: shapes, dtypes or options do not match.

    Example:
        >>> F.conv_transpose1d(tn.tensor([[1.0, 2.0]]), tn.ones(1, 1, 2), stride=2)
        tensor([[1., 1., 2., 2.]])
        >>> F.conv_transpose2d(tn.ones(1, 1, 2, 2), tn.ones(1, 1, 2, 2))
        tensor([[[[1., 2., 1.],
                  [2., 4., 2.],
                  [1., 2., 1.]]]])
        >>> F.conv_transpose3d(tn.ones(2, 3, 3, 3), tn.ones(2, 4, 2, 2, 2), stride=2).shape
        tinynet.Size([4, 6, 6, 6])
    """
    function = f"conv_transpose{rank}d"
    tensor_only(function, input=input, weight=weight)
    shapes = input._array.shape, weight._array.shape, None if bias is None else bias._array.shape
    check_rank(function, *shapes[:2], rank)
    if len(shapes[0]) == rank + 1:
        image = input.unsqueeze(0)
        given = stride, padding, output_padding, groups, dilation
        return conv_transpose(rank, image, weight, bias, *given).squeeze(0)
    out, walk = transposed_geometry(
        rank, *shapes, stride, padding, output_padding, dilation, groups
    )
    check_dtypes(input, weight, bias)
    if input._array.dtype.kind == "c":
        return _of_parts(lambda x, w: spread.function(x, w, out, walk, groups), input, weight, bias)
    if bias is None:
        return spread.function(input, weight, out, walk, groups)
    return spread_biased.function(input, weight, bias, out, walk, groups)


conv_transpose1d = of_rank(1, conv_transpose, autocast="lower")
conv_transpose2d = of_rank(2, conv_transpose, autocast="lower")
conv_transpose3d = of_rank(3, conv_transpose, autocast="lower")
