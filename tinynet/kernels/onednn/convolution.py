"""Convolutions: by input (forward), by output (the transposed convolution), and by weight.

With input ``x`` ``[batch, channels, *size]`` and weight ``w`` ``[out channels, channels / groups,
*kernel]``, in the geometry of a ``Geometry`` (``nn/functional/geometry.py``). With ``last``,
inputs and outputs are ``[batch, *size, channels]``: oneDNN computes on these arrays themselves, and
otherwise mostly on copies in other layouts.
"""

from __future__ import annotations

import ctypes
import functools
import math
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from tinynet.base import memory
from tinynet.dtypes import Array
from tinynet.kernels import threads
from tinynet.kernels.onednn import library
from tinynet.kernels.onednn.library import Object, Pointer, call, functions, sizes

Shape = tuple[int, ...]
PART = 1 << 22  # multiply-adds: less work is not shared among threads
PARTS = 4  # of a batch, at most
FEW = 16  # channels: as many as oneDNN computes at once
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
        last: the channels of all arrays but the weight are their last dimension.

    Attributes:
        weight: the layouts of the weight, or of its gradient: its conversion is left to the caller.
    """

    def __init__(
        self, description: Object, shapes: dict[int, Shape], bias: Shape | None, last: bool
    ):
        self._stream = library.stream()
        self._ends: list[Object] = []  # the memory of each array
        self._hidden: list[tuple[Object, int]] = []  # that in other layouts, and its bytes
        before, after, arguments = [], [], []
        for number, shape in shapes.items():
            weight = number in (WEIGHT, WEIGHT + SLOPE)
            given, end = library.layout(shape, last and not weight), None
            wanted = Pointer(
                functions().dnnl_primitive_desc_query_md(description, _QUERIES[number], 0)
            )
            if weight:
                self.weight, end = Conversion(given, wanted), library.memory(wanted)
                self._ends.append(end)
            elif functions().dnnl_memory_desc_equal(wanted, given):
                end = library.memory(given)
                self._ends.append(end)
            else:
                self._ends.append(library.memory(given))
                end = library.memory(wanted)
                self._hidden.append((end, functions().dnnl_memory_desc_get_size(wanted)))
                if number == [*shapes][-1]:
                    after.append(_conversion(wanted, end, given, self._ends[-1]))
                else:
                    before.append(_conversion(given, self._ends[-1], wanted, end))
            arguments.append((number, end))
        if bias is not None:
            self._ends.append(library.memory(library.layout(bias)))
            arguments.append((BIAS, self._ends[-1]))
        self._steps = [*before, (library.primitive(description), _arguments(*arguments)), *after]
        self._kept = description  # the layouts are its

    def __call__(self, *arrays: Array) -> None:
        """Run on contiguous arrays, the bias last; the result is written to its array."""
        work = [memory.aligned(size // 4) for _, size in self._hidden]
        ends = zip((*self._ends, *(m for m, _ in self._hidden)), (*arrays, *work), strict=True)
        _run(self._stream, self._steps, ends)


class Conversion:
    """The conversion of weights to another layout, and back.

    Args:
        given: the layout of numpy's array.
        wanted: the other one.
    """

    def __init__(self, given: Object, wanted: Pointer):
        self._stream = library.stream()
        self._size = functions().dnnl_memory_desc_get_size(wanted) // 4
        self._ends = library.memory(given), library.memory(wanted)
        self._steps: list[Any] = []
        if not functions().dnnl_memory_desc_equal(wanted, given):
            ends = (given, self._ends[0]), (wanted, self._ends[1])
            self._steps = [_conversion(*a, *b) for a, b in (ends, ends[::-1])]

    def empty(self) -> Array:
        """Return memory in the other layout."""
        return memory.aligned(self._size) if self._steps else np.empty(self._size, np.float32)

    def converted(self, array: Array) -> Array:
        """Return a contiguous array in the other layout."""
        if not self._steps:
            return array
        made = self.empty()
        _run(self._stream, self._steps[:1], zip(self._ends, (array, made), strict=True))
        return made

    def restored(self, array: Array, shape: Shape) -> Array:
        """Return the contiguous array of memory in the other layout."""
        if not self._steps:
            return array.reshape(shape)
        made = np.empty(shape, np.float32)
        _run(self._stream, self._steps[1:], zip(self._ends, (made, array), strict=True))
        return made


def _run(stream: Object, steps: list[Any], ends: Iterable[tuple[Object, Array]]) -> None:
    for end, array in ends:
        call("memory_set_data_handle", end, library.address(array))
    for run, arguments in steps:
        call("primitive_execute", run, stream, len(arguments), arguments)
    call("stream_wait", stream)


def _conversion(old: Any, source: Object, new: Any, result: Object) -> tuple[Object, Any]:
    engine, function = library.engine(), "reorder_primitive_desc_create"
    description = Object("primitive_desc", function, old, engine, new, engine, None)
    return library.primitive(description), _arguments((SOURCE, source), (RESULT, result))


def _arguments(*pairs: tuple[int, Object]) -> Any:
    return (_Argument * len(pairs))(*(_Argument(n, end.pointer) for n, end in pairs))


def takes(x: Any, weight: Any, walk: Any) -> bool:
    """Return whether oneDNN computes such a convolution."""
    kinds, rank = (x.dtype, weight.dtype), len(x.shape)
    if kinds != (np.float32, np.float32) or not 3 <= rank <= 5 or not (x.size and weight.size):
        return False
    return min(walk.padding) >= 0 and min(walk.out) > 0 and library.is_available()


class _Made(threading.local):
    """The convolutions of each thread."""

    def __init__(self) -> None:
        self.by_length: dict[int, Convolution] = {}


class Case:
    """What a convolution is made for; ``case`` keeps those in use.

    Args:
        kind: ``"forward"``, or the argument whose gradient it gives, ``"input"`` or ``"weight"``.
        x, weight, y, bias: shapes; the weight has a dimension for its groups, if several.
        walk: the geometry.
        last: the channels are the last dimension of the arrays of ``x`` and ``y``.

    Attributes:
        parts: the parts of the batch that threads share.
        lengths: those of the parts, each once.
    """

    def __init__(
        self,
        kind: str,
        x: Shape,
        weight: Shape,
        y: Shape,
        bias: Shape | None,
        walk: Any,
        last: bool,
    ):
        self._kind, self._x, self._weight, self._y = kind, x, weight, y
        self._bias, self._walk, self._last = bias, walk, last
        batch, work = x[0], math.prod(weight) * math.prod(y[2:])
        shares = max(1, min(PARTS, batch, batch * work // PART))
        count = 1 << shares.bit_length() - 1  # parts of one length, for powers of two
        self.parts = threads.slices(batch, -(-batch // count))
        self.lengths = {part.stop - part.start: None for part in self.parts}
        self._made = _Made()

    def of(self, length: int) -> Convolution:
        """Return this thread's convolution for a part: memory objects serve one call at a time."""
        made = self._made.by_length
        if length not in made:
            made[length] = self._convolution(length)
        return made[length]

    def run(self, weight: Array, arrays: Sequence[Array], rest: Sequence[Array]) -> None:
        """Run on all parts of the batch.

        Args:
            weight: contiguous.
            arrays: the input and the result, of the whole batch.
            rest: the bias, if it has one.
        """
        first, last = arrays
        with library.one_thread():
            weights = {n: self.of(n).weight.converted(weight) for n in self.lengths}
            if len(self.parts) == 1:
                self.of(len(first))(first, weights[len(first)], last, *rest)
                return

        def work(images: slice) -> None:
            part = first[images]
            self.of(len(part))(part, weights[len(part)], last[images], *rest)

        _share(work, self.parts)

    def _convolution(self, length: int) -> Convolution:
        x, y, weight = (length, *self._x[1:]), (length, *self._y[1:]), self._weight
        kind, last, walk = self._kind, self._last, self._walk
        after = walk.after(x[2:])
        apart = [d - 1 for d in walk.dilation]
        geometry = [*map(sizes, (walk.stride, apart, walk.padding, after))]
        # As measured: with few channels, copies in other layouts pay, or do not.
        if kind == "input":
            fixed = last and x[1] >= FEW
        else:
            fixed = last or y[1] < FEW or (kind == "weight" and y[1] == FEW)
        arrays = [library.layout(x, True) if fixed else library.any_layout(x)]
        arrays.append(library.any_layout(weight))
        arrays.append(library.layout(y, True) if fixed else library.any_layout(y))
        offset = None if self._bias is None else library.layout(self._bias)
        with_bias = *arrays[:2], offset, arrays[2], *geometry
        forward = _description("forward", TRAINING, DIRECT, *with_bias, None)
        if kind == "forward":
            return Convolution(forward, {SOURCE: x, WEIGHT: weight, RESULT: y}, self._bias, last)
        if kind == "input":
            description = _description("backward_data", DIRECT, *arrays, *geometry, forward, None)
            shapes = {RESULT + SLOPE: y, WEIGHT: weight, SOURCE + SLOPE: x}
        else:
            description = _description("backward_weights", DIRECT, *with_bias, forward, None)
            shapes = {SOURCE: x, RESULT + SLOPE: y, WEIGHT + SLOPE: weight}
        return Convolution(description, shapes, None, last)


