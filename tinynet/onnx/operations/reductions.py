"""Sums, means and extrema over dimensions, sorting, and cumulative sums."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinynet.onnx.errors import NoFormError
from tinynet.onnx.graph import Graph, Ref, fixed
from tinynet.onnx.operations.shaping import axes_of
from tinynet.onnx.operations.table import as_result, form
from tinynet.onnx.sizes import Size, product


def reduced(g: Graph, op: str, x: Ref, dim: Any, keepdim: bool) -> Any:
    """Reduce over dimensions; None and () are all of them."""
    axes = axes_of(x, dim)
    if not axes:
        return x
    return g(op, x, g.integers(*axes), keepdims=int(keepdim))


def count_of(g: Graph, x: Ref, dim: Any) -> Any:
    """Return the number of elements that are reduced to one, a number or a value."""
    count = product(x.shape[axis] for axis in axes_of(x, dim))
    return g.cast(g.length(count), x.dtype) if isinstance(count, Size) else count


def _reduction(op: str) -> Any:
    def compute(g: Graph, x: Ref, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
        (value,) = as_result(g, x)
        value.shape = x.shape
        return reduced(g, op, value, dim, keepdim)

    return compute


def _of_all(op: str) -> Any:
    return lambda g, x, dtype=None: _reduction(op)(g, x)


for _name, _op in {"sum": "ReduceSum", "mean": "ReduceMean", "prod": "ReduceProd"}.items():
    form("prod_dim" if _name == "prod" else f"{_name}_dims")(_reduction(_op))
    form(f"{_name}_all")(_of_all(_op))
form("amax", "max_all")(_reduction("ReduceMax"))
form("amin", "min_all")(_reduction("ReduceMin"))
form("logsumexp")(_reduction("ReduceLogSumExp"))


def _truth(op: str) -> Any:
    def compute(g: Graph, x: Ref, dim: Any = None, keepdim: bool = False) -> Any:
        whole = g.cast(g.cast(x, bool), "int32")
        whole.shape = x.shape
        return g.cast(reduced(g, op, whole, dim, keepdim), bool)

    return compute


form("all")(_truth("ReduceMin"))
form("any")(_truth("ReduceMax"))


def _extremum(op: str, index: str) -> Any:
    def compute(g: Graph, x: Ref, dim: int, keepdim: bool = False) -> Any:
        places = g(index, x, axis=x.axis(dim), keepdims=int(keepdim), dtype="int64")
        return reduced(g, op, x, dim, keepdim), places

    return compute


form("max_dim")(_extremum("ReduceMax", "ArgMax"))
form("min_dim")(_extremum("ReduceMin", "ArgMin"))


def _place(index: str) -> Any:
    def compute(g: Graph, x: Ref, dim: int | None = None, keepdim: bool = False) -> Any:
        if dim is None:
            flat = g("Reshape", x, g.integers(-1))
            return g.reshape(g(index, flat, axis=0, keepdims=0, dtype="int64"), g.shape)
        return g(index, x, axis=x.axis(dim), keepdims=int(keepdim), dtype="int64")

    return compute


form("argmax")(_place("ArgMax"))
form("argmin")(_place("ArgMin"))


@form("variance")
def variance(g: Graph, x: Ref, dim: Any, correction: float, keepdim: bool) -> Any:
    """Return the variance over dimensions."""
    apart = g("Sub", x, reduced(g, "ReduceMean", x, dim, True))
    apart.shape = x.shape
    squares = g("Mul", apart, apart)
    squares.shape = x.shape
    count = count_of(g, x, dim)
    if isinstance(count, Ref):
        total = reduced(g, "ReduceSum", squares, dim, keepdim)
        return g.reshape(g("Div", total, g("Sub", count, correction)), g.shape)
    mean = reduced(g, "ReduceMean", squares, dim, keepdim)
    return g("Mul", mean, count / (count - correction))


@form("deviation")
def deviation(g: Graph, x: Ref, dim: Any, correction: float, keepdim: bool) -> Any:
    """Return the standard deviation over dimensions."""
    return g("Sqrt", variance(g, x, dim, correction, keepdim))


@form("variance_mean")
def variance_mean(g: Graph, x: Ref, dim: Any, correction: float, keepdim: bool) -> Any:
    """Return variance and mean over dimensions."""
    mean = reduced(g, "ReduceMean", x, dim, keepdim)
    return variance(g, x, dim, correction, keepdim), mean


@form("deviation_mean")
def deviation_mean(g: Graph, x: Ref, dim: Any, correction: float, keepdim: bool) -> Any:
    """Return standard deviation and mean over dimensions."""
    mean = reduced(g, "ReduceMean", x, dim, keepdim)
    return deviation(g, x, dim, correction, keepdim), mean


@form("vector_norm")
def vector_norm(g: Graph, x: Ref, p: float, dim: Any, keepdim: bool) -> Any:
    """Return the p-norm over dimensions."""
    if p in (1, 2):
        return reduced(g, f"ReduceL{int(p)}", x, dim, keepdim)
    sizes = g("Abs", x)
    sizes.shape = x.shape
    if math.isinf(p):
        return reduced(g, "ReduceMax" if p > 0 else "ReduceMin", sizes, dim, keepdim)
    if p == 0:
        raise NoFormError("with p = 0")
    powers = g("Pow", sizes, p)
    powers.shape = x.shape
    return g("Pow", reduced(g, "ReduceSum", powers, dim, keepdim), 1 / p)


@form("count_nonzero")
def count_nonzero(g: Graph, x: Ref, dim: Any = None) -> Any:
    """Count the elements that are not 0."""
    ones = g.cast(g.cast(x, bool), "int64")
    ones.shape = x.shape
    return reduced(g, "ReduceSum", ones, dim, False)


@form("cumsum")
def cumsum(g: Graph, x: Ref, dim: int, dtype: Any = None) -> Any:
    """Return the cumulative sum along a dimension."""
    return g("CumSum", *as_result(g, x), g.constant(x.axis(dim), "int64"))


# ---- sorting ------------------------------------------------------------------------------------


@form("topk")
def topk(g: Graph, x: Ref, k: Any, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """Return the largest or smallest elements along a dimension, sorted, and their indices."""
    axis = x.axis(dim)
    values, places = g("TopK", x, g.length(k), outputs=2, axis=axis, largest=int(largest), sorted=1)
    places.dtype = np.dtype(np.int64)
    return values, places


@form("sort")
def sort(g: Graph, x: Ref, dim: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Sort along a dimension; return the elements and their indices."""
    return topk(g, x, x.shape[x.axis(dim)], dim, descending)


@form("argsort")
def argsort(g: Graph, x: Ref, dim: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Return the indices that sort along a dimension."""
    return sort(g, x, dim, descending)[1]


@form("kthvalue")
def kthvalue(g: Graph, x: Ref, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """Return the k-th smallest element along a dimension, and its index."""
    axis = x.axis(dim)
    last = g.constant([fixed(k) - 1], "int64")
    found = [g("Gather", part, last, axis=axis) for part in topk(g, x, k, dim, largest=False)]
    return found if keepdim else [g("Squeeze", part, g.integers(axis)) for part in found]
