"""Checks of convolutions, with PyTorch's messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tinynet import errors
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.functional.checks import not_implemented
from tinynet.ops.argument_errors import c_name, name_of

Ints = tuple[int, ...]


def option_tuple(function: str, option: str, value: Any, rank: int) -> Ints:
    """Return an option, an int or a sequence of ints, as a tuple: of ``rank`` ints for one int."""
    values = (value,) * rank if isinstance(value, int) else value
    if not isinstance(values, (tuple, list)) or not all(isinstance(n, int) for n in values):
        kind = type(value).__name__
        raise TypeError(f"{function}(): argument '{option}' must be tuple of ints, not {kind}")
    return tuple(values)


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


def check_dims(input: Tensor, weight: Tensor, space: str = " ") -> None:
    """Raise RuntimeError if the numbers of dimensions differ."""
    given, shape = list(input.shape), list(weight.shape)
    if len(given) != len(shape):
        raise RuntimeError(
            f"Expected {len(shape)}-dimensional input for {len(shape)}-dimensional weight{space}"
            f"{shape}, but got {len(given)}-dimensional input of size {given} instead"
        )


def check_weight(
    input: Tensor, weight: Tensor, bias: Tensor | None, groups: int, transposed: bool
) -> None:
    """Raise RuntimeError if channels or dimensions do not match."""
    check_dims(input, weight)
    given, shape = list(input.shape), list(weight.shape)
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
    if bias is not None and list(bias.shape) != [channels]:
        raise RuntimeError(
            f"Given {'transposed=1, ' if transposed else ''}weight of size {shape}, expected bias "
            f"to be 1-dimensional with {channels} elements, but got bias of size "
            f"{list(bias.shape)} instead"
        )


def check_sizes(input: Tensor, kernel: Ints, dilation: Ints, transposed: bool) -> None:
    """Raise RuntimeError for empty inputs and kernels."""
    if min(kernel) <= 0:
        raise RuntimeError(
            f"kernel size should be greater than zero, but got {named('kernel', kernel)}"
        )
    if min(dilation) == 0:
        shown = named("dilation", dilation, ", ") if transposed else list(dilation)
        raise RuntimeError(f"dilation should be greater than zero, but got {shown}")
    if not all(input.shape[2:]):
        raise RuntimeError(
            "Only zero batch or zero channel inputs are supported, but got input shape: "
            f"{list(input.shape)}"
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


def check_rank(function: str, input: Tensor, weight: Tensor, rank: int) -> None:
    """Raise RuntimeError for too few or too many dimensions."""
    if input.ndim not in (rank + 1, rank + 2):
        raise RuntimeError(
            f"Expected {rank + 1}D (unbatched) or {rank + 2}D (batched) input to {function}, but "
            f"got input of size: {list(input.shape)}"
        )
    if weight.ndim < 3:
        raise RuntimeError("weight should have at least three dimensions")


def check_reach(size: Ints, padding: Ints, spans: Ints) -> None:
    """Raise RuntimeError for an input that is smaller than the kernel."""
    padded = tuple(n + 2 * p for n, p in zip(size, padding, strict=True))
    if any(n < span for n, span in zip(padded, spans, strict=True)):
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
