"""Native forms: how each call of a program is written for LLVM.

A form gets the writer and the call, and returns whether it wrote it. It is declared for a kernel or
a formula by the name of its operation.
"""

from __future__ import annotations

import copy
import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet.capture.native import choices
from tinynet.capture.native.symbols import KERNELS, UFUNCS, NotElementwise, Symbol, form_of
from tinynet.capture.native.writer import Writer, last_uses
from tinynet.capture.program import Call, Value
from tinynet.core import arrays
from tinynet.core.arrays import broadcast_axes, sum_to
from tinynet.core.declaration.operation import REGISTRY
from tinynet.kernels import native as native_kernels
from tinynet.kernels import onednn
from tinynet.kernels.threads import products
from tinynet.nn.functional.gelu_ops import COEFFICIENTS, DENSITY, LEAST
from tinynet.nn.functional.lookup import shorten_rows

Form = Callable[[Writer, Call], bool]
_FORMS: dict[tuple[str, str], Form] = {}
_PLAIN: dict[Any, Form] = {}
MIXED: set[Any] = set()  # forms whose values may be float64 beside values of the program's dtype
ALONE: set[Any] = set()  # forms that are worth a native function of one call


def form(
    op: str, which: str = "", mixed: bool = False, alone: bool = False
) -> Callable[[Form], Form]:
    """Declare the form of a kernel, or of the formula of an input (``"joint"``: of all)."""

    def declare(function: Form) -> Form:
        _FORMS[op, which] = function
        if alone:
            ALONE.add(function)
        if mixed:
            MIXED.add(function)
        return function

    return declare


def plain(function: Any, mixed: bool = False) -> Callable[[Form], Form]:
    """Declare the form of a function that is not a kernel."""

    def declare(declared: Form) -> Form:
        _PLAIN[getattr(function, "untraced", function)] = declared
        if mixed:
            MIXED.add(declared)
        return declared

    return declare


def formula_of(function: Any) -> tuple[Any, str] | None:
    """Return the operation and the input that a formula belongs to."""
    return _formulas(len(REGISTRY)).get(id(function))


@functools.lru_cache(1)
def _formulas(operations: int) -> dict[int, tuple[Any, str]]:
    found: dict[int, tuple[Any, str]] = {}
    for op in REGISTRY.values():
        for name, one in (op.formulas or {}).items():
            found.setdefault(id(one), (op, "joint" if op.joint else name))
    return found


def find(call: Call) -> Form | None:
    """Return the form of a call; None if it has none."""
    if call.kind != "compute" or call.kwargs and call.function is not None:
        return None
    if call.op is not None:
        declared = _FORMS.get((call.op.name, ""))
        if declared is None and form_of(call.op) is not None:
            return _kernel
        return declared
    if call.function in _PLAIN:
        return _PLAIN[call.function]
    owner = formula_of(call.function)
    if owner is None:
        return None
    op, which = owner
    return _FORMS.get((op.name, which)) or (_read if op.kind == "pointwise" else None)


def _values(call: Call) -> list[Value]:
    return [*call.inputs(), *call.outputs()]


# ---- elementwise --------------------------------------------------------------------------------


def _symbols(w: Writer, args: Any) -> list[Any]:
    return [Symbol(w.element(a), w.number) if isinstance(a, Value) else a for a in args]


def _kernel(w: Writer, call: Call) -> bool:
    text = form_of(call.op)
    assert text is not None
    return _write(w, call, lambda *args: args[0].of(text, *args))


def _read(w: Writer, call: Call) -> bool:
    """Write a formula as it stands."""
    return _write(w, call, call.function)


