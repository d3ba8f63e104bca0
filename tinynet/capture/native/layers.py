"""Native forms of layers: GELU, and layer and RMS norm."""

from __future__ import annotations

import numpy as np

from tinynet.capture.native.forms import form
from tinynet.capture.native.writer import Writer
from tinynet.capture.program import Call, Value
from tinynet.nn.functional.activation.gelu_ops import COEFFICIENTS, DENSITY


@form("gelu")
def _gelu(w: Writer, call: Call) -> bool:
    (x,) = call.args
    result, below = call.result
    if w.kind != np.float32:
        return False
    value = w.element(x)
    square = f"({value} * {value})"
    inner = w.number(COEFFICIENTS[0])
    for c in COEFFICIENTS[1:]:
        inner = f"({inner} * {square} + {w.number(c)})"
    half = w.number(0.5)
    w.elementwise(below, f"(tanh({inner} * {value}) * {half} + {half})", [x])
    infinite = f"({value} - {value})"  # NaN there, as in eager code; 0 elsewhere
    w.elementwise(result, f"({value} * {w.element(below)} - {infinite})", [x, below])
    return True


@form("gelu", "self")
def _gelu_slope(w: Writer, call: Call) -> bool:
    g, x, below = call.args
    if w.kind != np.float32 or g.shape != x.shape:
        return False
    slope, value, part = map(w.element, call.args)
    density = f"exp({value} * {value} * {w.number(-0.5)}) * {w.number(DENSITY)}"
    w.elementwise(call.result, f"({slope} * ({part} + {value} * {density}))", [g, x, below])
    return True


def _rows(w: Writer, x: Value, length: int) -> str:
    return f"{w.array(x)}.reshape({(x.size // length, length)!r})"


def _new_rows(w: Writer, x: Value, length: int) -> str:
    return f"{w.new(x)}.reshape({(x.size // length, length)!r})"


def _vector(w: Writer, x: Value) -> str:
    return f"{w.array(x)}.reshape({x.size})"


@form("layer_normalized")
def _layer_norm(w: Writer, call: Call) -> bool:
    x, weight, bias, length, eps = call.args
    if not (x.size and weight.size == bias.size == length):
        return False
    y, mean, inverse = call.result
    given = _rows(w, x, length), _vector(w, weight), _vector(w, bias), w.number(eps)
    made = _new_rows(w, y, length), _new_rows(w, mean, 1), _new_rows(w, inverse, 1)
    w.lines.append(f"layer_norm({', '.join([*given, *made])})")
    return True


@form("layer_normalized", "joint")
def _layer_norm_slope(w: Writer, call: Call) -> bool:
    g, x, weight, _, mean, inverse, length, _, needs = call.args
    if not (x.size and weight.size == length and g.shape == x.shape and all(needs)):
        return False
    given = [_rows(w, g, length), _rows(w, x, length), _vector(w, weight)]
    given += [_rows(w, mean, 1), _rows(w, inverse, 1)]
    dx, *sums = call.result
    made = [_new_rows(w, dx, length), *(f"{w.new(v)}.reshape({length})" for v in sums)]
    w.lines.append(f"layer_norm_slope({', '.join([*given, *made])})")
    return True
