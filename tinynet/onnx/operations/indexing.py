"""Creation, indexing and writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.onnx.errors import NoFormError
from tinynet.onnx.graph import Graph, Ref, Size, fixed
from tinynet.onnx.operations.shaping import sliced
from tinynet.onnx.operations.table import FORMS, choose, form

# ---- writes -------------------------------------------------------------------------------------
# Writes in place: the new value of what is written.


_UFUNCS = {
    "multiply": "mul", "subtract": "sub", "divide": "div", "negative": "neg", "absolute": "abs",
}  # fmt: skip


@form("core.arrays:assign")
def assign(g: Graph, x: Ref, values: Any) -> Ref:
    """Return the values in the shape of the value that they replace."""
    return g.expand(g.cast(values, x.dtype), x.shape)


@form("copy")
def copy(g: Graph, x: Ref, source: Ref) -> Ref:
    """Return the source in the shape and dtype of a value."""
    return assign(g, x, source)


@form("core.arrays:update")
def update(g: Graph, x: Ref, ufunc: Any, *operands: Any) -> Any:
    """Return the result of a ufunc of a value and other operands."""
    name = getattr(ufunc, "__name__", "")
    operation = FORMS.get(_UFUNCS.get(name, name))
    if operation is None:
        raise NoFormError(f"by {name}")
    g.results = [(x.shape, x.dtype)]
    return operation(g, x, *operands)


# ---- creation -----------------------------------------------------------------------------------
# Values of no input, whose shape follows the inputs, and random numbers.


@form("ops.creation.constructors:zeros", "ops.creation.constructors:empty")
def zeros(g: Graph, *size: Any, **options: Any) -> Ref:
    """Return zeros."""
    return g.full(g.shape, 0, g.dtype)


@form("ops.creation.constructors:ones", "core.arrays:ones")
def ones(g: Graph, *size: Any, **options: Any) -> Ref:
    """Return ones."""
    return g.full(g.shape, 1, g.dtype)


@form("ops.creation.constructors:full", "core.arrays:full")
def full(g: Graph, size: Any, fill_value: Any, *kind: Any, **options: Any) -> Ref:
    """Return one value everywhere."""
    return g.expand(g.cast(fill_value, g.dtype), g.shape)


_FILLS = {"zeros": 0, "ones": 1, "empty": 0}


@form("ops.creation.like:_array_like")
def array_like(g: Graph, make: Any, like: Ref, *options: Any) -> Ref:
    """Return one value everywhere, in the shape of another array."""
    return full(g, g.shape, _FILLS.get(make.__name__, options[0]))


@form("ops.creation.ranges:arange")
def arange(g: Graph, start: Any = 0, end: Any = None, step: Any = 1, **options: Any) -> Any:
    """Return the values from ``start`` up to ``end``."""
    if end is None:
        start, end = 0, start
    kind = g.dtype if g.dtype.kind == "i" else np.dtype(np.float32)
    bounds = [g.cast(x, kind) for x in (start, end, step)]
    return g("Range", *bounds, dtype=kind)


@form("ops.creation.constructors:tensor")
def tensor(g: Graph, data: Any, **options: Any) -> Ref:
    """Return a number that follows a dynamic dimension as an array."""
    if not isinstance(data, Size):
        raise NoFormError("of numbers that follow a dynamic dimension")
    return g.cast(data, g.dtype)


# ---- random numbers -----------------------------------------------------------------------------


def _drawn(g: Graph, distribution: str) -> Any:
    like = g.full(g.shape, 0, g.dtype)
    return g("RandomNormalLike" if distribution == "standard_normal" else "RandomUniformLike", like)


@form("ops.creation.random:rand")
def rand(g: Graph, *size: Any, **options: Any) -> Any:
    """Draw numbers uniformly from [0, 1)."""
    return _drawn(g, "random")


@form("ops.creation.random:randn")
def randn(g: Graph, *size: Any, **options: Any) -> Any:
    """Draw standard normal numbers."""
    return _drawn(g, "standard_normal")


@form("ops.creation.random:normal_parts")
def normal_parts(g: Graph, generator: Any, name: str, kind: Any, shape: Any) -> Any:
    """Draw standard normal numbers for a dtype."""
    return _drawn(g, "standard_normal")


@form("ops.creation.random:draw")
def draw(g: Graph, generator: Any, name: str, distribution: str, *args: Any) -> Any:
    """Draw numbers from a distribution."""
    if distribution not in ("random", "standard_normal"):
        raise NoFormError(f"the distribution {distribution}")
    return _drawn(g, distribution)


# ---- indexing -----------------------------------------------------------------------------------
# Lookup, and indexing by arrays.


@form("embedding_rows")
def embedding(g: Graph, weight: Ref, indices: Ref, *options: Any) -> Any:
    """Return rows of a weight."""
    return g("Gather", weight, indices, axis=0)


@form("nn.functional.lookup:shorten_rows")
def renormalise(g: Graph, weight: Ref, indices: Ref, max_norm: float, norm_type: float) -> Any:
    """Return the weight with the chosen rows scaled down to ``max_norm``."""
    rows = g("Gather", weight, indices, axis=0)
    last = g.integers(-1)
    if norm_type in (1, 2):
        norms = g(f"ReduceL{int(norm_type)}", rows, last, keepdims=1)
    elif norm_type == np.inf:
        norms = g("ReduceMax", g("Abs", rows), last, keepdims=1)
    else:
        sums = g("ReduceSum", g("Pow", g("Abs", rows), norm_type), last, keepdims=1)
        norms = g("Pow", sums, 1 / norm_type)
    factors = g("Div", g.constant(max_norm, weight.dtype), g("Add", norms, 1e-7))
    long = g("Greater", norms, max_norm, dtype=bool)
    one = g.constant(1, weight.dtype)
    rows = g("Mul", rows, g("Where", long, factors, one, dtype=weight.dtype))
    return g("ScatterND", weight, g("Unsqueeze", g.cast(indices, "int64"), last), rows)


@form("nn.functional.vector:_one_hot")
def one_hot(g: Graph, x: Ref, num_classes: int) -> Any:
    """Return a vector for each element, with a one at its number."""
    places = g.constant(np.arange(fixed(num_classes), dtype=np.int64))
    return g.cast(g("Equal", g("Unsqueeze", x, g.integers(-1)), places, dtype=bool), g.dtype)


@form("select_slices")
def select_slices(g: Graph, x: Ref, index: Ref, dim: int) -> Any:
    """Return the slices at an index along a dimension."""
    if index.rank == 0:
        index = g.reshape(index, (1,))
    return g("Gather", x, index, axis=x.axis(dim))


@form("gather_along")
def gather(g: Graph, x: Ref, index: Ref, dim: int) -> Any:
    """Return the elements at an index along a dimension."""
    return g("GatherElements", x, index, axis=x.axis(dim))


@form("scatter_source")
def scatter(g: Graph, x: Ref, index: Ref, source: Ref, dim: int) -> Any:
    """Return a copy with elements of the source at an index along a dimension."""
    return g("ScatterElements", x, index, _cut(g, source, index.shape), axis=x.axis(dim))


def _cut(g: Graph, source: Ref, shape: Sequence[Any]) -> Ref:
    """Return the part of a source that an index of a shape uses."""
    for axis, (n, wanted) in enumerate(zip(source.shape, shape, strict=True)):
        if str(n) != str(wanted):
            source = sliced(g, source, axis, 0, wanted)
    return source


@form("scatter_number")
def scatter_number(g: Graph, x: Ref, index: Ref, dim: int, value: Any) -> Any:
    """Return a copy with a number at an index along a dimension."""
    source = g.full(index.shape, value, x.dtype)
    return g("ScatterElements", x, index, source, axis=x.axis(dim))


@form("scatter_sum")
def scatter_sum(g: Graph, x: Ref, index: Ref, source: Ref, dim: int) -> Any:
    """Return the sum with elements of the source at an index along a dimension."""
    source = _cut(g, source, index.shape)
    return g("ScatterElements", x, index, source, axis=x.axis(dim), reduction="add")


@form("index")
def index(g: Graph, x: Ref, indices: Sequence[Any]) -> Any:
    """Return the elements that integer arrays select."""
    axes, values = _integers(g, indices)
    if len(values) == 1:
        return g("Gather", x, values[0], axis=axes[0])
    if axes != [*range(len(axes))]:
        raise NoFormError("by arrays in other than the first dimensions")
    return g("GatherND", x, _points(g, values))


@form("index_set")
def index_set(g: Graph, x: Ref, values: Ref, indices: Sequence[Any], accumulate: bool) -> Any:
    """Return a copy with values at the elements that integer arrays or a mask select."""
    first = indices[0]
    if len(indices) == 1 and first.dtype == bool and values.rank == 0 and not accumulate:
        mask = g.reshape(first, first.shape + (1,) * (x.rank - first.rank))
        return choose(g, mask, values, x, x.dtype)
    axes, arrays = _integers(g, indices)
    if axes != [*range(len(axes))]:
        raise NoFormError("by arrays in other than the first dimensions")
    points = _points(g, arrays)
    shape = (*points.shape[:-1], *x.shape[len(axes) :])
    source = g.expand(g.cast(values, x.dtype), shape)
    return g("ScatterND", x, points, source, reduction="add" if accumulate else None)


def _integers(g: Graph, indices: Sequence[Any]) -> tuple[list[int], list[Ref]]:
    """Return the dimensions that are indexed, and their indices."""
    found = [(axis, x) for axis, x in enumerate(indices) if x is not None]
    if any(not isinstance(x, Ref) and not isinstance(x, np.ndarray) for _, x in found):
        raise NoFormError("by an unusual index")
    if any(x.dtype == bool for _, x in found):
        raise NoFormError("by a mask, whose number of elements is not known")
    return [axis for axis, _ in found], [g.value(x, None) for _, x in found]


def _points(g: Graph, indices: list[Ref]) -> Ref:
    """Return indices as points, in a new last dimension."""
    longest = max((x.shape for x in indices), key=len)
    for x in indices:
        if any(n == 1 for n in x.shape):
            raise NoFormError("by arrays that are broadcast")
    if any(len(x.shape) != len(longest) for x in indices):
        raise NoFormError("by arrays that are broadcast")
    parts = [g("Unsqueeze", g.cast(x, "int64"), g.integers(-1)) for x in indices]
    made: Ref = g("Concat", *parts, axis=-1)
    made.shape = (*longest, len(indices))
    return made
