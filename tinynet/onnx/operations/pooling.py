"""Pooling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.onnx.errors import NoFormError
from tinynet.onnx.graph import Graph, Ref, fixed
from tinynet.onnx.operations.table import form


def _batched(g: Graph, x: Ref, rank: int) -> Ref:
    """Return images as ``[batch, channels, *size]``."""
    missing = rank + 2 - x.rank
    if missing < 0:
        return g.reshape(x, (-1, *x.shape[-rank - 1 :]))
    return g.reshape(x, (1,) * missing + x.shape) if missing else x


def _pads(options: Any, size: Sequence[Any], out: Sequence[Any]) -> list[int]:
    """Return the padding before and after; after, with what ceil_mode adds."""
    after = []
    for n, m, kernel, stride, padding, dilation in zip(size, out, *options[:4], strict=True):
        end = padding
        if options.ceil_mode:
            reach = (fixed(m) - 1) * stride + dilation * (kernel - 1) + 1
            end = max(reach - fixed(n) - padding, padding)
        after.append(end)
    return [*options.padding, *after]


@form("max_pool_values", "max_pool2d", "max_pool3d")
def max_pool(g: Graph, x: Ref, options: Any) -> Any:
    """Return the maximum of each window."""
    rank = options.rank
    made = g(
        "MaxPool",
        _batched(g, x, rank),
        kernel_shape=list(options.kernel_size),
        strides=list(options.stride),
        pads=_pads(options, x.shape[-rank:], g.shape[-rank:]),
        dilations=list(options.dilation),
    )
    return g.reshape(made, g.shape) if x.rank != rank + 2 else made


@form("max_pool_2x2")
def max_pool_2x2(g: Graph, x: Ref) -> Any:
    """Return the maximum of each window of 2 by 2."""
    made = g("MaxPool", _batched(g, x, 2), kernel_shape=[2, 2], strides=[2, 2])
    return g.reshape(made, g.shape) if x.rank != 4 else made


@form("avg_pool2d", "avg_pool3d")
def avg_pool(
    g: Graph, x: Ref, options: Any, count_include_pad: bool, divisor_override: int | None
) -> Any:
    """Return the mean of each window."""
    rank = options.rank
    pads = _pads(options, x.shape[-rank:], g.shape[-rank:])
    if pads[rank:] != pads[:rank] and (count_include_pad and any(pads) or divisor_override):
        raise NoFormError("with ceil_mode and count_include_pad")
    made = g(
        "AveragePool",
        _batched(g, x, rank),
        kernel_shape=list(options.kernel_size),
        strides=list(options.stride),
        pads=pads,
        count_include_pad=int(count_include_pad or bool(divisor_override)),
    )
    if divisor_override:
        made = g("Mul", made, math.prod(options.kernel_size) / divisor_override)
    return g.reshape(made, g.shape) if x.rank != rank + 2 else made


@form("plane_mean")
def plane_mean(g: Graph, x: Ref, rank: int) -> Any:
    """Return the mean of each plane."""
    return g("ReduceMean", x, g.integers(*range(-rank, 0)), keepdims=1)


@form("adaptive_avg_pool2d", "adaptive_avg_pool3d")
def adaptive_avg_pool(g: Graph, x: Ref, output_size: Sequence[int]) -> Any:
    """Return the means of a given number of parts, along each dimension a product."""
    rank = len(output_size)
    if rank > 2:
        return _even(g, "AveragePool", x, output_size)
    rows, columns = (
        _parts(fixed(n), m, x.dtype) for n, m in zip(x.shape[-2:], output_size, strict=True)
    )
    return g("MatMul", g("MatMul", rows.T.copy(), x, dtype=x.dtype), columns)


def _parts(n: int, m: int, kind: Any) -> Any:
    """Return the matrix that averages ``m`` parts of ``n`` elements."""
    matrix = np.zeros((n, m), kind)
    for i in range(m):
        part = slice(i * n // m, -(-(i + 1) * n // m))
        matrix[part, i] = 1 / (part.stop - part.start)
    return matrix


@form("adaptive_max_pool2d", "adaptive_max_pool3d")
def adaptive_max_pool(g: Graph, x: Ref, output_size: Sequence[int]) -> Any:
    """Return the maxima of a given number of parts."""
    return _even(g, "MaxPool", x, output_size)


def _even(g: Graph, op: str, x: Ref, output_size: Sequence[int]) -> Any:
    """Pool parts of the same length."""
    size = fixed(x.shape[-len(output_size) :])
    if any(n % m for n, m in zip(size, output_size, strict=True)):
        raise NoFormError("into parts of different lengths")
    parts = [n // m for n, m in zip(size, output_size, strict=True)]
    made = g(op, _batched(g, x, len(parts)), kernel_shape=parts, strides=parts)
    return g.reshape(made, g.shape) if x.rank != len(parts) + 2 else made
