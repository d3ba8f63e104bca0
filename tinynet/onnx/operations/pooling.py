"""Pooling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.onnx.graph import Graph, Ref, fixed
from tinynet.onnx.operations.arithmetic import isnan
from tinynet.onnx.operations.reductions import extremum
from tinynet.onnx.operations.table import choose, form


def _batched(g: Graph, x: Ref, rank: int) -> Ref:
    """Return images as ``[batch, channels, *size]``."""
    missing = rank + 2 - x.rank
    if missing < 0:
        return g.reshape(x, (-1, *x.shape[-rank - 1 :]))
    return g.reshape(x, (1,) * missing + x.shape) if missing else x


def _ends(options: Any, size: Sequence[Any], out: Sequence[Any]) -> list[int]:
    """Return the elements after each dimension that the windows reach with ceil_mode, or fewer."""
    ends = []
    for n, m, kernel, stride, padding, dilation in zip(size, out, *options[:4], strict=True):
        reach = (fixed(m) - 1) * stride + dilation * (kernel - 1) + 1 if options.ceil_mode else 0
        ends.append(max(reach - fixed(n) - padding, padding) if options.ceil_mode else padding)
    return ends


def _framed(g: Graph, x: Ref, before: Sequence[int], after: Sequence[int], value: float) -> Any:
    """Return images with a number around them."""
    outer = [0] * (x.rank - len(before))
    frame = g.integers(*outer, *before, *outer, *after)
    return g("Pad", x, frame, g.constant(value, x.dtype))


def _maxima(g: Graph, x: Ref, sizes: dict[str, Any]) -> Any:
    """Return the maximum of each window; NaN and -inf, too, which onnxruntime's MaxPool skips.

    A mean of positive parts shows NaN, at less cost than the maximum of a mask.
    """
    pads, kernel = sizes["pads"], sizes["kernel_shape"]
    if any(end >= n for end, n in zip(pads, kernel * 2, strict=True)):
        lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
        x = _framed(g, x, pads[: len(kernel)], pads[len(kernel) :], lowest)
        sizes = sizes | {"pads": [0] * len(pads)}  # a padding must be shorter than the kernel
    made = g("MaxPool", x, **sizes)
    if x.dtype.kind != "f":
        return made
    if x.dtype == np.float64 or max(sizes["dilations"]) > 1:
        missing = g("MaxPool", g.cast(isnan(g, x), x.dtype), **sizes)
        missing = g("Greater", missing, 0, dtype=bool)
    else:
        means: dict[str, Any] = {key: n for key, n in sizes.items() if key != "dilations"}
        missing = isnan(g, g("AveragePool", g("Relu", x), **means))
    skipped = g("LessOrEqual", made, float(np.finfo(x.dtype).min), dtype=bool)
    return choose(g, missing, np.nan, choose(g, skipped, -np.inf, made, x.dtype), x.dtype)


@form("max_pool_values", "max_pool2d", "max_pool3d")
def max_pool(g: Graph, x: Ref, options: Any) -> Any:
    """Return the maximum of each window."""
    rank = options.rank
    ends = _ends(options, x.shape[-rank:], g.shape[-rank:])
    sizes = {
        "kernel_shape": list(options.kernel_size),
        "strides": list(options.stride),
        "pads": [*options.padding, *ends],
        "dilations": list(options.dilation),
    }
    made = _maxima(g, _batched(g, x, rank), sizes)
    return g.reshape(made, g.shape) if x.rank != rank + 2 else made


@form("max_pool_2x2")
def max_pool_2x2(g: Graph, x: Ref) -> Any:
    """Return the maximum of each window of 2 by 2."""
    twos = dict.fromkeys(("kernel_shape", "strides"), [2, 2])
    made = _maxima(g, _batched(g, x, 2), twos | {"pads": [0] * 4, "dilations": [1, 1]})
    return g.reshape(made, g.shape) if x.rank != 4 else made


@form("avg_pool2d", "avg_pool3d")
def avg_pool(
    g: Graph, x: Ref, options: Any, count_include_pad: bool, divisor_override: int | None
) -> Any:
    """Return the mean of each window.

    A padding that counts is put around the images, as what ceil_mode adds does not count.
    """
    rank = options.rank
    ends = _ends(options, x.shape[-rank:], g.shape[-rank:])
    padding, images = list(options.padding), _batched(g, x, rank)
    if divisor_override and any(padding + ends):
        images = _framed(g, images, padding, ends, 0)
        padding = ends = [0] * rank
    elif count_include_pad and any(padding):
        images = _framed(g, images, padding, padding, 0)
        ends = [end - p for end, p in zip(ends, padding, strict=True)]
        padding = [0] * rank
    made = g(
        "AveragePool",
        images,
        kernel_shape=list(options.kernel_size),
        strides=list(options.stride),
        pads=[*padding, *ends],
        count_include_pad=0,
    )
    if divisor_override:
        made = g("Mul", made, math.prod(options.kernel_size) / divisor_override)
    return g.reshape(made, g.shape) if x.rank != rank + 2 else made


@form("plane_mean")
def plane_mean(g: Graph, x: Ref, rank: int) -> Any:
    """Return the mean of each plane."""
    return g("ReduceMean", x, g.integers(*range(-rank, 0)), keepdims=1)


def _parts(n: int, m: int) -> tuple[Any, Any]:
    """Return the indices of ``m`` parts of ``n`` elements, and which of them repeat the first."""
    starts = np.arange(m) * n // m
    ends = -(-(np.arange(m) + 1) * n // m)
    index = starts[:, None] + np.arange((ends - starts).max(initial=1))
    rest = index >= ends[:, None]
    return np.where(rest, starts[:, None], index), rest


def _of_parts(g: Graph, x: Ref, output_size: Sequence[int], reduce: Any) -> Any:
    """Reduce a given number of parts along each dimension, one after the other."""
    shape = [*x.shape]
    for axis, m in enumerate(output_size, x.rank - len(output_size)):
        index, rest = _parts(fixed(shape[axis]), m)
        shape[axis : axis + 1] = index.shape
        x = g("Gather", x, g.constant(index, np.int64), axis=axis)
        x.shape = tuple(shape)
        x = reduce(x, axis + 1, rest.reshape(*rest.shape, *[1] * (len(shape) - axis - 2)))
        del shape[axis + 1]
    return x


@form("adaptive_avg_pool2d", "adaptive_avg_pool3d")
def adaptive_avg_pool(g: Graph, x: Ref, output_size: Sequence[int]) -> Any:
    """Return the means of a given number of parts."""

    def means(x: Ref, axis: int, rest: Any) -> Any:
        kept = choose(g, g.constant(rest), 0, x, x.dtype) if rest.any() else x
        sums = g("ReduceSum", kept, g.integers(axis), keepdims=0)
        return g("Div", sums, (~rest).sum(1).astype(x.dtype))

    return _of_parts(g, x, output_size, means)


@form("adaptive_max_pool2d", "adaptive_max_pool3d")
def adaptive_max_pool(g: Graph, x: Ref, output_size: Sequence[int]) -> Any:
    """Return the maxima of a given number of parts."""
    return _of_parts(g, x, output_size, lambda x, axis, rest: extremum(g, "ReduceMax", x, axis))