case = functools.lru_cache(1024)(Case)


def _description(what: str, *args: Any) -> Object:
    function = f"convolution_{what}_primitive_desc_create"
    return Object("primitive_desc", function, library.engine(), *args)


def _grouped(shape: Shape, groups: int) -> Shape:
    """Return the shape of a weight in oneDNN: with a dimension for the groups, if several."""
    return shape if groups == 1 else (groups, shape[0] // groups, *shape[1:])


def _share(work: Callable[[Any], None], parts: Sequence[Any]) -> None:
    """Call a function with the parts of a batch, each computed on one thread."""

    def part(one: Any) -> None:
        with library.one_thread():
            work(one)

    threads.share(part, parts)


def _shape(array: Array, last: bool) -> Shape:
    """Return ``[batch, channels, *size]``."""
    return (len(array), array.shape[-1], *array.shape[1:-1]) if last else array.shape


def _empty(shape: Shape, last: bool) -> Array:
    return np.empty((shape[0], *shape[2:], shape[1]) if last else shape, np.float32)


def convolved(
    x: Array, weight: Array, bias: Array | None, walk: Any, groups: int, last: bool = False
) -> Array:
    """Return the convolution, plus a number for each channel of the result.

    Args:
        x, weight, bias, walk, groups: as above.
        last: ``x`` and the result are ``[batch, *size, channels]``.
    """
    shape = len(x), len(weight), *walk.out
    y, x, weight = _empty(shape, last), np.ascontiguousarray(x), np.ascontiguousarray(weight)
    offset = [] if bias is None else [np.ascontiguousarray(bias, np.float32)]
    kinds = (
        _shape(x, last),
        _grouped(weight.shape, groups),
        shape,
        bias if bias is None else bias.shape,
    )
    case("forward", *kinds, walk, last).run(weight, (x, y), offset)
    return y


def spread(
    y: Array, weight: Array, bias: Array | None, size: Shape, walk: Any, groups: int,
    last: bool = False,
) -> Array:  # fmt: skip
    """Return the transposed convolution of ``y``, of a given size."""
    shape = len(y), weight.shape[1] * groups, *size
    x, y, weight = _empty(shape, last), np.ascontiguousarray(y), np.ascontiguousarray(weight)
    kinds = shape, _grouped(weight.shape, groups), _shape(y, last)
    case("input", *kinds, None, walk, last).run(weight, (y, x), [])
    if bias is not None:
        x += bias if last else bias.reshape(-1, *(1,) * len(size))
    return x


def correlated(x: Array, y: Array, walk: Any, groups: int, last: bool = False) -> Array:
    """Return the gradient of the weight, from the input and the gradient of the output."""
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    shapes = _shape(x, last), _shape(y, last)
    shape = shapes[1][1], shapes[0][1] // groups, *walk.kernel
    whole = case("weight", shapes[0], _grouped(shape, groups), shapes[1], None, walk, last)
    parts = whole.parts
    found = [whole.of(part.stop - part.start).weight.empty() for part in parts]

    def work(number: int) -> None:
        images = parts[number]
        whole.of(images.stop - images.start)(x[images], y[images], found[number])

    _share(work, range(len(parts)))
    total: Array | None = None
    for length in whole.lengths:  # each has its layout
        first, *others = (
            made for images, made in zip(parts, found, strict=True) if len(x[images]) == length
        )
        for other in others:
            first += other
        with library.one_thread():
            part = whole.of(length).weight.restored(first, shape)
        total = part if total is None else total + part
    assert total is not None
    return total
