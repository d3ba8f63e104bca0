"""Sums, means and extrema over dimensions, sorting, and cumulative sums."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinynet.onnx.errors import NoFormError
from tinynet.onnx.graph import Graph, Ref, Size, as_result, choose, fixed, form, product
from tinynet.onnx.operations.arithmetic import isnan
from tinynet.onnx.operations.shaping import axes_of, like, sliced


def reduced(g: Graph, op: str, x: Ref, dim: Any, keepdim: bool) -> Any:
    """Reduce over dimensions; None and () are all of them."""
    axes = axes_of(x, dim)
    if not axes:
        return x
    return g(op, x, g.integers(*axes), keepdims=int(keepdim))


def count_of(g: Graph, x: Ref, dim: Any, kind: Any) -> Any:
    """Return the number of elements that are reduced to one, a number or a value of a dtype."""
    count = product(x.shape[axis] for axis in axes_of(x, dim))
    return g.cast(count, kind) if isinstance(count, Size) else count


def mean(g: Graph, x: Ref, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the mean over dimensions; NaN of none, where onnxruntime's ReduceMean gives 0."""
    count = count_of(g, x, dim, x.dtype)
    if isinstance(count, Ref):
        return g("Div", reduced(g, "ReduceSum", x, dim, keepdim), count)
    return reduced(g, "ReduceMean", x, dim, keepdim)


