"""Normalisation: batch, instance, group, layer, RMS and local response norm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet import errors
from tinynet.core import arrays
from tinynet.core.graph.inplace import wrote
from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.core.tensors.version import Writer, refuse_inference
from tinynet.core.trace import traced_write
from tinynet.dtypes import Array
from tinynet.kernels.low_precision import kind_for
from tinynet.nn.functional.checks import refuse_gradient, require_floating, tensor_only
from tinynet.nn.functional.images.padding import pad
from tinynet.nn.functional.normalization_ops import Blocks, batch_normalized, batch_scaled
from tinynet.nn.functional.sample_normalization_ops import (
    group_normalized,
    layer_normalized,
    rms_normalized,
)
from tinynet.ops.arguments import name_of

__all__ = [
    "batch_norm",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "local_response_norm",
    "rms_norm",
]


# ---- normalization checks -----------------------------------------------------------------------
# Checks of normalisations, with PyTorch's messages.


def check_kinds(kernel: str, input: Tensor, *parameters: Tensor | None) -> None:
    """Raise unless all dtypes are floating-point and equal."""
    kind = input._array.dtype
    if kind.kind != "f":
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
    samples, *rest = size
    if samples * math.prod(rest[1:]) == 1:
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


def fits(input: Any, shape: Any, *parameters: Tensor | None) -> bool:
    """Return whether rows of a shape need no check: all have this shape and one floating dtype."""
    if not isinstance(input, Tensor) or shape.__class__ is not tuple or not shape:
        return False
    x = input._array
    kind = x.dtype
    if kind.kind != "f" or x.shape[-len(shape) :] != shape:
        return False
    for p in parameters:
        if p is not None and ((a := p._array).shape != shape or a.dtype is not kind):
            return False
    return True


# ---- normalization ------------------------------------------------------------------------------


def _default(value: float, input: Tensor, count: int) -> Tensor:
    """Return a weight or bias where none is given."""
    return wrap(arrays.full(count, value, input._array.dtype))


# ---- batch and instance norm --------------------------------------------------------------------


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise each channel over the batch, then scale and shift it.

    ``(x - mean) / sqrt(var + eps) * weight + bias`` (Ioffe and Szegedy, 2015). Training uses mean
    and (biased) variance of the batch and updates the running statistics, with the unbiased
    variance; evaluation uses the running statistics. The update is an in-place write: a backward
    that needs the old statistics raises an error.

    Args:
        input: ``[batch, channels, ...]``.
        running_mean: ``[channels]``, or None in training.
        running_var: ``[channels]``, or None in training.
        weight: ``[channels]``, ones unless given.
        bias: ``[channels]``, zeros unless given.
        training: whether to use the statistics of the batch.
        momentum: weight of the current statistics in the running ones, from 0 to 1.
        eps: added under the square root for numerical stability.

    Raises:
        ValueError: there is one value per channel in training, or ``eps`` is negative.
        RuntimeError: shapes or dtypes do not match.

    Example:
        >>> F.batch_norm(tn.tensor([[1.0], [3.0]]), None, None, training=True, eps=1e-9)
        tensor([[-1.],
                [ 1.]])
    """
    tensor_only("batch_norm", input=input)
    if training and input.ndim:
        check_per_channel(input.shape)
    if training and eps <= 0.0:
        raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    if eps < 0.0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    return _batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def _batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None,
    bias: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Tensor:
    shape = input._array.shape
    channels = shape[1] if len(shape) > 1 else 0
    check_running(running_mean, running_var, channels, not training)
    check_count("weight", weight, channels)
    check_count("bias", bias, channels)
    check_kinds("batch_norm", input, weight, bias, running_mean, running_var)
    if len(shape) < 2 and not input._array.size:
        scaled = input.clone() if weight is None else input * weight
        return scaled if bias is None else scaled + bias
    if len(shape) < 2:
        raise IndexError("Dimension out of range (expected to be in range of [-1, 0], but got 1)")
    w = _default(1.0, input, channels) if weight is None else weight
    b = _default(0.0, input, channels) if bias is None else bias
    blocks = Blocks(shape[0], channels, 1, math.prod(shape[2:]), shared=True)
    if not training:
        return batch_scaled.function(input, running_mean, running_var, w, b, blocks, eps)
    for running in (running_mean, running_var):
        if running is not None:
            refuse_inference(running._counter)
    output, mean, var = batch_normalized.function(input, w, b, blocks, eps)
    count = shape[0] * blocks.places
    if running_mean is not None and running_var is not None and input._array.size:
        update_running(running_mean, mean._array, momentum)
        update_running(running_var, var._array, momentum, count / max(count - 1, 1))
    return output


