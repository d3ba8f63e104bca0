"""The gradients of convolutions as functions: ``torch.nn.grad``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.functional.checks import Ints, of_rank
from tinynet.nn.functional.convolution.convolution import check_dims, check_dtypes, geometry
from tinynet.nn.functional.convolution.convolution_ops import correlate, spread
from tinynet.nn.functional.geometry import Geometry

__all__ = [
    *("conv1d_input", "conv2d_input", "conv3d_input"),
    *("conv1d_weight", "conv2d_weight", "conv3d_weight"),
]

Lengths = int | Sequence[int]


def _walk(rank: int, input: Ints, weight: Ints, grad_output: Tensor, *options: Any) -> Geometry:
    """Return the windows of a convolution, once shapes and options are checked.

    Raises:
        RuntimeError: shapes or options do not match.
    """
    check_dims(input, weight)
    walk = geometry(rank, input, weight, None, *options)
    expected = (input[0], weight[0], *walk.out)
    if grad_output.shape != expected:
        raise RuntimeError(
            f"Given an input of size {list(input)} and a weight of size {list(weight)}, expected "
            f"grad_output to have size {list(expected)}, but got {list(grad_output.shape)}"
        )
    return walk


def conv_input(
    rank: int,
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Lengths = 1,
    padding: Lengths = 0,
    dilation: Lengths = 1,
    groups: int = 1,
) -> Tensor:
    """Return the gradient of ``conv{rank}d`` with respect to its input.

    Args:
        input_size: the shape of the input, ``[batch, channels, {sizes}]``.
        weight: ``[out channels, channels / groups, *kernel]``.
        grad_output: the gradient of the result, ``[batch, out channels, *size]``.
        stride, padding, dilation, groups: those of the convolution; padding is a number.

    Raises:
        RuntimeError: shapes, dtypes or options do not match.

    Example:
        >>> nn.grad.conv1d_input((1, 1, 3), tn.ones(1, 1, 2), tn.ones(1, 1, 2))
        tensor([[[1., 2., 1.]]])
    """
    size = tuple(input_size)
    walk = _walk(rank, size, weight.shape, grad_output, stride, padding, dilation, groups)
    check_dtypes(grad_output, weight, None)
    return spread.function(grad_output, weight, size[2:], walk, groups)


def conv_weight(
    rank: int,
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Lengths = 1,
    padding: Lengths = 0,
    dilation: Lengths = 1,
    groups: int = 1,
) -> Tensor:
    """Return the gradient of ``conv{rank}d`` with respect to its weight.

    Args:
        input: ``[batch, channels, {sizes}]``.
        weight_size: the shape of the weight, ``[out channels, channels / groups, *kernel]``.
        grad_output: the gradient of the result, ``[batch, out channels, *size]``.
        stride, padding, dilation, groups: those of the convolution; padding is a number.

    Raises:
        RuntimeError: shapes, dtypes or options do not match.

    Example:
        >>> nn.grad.conv1d_weight(tn.tensor([[[1.0, 2.0, 4.0]]]), (1, 1, 2), tn.ones(1, 1, 2))
        tensor([[[3., 6.]]])
    """
    size = tuple(weight_size)
    walk = _walk(rank, input.shape, size, grad_output, stride, padding, dilation, groups)
    check_dtypes(grad_output, input, None)
    return correlate.function(input, grad_output, walk, groups)


conv1d_input = of_rank(1, conv_input, name="conv1d_input")
conv2d_input = of_rank(2, conv_input, name="conv2d_input")
conv3d_input = of_rank(3, conv_input, name="conv3d_input")
conv1d_weight = of_rank(1, conv_weight, name="conv1d_weight")
conv2d_weight = of_rank(2, conv_weight, name="conv2d_weight")
conv3d_weight = of_rank(3, conv_weight, name="conv3d_weight")
