"""Convolutions: by input (forward), by output (the transposed convolution), and by weight.

With input ``x`` ``[batch, channels, *size]`` and weight ``w`` ``[out channels, channels / groups,
*kernel]``, in the geometry of a ``Walk`` (``nn/functional/convolution/im2col.py``).
"""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Callable
from threading import get_ident
from typing import Any

import numpy as np

from tinynet import threads
from tinynet.dtypes import Array
from tinynet.onednn import library
from tinynet.onednn.library import Object, Pointer, call, functions, sizes

Shape = tuple[int, ...]
PART = 1 << 22  # multiply-adds: less work is not shared among threads
PARTS = 4  # of a batch, at most: each converts the weight to oneDNN's layout
TRAINING, DIRECT = 64, 1
SOURCE, RESULT, WEIGHT, BIAS = 1, 17, 33, 41  # numbers of arguments
SLOPE = 128  # added for the gradient of an argument
_QUERIES = {1: 129, 129: 130, 33: 131, 161: 132, 17: 133, 145: 134}  # of their layouts


class _Argument(ctypes.Structure):
    _fields_ = (("number", ctypes.c_int), ("memory", Pointer))


class Convolution:
    """A convolution of oneDNN, between conversions of its arrays to the layouts that it prefers.

    Args:
        description: what it computes.
        shapes: those of its arguments, by their numbers; the last one is the result.
        bias: the shape of the bias, if it has one.
    """

    def __init__(self, description: Object, shapes: dict[int, Shape], bias: Shape | None):
        self._stream = library.stream()
        self._ends: list[Object] = []  # the memory of each array
        self._hidden: list[tuple[Object, int]] = []  # that in other layouts, and its bytes
        before, after, arguments = [], [], []
        for number, shape in shapes.items():
            plain, end = self._end(shape)
            wanted = Pointer(
                functions().dnnl_primitive_desc_query_md(description, _QUERIES[number], 0)
            )
            if not functions().dnnl_memory_desc_equal(wanted, plain):
                hidden = library.memory(wanted)
                self._hidden.append((hidden, functions().dnnl_memory_desc_get_size(wanted)))
                if number == [*shapes][-1]:
                    after.append(_conversion(wanted, hidden, plain, end))
                else:
                    before.append(_conversion(plain, end, wanted, hidden))
                end = hidden
            arguments.append((number, end))
        if bias is not None:
            arguments.append((BIAS, self._end(bias)[1]))
        self._steps = [*before, (library.primitive(description), _arguments(*arguments)), *after]

    def _end(self, shape: Shape) -> tuple[Object, Object]:
        plain = library.layout(shape)
        self._ends.append(library.memory(plain))
        return plain, self._ends[-1]

    def __call__(self, *arrays: Array) -> None:
        """Run on contiguous arrays, the bias last; the result is written to its array."""
        work = [np.empty(size, np.uint8) for _, size in self._hidden]
        ends = zip((*self._ends, *(m for m, _ in self._hidden)), (*arrays, *work), strict=True)
        for memory, array in ends:
            call("memory_set_data_handle", memory, Pointer(array.ctypes.data))
        for run, arguments in self._steps:
            call("primitive_execute", run, self._stream, len(arguments), arguments)
        call("stream_wait", self._stream)


def _conversion(old: Any, source: Object, new: Any, result: Object) -> tuple[Object, Any]:
    engine, function = library.engine(), "reorder_primitive_desc_create"
    description = Object("primitive_desc", function, old, engine, new, engine, None)
    return library.primitive(description), _arguments((SOURCE, source), (RESULT, result))


def _arguments(*pairs: tuple[int, Object]) -> Any:
    return (_Argument * len(pairs))(*(_Argument(n, memory.pointer) for n, memory in pairs))


def takes(x: Array, weight: Array, walk: Any) -> bool:
    """Return whether oneDNN computes such a convolution."""
    kinds = x.dtype, weight.dtype
    if kinds != (np.float32, np.float32) or not 3 <= x.ndim <= 5 or not (x.size and weight.size):
        return False
    return min(walk.padding) >= 0 and min(walk.out) > 0 and library.is_available()


