"""Elementwise arithmetic, comparisons and conversions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinynet.onnx.errors import NoFormError
from tinynet.onnx.graph import Graph, Ref
from tinynet.onnx.operations.table import as_result, form, same, together

same(
    {
        "add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "maximum": "Max", "minimum": "Min",
        "neg": "Neg", "abs": "Abs", "sign": "Sign", "sgn": "Sign", "exp": "Exp", "log": "Log",
        "sqrt": "Sqrt", "reciprocal": "Reciprocal", "tanh": "Tanh", "sigmoid": "Sigmoid",
        "relu": "Relu", "erf": "Erf", "floor": "Floor", "ceil": "Ceil", "sin": "Sin", "cos": "Cos",
        "tan": "Tan", "asin": "Asin", "acos": "Acos", "atan": "Atan", "sinh": "Sinh",
        "cosh": "Cosh", "asinh": "Asinh", "acosh": "Acosh", "atanh": "Atanh", "power": "Pow",
        "clamp_min": "Max", "clamp_max": "Min", "clamp_from": "Max", "clamp_to": "Min",
        "alias": "Identity", "kept": "Identity",
    }
)  # fmt: skip


@form(
    "clone", "contiguous_copy", "cast", "core.arrays:copied", "core.arrays:writable",
    "core.arrays:converted", "layouts:like",
)  # fmt: skip
def copy(g: Graph, x: Ref, *rest: Any, **options: Any) -> Ref:
    """Return the value itself, in the dtype of the result."""
    return g.cast(x, g.dtype)


@form("widening:in_opmath")
def in_opmath(g: Graph, *inputs: Any) -> list[Ref]:
    """Return the operands in the dtype in which they are computed with."""
    return [g.cast(x, kind) for x, (_, kind) in zip(inputs, g.results, strict=False)]


@form("core.arrays:number")
def number(g: Graph, x: Any, kind: Any) -> Ref:
    """Return a number as an array."""
    return g.cast(x, g.dtype)


@form("fill", "filled", "filled_with", "zeroed", "zeros_instead")
def filled(g: Graph, x: Ref, value: Any = 0) -> Ref:
    """Return a value of the same shape, filled with a number."""
    return g.expand(g.cast(value, g.dtype), g.shape)


@form("square")
def square(g: Graph, x: Ref) -> Ref:
    """Return ``x * x``."""
    return g("Mul", x, x)


@form("rsqrt")
def rsqrt(g: Graph, x: Ref) -> Any:
    """Return ``1 / sqrt(x)``."""
    return g("Reciprocal", g("Sqrt", *as_result(g, x)))


@form("expm1")
def expm1(g: Graph, x: Ref) -> Any:
    """Return ``exp(x) - 1``."""
    return g("Sub", g("Exp", *as_result(g, x)), 1)


@form("log1p")
def log1p(g: Graph, x: Ref) -> Any:
    """Return ``log(1 + x)``."""
    return g("Log", g("Add", *as_result(g, x), 1))


@form("exp2")
def exp2(g: Graph, x: Ref) -> Any:
    """Return ``2 ** x``."""
    return g("Pow", g.constant(2, g.dtype), *as_result(g, x))


@form("log2")
def log2(g: Graph, x: Ref) -> Any:
    """Return the logarithm to base 2."""
    return g("Mul", g("Log", *as_result(g, x)), 1 / math.log(2))


@form("log10")
def log10(g: Graph, x: Ref) -> Any:
    """Return the logarithm to base 10."""
    return g("Mul", g("Log", *as_result(g, x)), 1 / math.log(10))


@form("erfc")
def erfc(g: Graph, x: Ref) -> Any:
    """Return ``1 - erf(x)``."""
    return g("Sub", g.constant(1, g.dtype), g("Erf", *as_result(g, x)))


@form("trunc")
def trunc(g: Graph, x: Ref) -> Any:
    """Return the integer part."""
    return g("Mul", g("Sign", x), g("Floor", g("Abs", x)))


@form("frac")
def frac(g: Graph, x: Ref) -> Any:
    """Return the part after the point."""
    return g("Sub", x, trunc(g, x))


@form("round")
def round_(g: Graph, x: Ref, decimals: int = 0) -> Any:
    """Round to the nearest integer, halves to even."""
    if decimals:
        raise NoFormError("with decimals")
    return g("Round", x)


@form("number_minus")
def number_minus(g: Graph, x: Ref, number: Any) -> Any:
    """Return a number minus each element."""
    return g("Sub", *as_result(g, number, x))


@form("scaled")
def scaled(g: Graph, x: Ref, alpha: Any) -> Any:
    """Return the product with a number."""
    return g("Mul", *as_result(g, x, alpha))


@form("power_number")
def power_number(g: Graph, x: Ref, exponent: Any) -> Any:
    """Return the power with a constant exponent."""
    (x,) = as_result(g, x)
    return g("Mul", x, x) if exponent == 2 else g("Pow", x, exponent)


@form("power_of_number")
def power_of_number(g: Graph, x: Ref, base: Any) -> Any:
    """Return the power of a number."""
    return g("Pow", *as_result(g, base, x))


@form("floor_divide", "quotient_rounded")
def quotient(g: Graph, x: Any, other: Any, rounding: str = "floor") -> Any:
    """Return the quotient, rounded."""
    x, other = as_result(g, x, other)
    if g.dtype.kind == "f":
        exact = g("Div", x, other)
        return g("Floor", exact) if rounding == "floor" else trunc(g, exact)
    if rounding == "trunc":
        return g("Div", x, other)
    return g("Div", g("Sub", x, g("Mod", x, other)), other)


@form("remainder")
def remainder(g: Graph, x: Any, other: Any) -> Any:
    """Return the remainder, with the sign of the divisor."""
    x, other = as_result(g, x, other)
    if g.dtype.kind != "f":
        return g("Mod", x, other)
    return g("Sub", x, g("Mul", other, g("Floor", g("Div", x, other))))


@form("fmod")
def fmod(g: Graph, x: Any, other: Any) -> Any:
    """Return the remainder, with the sign of the dividend."""
    return g("Mod", *as_result(g, x, other), fmod=1)


@form("clamp_numbers", "clamp_tensors", "hardtanh")
def clamp(g: Graph, x: Ref, min: Any = None, max: Any = None, **named: Any) -> Any:
    """Clamp to bounds, either of which may be None."""
    (x,) = as_result(g, x)
    x = x if min is None else g("Max", x, g.cast(min, g.dtype))
    return x if max is None else g("Min", x, g.cast(max, g.dtype))


@form("where")
def where(g: Graph, condition: Ref, x: Any, other: Any) -> Any:
    """Return elements of one value or of the other."""
    return g("Where", g.cast(condition, bool), *as_result(g, x, other), dtype=g.dtype)


@form("masked_number", "masked_by")
def masked(g: Graph, x: Ref, mask: Ref, value: Any) -> Any:
    """Return a copy with a number where the mask is True."""
    return g("Where", g.cast(mask, bool), *as_result(g, value, x), dtype=g.dtype)


@form("addcmul")
def addcmul(g: Graph, x: Ref, one: Ref, other: Ref, value: Any = 1) -> Any:
    """Return ``x + value * one * other``."""
    return g("Add", x, g("Mul", g("Mul", one, other), value))


@form("addcdiv")
def addcdiv(g: Graph, x: Ref, one: Ref, other: Ref, value: Any = 1) -> Any:
    """Return ``x + value * one / other``."""
    return g("Add", x, g("Mul", g("Div", one, other), value))


@form("lerp_number", "lerp_tensor")
def lerp(g: Graph, x: Ref, end: Ref, weight: Any) -> Any:
    """Return ``x + weight * (end - x)``."""
    return g("Add", x, g("Mul", g("Sub", end, x), weight))


# ---- comparisons and logic ----------------------------------------------------------------------

_COMPARISONS = {"eq": "Equal", "lt": "Less", "le": "LessOrEqual", "gt": "Greater"}
_COMPARISONS |= {"ge": "GreaterOrEqual"}
for _name, _op in _COMPARISONS.items():
    form(_name)(lambda g, x, other, op=_op: g(op, *together(g, x, other), dtype=bool))
for _name, _op in {"logical_and": "And", "logical_or": "Or", "logical_xor": "Xor"}.items():
    form(_name)(lambda g, x, other, op=_op: g(op, g.cast(x, bool), g.cast(other, bool)))


def _bitwise(logical: str, of_integers: str) -> Any:
    def compute(g: Graph, x: Any, other: Any) -> Any:
        return g(logical if g.dtype == bool else of_integers, *as_result(g, x, other))

    return compute


form("bitwise_and")(_bitwise("And", "BitwiseAnd"))
form("bitwise_or")(_bitwise("Or", "BitwiseOr"))
form("bitwise_xor")(_bitwise("Xor", "BitwiseXor"))


@form("ne")
def ne(g: Graph, x: Any, other: Any) -> Any:
    """Return whether elements differ."""
    return g("Not", g("Equal", *together(g, x, other), dtype=bool))


@form("logical_not", "bitwise_not")
def logical_not(g: Graph, x: Ref) -> Any:
    """Return the negation."""
    if g.dtype != bool:
        return g("BitwiseNot", x)
    return g("Not", g.cast(x, bool))


@form("isnan")
def isnan(g: Graph, x: Ref) -> Any:
    """Return where elements are NaN."""
    return g("IsNaN", x, dtype=bool)


@form("isinf")
def isinf(g: Graph, x: Ref) -> Any:
    """Return where elements are infinite."""
    return g("IsInf", x, dtype=bool)


@form("isfinite")
def isfinite(g: Graph, x: Ref) -> Any:
    """Return where elements are neither NaN nor infinite."""
    return g("Not", g("Or", isnan(g, x), isinf(g, x)))


@form("nan_to_num")
def nan_to_num(g: Graph, x: Ref, nan: Any, posinf: Any, neginf: Any) -> Any:
    """Replace NaN and infinities by numbers."""
    info = np.finfo(x.dtype)
    x = g("Where", isnan(g, x), g.constant(nan or 0.0, x.dtype), x, dtype=x.dtype)
    high = g.constant(info.max if posinf is None else posinf, x.dtype)
    low = g.constant(info.min if neginf is None else neginf, x.dtype)
    x = g("Where", g("IsInf", x, detect_negative=0, dtype=bool), high, x, dtype=x.dtype)
    return g("Where", g("IsInf", x, detect_positive=0, dtype=bool), low, x, dtype=x.dtype)
