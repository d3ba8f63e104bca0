"""The windows of a pooling, and validation of its options.

Everything here depends only on shapes and options, so it is computed once and cached.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from tinynet.dtypes import Array
from tinynet.nn.functional.checks import Ints, int_tuple, per_dim, spatial
from tinynet.nn.functional.geometry import Geometry, window_count, windows_inside
from tinynet.nn.functional.images.separable import LinearMap, SeparableMap
from tinynet.ops.arguments import is_whole

COUNTS = {1: "one", 2: "two", 3: "three"}
CACHED = 256  # windows
_LONG = 16  # elements of a window
Taps = tuple[tuple[slice, Any], ...]  # outputs, and a slice of elements or their indices
Index = tuple[Any, ...]


class Options(NamedTuple):
    """The options of max and average pooling, one int per dimension each."""

    kernel_size: Ints
    stride: Ints
    padding: Ints
    dilation: Ints
    ceil_mode: bool

    @property
    def rank(self) -> int:
        """The number of spatial dimensions."""
        return len(self.kernel_size)


@dataclass(frozen=True, eq=False)
class Windows:
    """The windows of a pooling.

    Attributes:
        sizes: those of a plane.
        outputs: the number of windows along each dimension.
        taps: for each dimension and offset in a window, the outputs that have an element there, and
            these elements.
        steps: the distance between windows along each dimension, if it is the same for all.
        starts: then for each dimension the elements of its first window.
    """

    sizes: Ints
    outputs: Ints
    taps: tuple[Taps, ...]
    steps: Ints = ()
    starts: tuple[Ints, ...] = ()

    @classmethod
    def even(cls, sizes: Ints, outputs: Ints, taps: list[Taps]) -> Windows:
        """Return windows of equal length that are evenly spaced."""
        steps = tuple(one[0][1].step for one in taps)
        starts = tuple(
            tuple(source.start - target.start * step for target, source in one)
            for one, step in zip(taps, steps, strict=True)
        )
        # A single window has no next one: the longest step leaves the fewest elements.
        steps = tuple(
            step if count > 1 else max(step, start[-1] - start[0] + 1)
            for step, count, start in zip(steps, outputs, starts, strict=True)
        )
        return cls(sizes, outputs, tuple(taps), steps, starts)

    @cached_property
    def length(self) -> int:
        """The number of elements of a window."""
        return math.prod(map(len, self.taps))

    @cached_property
    def count(self) -> int:
        """The number of windows."""
        return math.prod(self.outputs)

    @cached_property
    def inside(self) -> bool:
        """Whether no window extends past the edge."""
        pairs = zip(self.taps, self.outputs, strict=True)
        return all(tap[0] == slice(0, count) for taps, count in pairs for tap in taps)

    @cached_property
    def disjoint(self) -> bool:
        """Whether no element is in two windows."""
        pairs = zip(self.starts, self.steps, strict=True)
        return bool(self.steps) and all(start[-1] - start[0] < step for start, step in pairs)

    @cached_property
    def is_2x2(self) -> bool:
        """Whether the windows are 2 by 2, with a stride of 2 and without padding."""
        return self.inside and self.steps == (2, 2) and self.starts == ((0, 1),) * 2

    @cached_property
    def apart(self) -> bool:
        """Whether copies of the windows take less time than passes over the planes."""
        large = self.length >= _LONG and self.length * self.count <= 2 * math.prod(self.sizes)
        return large or not self.steps

    @cached_property
    def flat(self) -> FlatPlanes:
        """How to find the maxima of evenly spaced windows in planes that are runs of elements."""
        return FlatPlanes(self)

    @cached_property
    def room(self) -> int:
        """The number of elements in memory for one plane."""
        return self.length * self.count if self.apart else math.prod(self.flat.frame)

    @cached_property
    def corners(self) -> Array:
        """The flat index in the plane of the first element of each window."""
        found = np.zeros((), np.int64)
        for n, count, step, start in zip(
            self.sizes, self.outputs, self.steps, self.starts, strict=True
        ):
            found = found[..., None] * n + (start[0] + np.arange(count) * step)
        return found

    @cached_property
    def offsets(self) -> Array:
        """The difference in flat index from the first element of a window to each other element."""
        found = np.zeros((), np.int64)
        for n, start in zip(self.sizes, self.starts, strict=True):
            found = found[..., None] * n + (np.array(start) - start[0])
        return found.reshape(-1)

    @cached_property
    def elements(self) -> Array:
        """The flat index in the plane of each element of each window, ``[count, length]``.

        In the place of elements past the edge stands the next one inside.
        """
        found = np.zeros((1, 1), np.int64)
        for n, m, taps in zip(self.sizes, self.outputs, self.taps, strict=True):
            along = np.full((m, len(taps)), -1)
            for k, (target, source) in enumerate(taps):
                along[target, k] = np.arange(n)[source]
            last = along.max(1, keepdims=True)
            along[along < 0] = n
            along = np.minimum.accumulate(along[:, ::-1], 1)[:, ::-1]
            grid = found[:, None, :, None] * n + np.minimum(along, last)[None, :, None, :]
            found = grid.reshape(len(found) * m, found.shape[1] * len(taps))
        return found

    @cached_property
    def columns(self) -> Array:
        """The same as ``[length, count]``."""
        return np.ascontiguousarray(self.elements.T)

    @cached_property
    def first(self) -> Array:
        """The position of each window in ``elements``, of the shape of the outputs."""
        return np.arange(self.count).reshape(self.outputs) * self.length


class FlatPlanes:
    """Planes as runs of elements: where each dimension of a window is in such a run.

    Attributes:
        frame: the sizes of a plane with the padding, in whole steps along the last dimension.
        target: where the plane is in the frame, and ``source`` the part of the plane that is there;
            None if the frame is the plane.
        stages: for each dimension, from the last one, the distances of the elements of a window
            from the first, those between windows, and the number of ranks before this dimension.
        size: the number of elements of a plane after the first stage.
        shape: its dimensions then.
        inside: the windows among them.
        dtype: of the position of an element in a window.
    """

    def __init__(self, windows: Windows):
        starts, (*front, step) = windows.starts, windows.steps
        dims = [*zip(windows.sizes, windows.outputs, (*front, step), starts, strict=True)]
        frame = []
        for d, (n, count, stride, start) in enumerate(dims):
            needed, unit = (count - 1) * stride + start[-1] - start[0] + 1, stride
            if d < len(front):
                unit = 1
            is_whole = start[0] == 0 and n >= needed and n % unit == 0
            frame.append(n if is_whole else -(-needed // unit) * unit)
        self.frame = tuple(frame)
        self.target: Index | None = None
        if self.frame != windows.sizes or any(start[0] for start in starts):
            spans = [
                slice(-start[0], min(n - start[0], f))
                for (n, _, _, start), f in zip(dims, frame, strict=True)
            ]
            self.target = (slice(None), *spans)
            self.source: Index = (slice(None), *(slice(s.stop - s.start) for s in spans))
        self.shape = *self.frame[:-1], self.frame[-1] // step
        self.size = math.prod(self.shape)
        self.inside: Index = (
            slice(None),
            *(
                slice(0, (count - 1) * s + 1, s)
                for count, s in zip(windows.outputs, (*front, 1), strict=True)
            ),
        )
        self.dtype = np.min_scalar_type(windows.length - 1)
        self.stages: list[tuple[list[int], int, int]] = []
        numbers = 1
        for d in range(len(front), -1, -1):
            unit = math.prod(self.shape[d + 1 :])
            shifts = [unit * (k - starts[d][0]) for k in starts[d]]
            if len(shifts) > 1 or step > 1:
                self.stages.append((shifts, step, numbers))
            numbers, step = numbers * len(shifts), 1


# ---- windows of equal length --------------------------------------------------------------------


def _taps(n: int, count: int, kernel: int, stride: int, padding: int, dilation: int) -> Taps:
    """Return, for each offset of one dimension, the outputs and the elements."""
    taps = []
    for offset in range(kernel):
        first = offset * dilation - padding  # the element of output 0, if it exists
        low, high = windows_inside(n, first, stride, count)
        start = first + low * stride
        taps.append((slice(low, high), slice(start, start + (high - low) * stride, stride)))
    return tuple(taps)


@lru_cache(maxsize=CACHED)
def sliding(title: str, shape: Ints, options: Options) -> Windows:
    """Return the windows of max or average pooling over an input of ``shape``.

    Raises:
        RuntimeError: the options are invalid or do not fit the input.
    """
    rank = options.rank
    check_dims(title, shape, rank)
    _check_options(options)
    check_nonempty(title, shape, rank)
    dims = list(zip(spatial(shape, rank), *options[:4], strict=True))
    outputs = Geometry.over(spatial(shape, rank), *options).out
    small = title == "avg_pool3d" and any(n < k for n, k, *_ in dims)
    if min(outputs) < 1 or small:
        _refuse_small(title, shape, outputs, options.kernel_size)
    taps: list[Taps] = []
    for (n, *rest), count in zip(dims, outputs, strict=True):
        taps.append(_taps(n, count, *rest))
        if len({i for target, _ in taps[-1] for i in range(count)[target]}) < count:
            raise RuntimeError(
                f"{title}: each window must see an element. Got one that lies in the padding, with "
                f"{options} for an input of shape {list(shape)}."
            )
    return Windows.even(spatial(shape, rank), outputs, taps)


@lru_cache(maxsize=CACHED)
def sums(shape: Ints, options: Options, kind: np.dtype[Any]) -> SeparableMap:
    """Return the sums over the windows of average pooling, computed in a dtype."""
    windows = sliding(f"avg_pool{options.rank}d", shape, options)
    sizes = spatial(shape, options.rank)
    maps = [
        None if n == m and len(taps) == 1 else LinearMap.of_slices((m, n), taps, kind)
        for n, m, taps in zip(sizes, windows.outputs, windows.taps, strict=True)
    ]
    return SeparableMap(sizes, maps)


# ---- windows of adaptive pooling ----------------------------------------------------------------


def _parts(n: int, m: int) -> tuple[Array, Array]:
    """Return where each part of ``adaptive`` starts and stops, along one dimension."""
    ends = np.arange(m + 1) * n
    return ends[:-1] // max(m, 1), -(ends[1:] // -max(m, 1))


@lru_cache(maxsize=CACHED)
def adaptive(sizes: Ints, outputs: Ints) -> Windows:
    """Return the windows that divide dimensions of ``sizes`` into ``outputs`` parts.

    Window i is ``[floor(i n / m), ceil((i + 1) n / m))``.
    """
    parts = [_parts(n, m) for n, m in zip(sizes, outputs, strict=True)]
    taps = [_taps_of_parts(n, *one) for n, one in zip(sizes, parts, strict=True)]
    if 0 not in outputs and all(isinstance(at, slice) for one in taps for _, at in one):
        return Windows.even(sizes, outputs, taps)
    return Windows(sizes, outputs, tuple(taps))


def _taps_of_parts(n: int, starts: Array, stops: Array) -> Taps:
    """Return the taps of parts of one dimension; a shorter part repeats its first element."""
    kernel = int((stops - starts).max(initial=0))
    step = int(starts[1]) if len(starts) > 1 else n
    if (np.diff(starts) == step).all() and (stops - starts == kernel).all():
        return _taps(n, len(starts), kernel, step, 0, 1)
    every = slice(0, len(starts))
    return tuple((every, np.maximum(starts, stops - kernel + k)) for k in range(kernel))


@lru_cache(maxsize=CACHED)
def adaptive_averages(sizes: Ints, outputs: Ints, kind: np.dtype[Any]) -> SeparableMap:
    """Return the averages over the windows of ``adaptive``, computed in a dtype."""
    pairs = zip(sizes, outputs, strict=True)
    return SeparableMap(sizes, [None if n == m else _averages(n, m, kind) for n, m in pairs])


def _averages(n: int, m: int, kind: np.dtype[Any]) -> LinearMap:
    starts, stops = _parts(n, m)
    lengths = stops - starts
    rows = np.repeat(np.arange(m), lengths)
    columns = [np.arange(*part) for part in zip(starts, stops, strict=True)]
    return LinearMap((m, n), rows, np.concatenate([*columns, rows[:0]]), 1 / lengths[rows], kind)


# ---- reading options ----------------------------------------------------------------------------

POSITIONS = {"kernel_size": 2, "stride": 3, "padding": 4, "dilation": 5, "output_size": 2}


def ints(title: str, name: str, value: Any, rank: int) -> Ints:
    """Return an option of a pooling as one int per dimension.

    Raises:
        TypeError: it is neither an int nor a sequence of ints.
        RuntimeError: another number of ints.
    """
    if type(value) is int:
        return (value,) * rank
    if is_whole(value):
        return (int(value),) * rank
    given = int_tuple(title, name, POSITIONS[name], value)
    if len(given) not in (1, rank):
        raise RuntimeError(_wrong_count(title, name, rank, len(given)))
    return per_dim(given, rank)


def _wrong_count(title: str, name: str, rank: int, got: int) -> str:
    if title == "max_pool1d":
        texts = {"stride": "None, an int, list of ints, or", "padding": "an int, list of ints, or"}
        kinds = texts.get(name, "an int, list of ints or")
        return f"{title}() {name} must be {kinds} tuple of ints of size 1 but got size {got}"
    if rank == 1:
        return f"{title}() argument '{name}' should contain one int (got {got})"
    verb = "must be either" if name == "dilation" else "must either be"
    if title == "avg_pool3d":
        verb = "must be"
    omitted = "omitted, " if name == "stride" else ""
    return f"{title}: {name} {verb} {omitted}a single int, or a tuple of {COUNTS[rank]} ints"


# ---- errors -------------------------------------------------------------------------------------


def _letters(prefix: str, values: Sequence[int]) -> str:
    """Return sizes as PyTorch prints them: ``kH: 2 kW: 3``."""
    return " ".join(f"{prefix}{c}: {n}" for c, n in zip("THW"[-len(values) :], values, strict=True))


def _check_options(options: Options) -> None:
    kernel, stride, padding, dilation, _ = options
    for k, s, p, d in zip(*options[:4], strict=True):
        if s == 0:
            raise RuntimeError("stride should not be zero")
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if p > ((k - 1) * d + 1) // 2 and k > 0:
            raise RuntimeError(
                "pad should be at most half of effective kernel size, but got "
                f"pad={p}, kernel_size={k} and dilation={d}"
            )
    for what, prefix, values in (
        ("kernel size", "k", kernel),
        ("stride", "d", stride),
        ("dilation", "dilation", dilation),
    ):
        if min(values) <= 0:
            raise RuntimeError(
                f"{what} should be greater than zero, but got {_letters(prefix, values)}"
            )
    if any(p > k // 2 for k, p in zip(kernel, padding, strict=True)):  # possible with a dilation
        raise RuntimeError(
            "pad should be smaller than or equal to half of kernel size, but got "
            + _kernel_and_pad(kernel, padding)
        )


def _kernel_and_pad(kernel: Ints, padding: Ints) -> str:
    """Return kernel size and padding as PyTorch prints them."""
    if len(kernel) == 2:
        (kh, kw), (ph, pw) = kernel, padding
        return f"padW = {pw}, padH = {ph}, kW = {kw}, kH = {kh}"
    (kt, kh, kw), (pt, ph, pw) = kernel, padding
    return f"kT: {kt} kW: {kw} kH: {kh} padT: {pt} padW: {pw} padH: {ph}"


def check_max1d(shape: Ints, options: Options, return_indices: bool) -> None:
    """Raise PyTorch's errors of max_pool1d, which differ unless it returns indices."""
    if len(shape) not in (2, 3) or 0 in shape[len(shape) - 2 :]:
        raise RuntimeError(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for "
            f"input, but got:{list(shape)}"
        )
    if return_indices:
        return
    (kernel,), (stride,), (padding,), (dilation,), ceil_mode = options
    for name, n in (("kernel_size", kernel), ("stride", stride)):
        if n <= 0:
            raise RuntimeError(f"max_pool1d() {name} must be greater than zero, but got {n}")
    if padding < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {padding}")
    if padding > kernel // 2:
        raise RuntimeError(
            "max_pool1d() padding should be at most half of kernel size, but got "
            f"padding={padding} and kernel_size={kernel}"
        )
    if dilation <= 0:
        raise RuntimeError(f"max_pool1d() dilation must be greater than zero, but got {dilation}")
    count = window_count(shape[-1], kernel, stride, padding, dilation, ceil_mode)
    if count < 1:
        raise RuntimeError(f"max_pool1d() Invalid computed output size: {count}")