def update_running(running: Tensor, batch: Array, momentum: float, factor: float = 1.0) -> None:
    """Update running statistics: ``(1 - m) * running + m * (batch * factor)``."""
    _move(running._array, batch, momentum, factor)
    wrote(running, _RUNNING_STATISTICS, sources=[batch])


@traced_write
def _move(running: Array, batch: Array, momentum: Any, factor: float) -> None:
    momentum = float(momentum)  # a cumulative average computes it, as an array
    running *= 1 - momentum
    running += (batch * factor * momentum).reshape(running.shape)


_RUNNING_STATISTICS = Writer(
    "batch norm in training (running statistics)",
    "call backward() before the next forward in training mode, or run the forward again after it: "
    "in training mode batch norm updates its running statistics in each forward, even under "
    "no_grad()",
)


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise each channel of each sample to mean 0 and deviation 1.

    Equivalent to batch norm of one sample with ``batch * channels`` channels (Ulyanov et al.,
    2016).

    Args:
        input: ``[batch, channels, ...]``.
        running_mean: ``[channels]``; updated with the average over the batch.
        running_var: ``[channels]``, likewise.
        weight: ``[channels]``, ones unless given.
        bias: ``[channels]``, zeros unless given.
        use_input_stats: whether to use the statistics of the input, not the running ones.
        momentum: weight of the current statistics in the running ones, from 0 to 1.
        eps: added under the square root for numerical stability.

    Raises:
        ValueError: there is one value per channel of a sample.
        RuntimeError: shapes or dtypes do not match.

    Example:
        >>> F.instance_norm(tn.tensor([[[1.0, 3.0], [10.0, 30.0]]]), eps=1e-9)
        tensor([[[-1.,  1.],
                 [-1.,  1.]]])
    """
    tensor_only("instance_norm", input=input)
    size = input.shape
    if use_input_stats and math.prod(size[2:]) == 1:
        sentence = f"Expected more than 1 spatial element when training, got input size {size}"
        fix = "normalize over channels instead, as nn.GroupNorm and nn.LayerNorm do"
        raise ValueError(errors.with_fix(sentence, fix))
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when use_input_stats is false"
        )
    if len(size) < 2:
        raise IndexError("Dimension out of range (expected to be in range of [-1, 0], but got 1)")
    samples, channels = size[:2]

    def repeated(given: Tensor | None) -> Tensor | None:
        return None if given is None else given.repeat(samples)

    mean, var = repeated(running_mean), repeated(running_var)
    flat = input.contiguous().view(1, samples * channels, *size[2:])
    options = (use_input_stats, momentum, eps)
    normalized = _batch_norm(flat, mean, var, repeated(weight), repeated(bias), *options)
    if use_input_stats and samples:
        with no_grad():
            for running, updated in ((running_mean, mean), (running_var, var)):
                if running is not None and updated is not None:
                    running.copy_(updated.view(samples, channels).mean(0))
    return normalized.view(size)


# ---- group, layer and RMS norm ------------------------------------------------------------------


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise each group of channels of each sample to mean 0 and deviation 1.

    Then scale and shift each channel (Wu and He, 2018).

    Args:
        input: ``[batch, channels, ...]``.
        num_groups: number of groups; divides the number of channels.
        weight: ``[channels]``, ones unless given.
        bias: ``[channels]``, zeros unless given.
        eps: added under the square root for numerical stability.

    Raises:
        ValueError: there is one value per group.
        RuntimeError: shapes or dtypes do not match.

    Example:
        >>> F.group_norm(tn.tensor([[1.0, 3.0, 10.0, 30.0]]), 2, eps=1e-9)
        tensor([[-1.,  1., -1.,  1.]])
    """
    tensor_only("group_norm", input=input)
    size = input._array.shape
    check_groups(size, num_groups, weight=weight, bias=bias)
    samples, channels = size[:2]
    check_kinds("GroupNormKernelImpl", input, weight, bias)
    w = _default(1.0, input, 0) if weight is None else weight
    b = _default(0.0, input, 0) if bias is None else bias
    blocks = Blocks(samples, num_groups, channels // num_groups, math.prod(size[2:]))
    return group_normalized.function(input, w, b, blocks, eps)


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise the last dimensions to mean 0 and deviation 1.

    Then scale and shift each element (Ba, Kiros and Hinton, 2016).

    Args:
        input: ``[..., *normalized_shape]``.
        normalized_shape: the lengths of the last dimensions.
        weight: ``normalized_shape``, ones unless given.
        bias: ``normalized_shape``, zeros unless given.
        eps: added under the square root for numerical stability.

    Raises:
        RuntimeError: shapes or dtypes do not match.

    Example:
        >>> F.layer_norm(tn.tensor([[1.0, 3.0], [10.0, 30.0]]), (2,), eps=1e-9)
        tensor([[-1.,  1.],
                [-1.,  1.]])
    """
    if fits(input, normalized_shape, weight, bias):
        length = math.prod(normalized_shape)
    else:
        tensor_only("layer_norm", input=input)
        length = check_rows("layer_norm", "*, ", input, normalized_shape, weight=weight, bias=bias)
        check_kinds("LayerNormKernelImpl", input, weight, bias)
    w = _default(1.0, input, 0) if weight is None else weight
    b = _default(0.0, input, 0) if bias is None else bias
    return layer_normalized.function(input, w, b, length, eps)


def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """Return the input divided by the root of its mean square over the last dimensions.

    Then scale each element (Zhang and Sennrich, 2019).

    Args:
        input: ``[..., *normalized_shape]``.
        normalized_shape: the lengths of the last dimensions.
        weight: ``normalized_shape``, ones unless given.
        eps: added under the square root for numerical stability; unless given, the machine epsilon
            of float64 for float64, else of float32.

    Raises:
        RuntimeError: the shapes do not match.

    Example:
        >>> F.rms_norm(tn.tensor([[3.0, 3.0], [0.0, 2.0]]), (2,))
        tensor([[1.0000, 1.0000],
                [0.0000, 1.4142]])
    """
    tensor_only("rms_norm", input=input)
    length = check_rows("rms_norm", "*", input, normalized_shape, weight=weight)
    if input.is_complex():
        axes = tuple(range(-len(normalized_shape), 0))
        square = input.square().mean(axes, keepdim=True)
        small = float(np.finfo(input._array.dtype).eps) if eps is None else eps
        scaled = input * (square + small).rsqrt()
        return scaled if weight is None else scaled * weight
    check_kinds("rms_norm", input)
    w = _default(1.0, input, 0) if weight is None else weight
    if w.dtype != input.dtype:
        w = w.to(input.dtype)
    smallest = float(np.finfo(kind_for(input._array.dtype)).eps)
    return rms_normalized.function(input, w, length, smallest if eps is None else eps)


# ---- over neighbouring channels -----------------------------------------------------------------


def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """Return the input divided by ``(k + alpha * mean of squares over nearby channels) ** beta``.

    The mean is over ``size`` channels around each, with zeros beyond the first and last (Krizhevsky
    et al., 2012).

    Args:
        input: ``[batch, channels, places, ...]``.
        size: number of channels.
        alpha: the factor of the mean of squares.
        beta: the exponent of the divisor.
        k: the constant in the divisor.

    Raises:
        ValueError: fewer than 3 dimensions; ``size`` is not positive.

    Example:
        >>> F.local_response_norm(tn.ones(1, 3, 1), 3, alpha=3.0, beta=1.0).flatten()
        tensor([0.3333, 0.2500, 0.3333])
    """
    tensor_only("local_response_norm", input=input)
    if input.ndim < 3:
        raise ValueError(
            "Expected 3D or higher dimensionality                          input (got "
            f"{input.ndim} dimensions)"
        )
    if size < 1:
        raise ValueError(
            f"The 'size' parameter of local_response_norm must be >= 1. Got {size} instead."
        )
    if not input._array.size:
        return input
    channels = input.shape[1]
    beyond = [0, 0] * (input.ndim - 2) + [size // 2, (size - 1) // 2]
    squares = pad(input * input, beyond)
    total = squares.narrow(1, 0, channels)
    for start in range(1, size):
        total = total + squares.narrow(1, start, channels)
    return input / (total * (alpha / size) + k) ** beta
