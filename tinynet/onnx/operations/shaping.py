"""Views, joining, and other changes of shape; elements by index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.core import layouts
from tinynet.onnx.errors import NoFormError
from tinynet.onnx.graph import (
    FORMS,
    Graph,
    Ref,
    Size,
    as_result,
    choose,
    fixed,
    form,
    is_fixed,
    product,
    put_back,
)

_END = np.iinfo(np.int64).max


def axes_of(x: Ref, dims: Any) -> list[int]:
    """Return dimensions counted from the front; all for None and ()."""
    if dims is None or dims == () or not x.rank:
        return [*range(x.rank)]
    return [x.axis(d) for d in ([dims] if isinstance(dims, int) else dims)]


def sliced(g: Graph, x: Ref, axis: int, start: Any, stop: Any, step: int = 1) -> Any:
    """Return a range of one dimension."""
    bounds = [g.length(start), g.length(_END if stop is None else stop)]
    return g("Slice", x, *bounds, g.integers(axis), g.integers(step))


@form(
    "view_as_shape", "reshape_copy", "unsafe_view", "unsqueeze", "squeeze_all", "squeeze_dim",
    "squeeze_dims", "squeezed", "squeezed_dim",
)  # fmt: skip
def reshape(g: Graph, x: Ref, *shape: Any) -> Ref:
    """Return the same elements in the shape of the result."""
    return g.reshape(x, g.shape)


@put_back(
    "view_as_shape", "unsqueeze", "squeeze_all", "squeeze_dim", "squeeze_dims", "squeezed",
    "squeezed_dim", "alias",
)  # fmt: skip
def shaped_back(g: Graph, whole: Ref, part: Ref, *shape: Any) -> Ref:
    """Return all elements of the view in the shape of the viewed value."""
    return g.reshape(part, whole.shape)


@form("transpose")
def transpose(g: Graph, x: Ref, dim0: int, dim1: int) -> Any:
    """Swap two dimensions."""
    return transposed_back(g, x, x, dim0, dim1)


@put_back("transpose")
def transposed_back(g: Graph, whole: Ref, part: Ref, dim0: int, dim1: int) -> Any:
    """Swap two dimensions back."""
    order = [*range(whole.rank)]
    if order:
        one, other = whole.axis(dim0), whole.axis(dim1)
        order[one], order[other] = other, one
    return g("Transpose", part, perm=order)


@form("t")
def t(g: Graph, x: Ref) -> Any:
    """Transpose a matrix."""
    return g("Transpose", x, perm=[*range(x.rank)][::-1])


@form("permute_dims")
def permute(g: Graph, x: Ref, dims: Sequence[int]) -> Any:
    """Return the dimensions in another order."""
    return g("Transpose", x, perm=[x.axis(d) for d in dims])


@put_back("permute_dims")
def permuted_back(g: Graph, whole: Ref, part: Ref, dims: Sequence[int]) -> Any:
    """Undo ``permute``."""
    order = [whole.axis(d) for d in dims]
    return g("Transpose", part, perm=[order.index(i) for i in range(len(order))])


@form("expand_to")
def expand(g: Graph, x: Ref, shape: Any) -> Ref:
    """Broadcast to a shape."""
    return g.expand(x, g.shape)


@form("select")
def select(g: Graph, x: Ref, dim: int, index: Any) -> Any:
    """Return one slice, without its dimension."""
    axis = x.axis(dim)
    if isinstance(index, Size):
        return g("Squeeze", g("Gather", x, g.length(index), axis=axis), g.integers(axis))
    return g("Gather", x, g.constant(np.int64(index)), axis=axis)


@put_back("select")
def selected_back(g: Graph, whole: Ref, part: Ref, dim: int, index: Any) -> Any:
    """Replace one slice."""
    axis = whole.axis(dim)
    part = g("Unsqueeze", part, g.integers(axis))
    start = index if fixed(index) >= 0 else _from_front(whole.shape[axis], index)
    return _replaced(g, whole, part, axis, start, start + 1)


def _from_front(length: Any, index: int) -> int:
    return int(fixed(length)) + index


@form("cut")
def cut(g: Graph, x: Ref, dim: int, part: slice) -> Any:
    """Return a range of one dimension."""
    start = 0 if part.start is None else part.start
    return sliced(g, x, dim, start, part.stop, fixed(part.step) or 1)


@put_back("cut")
def cut_back(g: Graph, whole: Ref, part: Ref, dim: int, range_: slice) -> Any:
    """Replace a range of one dimension."""
    start, stop, step = range_.start or 0, range_.stop, range_.step or 1
    if is_fixed((whole.shape[dim], start, stop, step)):
        start, stop, step = range_.indices(whole.shape[dim])
        stop = max(start, stop)
    if fixed((start, step)) and (step != 1 or start < 0):
        raise NoFormError("it writes to a range with a step, or one counted from the end")
    if stop is not None and fixed(stop) < start:
        raise NoFormError("it writes to a range that ends before it starts, or from the end")
    return _replaced(g, whole, part, dim, start, stop)


def _replaced(g: Graph, whole: Ref, part: Ref, axis: int, start: Any, stop: Any) -> Any:
    """Return a value with the elements from ``start`` to ``stop`` replaced."""
    parts = [sliced(g, whole, axis, 0, start)] if start else []
    parts.append(part)
    if stop is not None:
        parts.append(sliced(g, whole, axis, stop, None))
    return g("Concat", *parts, axis=axis) if len(parts) > 1 else part


@form("unbind")
def unbind(g: Graph, x: Ref, dim: int = 0) -> Any:
    """Return all slices along a dimension."""
    return [select(g, x, dim, i) for i in range(len(g.results))]


@form("split_at", "split_in_sizes")
def split(g: Graph, x: Ref, starts: Any, dim: int) -> Any:
    """Return consecutive ranges of one dimension."""
    if len(g.results) == 1:
        return [x]
    lengths = [shape[dim] for shape, _ in g.results]
    return g("Split", x, g.lengths(lengths), outputs=len(lengths), axis=dim)


# ---- joining and rearranging --------------------------------------------------------------------


@form("cat")
def cat(g: Graph, tensors: Sequence[Ref], dim: int = 0) -> Any:
    """Join values along a dimension."""
    parts = [x for x in as_result(g, *tensors) if x.shape is None or x.shape != (0,)]
    return g("Concat", *parts, axis=dim if dim >= 0 else dim + len(g.shape))


@form("stack")
def stack(g: Graph, tensors: Sequence[Ref], dim: int = 0) -> Any:
    """Join values along a new dimension."""
    axis = dim if dim >= 0 else dim + len(g.shape)
    parts = [g("Unsqueeze", x, g.integers(axis)) for x in as_result(g, *tensors)]
    return g("Concat", *parts, axis=axis)


@form("flip_dims")
def flip(g: Graph, x: Ref, dims: Sequence[int]) -> Any:
    """Reverse the order along dimensions."""
    for axis in axes_of(x, dims) if dims else []:
        first, last = g.integers(-1), g.integers(np.iinfo(np.int64).min)
        x = like(g("Slice", x, first, last, g.integers(axis), g.integers(-1)), x)
    return x


@form("roll_dims")
def roll(g: Graph, x: Ref, shifts: Sequence[int], dims: Sequence[int] | None) -> Any:
    """Roll along dimensions."""
    if dims is None:
        flat = g.reshape(x, (product(x.shape),))
        return g.reshape(roll(g, flat, shifts, [0]), x.shape)
    for shift, dim in zip(fixed(shifts), dims, strict=True):
        axis = x.axis(dim)
        length = fixed(x.shape[axis])
        if shift % max(length, 1):
            start = length - shift % length
            parts = sliced(g, x, axis, start, None), sliced(g, x, axis, 0, start)
            x = like(g("Concat", *parts, axis=axis), x)
    return x


def like(made: Ref, x: Ref) -> Ref:
    """Return a value, with the shape of another noted."""
    made.shape = x.shape
    return made


@form("repeat_dims")
def repeat(g: Graph, x: Ref, repeats: Sequence[Any]) -> Any:
    """Repeat along each dimension."""
    missing = len(repeats) - x.rank
    wide = g.reshape(x, (1,) * missing + x.shape) if missing else x
    return g("Tile", wide, g.lengths(repeats))


def _triangle(upper: int) -> Any:
    def compute(g: Graph, x: Ref, diagonal: int = 0) -> Any:
        return g("Trilu", x, g.constant(np.int64(fixed(diagonal))), upper=upper)

    return compute


form("tril")(_triangle(0))
form("triu")(_triangle(1))


@form("unfold")
def unfold(g: Graph, x: Ref, dimension: int, size: int, step: int) -> Any:
    """Return all windows along a dimension, as a new last dimension."""
    axis = x.axis(dimension)
    count = (fixed(x.shape[axis]) - size) // step + 1
    index = np.arange(count)[:, None] * step + np.arange(size)
    made = g("Gather", x, g.constant(index.astype(np.int64)), axis=axis)
    order = [d for d in range(x.rank + 1) if d != axis + 1] + [axis + 1]
    return g("Transpose", made, perm=order)


@form("shuffled_pixels")
def shuffled_pixels(g: Graph, x: Ref, factor: int) -> Any:
    """Return squares of channels as larger planes."""
    return g("DepthToSpace", _images(x), blocksize=factor, mode="CRD")


@form("unshuffled_pixels")
def unshuffled_pixels(g: Graph, x: Ref, factor: int) -> Any:
    """Return the elements of squares as channels."""
    batch, channels, height, width = _images(x).shape
    height, width = fixed((height, width))
    parts = (batch, channels, height // factor, factor, width // factor, factor)
    moved = g("Transpose", g.reshape(x, parts), perm=[0, 1, 3, 5, 2, 4])
    return g.reshape(moved, g.shape)


@form("shuffled_channels")
def shuffled_channels(g: Graph, x: Ref, groups: int) -> Any:
    """Interleave groups of channels."""
    batch, channels, *places = x.shape
    parts = g.reshape(x, (batch, groups, fixed(channels) // groups, *places))
    order = [0, 2, 1, *range(3, x.rank + 1)]
    return g.reshape(g("Transpose", parts, perm=order), g.shape)


def _images(x: Ref) -> Ref:
    if x.rank != 4:
        raise NoFormError("of anything but a batch of images")
    return x


@form(*(f"core.layouts:{name}" for name in layouts.ORDERS))
def laid_out(g: Graph, result: Ref, *inputs: Any) -> Ref:
    """Return the result: values have no order in memory in a graph."""
    return result


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
