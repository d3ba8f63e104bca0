"""Convolutions and transposed convolutions over one, two or three dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.functional.checks import tensor_only
from tinynet.nn.functional.convolution import convolution_checks as checks
from tinynet.nn.functional.convolution.convolution_ops import (
    convolve,
    convolve_biased,
    spread,
    spread_biased,
)
from tinynet.nn.functional.convolution.im2col import Walk
from tinynet.nn.functional.dimensions import Ints, of_rank
from tinynet.ops import complex

__all__ = ["conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"]

Lengths = int | Sequence[int]

# ---- convolutions -------------------------------------------------------------------------------


def _padding(
    function: str, padding: Any, rank: int, kernel: Ints, stride: Ints, dilation: Ints
) -> Ints:
    """Return the padding before the first element."""
    if not isinstance(padding, str):
        return checks.lengths(function, "padding", padding, rank, len(kernel))
    if padding == "valid":
        return (0,) * len(kernel)
    if padding != "same":
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    if max(stride) > 1:
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    return tuple(d * (k - 1) // 2 for d, k in zip(dilation, kernel, strict=True))


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
    function = f"conv{rank}d"
    tensor_only(function, input=input, weight=weight)
    checks.check_rank(function, input, weight, rank)
    if input.ndim == rank + 1:
        image = input.unsqueeze(0)
        return conv(rank, image, weight, bias, stride, padding, dilation, groups).squeeze(0)
    if padding == "same":
        checks.check_dims(input, weight, space="")
    size, kernel = input._array.shape[2:], weight._array.shape[2:]
    steps = checks.lengths(function, "stride", stride, rank, len(kernel))
    spacing = checks.lengths(function, "dilation", dilation, rank, len(kernel))
    before = _padding(function, padding, rank, kernel, steps, spacing)
    checks.check_options(before, (0,), steps, spacing, groups)
    checks.check_weight(input, weight, bias, groups, transposed=False)
    out = size
    if padding != "same":
        spans = tuple(d * (k - 1) + 1 for d, k in zip(spacing, kernel, strict=True))
        checks.check_reach(size, before, spans)
        sizes = zip(size, before, spans, steps, strict=True)
        out = tuple((n + 2 * p - span) // s + 1 for n, p, span, s in sizes)
    checks.check_sizes(input, kernel, spacing, transposed=False)
    checks.check_dtypes(input, weight, bias)
    walk = Walk(kernel, steps, before, spacing, out)
    if input.is_complex():
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
    checks.check_rank(function, input, weight, rank)
    if input.ndim == rank + 1:
        options = stride, padding, output_padding, groups, dilation
        return conv_transpose(rank, input.unsqueeze(0), weight, bias, *options).squeeze(0)
    size, kernel = input._array.shape[2:], weight._array.shape[2:]
    dims = len(kernel)
    steps = checks.lengths(function, "stride", stride, rank, dims)
    before = checks.lengths(function, "padding", padding, rank, dims)
    spacing = checks.lengths(function, "dilation", dilation, rank, dims)
    extra = checks.lengths(function, "output_padding", output_padding, rank, dims)
    checks.check_options(before, extra, steps, spacing, groups)
    checks.check_weight(input, weight, bias, groups, transposed=True)
    checks.check_sizes(input, kernel, spacing, transposed=True)
    sizes = zip(size, kernel, steps, before, spacing, extra, strict=True)
    out = tuple((n - 1) * s - 2 * p + d * (k - 1) + e + 1 for n, k, s, p, d, e in sizes)
    checks.check_output(size, out, extra, steps, spacing)
    checks.check_dtypes(input, weight, bias)
    walk = Walk(kernel, steps, before, spacing, size)
    if input.is_complex():
        return _of_parts(lambda x, w: spread.function(x, w, out, walk, groups), input, weight, bias)
    if bias is None:
        return spread.function(input, weight, out, walk, groups)
    return spread_biased.function(input, weight, bias, out, walk, groups)


conv_transpose1d = of_rank(1, conv_transpose, autocast="lower")
conv_transpose2d = of_rank(2, conv_transpose, autocast="lower")
conv_transpose3d = of_rank(3, conv_transpose, autocast="lower")
