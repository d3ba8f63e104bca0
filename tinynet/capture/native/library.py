"""What fused loops call: products by BLAS, and functions of numba for whole kernels."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import math
from typing import Any

import numpy as np

from tinynet import threads
from tinynet.capture.native.elementary import declare, exp, tanh

FAST = {"arcp", "afn", "contract", "nsz", "reassoc"}


def available() -> bool:
    """Return whether numba is installed."""
    return importlib.util.find_spec("numba") is not None


@functools.cache
def numba() -> Any:
    """Return numba."""
    import numba

    return numba


def jit(function: Any, cache: bool = False) -> Any:
    """Return a function compiled by numba."""
    options = {"fastmath": FAST, "error_model": "numpy", "nogil": True, "cache": cache}
    return numba().njit(**options)(function)


@functools.cache
def namespace() -> dict[str, Any]:
    """Return the globals of native functions."""
    declare(numba())
    made = {name: jit(function) for name, function in _FUNCTIONS.items()}
    made.update(math=math, np=np, exp=exp, tanh=tanh)
    made["product"] = _product()
    return made


def _product() -> Any:
    """Return ``product(a, a_turned, b, b_turned, out, add)``: out (+)= a @ b, in float32."""
    nb = numba()
    from llvmlite import binding

    found = threads.blas_function("cblas_sgemm")
    assert found is not None
    function, bits = found
    name = f"tinynet_cblas_sgemm_{bits}"
    binding.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)
    t = nb.types
    size = t.int64 if bits == 64 else t.int32
    sizes, matrix = (size, size, size), (t.uintp, size)
    takes = (t.int32, t.int32, t.int32, *sizes, t.float32, *matrix, *matrix, t.float32, *matrix)
    sgemm = t.ExternalFunction(name, t.void(*takes))

    @jit
    def product(a, a_turned, b, b_turned, out, add):
        m, n = out.shape
        k = a.shape[0] if a_turned else a.shape[1]
        sgemm(
            np.int32(101),
            np.int32(112 if a_turned else 111),
            np.int32(112 if b_turned else 111),
            m, n, k,
            np.float32(1.0),
            a.ctypes.data, a.shape[1],
            b.ctypes.data, b.shape[1],
            np.float32(add),
            out.ctypes.data, n,
        )  # fmt: skip

    return product


def larger(a, b):
    """Return numpy's maximum: NaN if one is."""
    return a if (a >= b or a != a) else b


def smaller(a, b):
    """Return numpy's minimum: NaN if one is."""
    return a if (a <= b or a != a) else b


def positive(x):
    """Return relu."""
    return x if (x > 0 or x != x) else x - x


def root(x):
    """Return the square root; NaN below zero."""
    return np.sqrt(x)


def log(x):
    """Return the logarithm; NaN below zero, minus infinity at zero."""
    return np.log(x)


def column_sums(g, out):
    """Sum a matrix over its rows."""
    m, n = g.shape
    total = np.zeros(n, np.float64)
    for i in range(m):
        for j in range(n):
            total[j] += g[i, j]
    for j in range(n):
        out[j] = total[j]


def fill_rows(out, row):
    """Write a vector to each row of a matrix."""
    m, n = out.shape
    for i in range(m):
        for j in range(n):
            out[i, j] = row[j]


def layer_norm(x, weight, bias, eps, y, mean, inverse):
    """Normalize each row by its mean and variance."""
    rows, n = x.shape
    zero = x.dtype.type(0)
    for i in range(rows):
        total = zero
        for j in range(n):
            total += x[i, j]
        m, spread = total / x.dtype.type(n), zero
        for j in range(n):
            spread += (x[i, j] - m) * (x[i, j] - m)
        r = x.dtype.type(1) / np.sqrt(spread / x.dtype.type(n) + eps)
        for j in range(n):
            y[i, j] = (x[i, j] - m) * r * weight[j] + bias[j]
        mean[i, 0], inverse[i, 0] = m, r


def layer_norm_slope(g, x, weight, mean, inverse, dx, of_weight, of_bias):
    """Write the gradients of ``layer_norm`` by the input, the weight and the bias."""
    rows, n = x.shape
    zero, by_weight, by_bias = x.dtype.type(0), np.zeros(n, np.float64), np.zeros(n, np.float64)
    for i in range(rows):
        m, r = mean[i, 0], inverse[i, 0]
        inner, outer = zero, zero
        for j in range(n):
            normal, slope = (x[i, j] - m) * r, g[i, j] * weight[j]
            inner += slope * normal
            outer += slope
            by_weight[j] += g[i, j] * normal
            by_bias[j] += g[i, j]
        inner, outer = inner / x.dtype.type(n), outer / x.dtype.type(n)
        for j in range(n):
            normal = (x[i, j] - m) * r
            dx[i, j] = r * (g[i, j] * weight[j] - outer - normal * inner)
    for j in range(n):
        of_weight[j], of_bias[j] = by_weight[j], by_bias[j]


def cross_entropy(logits, target, powers, totals):
    """Return the sum of the losses of rows; NaN totals and -1 mark a target out of range."""
    m, n = logits.shape
    loss = 0.0
    for i in range(m):
        if target[i] < 0 or target[i] >= n:
            return loss, False
        high = logits[i, 0]
        for j in range(1, n):
            high = max(high, logits[i, j])
        total = logits.dtype.type(0)
        for j in range(n):
            power = exp(logits[i, j] - high)
            powers[i, j] = power
            total += power
        totals[i] = total
        one = math.log(np.float64(total)) - (np.float64(logits[i, target[i]]) - high)
        loss += max(one, 0.0)
    return loss, True


def cross_entropy_slope(g, target, powers, totals, out):
    """Write ``(softmax - one_hot) * g``."""
    m, n = powers.shape
    for i in range(m):
        factor = g / totals[i]
        for j in range(n):
            out[i, j] = powers[i, j] * factor
        out[i, target[i]] -= g


_FUNCTIONS = {
    f.__name__: f
    for f in (
        larger, smaller, positive, root, log, column_sums, fill_rows, cross_entropy,
        cross_entropy_slope, layer_norm, layer_norm_slope,
    )
}  # fmt: skip
