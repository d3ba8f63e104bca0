"""Native forms of layers of images: norms, pooling, and biases of convolutions.

Most come twice: for images with the channels as second dimension, and as last one.
"""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

import numpy as np

from tinynet.capture.native import channels_last as last
from tinynet.capture.native.forms import form, formula_of, plain
from tinynet.capture.native.writer import Writer
from tinynet.capture.program import Call, Value
from tinynet.dtypes import Array
from tinynet.nn.functional.normalization_ops import Blocks, batch_normalized

# ---- norm relu ----------------------------------------------------------------------------------
# A pass over programs: a batch norm and the relu behind it, and their gradients, as one call
# each.
#
# Such calls go through memory once less, forward and backward: where the relu is zero follows from
# the input of the norm.


def norm_relu(
    x: Array, weight: Array, bias: Array, blocks: Blocks, eps: float
) -> tuple[Array, Array, Array]:
    """Return the relu of the normalised input, and mean and variance of each channel."""
    y, mean, var = batch_normalized.kernel(x, weight, bias, blocks, eps)
    return np.maximum(y, 0), mean, var


def norm_relu_slope(
    g: Array, x: Array, weight: Array, bias: Array, mean: Array, var: Array, blocks: Blocks,
    eps: float,
) -> Any:  # fmt: skip
    """Return the gradients of ``norm_relu`` by the input, the weight and the bias."""
    y = norm_relu(x, weight, bias, blocks, eps)[0]
    formula = (batch_normalized.formulas or {})["input"]
    slope = np.where(y != 0, g, np.zeros((), g.dtype))
    return formula(slope, x, weight, bias.shape, mean, var, blocks, eps, (True, True, True))


def with_relu_in_norms(calls: list[Call], kept: list[Value]) -> list[Call]:
    """Return a program with both as one call where nothing else uses what is between them.

    Args:
        calls: the program.
        kept: values that are needed after it.
    """
    uses = Counter(v.number for call in calls for v in call.inputs())
    uses.update(v.number for v in kept)
    made: list[Call | None] = []
    places: dict[int, int] = {}  # the calls that make norms and slopes of relus, by their results
    norms: dict[tuple[int, int], Call] = {}  # by the numbers of their results and means
    for call in calls:
        kind, first = _kind(call), call.args[0] if call.args else None
        number = first.number if isinstance(first, Value) and uses[first.number] == 1 else -1
        at = places.get(number, -1)
        before = made[at] if at >= 0 else None
        if kind in ("norm", "relu slope"):
            places[next(call.outputs()).number] = len(made)
        if kind == "relu" and before is not None and _kind(before) == "norm":
            joined = _call(before, norm_relu, before.args)
            joined.result = (call.result, *before.result[1:])
            norms[call.result.number, before.result[1].number] = made[at] = joined
        elif kind == "norm slope" and before is not None and _kind(before) == "relu slope":
            _, x, weight, _, mean, var, blocks, eps, needs = call.args
            norm = norms.get((before.args[1].number, mean.number))
            if norm is not None and all(needs):
                made[at] = None
                given = before.args[0], x, weight, norm.args[2], mean, var, blocks, eps
                call = _call(call, norm_relu_slope, given)
            made.append(call)
        else:
            made.append(call)
    return [call for call in made if call is not None]


def _kind(call: Call) -> str:
    """Return what a call is to this pass."""
    if call.kind != "compute" or call.kwargs:
        return ""
    if call.op is not None:
        name, which = call.op.name, ""
    else:
        owner = formula_of(call.function)
        name, which = (owner[0].name, owner[1]) if owner else ("", "")
    blocks = next((a for a in call.args if isinstance(a, Blocks)), None)
    if blocks is not None and not (blocks.shared and blocks.channels == blocks.places == 1):
        return ""
    kinds = {
        ("batch_normalized", ""): "norm",
        ("batch_normalized", "joint"): "norm slope",
        ("relu", ""): "relu",
        ("relu", "self"): "relu slope",
    }
    return kinds.get((name, which), "")


def _call(call: Call, function: Any, args: Any) -> Call:
    made = copy.copy(call)
    made.function, made.args, made.op = function, tuple(args), None
    return made