@functools.lru_cache(1024)
def _convolution(
    thread: int, kind: str, x: Shape, weight: Shape, y: Shape, bias: Shape | None, walk: Any
) -> Convolution:
    """Return the convolution of a thread for such shapes: memory objects serve one call at a time.

    Args:
        thread: identifies the thread.
        kind: ``"forward"``, or the argument whose gradient it gives, ``"input"`` or ``"weight"``.
        x, weight, y, bias: shapes.
        walk: the geometry.
    """
    after = [
        max(0, (n_out - 1) * step + (n - 1) * apart + 1 - size - before)
        for n, step, before, apart, n_out, size in zip(*walk, x[2:], strict=True)
    ]
    geometry = [
        sizes(each) for each in (walk.stride, [d - 1 for d in walk.dilation], walk.padding, after)
    ]
    arrays = [library.any_layout(shape) for shape in (x, weight, y)]
    offset = None if bias is None else library.layout(bias)
    with_bias = *arrays[:2], offset, arrays[2], *geometry
    forward = _description("forward", TRAINING, DIRECT, *with_bias, None)
    if kind == "forward":
        return Convolution(forward, {SOURCE: x, WEIGHT: weight, RESULT: y}, bias)
    if kind == "input":
        description = _description("backward_data", DIRECT, *arrays, *geometry, forward, None)
        shapes = {RESULT + SLOPE: y, WEIGHT: weight, SOURCE + SLOPE: x}
    else:
        description = _description("backward_weights", DIRECT, *with_bias, forward, None)
        shapes = {SOURCE: x, RESULT + SLOPE: y, WEIGHT + SLOPE: weight}
    return Convolution(description, shapes, None)


def _description(what: str, *args: Any) -> Object:
    function = f"convolution_{what}_primitive_desc_create"
    return Object("primitive_desc", function, library.engine(), *args)


def _grouped(weight: Array, groups: int) -> Array:
    """Return a weight as oneDNN expects it: with a dimension for the groups, if several."""
    weight = np.ascontiguousarray(weight)
    if groups == 1:
        return weight
    return weight.reshape(groups, len(weight) // groups, *weight.shape[1:])


def _in_parts(work: Callable[[slice], None], batch: int, multiplications: int) -> None:
    """Call ``work`` with the parts of a batch, each computed on one thread."""
    count = min(PARTS, batch, max(1, multiplications // PART))

    def part(images: slice) -> None:
        with library.one_thread():
            work(images)

    threads.share(part, threads.slices(batch, -(-batch // count)))


def _work(weight: Array, y: Shape) -> int:
    return math.prod(weight.shape[1:]) * math.prod(y)


def convolved(x: Array, weight: Array, bias: Array | None, walk: Any, groups: int) -> Array:
    """Return the convolution, plus a number for each channel of the result."""
    y = np.empty((len(x), len(weight), *walk.out), np.float32)
    x, w = np.ascontiguousarray(x), _grouped(weight, groups)
    offset = () if bias is None else (np.ascontiguousarray(bias, np.float32),)

    def work(images: slice) -> None:
        shapes = x[images].shape, w.shape, y[images].shape, bias if bias is None else bias.shape
        run = _convolution(get_ident(), "forward", *shapes, walk)
        run(x[images], w, y[images], *offset)

    _in_parts(work, len(x), _work(weight, y.shape))
    return y


def spread(
    y: Array, weight: Array, bias: Array | None, size: Shape, walk: Any, groups: int
) -> Array:
    """Return the transposed convolution of ``y``, of a given size."""
    x = np.empty((len(y), weight.shape[1] * groups, *size), np.float32)
    y, w = np.ascontiguousarray(y), _grouped(weight, groups)

    def work(images: slice) -> None:
        shapes = x[images].shape, w.shape, y[images].shape
        run = _convolution(get_ident(), "input", *shapes, None, walk)
        run(y[images], w, x[images])

    _in_parts(work, len(y), _work(weight, y.shape))
    if bias is not None:
        x += bias.reshape(-1, *(1,) * len(size))
    return x


def correlated(x: Array, y: Array, walk: Any, groups: int) -> Array:
    """Return the gradient of the weight, from the input and the gradient of the output."""
    shape = y.shape[1], x.shape[1] // groups, *walk.kernel
    grouped = shape if groups == 1 else (groups, shape[0] // groups, *shape[1:])
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    sums: dict[int, Array] = {}

    def work(images: slice) -> None:
        made = sums[images.start] = np.empty(grouped, np.float32)
        shapes = x[images].shape, grouped, y[images].shape
        run = _convolution(get_ident(), "weight", *shapes, None, walk)
        run(x[images], y[images], made)

    _in_parts(work, len(x), math.prod(shape[1:]) * y.size)
    total, *others = (sums[start] for start in sorted(sums))
    for part in others:
        total += part
    return total.reshape(shape)