def check_1d(title: str, shape: Ints) -> None:
    """Raise RuntimeError unless the input of a 1d pooling has 2 or 3 dimensions."""
    if len(shape) not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {len(shape)}-dimensional tensor for argument #1 "
            f"'self' (while checking arguments for {title})"
        )


def check_dims(title: str, shape: Ints, rank: int) -> None:
    """Raise RuntimeError unless an input has one or two dimensions besides the spatial ones."""
    if len(shape) - rank in (1, 2):
        return
    if title == "avg_pool2d":
        raise _wrong_input(shape, rank)
    raise RuntimeError(
        f"non-empty {rank + 1}D or {rank + 2}D (batch mode) tensor expected for input. "
        f"Got an input of shape {list(shape)} instead."
    )


def check_no_empty_dim(title: str, shape: Ints, text: str, first: int = 1) -> None:
    """Raise RuntimeError for a dimension without elements.

    Args:
        title: the function.
        shape: that of the input.
        text: the end of the message, a format string for the shape and the dimension.
        first: the first dimension that counts.
    """
    for d in range(first, len(shape)):
        if shape[d] == 0:
            raise RuntimeError(
                f"{title}(): Expected input to have non-zero size for non-batch dimensions, but "
                + text.format(list(shape), d)
            )


def check_outputs(lead: Ints, outputs: Ints) -> None:
    """Raise RuntimeError for a negative number of windows, with the shape of the output."""
    if min(outputs) < 0:
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {min(outputs)}: {[*lead, *outputs]}"
        )