# ---- images -------------------------------------------------------------------------------------


def _as(text: str, shape: tuple[int, ...]) -> str:
    return f"view({text}, {shape!r})"


def rows_of(places: int, channels: int) -> tuple[int, int]:
    """Return the shape of rows for a number of places."""
    each = 1
    while places % (2 * each) == 0 and 2 * each * channels <= 512:
        each *= 2
    return places // each, each * channels


def _channels(w: Writer, blocks: Blocks, *vectors: Value) -> tuple[tuple[int, ...], str] | None:
    """Return the shape of the input of a batch norm, and the end of the name of its loop.

    The shape is batch, channels and places, or rows with the channels last. None: it is
    another norm.
    """
    plain = blocks.shared and blocks.channels == 1 and w.kind == np.float32
    if not plain or any(v.size != blocks.groups for v in vectors):
        return None
    if blocks.places == 1:
        return rows_of(blocks.samples, blocks.groups), "_last"
    return (blocks.samples, blocks.groups, blocks.places), ""


def _write_norm(w: Writer, call: Call, floor: str) -> bool:
    x, weight, bias, blocks, eps = call.args
    found = _channels(w, blocks, weight, bias)
    if found is None or not x.size:
        return False
    shape, suffix = found
    given = [_as(w.array(x), shape), w.array(weight), w.array(bias), repr(float(eps))]
    given += [floor] if suffix else []
    y, *moments = call.result
    made = _as(w.new(y), shape), *map(w.new, moments)
    w.lines.append(f"batch_norm{suffix}({', '.join([*given, *made])})")
    return True


@form("batch_normalized", mixed=True)
def _batch_norm(w: Writer, call: Call) -> bool:
    return _write_norm(w, call, w.number(-np.inf))


@form("batch_scaled", alone=True)
def _batch_scale(w: Writer, call: Call) -> bool:
    x, *vectors, blocks, eps = call.args
    found = _channels(w, blocks, *vectors)
    if found is None or not (found[1] and x.size):
        return False
    shape, suffix = found
    given = _as(w.array(x), shape), *map(w.array, vectors), repr(float(eps))
    made = _as(w.new(call.result), shape)
    w.lines.append(f"batch_scale{suffix}({', '.join([*given, made])})")
    return True


@plain(norm_relu, mixed=True)
def _norm_relu(w: Writer, call: Call) -> bool:
    return _write_norm(w, call, w.number(0))


@form("batch_normalized", "joint", mixed=True)
def _batch_norm_slope(w: Writer, call: Call) -> bool:
    g, x, weight, _, mean, var, blocks, eps, needs = call.args
    found = _channels(w, blocks, weight, mean, var)
    if found is None or not (x.size and g.shape == x.shape and all(needs)):
        return False
    shape, suffix = found
    given = [_as(w.array(g), shape), _as(w.array(x), shape), *map(w.array, (weight, mean, var))]
    given.append(repr(float(eps)))
    if suffix:  # no bias: it matters to relu only
        given[2:] = [given[2], *given[2:], "False"]
    dx, *sums = call.result
    made = [_as(w.new(dx), shape), *map(w.new, sums)]
    w.lines.append(f"batch_norm_slope{suffix}({', '.join([*given, *made])})")
    return True


@plain(norm_relu_slope, mixed=True)
def _norm_relu_slope(w: Writer, call: Call) -> bool:
    g, x, weight, bias, mean, var, blocks, eps = call.args
    found = _channels(w, blocks, weight, bias, mean, var)
    if found is None or not (x.size and g.shape == x.shape):
        return False
    shape, _ = found
    given = [_as(w.array(g), shape), _as(w.array(x), shape)]
    given += [*map(w.array, (weight, bias, mean, var)), repr(float(eps)), "True"]
    dx, *sums = call.result
    made = [_as(w.new(dx), shape), *map(w.new, sums)]
    w.lines.append(f"batch_norm_slope_last({', '.join([*given, *made])})")
    return True


