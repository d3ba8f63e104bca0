"""The operations behind average pooling, of 2 and 3 dimensions.

They are operations for speed: sums along one dimension after the other. As in PyTorch, 1d pooling
is 2d pooling with a first dimension of length 1.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from tinynet.core.declaration.operation import operation
from tinynet.dtypes import Array
from tinynet.kernels.low_precision import HALF, in_single, kind_for
from tinynet.kernels.sums import row_sums
from tinynet.nn.functional.checks import Ints, by_rank, not_implemented, spatial
from tinynet.nn.functional.pooling.windows import (
    CACHED,
    Options,
    Windows,
    adaptive_averages,
    check_gradient,
    sliding,
    sums,
)
from tinynet.ops.shaping.views import expand

RANKS = (2, 3)

# ---- sliding windows ----------------------------------------------------------------------------


def _windows(shape: Ints, options: Options) -> Windows:
    return sliding(f"avg_pool{options.rank}d", shape, options)


@functools.lru_cache(maxsize=CACHED)
def _divisor(sizes: Ints, windows: Windows, options: Options, include: bool) -> Any:
    """Return the divisor of the sums: a number, or one for each window."""
    if windows.inside:
        return math.prod(options.kernel_size)
    counts: Any = np.ones((), np.int64)
    for d, n in enumerate(sizes):
        if include:  # the padding counts, but not what lies beyond it
            start = np.arange(windows.outputs[d]) * options.stride[d] - options.padding[d]
            stop = np.minimum(start + options.kernel_size[d], n + options.padding[d])
            lengths = stop - start
        else:
            lengths = np.zeros(windows.outputs[d], np.int64)
            for target, _ in windows.taps[d]:
                lengths[target] += 1
        counts = counts[..., None] * lengths
    return counts


def _divided(total: Array, divisor: Any) -> Array:
    """Divide a new array; integers are rounded towards zero, as in C."""
    if total.dtype.kind == "f":
        total /= np.asarray(divisor, total.dtype)
        return total
    signs = np.sign(total) * np.sign(divisor)
    return signs * (np.abs(total) // np.abs(divisor))


def avg_pool(
    input: Array, /, options: Options, count_include_pad: bool, divisor_override: int | None
) -> Array:
    """Return the average of each window."""
    windows = _windows(input.shape, options)
    if input.dtype.kind != "f" and input.dtype != np.int64:
        raise not_implemented(f"avg_pool{options.rank}d", input)
    if input.dtype == HALF:
        pool = avg_pools[options.rank]
        return in_single(pool, input, options, count_include_pad, divisor_override)
    sizes = spatial(input.shape, options.rank)
    total = sums(input.shape, options, input.dtype)(input)
    divisor = divisor_override or _divisor(sizes, windows, options, count_include_pad)
    return _divided(total, divisor)


def avg_pool_backward(
    self: Array,
    /,
    sizes: Ints,
    options: Options,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Array:
    """Return planes of ``sizes`` in which each element is distributed over its window."""
    if self.dtype == HALF:
        back = avg_pools_backward[options.rank]
        return in_single(back, self, sizes, options, count_include_pad, divisor_override)
    first = self.ndim - len(sizes)
    shape = (*self.shape[:first], *sizes)
    divisor = divisor_override or _divisor(
        sizes, _windows(shape, options), options, count_include_pad
    )
    return sums(shape, options, self.dtype).transposed(self / np.asarray(divisor, self.dtype))


avg_pools = by_rank(avg_pool, "AvgPool{}DBackward0", RANKS, order="as_plane")
avg_pools_backward = by_rank(avg_pool_backward, "AvgPool{}DBackwardBackward0", RANKS)
for _rank in RANKS:
    avg_pools[_rank].grad(
        input=lambda g, input, input_shape, options, count_include_pad, divisor_override: (
            avg_pools_backward[options.rank](
                g, spatial(input_shape, options.rank), options, count_include_pad, divisor_override
            )
        )
    )
    avg_pools_backward[_rank].grad(
        self=lambda g, options, count_include_pad, divisor_override: avg_pools[options.rank](
            g, options, count_include_pad, divisor_override
        )
    )

# ---- adaptive pooling ---------------------------------------------------------------------------


def adaptive_avg_pool(input: Array, /, output_size: Ints) -> Array:
    """Return the average of each of ``output_size`` parts."""
    sizes = spatial(input.shape, len(output_size))
    return adaptive_averages(sizes, output_size, kind_for(input.dtype))(input)


def adaptive_avg_pool_backward(self: Array, /, sizes: Ints) -> Array:
    """Return planes of ``sizes`` in which each element is distributed over its part."""
    check_gradient("adaptive_avg_pool", self.shape, len(sizes))
    outputs = spatial(self.shape, len(sizes))
    return adaptive_averages(sizes, outputs, kind_for(self.dtype)).transposed(self)


adaptive_avg_pools = by_rank(
    adaptive_avg_pool, "AdaptiveAvgPool{}DBackward0", RANKS, order="as_plane"
)
adaptive_avg_pools_backward = by_rank(
    adaptive_avg_pool_backward, "AdaptiveAvgPool{}DBackwardBackward0", RANKS
)
for _rank in RANKS:
    adaptive_avg_pools[_rank].grad(
        input=lambda g, input, input_shape, output_size: adaptive_avg_pools_backward[
            len(output_size)
        ](g, spatial(input_shape, len(output_size)))
    )
    adaptive_avg_pools_backward[_rank].grad(
        self=lambda g, self_shape, sizes: adaptive_avg_pools[len(sizes)](
            g, spatial(self_shape, len(sizes))
        )
    )


@operation(node="MeanBackward1", order="as_image")
def plane_mean(input: Array, /, rank: int) -> Array:
    """Return the mean of each plane with keepdim."""
    lead, sizes = input.shape[: input.ndim - rank], spatial(input.shape, rank)
    n = math.prod(sizes)
    rows = input.reshape(math.prod(lead), n)
    if input.dtype.itemsize < 4:
        means = rows.mean(1)
    else:
        means = row_sums(rows)
        means /= max(n, 1)
        means = means.astype(input.dtype, copy=False)
    return means.reshape(*lead, *(1,) * rank)


plane_mean.grad(
    input=lambda g, input_shape, rank: expand(
        g / math.prod(spatial(input_shape, rank)), input_shape
    )
)