def _write(w: Writer, call: Call, function: Any) -> bool:
    value = call.result
    operands = [a for a in call.args if isinstance(a, Value)]
    if not isinstance(value, Value) or not operands:
        return False
    shapes = [v.shape or () for v in operands]
    try:
        if np.broadcast_shapes(*shapes) != value.shape:
            return False
        first = next(i for i, a in enumerate(call.args) if isinstance(a, Value))
        symbols = _symbols(w, call.args)
        if first:
            symbols[0] = Symbol(w.number(symbols[0]), w.number)
        result = function(*symbols)
    except (NotElementwise, TypeError, AttributeError, ValueError, StopIteration):
        return False
    if not isinstance(result, Symbol):
        return False
    w.elementwise(value, result.text, operands)
    return True


def is_elementwise(call: Call) -> bool:
    """Return whether each element of the result comes from the elements at its place."""
    declared = find(call)
    trial = Writer(call.result.dtype, set(), last_uses([call]))
    return declared in (_kernel, _read, _add) and declared(trial, call)


@plain(operator.add)
def _add(w: Writer, call: Call) -> bool:
    return _write(w, call, operator.add)


@plain(arrays.ones)
def _ones(w: Writer, call: Call) -> bool:
    if call.result.shape != ():
        return False
    w.set_scalar(call.result, "one")
    return True


@plain(sum_to)
def _sum_to(w: Writer, call: Call) -> bool:
    g, shape = call.args
    axes = broadcast_axes(g.shape, shape)
    if not g.size or not axes or axes != tuple(range(len(axes))) or not call.result.shape:
        return False
    columns = call.result.size
    rows = f"view({w.array(g)}, {(g.size // columns, columns)!r})"
    w.lines.append(f"column_sums({rows}, view({w.new(call.result)}, ({columns},)))")
    return True


@form("mean_dims")
def _mean_dims(w: Writer, call: Call) -> bool:
    x, dim, keepdim, dtype = call.args
    axes = (dim,) if isinstance(dim, int) else dim
    if dtype is not None or axes is None or len(axes) != 1 or not x.size or not call.result.shape:
        return False
    axis = axes[0] % len(x.shape)
    before, length = math.prod(x.shape[:axis]), x.shape[axis]
    shape = before, length, x.size // (before * length)
    given = f"view({w.array(x)}, {shape!r})"
    w.lines.append(f"means({given}, view({w.new(call.result)}, {(before, shape[2])!r}))")
    return True


@form("embedding_rows")
def _embedding(w: Writer, call: Call) -> bool:
    table, index = call.args[:2]
    if not index.size or not table.size or index.dtype.kind != "i":
        return False
    places = f"view({w.array(index)}, ({index.size},))"
    given, made = w.array(table), w.new(call.result)
    rows = f"view({made}, {(index.size, table.shape[1])!r})"
    w.lines.append(f"if not take_rows({given}, {places}, {rows}): return 1")
    w.can_fail = True
    return True


def is_reshape(call: Call) -> bool:
    """Return whether a call gives a view of another shape."""
    return find(call) is _reshape


@form("view_as_shape", "self")
@form("view_as_shape")
def _reshape(w: Writer, call: Call) -> bool:
    x, shape = call.args[:2]
    if not x.shape or not shape:
        return False
    w.view(call.result, f"view({w.array(x)}, {tuple(shape)!r})")
    return True


# ---- the affine map -----------------------------------------------------------------------------


def _rows(w: Writer, value: Value) -> str:
    """Return a value as a matrix with the same last dimension."""
    assert value.shape is not None
    name = w.array(value)
    return name if len(value.shape) == 2 else f"view({name}, {_matrix(value)!r})"


def _matrix(value: Value) -> tuple[int, int]:
    assert value.shape is not None
    width = value.shape[-1]
    return value.size // width, width


def _matrices(w: Writer, *values: Value) -> bool:
    single = w.kind == np.float32
    return single and all(v.shape is not None and len(v.shape) > 1 and v.size for v in values)


def _multiplies(w: Writer, a: Value, b: Value, made: Value) -> bool:
    """Return whether native code computes a product; its own threads share a large one."""
    if not _matrices(w, a, b, made):
        return False
    size = math.sqrt(a.size * b.size * made.size)  # each length occurs in two of them
    return size < products.SHARED or onednn.is_available()