def total(g: Graph, x: Ref, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the sum over dimensions; of int64 by a product, as ReduceSum may add in float64."""
    axes = axes_of(x, dim)
    if x.dtype != np.int64 or not axes:
        return reduced(g, "ReduceSum", x, dim, keepdim)
    kept = [axis for axis in range(x.rank) if axis not in axes]
    count = product(x.shape[axis] for axis in axes)
    rows = g("Transpose", x, perm=kept + axes)
    rows = g.reshape(rows, (*(x.shape[axis] for axis in kept), count))
    made = g("MatMul", rows, g.full((count,), 1, x.dtype))
    return g("Unsqueeze", made, g.integers(*axes)) if keepdim else made


def _multiplied(g: Graph, x: Ref, dim: Any, keepdim: bool) -> Any:
    """Return the product over dimensions; of int64 by halves, as ReduceProd may use float64."""
    axes, shape = axes_of(x, dim), x.shape
    if x.dtype != np.int64:
        return reduced(g, "ReduceProd", x, dim, keepdim)
    for axis in axes:
        length = shape[axis]
        if isinstance(length, Size):
            raise NoFormError("of int64 over a dynamic dimension: convert it to float64")
        while length > 1:
            half, rest = length // 2, length % 2
            parts = [sliced(g, x, axis, i * half, (i + 1) * half) for i in range(2)]
            last = [sliced(g, x, axis, 2 * half, None)] if rest else []
            x = g("Mul", *parts)
            x = g("Concat", x, *last, axis=axis) if rest else x
            length = half + rest
    return x if keepdim or not axes else g("Squeeze", x, g.integers(*axes))


_REDUCTIONS: dict[str, Any] = {"sum": total, "mean": mean, "prod": _multiplied}


def _reduction(name: str) -> Any:
    def compute(g: Graph, x: Ref, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
        return _REDUCTIONS[name](g, g.cast(x, g.dtype), dim, keepdim)

    return compute


def _of_all(name: str) -> Any:
    return lambda g, x, dtype=None: _reduction(name)(g, x)


for _name in _REDUCTIONS:
    form("prod_dim" if _name == "prod" else f"{_name}_dims")(_reduction(_name))
    form(f"{_name}_all")(_of_all(_name))


# ---- truth, extrema and their places ------------------------------------------------------------


def any_of(g: Graph, x: Ref, dim: Any, keepdim: bool) -> Any:
    """Return whether an element over dimensions is not 0; of none, it is not."""
    ones = g.cast(g.cast(x, bool), np.int32)
    ones.shape = x.shape
    return g("Greater", reduced(g, "ReduceMax", ones, dim, keepdim), 0, dtype=bool)


@form("any")
def any_(g: Graph, x: Ref, dim: Any = None, keepdim: bool = False) -> Any:
    """Return whether an element is not 0; over no dimension for ()."""
    return g.cast(x, bool) if dim == () else any_of(g, x, dim, keepdim)


@form("all")
def all_(g: Graph, x: Ref, dim: Any = None, keepdim: bool = False) -> Any:
    """Return whether no element is 0; over no dimension for ()."""
    if dim == ():
        return g.cast(x, bool)
    zero = g("Not", g.cast(x, bool))
    zero.shape = x.shape
    return g("Not", any_of(g, zero, dim, keepdim))


def with_nan(g: Graph, x: Ref, dim: Any, keepdim: bool, made: Ref) -> Any:
    """Return a result over dimensions, and NaN where an element is NaN, which runtimes skip."""
    if x.dtype.kind != "f":
        return made
    missing = any_of(g, isnan(g, x), dim, keepdim)
    return choose(g, missing, np.nan, made, made.dtype)


def extremum(g: Graph, op: str, x: Ref, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the largest or smallest elements over dimensions."""
    if x.dtype == bool:
        x = like(g.cast(x, np.int32), x)
    return with_nan(g, x, dim, keepdim, reduced(g, op, x, dim, keepdim))


def place(g: Graph, op: str, x: Ref, axis: int, keepdim: bool) -> Any:
    """Return the places of the largest or smallest elements along a dimension: the first NaN."""
    options: dict[str, Any] = {"axis": axis, "keepdims": int(keepdim), "dtype": "int64"}
    if x.dtype == bool:
        x = like(g.cast(x, np.int32), x)
    found = g(op, x, **options)
    if x.dtype.kind != "f":
        return found
    missing = like(g.cast(isnan(g, x), np.int32), x)
    some = any_of(g, missing, axis, keepdim)
    return choose(g, some, g("ArgMax", missing, **options), found, np.int64)


def _extremum(op: str) -> Any:
    return lambda g, x, dim=None, keepdim=False: extremum(g, op, x, dim, keepdim)


form("amax", "max_all")(_extremum("ReduceMax"))
form("amin", "min_all")(_extremum("ReduceMin"))


def _with_place(op: str, index: str) -> Any:
    def compute(g: Graph, x: Ref, dim: int, keepdim: bool = False) -> Any:
        if not x.rank:
            return x, g.full((), 0, np.int64)
        return extremum(g, op, x, dim, keepdim), place(g, index, x, x.axis(dim), keepdim)

    return compute


form("max_dim")(_with_place("ReduceMax", "ArgMax"))
form("min_dim")(_with_place("ReduceMin", "ArgMin"))


def _place(index: str) -> Any:
    def compute(g: Graph, x: Ref, dim: int | None = None, keepdim: bool = False) -> Any:
        if dim is None or not x.rank:
            flat = g.reshape(x, (product(x.shape),))
            return g.reshape(place(g, index, flat, 0, False), g.shape)
        return place(g, index, x, x.axis(dim), keepdim)

    return compute


form("argmax")(_place("ArgMax"))
form("argmin")(_place("ArgMin"))


@form("logsumexp")
def logsumexp(g: Graph, x: Ref, dim: Any, keepdim: bool = False) -> Any:
    """Return the logarithm of the sum of exponentials over dimensions."""
    x = like(g.cast(x, g.dtype), x)
    return with_nan(g, x, dim, keepdim, reduced(g, "ReduceLogSumExp", x, dim, keepdim))


# ---- variances and norms ------------------------------------------------------------------------


@form("variance")
def variance(g: Graph, x: Ref, dim: Any, correction: float, keepdim: bool) -> Any:
    """Return the variance over dimensions."""
    apart = g("Sub", x, mean(g, x, dim, True))
    squares = like(g("Mul", apart, apart), x)
    sums = reduced(g, "ReduceSum", squares, dim, keepdim)
    count = count_of(g, x, dim, x.dtype)
    if isinstance(count, Ref):
        return g("Div", sums, g("Max", g("Sub", count, correction), 0))
    return g("Div", sums, max(count - correction, 0))


@form("deviation")
def deviation(g: Graph, x: Ref, dim: Any, correction: float, keepdim: bool) -> Any:
    """Return the standard deviation over dimensions; in float32, squares may leave the range."""
    wide = like(g.cast(x, np.float64), x)
    return g.cast(g("Sqrt", variance(g, wide, dim, correction, keepdim)), x.dtype)


@form("variance_mean")
def variance_mean(g: Graph, x: Ref, dim: Any, correction: float, keepdim: bool) -> Any:
    """Return variance and mean over dimensions."""
    return variance(g, x, dim, correction, keepdim), mean(g, x, dim, keepdim)


@form("deviation_mean")
def deviation_mean(g: Graph, x: Ref, dim: Any, correction: float, keepdim: bool) -> Any:
    """Return standard deviation and mean over dimensions."""
    return deviation(g, x, dim, correction, keepdim), mean(g, x, dim, keepdim)


@form("vector_norm")
def vector_norm(g: Graph, x: Ref, p: float, dim: Any, keepdim: bool) -> Any:
    """Return the p-norm over dimensions."""
    if p in (1, 2) and x.rank:
        return reduced(g, f"ReduceL{int(p)}", x, dim, keepdim)
    sizes = like(g("Abs", x), x)
    if math.isinf(p):
        return extremum(g, "ReduceMax" if p > 0 else "ReduceMin", sizes, dim, keepdim)
    if p == 0:
        ones = like(g.cast(g.cast(x, bool), x.dtype), x)
        return reduced(g, "ReduceSum", ones, dim, keepdim)
    powers = like(g("Pow", sizes, p), x)
    return g("Pow", reduced(g, "ReduceSum", powers, dim, keepdim), 1 / p)


@form("cosines")
def cosines(g: Graph, x1: Ref, x2: Ref, dim: int, eps: float) -> Any:
    """Return the cosines of vectors along a dimension, of lengths of at least eps."""
    units = []
    for x in (x1, x2):
        length = vector_norm(g, x, 2, dim, True)
        units.append(like(g("Div", x, g("Max", length, g.constant(eps, x.dtype))), x))
    return reduced(g, "ReduceSum", like(g("Mul", *units), x1), dim, False)


@form("count_nonzero")
def count_nonzero(g: Graph, x: Ref, dim: Any = None) -> Any:
    """Count the elements that are not 0."""
    ones = g.cast(g.cast(x, bool), "int64")
    ones.shape = x.shape
    return reduced(g, "ReduceSum", ones, dim, False)


@form("cumsum")
def cumsum(g: Graph, x: Ref, dim: int, dtype: Any = None) -> Any:
    """Return the cumulative sum along a dimension."""
    (value,) = as_result(g, x)
    return g("CumSum", value, g.constant(x.axis(dim), "int64")) if x.rank else value


# ---- sorting ------------------------------------------------------------------------------------


@form("topk")
def topk(g: Graph, x: Ref, k: Any, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """Return the largest or smallest elements along a dimension, sorted, and their indices."""
    if not x.rank:
        return x, g.full((), 0, np.int64)
    options = {"axis": x.axis(dim), "largest": int(largest), "sorted": 1}
    ordered = g.cast(x, np.int32) if x.dtype == bool else x
    values, places = g("TopK", ordered, g.length(k), outputs=2, **options)
    places.dtype = np.dtype(np.int64)
    return g.cast(values, x.dtype), places


@form("sort")
def sort(g: Graph, x: Ref, dim: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Sort along a dimension; return the elements and their indices."""
    return topk(g, x, x.shape[x.axis(dim)] if x.rank else 1, dim, descending)


@form("argsort")
def argsort(g: Graph, x: Ref, dim: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Return the indices that sort along a dimension."""
    return sort(g, x, dim, descending)[1]


@form("kthvalue")
def kthvalue(g: Graph, x: Ref, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """Return the k-th smallest element along a dimension, and its index."""
    if not x.rank:
        return topk(g, x, k)
    axis = x.axis(dim)
    last = g.constant([fixed(k) - 1], "int64")
    found = [g("Gather", part, last, axis=axis) for part in topk(g, x, k, dim, largest=False)]
    return found if keepdim else [g("Squeeze", part, g.integers(axis)) for part in found]
