"""unfold and fold: the windows of images as columns, and the sum of such columns as images."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.core.declaration.operation import operation
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.nn.functional.checks import not_implemented, per_shapes, tensor_only
from tinynet.nn.functional.convolution.convolution import named, option_tuple
from tinynet.nn.functional.convolution.im2col import added, clear_edges, sliding
from tinynet.nn.functional.geometry import Geometry

__all__ = ["unfold", "fold"]

Ints = tuple[int, ...]
Lengths = int | Sequence[int]

# ---- operations: each the derivative of the other -----------------------------------------------


@operation(node="Im2ColBackward0", complex=True)
def im2col(input: Array, /, walk: Geometry) -> Array:
    """Return the windows of ``[batch, channels, *size]``: ``[batch, channels * kernel, out]``.

    The batch dimension is optional. This is an operation for speed: gathering windows by index
    takes several times as long.
    """
    x = input if input.ndim == len(walk.kernel) + 2 else input[None]
    columns = np.empty((*x.shape[:2], *walk.kernel, *walk.out), x.dtype)
    windows = np.moveaxis(columns, 0, len(walk.kernel) + 1)
    np.copyto(windows, sliding(x, walk))
    clear_edges(windows, x.shape[2:], walk)
    rows = x.shape[1] * math.prod(walk.kernel)
    return columns.reshape(*input.shape[: -len(walk.kernel) - 1], rows, math.prod(walk.out))


@operation(node="Col2ImBackward0", complex=True)
def col2im(input: Array, /, size: Ints, walk: Geometry) -> Array:
    """Return images ``[batch, channels, *size]``, the sums of the columns as windows."""
    channels = input.shape[-2] // math.prod(walk.kernel)
    windows = input.reshape(-1 if input.size else 0, channels, *walk.kernel, *walk.out)
    images = np.ascontiguousarray(added(windows, size, walk))
    return images if input.ndim == 3 else images[0]


im2col.grad(input=lambda g, input_shape, walk: col2im(g, input_shape[-len(walk.kernel) :], walk))
col2im.grad(input=lambda g, walk: im2col(g, walk))

# ---- validation ---------------------------------------------------------------------------------


def _pair(function: str, name: str, value: Any) -> Ints:
    """Return an option as (height, width)."""
    pair = option_tuple(function, name, value, 2)
    if len(pair) != 2:
        raise RuntimeError(f"It is expected {name} equals to 2, but got size {len(pair)}")
    return pair


def _check(kernel: Ints, stride: Ints, dilation: Ints, padding: Ints) -> None:
    """Raise RuntimeError for invalid options."""
    for what, short, values in (
        ("kernel size", "kernel", kernel),
        ("stride", "stride", stride),
        ("dilation", "dilation", dilation),
    ):
        if min(values) <= 0:
            raise RuntimeError(
                f"{what} should be greater than zero, but got {named(short, values)}"
            )
    if min(padding) < 0:
        raise RuntimeError(f"padding should be non-negative, but got {named('pad', padding)}")


def _check_dtype(kernel: str, input: Tensor) -> None:
    if input._array.dtype.kind in "iu":
        raise not_implemented(kernel, input._array)


# ---- functions ----------------------------------------------------------------------------------


def unfold(
    input: Tensor,
    kernel_size: Lengths,
    dilation: Lengths = 1,
    padding: Lengths = 0,
    stride: Lengths = 1,
) -> Tensor:
    """Return the windows of images, each as a column.

    Column l is the window at ``(y, x)``: ``result[:, l] = input[:, y : y + height, x : x +
    width]``, flattened.

    Args:
        input: ``[batch, channels, height, width]`` or ``[channels, height, width]``.
        kernel_size: size of a window; this and the others are one number or (height, width).
        dilation: distance between the elements of a window.
        padding: number of zeros added on each side.
        stride: step between windows.

    Returns:
        ``[batch, channels * kernel height * kernel width, windows]``, the batch as in the input.

    Raises:
        RuntimeError: shapes or options do not match.

    Example:
        >>> F.unfold(tn.arange(6.0).reshape(1, 2, 3), (2, 2))
        tensor([[0., 1.],
                [1., 2.],
                [3., 4.],
                [4., 5.]])
    """
    tensor_only("im2col", input=input)
    walk = _unfolding(input._array.shape, kernel_size, dilation, padding, stride)
    _check_dtype("im2col_out_cpu", input)
    return im2col.function(input, walk)


@per_shapes
def _unfolding(shape: Ints, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Geometry:
    """Return the windows of ``unfold``, once all is checked."""
    given = {
        "kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride
    }  # fmt: skip
    kernel, spacing, before, steps = (_pair("im2col", *option) for option in given.items())
    _check(kernel, steps, spacing, before)
    if len(shape) not in (3, 4) or not all(shape[len(shape) - 3 :]):
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {list(shape)}"
        )
    size = shape[-2:]
    walk = Geometry.over(size, kernel, steps, before, spacing)
    if min(walk.out) < 1:
        raise RuntimeError(
            f"Given input with spatial size {size}, kernel_size={kernel}, dilation={spacing}, "
            f"padding={before}, calculated shape of the array of sliding blocks as {walk.out}, but "
            "its components must be at least one."
        )
    return walk


def fold(
    input: Tensor,
    output_size: Lengths,
    kernel_size: Lengths,
    dilation: Lengths = 1,
    padding: Lengths = 0,
    stride: Lengths = 1,
) -> Tensor:
    """Return images assembled from columns of windows, summing where windows overlap.

    Args:
        input: ``[batch, channels * kernel height * kernel width, windows]``; the batch dimension is
            optional.
        output_size: (height, width) of the images, or one number for both.
        kernel_size, dilation, padding, stride: as in ``unfold``.

    Returns:
        ``[batch, channels, *output_size]``, the batch as in the input.

    Raises:
        RuntimeError: shapes or options do not match.

    Example:
        >>> F.fold(tn.ones(4, 2), (2, 3), (2, 2))
        tensor([[[1., 2., 1.],
                 [1., 2., 1.]]])
    """
    tensor_only("col2im", input=input)
    shape = input._array.shape
    size, walk = _folding(shape, output_size, kernel_size, dilation, padding, stride)
    _check_dtype("col2im_out_cpu", input)
    return col2im.function(input, size, walk)


@per_shapes
def _folding(
    shape: Ints, output_size: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> tuple[Ints, Geometry]:
    """Return the size of the images of ``fold`` and their windows, once all is checked."""
    given = {
        "output_size": output_size, "kernel_size": kernel_size, "dilation": dilation,
        "padding": padding, "stride": stride,
    }  # fmt: skip
    size, kernel, spacing, before, steps = (_pair("col2im", *option) for option in given.items())
    _check(kernel, steps, spacing, before)
    walk = Geometry.over(size, kernel, steps, before, spacing)
    _check_columns(shape, size, walk)
    return size, walk


def _check_columns(shape: Ints, size: Ints, walk: Geometry) -> None:
    """Raise RuntimeError for columns that do not match images of a size."""
    if len(shape) not in (2, 3) or not all(shape[-2:]):
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
            f"non-zero dimensions for input, but got: {list(shape)}"
        )
    if shape[-2] % math.prod(walk.kernel):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, "
            f"but got input.size(1)={shape[-2]} and kernel_size={walk.kernel}."
        )
    given = (
        f"Given output_size={size}, kernel_size={walk.kernel}, dilation={walk.dilation}, "
        f"padding={walk.padding}, stride={walk.stride}, "
    )
    if math.prod(walk.out) != shape[-1]:
        raise RuntimeError(
            f"{given}expected size of input's dimension 2 to match the calculated number of "
            f"sliding blocks {walk.out[0]} * {walk.out[1]} = {math.prod(walk.out)}, but got "
            f"input.size(2)={shape[-1]}."
        )
    if min(walk.out) < 1:
        raise RuntimeError(
            f"{given}calculated shape of the array of sliding blocks as {tuple(walk.out)}, which "
            "is too small (non-positive)"
        )