@form("affine_map")
def _affine(w: Writer, call: Call) -> bool:
    x, weight, bias = call.args
    if not _multiplies(w, x, weight, call.result) or bias.shape != weight.shape[:1]:
        return False
    a, b, c = _rows(w, x), w.array(weight), w.array(bias)
    w.new(call.result)
    out = _rows(w, call.result)
    w.lines += [f"fill_rows({out}, {c})", f"product({a}, NO, {b}, YES, {out}, one)"]
    return True


@form("linear_map")
def _linear(w: Writer, call: Call) -> bool:
    x, weight = call.args
    if not _multiplies(w, x, weight, call.result):
        return False
    a, b = _rows(w, x), w.array(weight)
    w.new(call.result)
    w.lines.append(f"product({a}, NO, {b}, YES, {_rows(w, call.result)}, zero)")
    return True


def _of_input(w: Writer, call: Call) -> bool:
    g, weight = call.args
    if not _multiplies(w, g, weight, call.result):
        return False
    a, b = _rows(w, g), w.array(weight)
    w.new(call.result)
    w.lines.append(f"product({a}, NO, {b}, NO, {_rows(w, call.result)}, zero)")
    return True


def _of_weight(w: Writer, call: Call) -> bool:
    g, x = call.args
    if not _multiplies(w, g, x, call.result):
        return False
    a, b = _rows(w, g), _rows(w, x)
    out = w.new(call.result)
    w.lines.append(f"product({a}, YES, {b}, NO, {out}, zero)")
    return True


@form("affine_map", "bias")
def _of_bias(w: Writer, call: Call) -> bool:
    g = call.args[0]
    if not _matrices(w, g) or call.result.shape != g.shape[-1:]:
        return False
    name = _rows(w, g)
    w.lines.append(f"column_sums({name}, {w.new(call.result)})")
    return True


for _op in ("affine_map", "linear_map"):
    form(_op, "input")(_of_input)
    form(_op, "weight")(_of_weight)

# ---- cross-entropy ------------------------------------------------------------------------------


@form("indexed_cross_entropy")
def _cross_entropy(w: Writer, call: Call) -> bool:
    logits, target, ignored, reduction = call.args
    loss, powers, totals, counted = call.result
    rows, classes = logits.shape
    if reduction == "none" or 0 <= ignored < classes or counted.shape or not logits.size:
        return False
    x, t = w.array(logits), w.array(target)
    made, sums = w.new(powers), w.new(totals)
    w.lines.append(f"total, fits = cross_entropy({x}, {t}, {made}, {sums})")
    w.lines.append("if not fits: return 1")
    w.can_fail = True
    w.set_scalar(loss, f"{w.kind.name}(total / {rows if reduction == 'mean' else 1})")
    w.set_scalar(counted, "True")
    return True


@form("indexed_cross_entropy", "logits")
def _cross_entropy_slope(w: Writer, call: Call) -> bool:
    g, _, target, powers, totals, counted, _, reduction = call.args
    if g.shape != () or counted.shape != ():
        return False
    rows = powers.shape[0]
    each = w.scalar(g)
    if reduction == "mean":
        each = f"{each} / {w.number(rows)}"
    names = [w.array(v) for v in (target, powers, totals)]
    w.lines.append(f"cross_entropy_slope({each}, {', '.join(names)}, {w.new(call.result)})")
    return True


assert KERNELS and UFUNCS


# ---- layers -------------------------------------------------------------------------------------
# Native forms of layers: GELU, and layer and RMS norm.


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
    exponent = f"larger({value} * {value} * {w.number(-0.5)}, {w.number(LEAST)})"
    density = f"(exp({exponent}) - {w.number(math.exp(LEAST))}) * {w.number(DENSITY)}"
    w.elementwise(call.result, f"({slope} * ({part} + {value} * {density}))", [g, x, below])
    return True


