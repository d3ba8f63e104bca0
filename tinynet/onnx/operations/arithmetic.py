"""Elementwise arithmetic, comparisons and conversions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinynet.onnx.errors import NoFormError
from tinynet.onnx.graph import Graph, Ref, as_result, choose, form, renamed, together

# ---- products -----------------------------------------------------------------------------------
# Matrix products.


renamed({name: "MatMul" for name in ("mm", "bmm", "mv", "row_product", "dot", "vdot")})


@form("linear_map")
def linear_map(g: Graph, x: Ref, weight: Ref) -> Any:
    """Return ``x @ weight.T``."""
    return g("MatMul", x, g("Transpose", weight, perm=[1, 0]))


@form("affine_map")
def affine_map(g: Graph, x: Ref, weight: Ref, bias: Ref) -> Any:
    """Return ``x @ weight.T + bias``."""
    if x.rank == 2 and bias.rank <= 1 and x.dtype.kind == "f":
        return g("Gemm", x, weight, bias, transB=1)
    return g("Add", linear_map(g, x, weight), bias)


@form("addmm", "addmv", "baddbmm")
def addmm(g: Graph, x: Ref, one: Ref, other: Ref, beta: float = 1, alpha: float = 1) -> Any:
    """Return ``beta * x + alpha * (one @ other)``."""
    return _added(g, x, g("MatMul", one, other), beta, alpha)


def _added(g: Graph, x: Ref, product: Ref, beta: float, alpha: float) -> Any:
    """Return ``beta * x + alpha * product``; x is not read for ``beta = 0``."""
    product = product if alpha == 1 else g("Mul", product, alpha)
    if beta == 0:
        return product
    return g("Add", product, x if beta == 1 else g("Mul", x, beta))


@form("addr")
def addr(g: Graph, x: Ref, one: Ref, other: Ref, beta: float = 1, alpha: float = 1) -> Any:
    """Return ``beta * x + alpha * outer(one, other)``."""
    column, row = g("Unsqueeze", one, g.integers(1)), g("Unsqueeze", other, g.integers(0))
    return _added(g, x, g("Mul", column, row), beta, alpha)


# ---- arithmetic ---------------------------------------------------------------------------------


renamed(
    {
        "add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "maximum": "Max", "minimum": "Min",
        "neg": "Neg", "abs": "Abs", "exp": "Exp", "log": "Log",
        "sqrt": "Sqrt", "reciprocal": "Reciprocal", "tanh": "Tanh", "sigmoid": "Sigmoid",
        "relu": "Relu", "erf": "Erf", "sin": "Sin", "cos": "Cos",
        "tan": "Tan", "asin": "Asin", "acos": "Acos", "atan": "Atan", "sinh": "Sinh",
        "cosh": "Cosh", "asinh": "Asinh", "acosh": "Acosh", "atanh": "Atanh",
        "clamp_min": "Max", "clamp_max": "Min", "clamp_from": "Max", "clamp_to": "Min",
        "alias": "Identity", "kept": "Identity",
    }
)  # fmt: skip


@form(
    "clone", "contiguous_copy", "cast", "core.arrays:copied", "core.arrays:writable",
    "core.arrays:converted", "core.layouts:like",
)  # fmt: skip
def copy(g: Graph, x: Ref, *rest: Any, **options: Any) -> Ref:
    """Return the value itself, in the dtype of the result."""
    return g.cast(x, g.dtype)


@form("kernels.low_precision:in_opmath")
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


@form("sign", "sgn")
def sign(g: Graph, x: Ref) -> Any:
    """Return -1, 0 or 1; 0 for NaN."""
    if x.dtype == bool:
        return x
    return choose(g, isnan(g, x), 0, g("Sign", x), x.dtype)


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
    """Return ``exp(x) - 1``: accurate near 0 by the division (Kahan)."""
    (x,) = as_result(g, x)
    power = g("Exp", x)
    less = g("Sub", power, 1)
    near = g("Div", g("Mul", less, x), g("Log", power))
    one, few = g("Equal", power, 1, dtype=bool), g("Less", g("Abs", x), 1, dtype=bool)
    return choose(g, one, x, choose(g, few, near, less, x.dtype), x.dtype)


@form("log1p")
def log1p(g: Graph, x: Ref) -> Any:
    """Return ``log(1 + x)``: accurate near 0 by the division (Kahan)."""
    (x,) = as_result(g, x)
    more = g("Add", x, 1)
    wide = g("Log", more)
    near = g("Div", g("Mul", wide, x), g("Sub", more, 1))
    one, few = g("Equal", more, 1, dtype=bool), g("Less", g("Abs", x), 1, dtype=bool)
    return choose(g, one, x, choose(g, few, near, wide, x.dtype), x.dtype)


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


def _whole(g: Graph, op: str, x: Ref) -> Any:
    """Return a rounded value; integers are."""
    return g(op, x) if x.dtype.kind == "f" else x


@form("floor")
def floor(g: Graph, x: Ref) -> Any:
    """Return the largest integer that is not larger."""
    return _whole(g, "Floor", x)


@form("ceil")
def ceil(g: Graph, x: Ref) -> Any:
    """Return the smallest integer that is not smaller."""
    return _whole(g, "Ceil", x)


@form("trunc")
def trunc(g: Graph, x: Ref) -> Any:
    """Return the integer part."""
    return g("Mul", g("Sign", x), floor(g, g("Abs", x))) if x.dtype.kind == "f" else x


@form("frac")
def frac(g: Graph, x: Ref) -> Any:
    """Return the part after the point."""
    return g("Sub", x, trunc(g, x))


@form("round")
def round_(g: Graph, x: Ref, decimals: int = 0) -> Any:
    """Round to the nearest integer, halves to even."""
    if decimals:
        raise NoFormError("with decimals")
    return _whole(g, "Round", x)


@form("rsub_scalar")
def rsub_scalar(g: Graph, x: Ref, number: Any) -> Any:
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
    if abs(exponent) == 0.5:
        return g("Sqrt", x) if exponent > 0 else rsqrt(g, x)
    if exponent != 2 and g.dtype.kind == "f":
        return g("Pow", x, exponent)
    made, rest = None, int(exponent)
    while rest:  # by squaring: ONNX's Pow of integers may be computed in float64
        made = x if rest & 1 and made is None else g("Mul", made, x) if rest & 1 else made
        x, rest = g("Mul", x, x) if rest > 1 else x, rest >> 1
    return g.full(g.shape, 1, g.dtype) if made is None else made


@form("power")
def power(g: Graph, x: Any, exponent: Any) -> Any:
    """Return the power."""
    if g.dtype.kind != "f":
        raise NoFormError("of integers: convert them to float64")
    return g("Pow", *as_result(g, x, exponent))


@form("power_of_number")
def power_of_number(g: Graph, x: Ref, base: Any) -> Any:
    """Return the power of a number."""
    return power(g, base, x)


def _apart(g: Graph, rest: Ref, other: Ref) -> Any:
    """Return where a remainder is not 0 and has another sign than the divisor."""
    signs = [g("Less", x, 0, dtype=bool) for x in (rest, other)]
    return g("And", g("Not", g("Equal", rest, 0, dtype=bool)), g("Xor", *signs))


def _is_minus_one(g: Graph, other: Ref) -> Any:
    """Return whether a constant integer divisor is -1, which stops onnxruntime at the least int."""
    known = g.initializers.get(other.name)
    return known is not None and known.dtype.kind == "i" and (known == -1).all() and known.size > 0


@form("floor_divide", "quotient_rounded")
def quotient(g: Graph, x: Any, other: Any, rounding: str = "floor") -> Any:
    """Return the quotient, rounded; downwards as in Python, from the remainder."""
    x, other = as_result(g, x, other)
    if _is_minus_one(g, other):
        return g("Mul", x, other)
    exact = g("Div", x, other)
    if rounding == "trunc":
        return trunc(g, exact)
    if g.dtype.kind == "u":
        return exact
    if g.dtype.kind != "f":
        rest = g("Sub", x, g("Mul", exact, other))
        return g("Sub", exact, g.cast(_apart(g, rest, other), x.dtype))
    rest = fmod(g, x, other)
    made = g("Div", g("Sub", x, rest), other)
    made = g("Round", g("Sub", made, g.cast(_apart(g, rest, other), x.dtype)))
    made = choose(g, g("Equal", made, 0, dtype=bool), g("Mul", exact, 0), made, x.dtype)
    return choose(g, g("Equal", other, 0, dtype=bool), exact, made, x.dtype)


@form("remainder")
def remainder(g: Graph, x: Any, other: Any) -> Any:
    """Return the remainder, with the sign of the divisor."""
    x, other = as_result(g, x, other)
    if _is_minus_one(g, other):
        return g("Mul", x, 0)
    if g.dtype.kind != "f":
        return g("Mod", x, other)
    rest = fmod(g, x, other)
    return choose(g, _apart(g, rest, other), g("Add", rest, other), rest, x.dtype)


@form("fmod")
def fmod(g: Graph, x: Any, other: Any) -> Any:
    """Return the remainder, with the sign of the dividend."""
    x, other = as_result(g, x, other)
    return g("Mul", x, 0) if _is_minus_one(g, other) else g("Mod", x, other, fmod=1)


@form("clamp_numbers", "clamp_tensors", "hardtanh")
def clamp(g: Graph, x: Ref, min: Any = None, max: Any = None, **named: Any) -> Any:
    """Clamp to bounds, either of which may be None."""
    (x,) = as_result(g, x)
    x = x if min is None else g("Max", x, g.cast(min, g.dtype))
    return x if max is None else g("Min", x, g.cast(max, g.dtype))


@form("where")
def where(g: Graph, condition: Ref, x: Any, other: Any) -> Any:
    """Return elements of one value or of the other."""
    return choose(g, condition, x, other, g.dtype)


@form("masked_number", "masked_by")
def masked(g: Graph, x: Ref, mask: Ref, value: Any) -> Any:
    """Return a copy with a number where the mask is True."""
    return choose(g, mask, value, x, g.dtype)


@form("addcmul")
def addcmul(g: Graph, x: Ref, one: Ref, other: Ref, value: Any = 1) -> Any:
    """Return ``x + value * one * other``."""
    return g("Add", x, g("Mul", g("Mul", one, value), other))


@form("addcdiv")
def addcdiv(g: Graph, x: Ref, one: Ref, other: Ref, value: Any = 1) -> Any:
    """Return ``x + value * one / other``."""
    return g("Add", x, g("Div", g("Mul", one, value), other))


@form("lerp_number", "lerp_tensor")
def lerp(g: Graph, x: Ref, end: Ref, weight: Any) -> Any:
    """Return ``x + weight * (end - x)``, from the nearer end."""
    (weight,) = as_result(g, weight)
    apart = g("Sub", end, x)
    low = g("Add", x, g("Mul", apart, weight))
    high = g("Sub", end, g("Mul", apart, g("Sub", g.constant(1, g.dtype), weight)))
    return choose(g, g("Less", g("Abs", weight), 0.5, dtype=bool), low, high, g.dtype)


# ---- comparisons and logic ----------------------------------------------------------------------

_COMPARISONS = {"eq": "Equal", "lt": "Less", "le": "LessOrEqual", "gt": "Greater"}
_COMPARISONS |= {"ge": "GreaterOrEqual"}
for _name, _op in _COMPARISONS.items():
    form(_name)(lambda g, x, other, op=_op: compared(g, op, x, other))
for _name, _op in {"logical_and": "And", "logical_or": "Or", "logical_xor": "Xor"}.items():
    form(_name)(lambda g, x, other, op=_op: g(op, g.cast(x, bool), g.cast(other, bool)))


def compared(g: Graph, op: str, x: Any, other: Any) -> Any:
    """Return a comparison in the common dtype."""
    one, two = together(g, x, other)
    if one.dtype == bool and op != "Equal":  # ONNX orders no bools
        one, two = (g.cast(x, np.int32) for x in (one, two))
    return g(op, one, two, dtype=bool)


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


def _of_float(g: Graph, op: str, x: Ref, **options: Any) -> Any:
    """Return where floats are NaN or infinite; other dtypes are neither."""
    if x.dtype.kind != "f":
        return g.full(x.shape, False, bool)
    if op == "IsInf" and x.dtype == np.float16:
        x = g.cast(x, np.float32)
    made = g(op, x, dtype=bool, **options)
    made.shape = x.shape
    return made


@form("isnan")
def isnan(g: Graph, x: Ref) -> Any:
    """Return where elements are NaN."""
    return _of_float(g, "IsNaN", x)


@form("isinf")
def isinf(g: Graph, x: Ref) -> Any:
    """Return where elements are infinite."""
    return _of_float(g, "IsInf", x)


@form("isfinite")
def isfinite(g: Graph, x: Ref) -> Any:
    """Return where elements are neither NaN nor infinite."""
    return g("Not", g("Or", isnan(g, x), isinf(g, x)))


@form("nan_to_num")
def nan_to_num(g: Graph, x: Ref, nan: Any, posinf: Any, neginf: Any) -> Any:
    """Replace NaN and infinities by numbers."""
    if x.dtype.kind != "f":
        return x
    info = np.finfo(x.dtype)
    high, low = info.max if posinf is None else posinf, info.min if neginf is None else neginf
    is_high = _of_float(g, "IsInf", x, detect_negative=0)
    is_low = _of_float(g, "IsInf", x, detect_positive=0)
    made = choose(g, isnan(g, x), nan or 0.0, x, x.dtype)
    return choose(g, is_low, low, choose(g, is_high, high, made, x.dtype), x.dtype)
