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
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.base import memory
from tinynet.dtypes import Array
from tinynet.kernels import threads
from tinynet.kernels.onednn import library
from tinynet.kernels.onednn import parts as compiled
from tinynet.kernels.onednn.library import Object, Pointer, call, functions, sizes

Shape = tuple[int, ...]
PART = 1 << 22  # multiply-adds: less work is not shared among threads
PARTS = 4  # of a batch, at most
FEW = 16  # channels: as many as oneDNN computes at once
TRAINING, DIRECT = 64, 1
SOURCE, RESULT, WEIGHT, BIAS = 1, 17, 33, 41  # numbers of arguments
SLOPE = 128  # added for the gradient of an argument
SCRATCH, _OF_SCRATCH = 80, 136
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
        stream: where it runs.
        steps: the primitives, and the numbers and addresses of their arguments.
    """

    def __init__(
        self, description: Object, shapes: dict[int, Shape], bias: Shape | None, last: bool
    ):
        self.stream = library.stream()
        self._ends: list[Object] = []  # the memory of each array
        self._hidden: list[tuple[Object, int]] = []  # that in other layouts, and its bytes
        self._kept: list[Any] = []
        before, after, arguments = [], [], []
        for number, shape in shapes.items():
            weight = number in (WEIGHT, WEIGHT + SLOPE)
            given, end = library.layout(shape, last and not weight), None
            wanted = _wanted(description, _QUERIES[number])
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
                    after.append(_reorder(wanted, end, given, self._ends[-1]))
                else:
                    before.append(_reorder(given, self._ends[-1], wanted, end))
            arguments.append((number, end))
        if bias is not None:
            self._ends.append(library.memory(library.layout(bias)))
            arguments.append((BIAS, self._ends[-1]))
        steps = [*before, (description, arguments), *after]
        self.steps = [self._step(description, pairs) for description, pairs in steps]

    def _step(self, description: Object, pairs: list[tuple[int, Object]]) -> tuple[int, int, int]:
        run, layout = library.primitive(description), _wanted(description, _OF_SCRATCH)
        if size := functions().dnnl_memory_desc_get_size(layout):
            scratch, array = library.memory(layout), memory.aligned(-(-size // 4))
            call("memory_set_data_handle", scratch, library.address(array))
            self._kept.append(array)
            pairs = [*pairs, (SCRATCH, scratch)]
        arguments = _arguments(*pairs)
        self._kept += description, run, arguments, pairs
        return int(run.pointer.value or 0), len(arguments), ctypes.addressof(arguments)

    def objects(self) -> list[tuple[int, ...]]:
        """Return the addresses of the memory objects of the arrays, and of hidden ones."""
        ends = [*self._ends, *(end for end, _ in self._hidden)]
        return [(int(end.pointer.value or 0),) for end in ends]

    def hidden(self) -> list[Array]:
        """Return memory for the arrays in other layouts."""
        return [memory.aligned(size // 4) for _, size in self._hidden]


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
            found = [_reorder(*a, *b, None) for a, b in (ends, ends[::-1])]
            self._steps = [(library.primitive(run), _arguments(*pairs)) for run, pairs in found]

    def empty(self) -> Array:
        """Return memory in the other layout."""
        return memory.aligned(self._size) if self._steps else np.empty(self._size, np.float32)

    def converted(self, array: Array) -> Array:
        """Return a contiguous array in the other layout."""
        if not self._steps:
            return array
        made = self.empty()
        self._run(self._steps[0], (array, made))
        return made

    def restored(self, array: Array, shape: Shape) -> Array:
        """Return the contiguous array of memory in the other layout."""
        if not self._steps:
            return array.reshape(shape)
        made = np.empty(shape, np.float32)
        self._run(self._steps[1], (made, array))
        return made

    def _run(self, step: Any, arrays: tuple[Array, Array]) -> None:
        for end, array in zip(self._ends, arrays, strict=True):
            call("memory_set_data_handle", end, library.address(array))
        run, arguments = step
        call("primitive_execute", run, self._stream, len(arguments), arguments)
        call("stream_wait", self._stream)


def _reorder(old: Any, source: Object, new: Any, result: Object, *attribute: Any) -> Any:
    """Return the description of a conversion, and its arguments."""
    own = attribute or (library.own_scratch(),)
    engine, function = library.engine(), "reorder_primitive_desc_create"
    description = Object("primitive_desc", function, old, engine, new, engine, *own)
    return description, [(SOURCE, source), (RESULT, result)]


def _wanted(description: Object, query: int) -> Pointer:
    """Return the layout of an argument of what is described."""
    return Pointer(functions().dnnl_primitive_desc_query_md(description, query, 0))


def _arguments(*pairs: tuple[int, Object]) -> Any:
    return (_Argument * len(pairs))(*(_Argument(n, end.pointer) for n, end in pairs))


def takes(x: Any, weight: Any, walk: Any) -> bool:
    """Return whether oneDNN computes such a convolution."""
    kinds, rank = (x.dtype, weight.dtype), len(x.shape)
    if kinds != (np.float32, np.float32) or not 3 <= rank <= 5 or not (x.size and weight.size):
        return False
    return min(walk.padding) >= 0 and min(walk.out) > 0 and library.is_available()


class _Made(threading.local):
    """What a thread has made of a case: a convolution for each part, and what ``run`` takes."""

    convolutions: tuple[Convolution, ...] = ()
    places: Array
    steps: Array
    streams: Array
    failed: Array


class Case:
    """What a convolution is made for; ``case`` keeps those in use.

    Args:
        kind: ``"forward"``, or the argument whose gradient it gives, ``"input"`` or ``"weight"``.
        x, weight, y, bias: shapes; the weight has a dimension for its groups, if several.
        walk: the geometry.
        last: the channels are the last dimension of the arrays of ``x`` and ``y``.

    Attributes:
        parts: the parts of the batch that threads share.
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
        self._work = batch * work
        shares = max(1, min(PARTS, batch, self._work // PART))
        count = 1 << shares.bit_length() - 1  # parts of one length, for powers of two
        self.parts = threads.slices(batch, -(-batch // count))
        self._made = _Made()

    def own(self) -> tuple[Convolution, ...]:
        """Return this thread's convolution of each part: a memory object serves one call."""
        made = self._made
        if not made.convolutions:
            with library.one_thread():
                found = [self._convolution(part.stop - part.start) for part in self.parts]
            made.places = _padded([one.objects() for one in found], 2)
            made.steps = _padded([one.steps for one in found], 3)
            made.streams = np.array([one.stream.pointer.value for one in found])
            made.failed = np.zeros(len(found), np.int32)
            made.convolutions = tuple(found)
        return made.convolutions

    def weights(self, weight: Array) -> list[Array]:
        """Return a contiguous weight in the layout of each part."""
        found: dict[int, Array] = {}
        with library.one_thread():
            for part, one in zip(self.parts, self.own(), strict=True):
                length = part.stop - part.start
                if length not in found:
                    found[length] = one.weight.converted(weight)
        return [found[part.stop - part.start] for part in self.parts]

    def run(self, arrays: Sequence[tuple[Array, ...]]) -> None:
        """Run on the contiguous arrays of each part, in the order of the arguments.

        Raises:
            RuntimeError: oneDNN reports a failure.
        """
        convolutions, made = self.own(), self._made
        whole = [(*each, *one.hidden()) for one, each in zip(convolutions, arrays, strict=True)]
        for places, each in zip(made.places, whole, strict=True):
            places[: len(each), 1] = [library.address(array).value for array in each]
        compiled.run(made.places, made.steps, made.streams, made.failed, self._work)
        if made.failed.any():
            raise RuntimeError(f"oneDNN: a convolution failed with status {made.failed.max()}")

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
        forward = _description("forward", TRAINING, DIRECT, *with_bias)
        if kind == "forward":
            return Convolution(forward, {SOURCE: x, WEIGHT: weight, RESULT: y}, self._bias, last)
        if kind == "input":
            description = _description("backward_data", DIRECT, *arrays, *geometry, forward)
            shapes = {RESULT + SLOPE: y, WEIGHT: weight, SOURCE + SLOPE: x}
        else:
            description = _description("backward_weights", DIRECT, *with_bias, forward)
            shapes = {SOURCE: x, RESULT + SLOPE: y, WEIGHT + SLOPE: weight}
        return Convolution(description, shapes, None, last)


case = functools.lru_cache(1024)(Case)


def _description(what: str, *args: Any) -> Object:
    function = f"convolution_{what}_primitive_desc_create"
    return Object("primitive_desc", function, library.engine(), *args, library.own_scratch())


def _grouped(shape: Shape, groups: int) -> Shape:
    """Return the shape of a weight in oneDNN: with a dimension for the groups, if several."""
    return shape if groups == 1 else (groups, shape[0] // groups, *shape[1:])


def _padded(rows: Sequence[Sequence[tuple[int, ...]]], width: int) -> Array:
    """Return rows of tuples as an array, with zeros where a row or a tuple is shorter."""
    made = np.zeros((len(rows), max(map(len, rows)), width), np.int64)
    for target, row in zip(made, rows, strict=True):
        target[: len(row), : len(row[0])] = row
    return made


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
    whole = case("forward", *kinds, walk, last)
    each = zip(whole.parts, whole.weights(weight), strict=True)
    whole.run([(x[part], w, y[part], *offset) for part, w in each])
    return y


def spread(
    y: Array, weight: Array, bias: Array | None, size: Shape, walk: Any, groups: int,
    last: bool = False,
) -> Array:  # fmt: skip
    """Return the transposed convolution of ``y``, of a given size."""
    shape = len(y), weight.shape[1] * groups, *size
    x, y, weight = _empty(shape, last), np.ascontiguousarray(y), np.ascontiguousarray(weight)
    kinds = shape, _grouped(weight.shape, groups), _shape(y, last)
    whole = case("input", *kinds, None, walk, last)
    each = zip(whole.parts, whole.weights(weight), strict=True)
    whole.run([(y[part], w, x[part]) for part, w in each])
    if bias is not None:
        x += bias if last else bias.reshape(-1, *(1,) * len(size))
    return x


def correlated(x: Array, y: Array, walk: Any, groups: int, last: bool = False) -> Array:
    """Return the gradient of the weight, from the input and the gradient of the output."""
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    shapes = _shape(x, last), _shape(y, last)
    shape = shapes[1][1], shapes[0][1] // groups, *walk.kernel
    whole = case("weight", shapes[0], _grouped(shape, groups), shapes[1], None, walk, last)
    made = [one.weight.empty() for one in whole.own()]
    each = zip(whole.parts, made, strict=True)
    whole.run([(x[part], y[part], found) for part, found in each])
    sums: dict[int, tuple[Convolution, Array]] = {}  # parts of other lengths have other layouts
    for part, one, found in zip(whole.parts, whole.own(), made, strict=True):
        length = part.stop - part.start
        if length in sums:
            np.add(sums[length][1], found, out=sums[length][1])
        else:
            sums[length] = one, found
    with library.one_thread():
        first, *others = [one.weight.restored(found, shape) for one, found in sums.values()]
    for other in others:
        first += other
    return first
