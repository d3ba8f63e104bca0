"""Native forms of layers of images: batch norm, max pooling, and biases of convolutions."""

from __future__ import annotations

import numpy as np

from tinynet.capture.native.forms import form
from tinynet.capture.native.writer import Writer
from tinynet.capture.program import Call, Value
from tinynet.nn.functional.normalization.layout import Blocks


def _as(text: str, shape: tuple[int, ...]) -> str:
    return f"{text}.reshape({shape!r})"


def _channels(w: Writer, blocks: Blocks, *vectors: Value) -> tuple[int, int, int] | None:
    """Return batch, channels and places of a batch norm; None for other norms."""
    plain = blocks.shared and blocks.channels == 1 and w.kind == np.float32
    if not plain or any(v.size != blocks.groups for v in vectors):
        return None
    return blocks.samples, blocks.groups, blocks.places


@form("batch_normalized", mixed=True)
def _batch_norm(w: Writer, call: Call) -> bool:
    x, weight, bias, blocks, eps = call.args
    shape = _channels(w, blocks, weight, bias)
    if shape is None or not x.size:
        return False
    given = _as(w.array(x), shape), w.array(weight), w.array(bias), repr(float(eps))
    y, *moments = call.result
    made = _as(w.new(y), shape), *map(w.new, moments)
    w.lines.append(f"batch_norm({', '.join([*given, *made])})")
    return True


@form("batch_normalized", "joint", mixed=True)
def _batch_norm_slope(w: Writer, call: Call) -> bool:
    g, x, weight, _, mean, var, blocks, eps, needs = call.args
    shape = _channels(w, blocks, weight, mean, var)
    if shape is None or not (x.size and g.shape == x.shape and all(needs)):
        return False
    given = [_as(w.array(g), shape), _as(w.array(x), shape), *map(w.array, (weight, mean, var))]
    dx, *sums = call.result
    made = [_as(w.new(dx), shape), *map(w.new, sums)]
    w.lines.append(f"batch_norm_slope({', '.join([*given, repr(float(eps)), *made])})")
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
    g, offsets, _ = call.args
    if not g.size:
        return False
    given = [_as(w.array(v), _planes(v)) for v in (g, offsets)]
    made = _as(w.new(call.result), _planes(call.result))
    w.lines.append(f"max_pool_slope({', '.join([*given, made])})")
    return True