def check_nonempty(title: str, shape: Ints, rank: int) -> None:
    """Raise RuntimeError for an input without elements, unless only its batch is empty."""
    if 0 not in shape[-rank - 1 :]:
        return
    if rank == 2:
        raise _wrong_input(shape, rank)
    raise RuntimeError(
        f"{title}(): Expected input's non-batch dimensions to have positive length, but input has "
        f"a shape of {list(shape)} and non-batch dimension 0 has length zero!"
    )


def check_gradient(kind: str, shape: Ints, rank: int) -> None:
    """Raise RuntimeError for the gradient of adaptive pooling to a size of zero."""
    if rank == 1:  # for which PyTorch pools in two dimensions
        shape, rank = (*shape[:-1], 1, shape[-1]), 2
    if 0 in shape[1:]:
        raise RuntimeError(
            f"{kind}{rank}d_backward(): Expected grad_output to have non-zero size for non-batch "
            f"dimensions, but grad_output has sizes {list(shape)} with dimension "
            f"{shape.index(0, 1)} being empty"
        )


def _wrong_input(shape: Ints, rank: int) -> RuntimeError:
    return RuntimeError(
        f"Expected {rank + 1}D or {rank + 2}D (batch mode) tensor with optional 0 dim batch size "
        f"for input, but got:{list(shape)}"
    )


def _refuse_small(title: str, shape: Ints, outputs: Ints, kernel: Ints) -> None:
    rank = len(kernel)
    sizes, channels = spatial(shape, rank), shape[-rank - 1]
    if title == "avg_pool3d":
        raise RuntimeError(
            f"input image ({_letters('', sizes)}) smaller than kernel size "
            f"({_letters('k', kernel)})"
        )
    before, after = ("x".join(map(str, (channels, *x))) for x in (sizes, outputs))
    raise RuntimeError(
        f"Given input size: ({before}). Calculated output size: ({after}). Output size is too small"
    )