def _rows_of(w: Writer, x: Value, length: int) -> str:
    return f"view({w.array(x)}, {(x.size // length, length)!r})"


def _new_rows(w: Writer, x: Value, length: int) -> str:
    return f"view({w.new(x)}, {(x.size // length, length)!r})"


def _vector(w: Writer, x: Value) -> str:
    return f"view({w.array(x)}, ({x.size},))"


@form("layer_normalized")
def _layer_norm(w: Writer, call: Call) -> bool:
    x, weight, bias, length, eps = call.args
    if not (x.size and weight.size == bias.size == length):
        return False
    y, mean, inverse = call.result
    given = _rows_of(w, x, length), _vector(w, weight), _vector(w, bias), w.number(eps)
    made = _new_rows(w, y, length), _new_rows(w, mean, 1), _new_rows(w, inverse, 1)
    w.lines.append(f"layer_norm({', '.join([*given, *made])})")
    return True


@form("layer_normalized", "joint")
def _layer_norm_slope(w: Writer, call: Call) -> bool:
    g, x, weight, _, mean, inverse, length, _, needs = call.args
    if not (x.size and weight.size == length and g.shape == x.shape and all(needs)):
        return False
    given = [_rows_of(w, g, length), _rows_of(w, x, length), _vector(w, weight)]
    given += [_rows_of(w, mean, 1), _rows_of(w, inverse, 1)]
    dx, *sums = call.result
    made = [_new_rows(w, dx, length), *(f"view({w.new(v)}, ({length},))" for v in sums)]
    w.lines.append(f"layer_norm_slope({', '.join([*given, *made])})")
    return True


# ---- eager kernels ------------------------------------------------------------------------------
# Calls that have no native form, but a kernel of ``kernels/native``: they run with it.


CONVOLUTIONS = {"convolve", "convolve_biased", "spread", "spread_biased", "correlate"}
OPERATIONS = CONVOLUTIONS | {
    "attend", "embedding_rows", "gru_sequence", "lstm_sequence", "summed_rows",
}  # fmt: skip


def with_kernels(call: Call, measured: bool = False) -> Call:
    """Return the call with the kernels enabled while it runs; other calls as they are.

    Convolutions run by oneDNN only if that takes less time; if ``measured``, so do all kernels.
    """
    owner = kernel_of(call)
    shortens = call.function is getattr(shorten_rows, "untraced", shorten_rows)
    if owner is None and not shortens:
        return call
    made = copy.copy(call)
    made.function = enabled(call.function)
    by_onednn = owner is not None and owner[0] in CONVOLUTIONS and onednn.is_available()
    known = all(v.dtype is not None for v in call.inputs())
    if owner is None or not known or not (by_onednn or measured):
        return made
    faster = choices.is_faster(" ".join(owner), made.function, call.function, call.args)
    return made if faster else call


def kernel_of(call: Call) -> tuple[str, str] | None:
    """Return the operation, and the formula if it is one, of a call that runs with the kernels."""
    if call.kind != "compute":
        return None
    if call.op is not None:
        op, which = call.op, ""
    else:
        op, which = formula_of(getattr(call.function, "__wrapped__", call.function)) or (None, "")
    return (op.name, which) if op is not None and op.name in OPERATIONS else None


def function_of(op: Any, which: str) -> Any:
    """Return the kernel or formula of an operation, by what ``kernel_of`` returns."""
    if not which:
        return op.kernel
    return next(iter(op.formulas.values())) if which == "joint" else op.formulas[which]


def enabled(function: Any) -> Any:
    """Return a function that runs with the kernels enabled in its thread."""
    native_kernels.compiler.prepare()
    thread = native_kernels.thread

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        before, thread.on = thread.on, True
        try:
            return function(*args, **kwargs)
        finally:
            thread.on = before

    return run
