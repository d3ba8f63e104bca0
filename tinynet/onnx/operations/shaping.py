"""Views, joining, and other changes of shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.core import layouts
from tinynet.onnx.errors import NoFormError
from tinynet.onnx.graph import Graph, Ref, Size, fixed, is_fixed, product
from tinynet.onnx.operations.table import as_result, form, put_back

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