@form("convolve_biased", "bias")
def _of_bias(w: Writer, call: Call) -> bool:
    g = call.args[0]
    if not g.size:
        return False
    batch, channels = g.shape[:2]
    rows = _as(w.array(g), (batch, channels, g.size // (batch * channels)))
    w.lines.append(f"channel_sums({rows}, {w.new(call.result)})")
    return True


def _planes(value: Value) -> tuple[int, ...]:
    assert value.shape is not None
    height, width = value.shape[-2:]
    return value.size // (height * width), height, width


@form("max_pool_2x2")
def _max_pool(w: Writer, call: Call) -> bool:
    (x,) = call.args
    best, offsets = call.result
    if not best.size:
        return False
    planes = _as(w.array(x), _planes(x))
    made = (_as(w.new(v), _planes(v)) for v in (best, offsets))
    w.lines.append(f"max_pool({', '.join([planes, *made])})")
    return True


@form("max_pool_2x2", "input")
def _max_pool_slope(w: Writer, call: Call) -> bool:
    g, _, offsets, _ = call.args
    if not g.size:
        return False
    given = [_as(w.array(v), _planes(v)) for v in (g, offsets)]
    made = _as(w.new(call.result), _planes(call.result))
    w.lines.append(f"max_pool_slope({', '.join([*given, made])})")
    return True


# ---- with the channels last ---------------------------------------------------------------------


@plain(last.channels_last)
def _to_last(w: Writer, call: Call) -> bool:
    return _turned(w, call, "channels_last", call.args[0].shape[1])


@plain(last.channels_first)
def _to_first(w: Writer, call: Call) -> bool:
    return _turned(w, call, "channels_first", call.args[0].shape[-1])


def _turned(w: Writer, call: Call, loop: str, channels: int) -> bool:
    (x,) = call.args
    if not x.size:
        return False
    places = x.size // (x.shape[0] * channels)
    shapes = [(x.shape[0], *pair) for pair in ((channels, places), (places, channels))]
    given, made = shapes if loop == "channels_last" else reversed(shapes)
    w.lines.append(f"{loop}({_as(w.array(x), given)}, {_as(w.new(call.result), made)})")
    return True


@plain(last.of_bias)
def _of_bias_last(w: Writer, call: Call) -> bool:
    (g,) = call.args
    channels = g.shape[-1]
    rows = _as(w.array(g), rows_of(g.size // channels, channels))
    w.lines.append(f"channel_sums_last({rows}, {w.new(call.result)})")
    return True


@plain(last.max_pool)
def _max_pool_last(w: Writer, call: Call) -> bool:
    best, offsets = call.result
    if not best.size:
        return False
    x = w.array(call.args[0])
    w.lines.append(f"max_pool_last({x}, {w.new(best)}, {w.new(offsets)})")
    return True


@plain(last.max_pool_values)
def _max_pool_values_last(w: Writer, call: Call) -> bool:
    (x,), best = call.args, call.result
    if not best.size:
        return False
    offsets = f"offsets{best.number}"
    w.lines.append(f"{offsets} = empty({best.shape!r}, np.uint8)")
    w.scratch += best.size
    w.lines.append(f"max_pool_last({w.array(x)}, {w.new(best)}, {offsets})")
    return True


@plain(last.max_pool_slope)
def _max_pool_slope_last(w: Writer, call: Call) -> bool:
    g, offsets, _ = call.args
    if not g.size:
        return False
    given = ", ".join(map(w.array, (g, offsets)))
    w.lines.append(f"max_pool_slope_last({given}, {w.new(call.result)})")
    return True


@plain(last.plane_mean)
def _plane_mean(w: Writer, call: Call) -> bool:
    (x,) = call.args
    if not x.size:
        return False
    batch, channels = x.shape[0], x.shape[-1]
    planes = _as(w.array(x), (batch, x.size // (batch * channels), channels))
    w.lines.append(f"plane_means_last({planes}, {_as(w.new(call.result), (batch, channels))})")
    return True


@plain(last.plane_mean_slope)
def _plane_mean_slope(w: Writer, call: Call) -> bool:
    g, (batch, channels, *_) = call.args
    size = call.result.size
    if not size:
        return False
    planes = _as(w.new(call.result), (batch, size // (batch * channels), channels))
    w.lines.append(f"plane_means_slope_last({_as(w.array(g), (batch, channels))}, {planes})")
    return True
