"""Batch norm over the batches of all processes.

Each rank computes count, mean and sum of squared deviations of its own batch. All ranks gather them
and combine them in the order of ranks (Chan, Golub and LeVeque, "Updating formulae and a pairwise
algorithm for computing sample variances", 1979), so they get the same statistics to the bit. With
``c = x - mean``, ``r = 1 / sqrt(var + eps)`` and averages ``<>`` over all batches:

    y = c * r * weight + bias
    dx = weight * r * (g - <g> - c * r^2 * <g * c>)
    dweight = sum(g * c) * r,  dbias = sum(g), of the own batch: DistributedDataParallel adds them
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tinynet.autograd.function import Function, once_differentiable
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.distributed.collectives import all_gather_into_tensor
from tinynet.distributed.process_group import ProcessGroup
from tinynet.dtypes import Array
from tinynet.nn.functional.normalization import (
    check_count,
    check_kinds,
    check_running,
    update_running,
)
from tinynet.nn.functional.normalization_ops import wide


class Moments(NamedTuple):
    """Statistics per channel, in float64.

    Attributes:
        number: that of the values of a channel.
        mean: ``[channels]``.
        squares: ``[channels]``, the sum of ``(x - mean) ** 2``.
    """

    number: float
    mean: Array
    squares: Array

    @property
    def var(self) -> Array:
        """The biased variance."""
        return self.squares / max(self.number, 1.0)


def _sums(x: Array) -> Array:
    """Return the sum of each channel, in float64."""
    return np.add.reduce(x, (0, *range(2, x.ndim)), dtype=np.float64)


def _by_channel(values: Array, x: Array) -> Array:
    return values.astype(x.dtype).reshape(1, -1, *[1] * (x.ndim - 2))


def _centered(x: Array, mean: Array) -> tuple[Array, Array]:
    """Return ``x`` minus the rounded mean, and what rounding took from the mean."""
    return x - _by_channel(mean, x), mean - mean.astype(x.dtype)


def moments(x: Array) -> Moments:
    """Return the statistics of one batch."""
    count = x.size // x.shape[1]
    mean = _sums(x) / max(count, 1)
    c, rest = _centered(x, mean)
    return Moments(count, mean, np.maximum(_sums(c * c) - count * rest**2, 0))


def combined(batches: list[Moments]) -> Moments:
    """Return the statistics of several batches together, computed in their order."""
    count = sum(batch.number for batch in batches)
    mean = np.zeros_like(batches[0].mean)
    for batch in batches:
        mean += batch.number * batch.mean
    mean /= max(count, 1.0)
    squares = np.zeros_like(mean)
    for batch in batches:
        squares += batch.squares + batch.number * (batch.mean - mean) ** 2
    return Moments(count, mean, squares)


def normalized(
    x: Array, weight: Array | None, bias: Array | None, total: Moments, eps: float
) -> Array:
    """Return one batch, normalised by the statistics of all."""
    c, rest = _centered(x, total.mean)
    scale = 1 / np.sqrt(total.var + eps) * (1.0 if weight is None else weight)
    offset = (0.0 if bias is None else bias) - rest * scale
    c *= _by_channel(scale, x)
    c += _by_channel(offset, x)
    return c


def gradient_sums(g: Array, x: Array, total: Moments) -> Array:
    """Return ``sum(g)`` and ``sum(g * c)`` of one batch, as ``[2, channels]`` in float64."""
    c, rest = _centered(x, total.mean)
    sums = _sums(g)
    return np.stack([sums, _sums(g * c) - rest * sums])


def input_gradient(
    g: Array, x: Array, weight: Array | None, total: Moments, eps: float, sums: Array
) -> Array:
    """Return the gradient of one batch, from the ``gradient_sums`` of all batches together."""
    c, rest = _centered(x, total.mean)
    r = 1 / np.sqrt(total.var + eps)
    mean_g, mean_gc = sums / max(total.number, 1.0)
    by_place = r**2 * mean_gc
    c *= _by_channel(-by_place, x)
    c += g
    c -= _by_channel(mean_g - rest * by_place, x)
    c *= _by_channel(r if weight is None else r * weight, x)
    return c


def _gathered(own: Array, group: ProcessGroup) -> Array:
    """Return the arrays of all ranks, in their order."""
    every = np.empty((group.size(), *own.shape))
    all_gather_into_tensor(wrap(every), wrap(np.ascontiguousarray(own)), group)
    return every


class SyncBatchNorm(Function):
    """Batch norm over the batches of a group; see the formulas at the top of the file."""

    @staticmethod
    def forward(
        ctx: Any,
        input: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        running_mean: Tensor | None,
        running_var: Tensor | None,
        eps: float,
        momentum: float,
        group: ProcessGroup,
    ) -> Tensor:
        """Return the normalised batch; update the running statistics."""
        x = wide(input._array)
        w, b = (None if p is None else p._array for p in (weight, bias))
        own = moments(x)
        rows = _gathered(np.concatenate([own.mean, own.squares, [own.number]]), group)
        channels = x.shape[1]
        ctx.total = total = combined(
            [Moments(row[-1], row[:channels], row[channels:-1]) for row in rows]
        )
        if running_mean is not None and running_var is not None and total.number:
            unbiased = total.number / max(total.number - 1, 1)
            update_running(running_mean, total.mean, momentum)
            update_running(running_var, total.var, momentum, unbiased)
        ctx.save_for_backward(input, weight)
        ctx.eps, ctx.group = eps, group
        return wrap(normalized(x, w, b, total, eps).astype(input._array.dtype, copy=False))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Any, ...]:
        """Return the gradients by input, weight and bias."""
        input, weight = ctx.saved_tensors
        g, x = wide(grad_output._array), wide(input._array)
        w = None if weight is None else weight._array
        sums = gradient_sums(g, x, ctx.total)
        by_input = by_weight = by_bias = None
        if ctx.needs_input_grad[0]:
            total = np.zeros_like(sums)
            for row in _gathered(sums, ctx.group):
                total += row
            dx = input_gradient(g, x, w, ctx.total, ctx.eps, total)
            by_input = wrap(dx.astype(input._array.dtype, copy=False))
        if ctx.needs_input_grad[1]:
            r = 1 / np.sqrt(ctx.total.var + ctx.eps)
            by_weight = wrap((sums[1] * r).astype(weight._array.dtype))
        if ctx.needs_input_grad[2]:
            by_bias = wrap(sums[0].astype(x.dtype))
        return by_input, by_weight, by_bias, None, None, None, None, None


def sync_batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None,
    bias: Tensor | None,
    momentum: float,
    eps: float,
    group: ProcessGroup,
) -> Tensor:
    """Normalise a batch by the statistics of the batches of all ranks; see `F.batch_norm`.

    A rank may have an empty batch.
    """
    channels = input._array.shape[1]
    check_running(running_mean, running_var, channels, False)
    check_count("weight", weight, channels)
    check_count("bias", bias, channels)
    check_kinds("batch_norm", input, weight, bias, running_mean, running_var)
    found: Tensor = SyncBatchNorm.apply(
        input, weight, bias, running_mean, running_var, eps, momentum, group
    )
    return found
