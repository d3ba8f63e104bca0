"""Checks of normalisations, with PyTorch's messages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet import errors
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.functional.checks import refuse_gradient, require_floating
from tinynet.ops.argument_errors import name_of


def check_kinds(kernel: str, input: Tensor, *parameters: Tensor | None) -> None:
    """Raise unless all dtypes are floating-point and equal."""
    kind = input._array.dtype
    require_floating(kernel, input._array)
    given = [p._array for p in parameters if p is not None]
    if not given or (kernel == "batch_norm" and input._array.size == 0):
        return  # PyTorch compares none for an empty batch
    first = given[0].dtype
    if first != kind and not (kind.itemsize == 2 and first == np.float32):
        if kind == np.float64:
            raise errors.mixed_dtypes("mixed dtype (CPU): all inputs must share same datatype.")
        raise errors.mixed_dtypes(
            f"mixed dtype (CPU): expect parameter to have scalar type of {name_of(input._array)}"
        )
    for other in given[1:]:
        if other.dtype != first:
            raise errors.mixed_dtypes(
                f"expected scalar type {name_of(given[0])} but found {name_of(other)}"
            )


_LARGER_BATCH = (
    "train with larger batches; if it is the last one of an epoch, leave it out: "
    "`DataLoader(..., drop_last=True)` or `data.drop_last = true` in a config; to predict, "
    "call `model.eval()` first"
)
_LARGER_GROUPS = "form fewer groups, so that each has several values"


def check_per_channel(size: Sequence[int], fix: str = _LARGER_BATCH) -> None:
    """Raise for one value per channel, which equals its mean."""
    if size[0] * math.prod(size[2:]) == 1:
        sentence = f"Expected more than 1 value per channel when training, got input size {size}"
        raise ValueError(errors.with_fix(sentence, fix))


def check_running(mean: Tensor | None, var: Tensor | None, channels: int, needed: bool) -> None:
    """Raise if running statistics do not match or are missing."""
    for name, running in (("running_mean", mean), ("running_var", var)):
        if running is None:
            if needed:
                raise RuntimeError(f"{name} must be defined in evaluation mode")
        else:
            check_count(name, running, channels)
            refuse_gradient("native_batch_norm", **{name: running})
    if (mean is None) != (var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")


def check_count(name: str, given: Tensor | None, channels: int) -> None:
    """Raise unless there is one number per channel."""
    if given is not None and given._array.size != channels:
        raise RuntimeError(f"{name} should contain {channels} elements not {given._array.size}")


def check_groups(size: Sequence[int], num_groups: int, **parameters: Tensor | None) -> None:
    """Raise if ``group_norm`` cannot form groups, or parameters do not match."""
    if len(size) < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor but received {len(size)}"
        )
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    samples, channels = size[:2]
    check_per_channel([samples * channels // num_groups, num_groups, *size[2:]], _LARGER_GROUPS)
    if channels % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of "
            f"shape {list(size)} and num_groups={num_groups}"
        )
    for name, given in parameters.items():
        if given is not None and given.shape != (channels,):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in "
                f"input, but got {name} of shape {list(given.shape)} and input of shape "
                f"{list(size)}"
            )


def check_rows(
    function: str, star: str, input: Tensor, normalized_shape: Any, **parameters: Tensor | None
) -> int:
    """Return the number of elements in a row; raise if shapes do not match."""
    if not isinstance(normalized_shape, (tuple, list)):
        raise TypeError(
            f"{function}(): argument 'normalized_shape' (position 2) must be tuple of ints, not "
            f"{type(normalized_shape).__name__}"
        )
    shape = list(normalized_shape)
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least "
            f"one element, but got normalized_shape = {shape}"
        )
    for name, given in parameters.items():
        if given is not None and list(given.shape) != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of "
                f"shape {list(given.shape)} and normalized_shape = {shape}"
            )
    size = list(input.shape)
    if size[-len(shape) :] != shape:
        raise RuntimeError(
            f"Given normalized_shape={shape}, expected input with shape "
            f"[{star}{', '.join(map(str, shape))}], but got input of size{size}"
        )
    return math.prod(shape)
