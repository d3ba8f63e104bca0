"""A pass over programs: images whose channels are the last dimension in memory.

oneDNN computes convolutions of such arrays without copies in other layouts, and what stands between
convolutions takes them, too. So each value ``[batch, channels, height, width]`` that a convolution
makes, and all that is made from it by calls with a rule here, is replaced by a value
``[batch, height, width, channels]``. Other calls get what they expect, from ``channels_first``.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet.capture.native import forms
from tinynet.capture.program import Call, Value, rebuilt
from tinynet.dtypes import Array
from tinynet.kernels import onednn
from tinynet.nn.functional.normalization_ops import Blocks
from tinynet.nn.functional.pooling import pooling_ops
from tinynet.nn.functional.pooling.windows import Options, sliding
from tinynet.ops.shaping.views import view_as_shape

FIRST = 1 << 20  # the number of the first value of this pass; captures have fewer
Rule = Callable[["Layouts", Call], Call | None]

# ---- the functions of the calls -----------------------------------------------------------------


def channels_last(x: Array) -> Array:
    """Return ``[batch, channels, height, width]`` with the channels as last dimension."""
    return np.ascontiguousarray(np.moveaxis(x, 1, -1))


def channels_first(x: Array) -> Array:
    """Return ``[batch, height, width, channels]`` with the channels as second dimension."""
    return np.ascontiguousarray(np.moveaxis(x, -1, 1))


def convolution(x: Array, weight: Array, bias: Array | None, walk: Any, groups: int) -> Array:
    """Return the convolution."""
    return onednn.convolution.convolved(x, weight, bias, walk, groups, last=True)


def transposed_convolution(
    y: Array, weight: Array, bias: Array | None, size: Any, walk: Any, groups: int
) -> Array:
    """Return the transposed convolution."""
    return onednn.convolution.spread(y, weight, bias, size, walk, groups, last=True)


def of_weight(x: Array, y: Array, walk: Any, groups: int) -> Array:
    """Return the gradient of the weight of a convolution."""
    return onednn.convolution.correlated(x, y, walk, groups, last=True)


def of_bias(g: Array) -> Array:
    """Return the sum over all but the channels."""
    return g.sum((0, 1, 2), np.float64).astype(g.dtype)


def max_pool(x: Array) -> tuple[Array, ...]:
    """Return the maximum of each window of 2 by 2, and its offset in the window."""
    return tuple(map(channels_last, pooling_ops.peaks_2x2(channels_first(x))))


def max_pool_values(x: Array) -> Array:
    """Return the maximum of each window of 2 by 2."""
    return max_pool(x)[0]


def max_pool_slope(g: Array, offsets: Array, shape: Any) -> Array:
    """Return the gradient of the input of ``max_pool``; ``shape`` has the channels second."""
    planes = pooling_ops.scatter(channels_first(g), channels_first(offsets), shape[2:])
    return channels_last(planes.reshape(shape))


def plane_mean(x: Array) -> Array:
    """Return the mean over height and width, ``[batch, channels, 1, 1]``."""
    return x.mean((1, 2), np.float64).astype(x.dtype)[..., None, None]


def plane_mean_slope(g: Array, shape: Any) -> Array:
    """Return the gradient of the input of ``plane_mean``."""
    batch, channels, *size = shape
    each = np.divide(g, np.float32(np.prod(size)), dtype=g.dtype).reshape(batch, 1, 1, channels)
    return np.ascontiguousarray(np.broadcast_to(each, (batch, *size, channels)))


# ---- the pass -----------------------------------------------------------------------------------


class Layouts:
    """The values of a program that have the channels last.

    Attributes:
        made: the new program.
    """

    def __init__(self) -> None:
        self.made: list[Call] = []
        self._last: dict[int, Value] = {}  # by the number of the value that each stands for
        self._replaced: dict[int, Value] = {}  # values that are not there themselves
        self._memory: dict[int, int] = {}  # of the values that they stand for
        self._numbers = itertools.count(FIRST)
        self._site: Any = None

    def has(self, value: Any) -> bool:
        """Return whether a value is there with the channels last."""
        return isinstance(value, Value) and value.number in self._last

    def last(self, value: Value) -> Value:
        """Return a value with the channels last."""
        if value.number not in self._last:
            self._convert(channels_last, value, self.new(value))
            del self._replaced[value.number]
        return self._last[value.number]

    def first(self, value: Value) -> None:
        """Make sure that a value is there itself."""
        if self._replaced.pop(value.number, None) is not None:
            self._convert(channels_first, self._last[value.number], value)

    def new(self, value: Value) -> Value:
        """Return a new value that replaces another."""
        batch, channels, *size = value.shape or ()
        number = next(self._numbers)
        made = Value(number, np.empty((batch, *size, channels), value.dtype), -number)
        self._last[value.number], self._replaced[value.number] = made, value
        self._memory[value.number] = value.memory
        return made

    def _convert(self, function: Any, given: Value, result: Value) -> None:
        call = Call("compute", function, (given,), {}, self._site)
        _, channels, *size = (given if function is channels_last else result).shape or ()
        if given.contiguous and 1 in (channels, math.prod(size)):
            call = Call("compute", view_as_shape.kernel, (given, result.shape), {}, self._site)
            call.op = view_as_shape  # the order of the elements is the same
        call.result = result
        self.made.append(call)

    def call(self, call: Call, function: Any, *args: Any, images: bool = True) -> Call:
        """Return a call of another function, with the results of an old one.

        Args:
            call: the old call.
            function, *args: the new function, and its arguments.
            images: results of four dimensions have the channels last.
        """
        made = copy.copy(call)
        made.function, made.args = function, args
        made.op = call.op if function is call.function else None
        if images:
            made.result = rebuilt(call.result, lambda v: self.new(v) if _is_image(v) else v)
        return made

    def add(self, call: Call) -> None:
        """Add a call, by its rule where it has one."""
        self._site, rule = call.site, _rule(call)
        made = rule and rule(self, call)
        if made is None:
            for value in call.inputs():
                self.first(value)
            made = call
        self.made.append(made)
        if call.kind in ("write", "perform"):  # copies of what it changes are out of date
            for number in self._last.keys() - self._replaced.keys():
                if call.kind == "perform" or self._memory[number] == call.args[0].memory:
                    del self._last[number]


def _is_image(value: Any) -> bool:
    return isinstance(value, Value) and value.shape is not None and len(value.shape) == 4


# ---- rules --------------------------------------------------------------------------------------


def _takes(x: Value, weight: Value, walk: Any) -> bool:
    return _is_image(x) and _is_image(weight) and onednn.convolution.takes(x, weight, walk)


def _convolve(layouts: Layouts, call: Call) -> Call | None:
    """Replace ``convolve`` or ``convolve_biased``, or the gradient of the input of ``spread``."""
    x, weight, *bias, walk, groups = call.args
    if not _takes(x, weight, walk):
        return None
    offset = bias[0] if bias else None
    return layouts.call(call, convolution, layouts.last(x), weight, offset, walk, groups)


def _spread(layouts: Layouts, call: Call) -> Call | None:
    """Replace ``spread`` or ``spread_biased``."""
    y, weight, *bias, size, walk, groups = call.args
    if not _takes(y, weight, walk):
        return None
    offset = bias[0] if bias else None
    given = layouts.last(y), weight, offset, size, walk, groups
    return layouts.call(call, transposed_convolution, *given)


def _of_input(layouts: Layouts, call: Call) -> Call | None:
    """Replace the gradient of the input of a convolution."""
    g, weight, shape, walk, groups = call.args
    if not _takes(g, weight, walk):
        return None
    given = layouts.last(g), weight, None, shape[2:], walk, groups
    return layouts.call(call, transposed_convolution, *given)


def _of_weight(layouts: Layouts, call: Call) -> Call | None:
    """Replace the gradient of the weight of a convolution."""
    g, x, walk, groups = call.args
    if not _takes(x, g, walk):
        return None
    given = layouts.last(x), layouts.last(g), walk, groups
    return layouts.call(call, of_weight, *given, images=False)


def _of_spread_weight(layouts: Layouts, call: Call) -> Call | None:
    """Replace the gradient of the weight of a transposed convolution."""
    g, y, walk, groups = call.args
    if not _takes(g, y, walk):
        return None
    given = layouts.last(g), layouts.last(y), walk, groups
    return layouts.call(call, of_weight, *given, images=False)


def _of_bias(layouts: Layouts, call: Call) -> Call | None:
    (g,) = call.args
    return layouts.call(call, of_bias, layouts.last(g)) if layouts.has(g) and g.size else None


def _norm(layouts: Layouts, call: Call) -> Call | None:
    """Replace a batch norm, or its gradients: the channels of each place are a sample."""
    images = [v for v in call.args if _is_image(v)]
    blocks = next(a for a in call.args if isinstance(a, Blocks))
    if not any(map(layouts.has, images)) or blocks.channels != 1 or not blocks.shared:
        return None
    rows = Blocks(blocks.samples * blocks.places, blocks.groups, 1, 1, True)
    given = [layouts.last(a) if _is_image(a) else rows if a is blocks else a for a in call.args]
    return layouts.call(call, call.function, *given)


def _max_pool(layouts: Layouts, call: Call) -> Call | None:
    (x,) = call.args
    return layouts.call(call, max_pool, layouts.last(x)) if layouts.has(x) else None


def _max_pool_values(layouts: Layouts, call: Call) -> Call | None:
    x, options = call.args
    if not layouts.has(x) or not _is_2x2(x, options):
        return None
    return layouts.call(call, max_pool_values, layouts.last(x))


def _is_2x2(x: Value, options: Options) -> bool:
    return options.rank == 2 and sliding("max_pool2d", x.shape or (), options).is_2x2


def _max_pool_slope(layouts: Layouts, call: Call) -> Call | None:
    g, _, offsets, shape = call.args
    if not layouts.has(offsets):
        return None
    return layouts.call(call, max_pool_slope, layouts.last(g), layouts.last(offsets), shape)


def _plane_mean(layouts: Layouts, call: Call) -> Call | None:
    x, rank = call.args
    if not layouts.has(x) or rank != 2:
        return None
    return layouts.call(call, plane_mean, layouts.last(x), images=False)


def _plane_mean_slope(layouts: Layouts, call: Call) -> Call | None:
    g, shape, rank = call.args
    if not _is_image(call.result) or rank != 2:
        return None
    return layouts.call(call, plane_mean_slope, g, shape)


def _elementwise(layouts: Layouts, call: Call) -> Call | None:
    """Replace a call that computes each element from those at its place."""
    result = call.result
    inputs = [v for v in call.inputs() if v.shape != ()]
    if not (_is_image(result) and any(map(layouts.has, inputs))):
        return None
    if any(v.shape != result.shape for v in inputs) or not forms.is_elementwise(call):
        return None
    given = (layouts.last(a) if _is_image(a) else a for a in call.args)
    return layouts.call(call, call.function, *given)


RULES: dict[tuple[str, str], Rule] = {
    ("convolve", ""): _convolve,
    ("convolve_biased", ""): _convolve,
    ("convolve", "input"): _of_input,
    ("convolve", "weight"): _of_weight,
    ("convolve_biased", "bias"): _of_bias,
    ("spread", ""): _spread,
    ("spread_biased", ""): _spread,
    ("spread", "input"): _convolve,
    ("spread", "weight"): _of_spread_weight,
    ("batch_normalized", ""): _norm,
    ("batch_normalized", "joint"): _norm,
    ("batch_scaled", ""): _norm,
    ("batch_scaled", "joint"): _norm,
    ("max_pool_2x2", ""): _max_pool,
    ("max_pool_values", ""): _max_pool_values,
    ("max_pool_2x2", "input"): _max_pool_slope,
    ("plane_mean", ""): _plane_mean,
    ("plane_mean", "input"): _plane_mean_slope,
}


def _rule(call: Call) -> Rule | None:
    if call.kind != "compute" or call.kwargs:
        return None
    if call.op is not None:
        return RULES.get((call.op.name, ""), _elementwise)
    owner = forms.formula_of(call.function)
    return RULES.get((owner[0].name, owner[1]) if owner else ("", ""), _elementwise)


def with_channels_last(calls: list[Call], kept: list[Value]) -> list[Call]:
    """Return a program whose images have the channels last where convolutions use them.

    Args:
        calls: the program.
        kept: values that are needed after it.
    """
    if not any(_rule(call) is _convolve for call in calls) or not onednn.is_available():
        return calls
    layouts = Layouts()
    for call in calls:
        layouts.add(call)
    for value in kept:
        layouts.first(value)
    return layouts.made
