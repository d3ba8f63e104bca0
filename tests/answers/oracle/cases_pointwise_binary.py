"""Arithmetic on two tensors or a tensor and a number; where."""

import operator
from typing import Any

from tests.tools.recorded.rows import (
    DTYPES,
    Table,
    each,
    f32,
    f64,
    function,
    i32,
    i64,
    inplace,
    layouts,
    mask,
    method,
    u8,
)

TABLE = Table("pointwise_binary")
case, fails = TABLE.case, TABLE.fails

NAMES = ["add", "sub", "mul", "div", "floor_divide", "remainder", "pow", "maximum", "minimum"]
OPERATORS = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "pow": operator.pow,
}
IN_PLACE = {
    "add": operator.iadd,
    "sub": operator.isub,
    "mul": operator.imul,
    "div": operator.itruediv,
    "floor_divide": operator.ifloordiv,
    "remainder": operator.imod,
    "pow": operator.ipow,
}
PAIRS = {
    "plain": (f64(2, 3), f64(2, 3)),
    "broadcast": (f64(2, 3), f64(3)),
    "outer": (f64(3, 1), f64(1, 2)),
    "more-dims": (f64(2, 1), f64(2, 1, 3)),
    "0d": (f64(), f64()),
    "0d-left": (f64(), f64(2, 2)),
    "0d-right": (f64(2, 2), f64()),
    "empty": (f64(0, 3), f64(3)),
    "empty-against-one": (f64(2, 0), f64(2, 1)),
    "transposed": (f64(2, 3).t, f64(2, 3)),
    "strided": (f64(2, 3), f64(2, 3).strided),
    "expanded": (f64(2, 3).expanded, f64(2, 3).t),
    "const-right": (f64(2, 2), f64(2, 2).const),
    "const-left": (f64(2, 2).const, f64(2, 2)),
    "float32": (f32(2, 3), f32(3)),
}
NUMBERS = (True, 2, -3, 0.5)
SPECIAL = [float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 2.0, -2.0]


def sensible(name, spec):
    """Positive bases of powers and divisors; no gradient where PyTorch has none."""
    if name in ("pow", "div", "floor_divide", "remainder"):
        spec = spec.positive
    return spec.const if name == "floor_divide" else spec


def against_all(name):
    """The operation on the first input and every other one; errors count as results."""
    return lambda tn, x, *others: each([lambda y=y: getattr(tn, name)(x, y) for y in others])


def with_numbers(call):
    """call(input, number) for all inputs and numbers; errors count as results."""
    return lambda tn, *inputs: each([lambda x=x, n=n: call(x, n) for x in inputs for n in NUMBERS])


def kinds(*shape):
    """One input of each dtype, positive where zero would divide."""
    return [
        make(*shape).positive.const if "float" in dtype else make(*shape).upto(4, 1)
        for dtype, make in DTYPES.items()
    ]


for _name in NAMES:
    for _label, (_left, _right) in PAIRS.items():
        case(
            f"{_name}-{_label}",
            function(_name) if _label[0] < "f" else method(_name),
            sensible(_name, _left),
            sensible(_name, _right),
        )
    case(
        f"{_name}-with-itself", lambda tn, x, n=_name: getattr(tn, n)(x, x), sensible(_name, f64(3))
    )
    fails(f"{_name}-shape-mismatch", function(_name), f64(2, 3), f64(4))
    fails(f"{_name}-shape-mismatch-inner", function(_name), f32(2, 3, 4), f32(3, 1, 4))
    case(
        f"{_name}-special",
        lambda tn, x, y, n=_name: getattr(tn, n)(x[:, None], y),
        *(f64(7).of(SPECIAL).const, f64(7).of(SPECIAL).const),
    )
    for _dtype, _first in zip(DTYPES, kinds(2), strict=True):
        case(f"{_name}-promote-{_dtype}", against_all(_name), _first, *kinds(2), *kinds())
for _name in ("add", "sub", "mul", "div", "floor_divide", "remainder", "pow"):
    _op = OPERATORS[_name]
    case(f"{_name}-numbers-of-all-dtypes", with_numbers(_op), *kinds(3), *kinds())
    case(
        f"{_name}-reflected-of-all-dtypes",
        with_numbers(lambda x, number, op=_op: op(number, x)),
        *(*kinds(3), *kinds()),
    )
    case(
        f"{_name}_-operator-of-all-dtypes",
        with_numbers(lambda x, number, op=IN_PLACE[_name]: op(x.clone(), number)),
        *kinds(3),
    )
    _x, _y, _x32 = (sensible(_name, spec) for spec in (f64(2, 3), f64(3), f32(2, 3)))
    case(f"{_name}-operator", lambda tn, x, y, op=_op: op(x, y), _x, _y)
    case(f"{_name}-number", lambda tn, x, op=_op: op(x, 2.5), _x)
    case(f"{_name}-number-0d", lambda tn, x, op=_op: op(x, 2), sensible(_name, f64()))
    case(f"{_name}-number-empty", lambda tn, x, op=_op: op(x, 2), sensible(_name, f64(0, 2)))
    case(f"{_name}-number-float32", lambda tn, x, op=_op: op(x, 1.1), _x32)
    case(f"{_name}_-inplace", inplace(f"{_name}_"), _x, _y)
    for _layout, _spec in layouts(2, 3).items():
        _spec = sensible(_name, _spec)
        case(f"{_name}_-inplace-number-{_layout}", inplace(f"{_name}_", 2), _spec)
    case(f"{_name}_-inplace-0d-into-float32", inplace(f"{_name}_"), _x32, f64().positive.const)
    if _name == "remainder":
        _x, _x32 = _x.const, _x32.const
    case(f"{_name}-reflected", lambda tn, x, op=_op: op(2.5, x), _x)
    case(f"{_name}-reflected-float32", lambda tn, x, op=_op: op(3, x), _x32)
    fails(f"{_name}_-inplace-grows", inplace(f"{_name}_"), f64(3), f64(2, 3))
    fails(f"{_name}_-inplace-leaf", method(f"{_name}_", 2), f64(3))
    fails(f"{_name}_-inplace-float-into-int", inplace(f"{_name}_"), i64(3).upto(4, 1), f32(3))
    fails(f"{_name}-operator-string", lambda tn, x, op=_op: op(x, "a"), f64(2))
    fails(f"{_name}-operator-none", lambda tn, x, op=_op: op(x, None), f64(2))
    fails(f"{_name}-operator-list", lambda tn, x, op=_op: op([1.0, 2.0], x), f64(2))

# ---- single operations ----


def operands(x: Any, name: str) -> list[Any]:
    """Return ``x`` and as many more as an operation with ``alpha`` takes."""
    return [x, x[0], x[0]] if name == "addr" else [x, x]


TABLE.fails_backward("floor_divide-no-derivative", lambda tn, x, y: x // y, f64(2), f64(2))

case("add-alpha", lambda tn, x, y: tn.add(x, y, alpha=2.5), f64(2, 3), f64(3))
case("sub-alpha", lambda tn, x, y: tn.sub(x, y, alpha=2), f64(2, 3), f64(3))
case("add-alpha-int64", lambda tn, x, y: tn.add(x, y, alpha=3), i64(3), i64(3))
case("add_-alpha", lambda tn, x, y: x.clone().add_(y, alpha=-0.5), f64(2, 3), f64(3))
fails("add-alpha-float-of-ints", lambda tn, x, y: tn.add(x, y, alpha=0.5), i64(3), i64(3))
for _name in ("add", "sub", "rsub", "addr"):
    for _kind in ("bool", "int64", "float32", "complex64"):
        case(
            f"{_name}-alpha-of-{_kind}",
            lambda tn, x, name=_name, kind=_kind: each(
                [
                    lambda alpha=alpha: getattr(tn, name)(
                        *(v.to(getattr(tn, kind)) for v in operands(x, name)), alpha=alpha
                    )
                    for alpha in (True, 2, 2.5, 1j)
                ]
            ),
            f64(2, 2).of([1, 2, -3, 0.5]).const,
        )
case(
    "add_-alpha-bool",
    lambda tn, x: each([lambda: x.add_(x, alpha=True), lambda: x.sub_(x, alpha=2j)]),
    f64(2).const,
)
fails("sub-bool", lambda tn, x, y: x - y, mask(2), mask(2))
case("div-floor", lambda tn, x, y: tn.div(x, y, rounding_mode="floor"), f64(2, 3), f64(3))
case("div-trunc", lambda tn, x, y: tn.div(x, y, rounding_mode="trunc"), f64(2, 3), f64(3))
case("div-trunc-int", lambda tn, x: tn.div(x, 3, rounding_mode="trunc"), i64(6))
case("div-floor-int", lambda tn, x: tn.div(x, 3, rounding_mode="floor"), i64(6))
case("div-true-divide", lambda tn, x, y: tn.true_divide(x, y), i64(3), i64(3).upto(5, 1))
case("div-int-by-zero", lambda tn, x: x / 0, i64(4).of([-1, 0, 1, 2]))
case("div-by-zero", lambda tn, x, y: x / y, f64(3).of([-1, 0, 2]), f64(3).of(0), second_order=False)
fails("div-rounding-mode", lambda tn, x: tn.div(x, 2, rounding_mode="round"), f64(2))
fails("div_-int", lambda tn, x: x.div_(2), i64(2))
case(
    "floor_divide-signs",
    lambda tn, x, y: x // y,
    i64(4).of([7, -7, 7, -7]),
    i64(4).of([2, 2, -2, -2]),
)
case(
    "remainder-signs", lambda tn, x, y: x % y, i64(4).of([7, -7, 7, -7]), i64(4).of([2, 2, -2, -2])
)
case("remainder-signs-float", lambda tn, x, y: x % y, f64(5), f64(5))
fails("floor_divide-int-by-zero", lambda tn, x: x // 0, i64(2))
fails("floor_divide-int-by-zero-tensor", lambda tn, x, y: x // y, i64(2), i64(2).of(0))
fails("remainder-int-by-zero", lambda tn, x: x % 0, i64(2))
case("remainder-float-by-zero", lambda tn, x: x % 0, f64(2).const)
for _exponent in (0, 1, 2, 3, 4, -1, -2, 0.5, -0.5, 2.5):
    case(f"pow-to-{_exponent}", lambda tn, x, e=_exponent: x**e, f64(2, 3).positive)
for _exponent in (0, 1, 2, 3, -1):
    case(f"pow-of-negative-to-{_exponent}", lambda tn, x, e=_exponent: x.pow(e), f64(4))
case("pow-of-zero", lambda tn, x: (x**2, x**1, x**0, x**3), f64(2).of(0), second_order=False)
case(
    "pow-zero-base-tensor",
    lambda tn, x, y: x**y,
    f64(3).of(0),
    f64(3).of([0, 1, 2]),
    second_order=False,
)
case("pow-of-negative-to-half", lambda tn, x: x**0.5, f64(2).of([-1.0, 4.0]).const)
case("pow-zero-reflected", lambda tn, x: 0**x, f64(3).of([0, 1, 2]), second_order=False)
case("pow-function-reflected", lambda tn, x: tn.pow(2, x), f64(3))
case("pow-int-to-int", lambda tn, x: (x**2, x**0, 2 ** x.abs()), i64(5))
case(
    "pow-int-to-negative-tensor",
    lambda tn, x, y: (
        x**y,
        2**y,
        tn.pow(1, y),
        (-1) ** y,
        x.pow(tn.tensor(-1)),
        x.to(tn.int8) ** y,
    ),
    i64(5).of([1, -1, 0, 2, -3]),
    i64(5).of([-1, -3, -2, 3, -1]),
)
case("pow-int-to-float", lambda tn, x: x**0.5, i64(3).upto(5))
fails("pow-int-to-negative-int", lambda tn, x: x**-1, i64(3))
case("maximum-ties", function("maximum"), f64(4).of([0, 1, 2, 2]), f64(4).of([0, 2, 1, 2]))
case("minimum-ties", function("minimum"), f64(4).of([0, 1, 2, 2]), f64(4).of([0, 2, 1, 2]))
case("maximum-max-of-two", lambda tn, x, y: tn.max(x, y), f64(2, 3), f64(3))
case("minimum-min-of-two", lambda tn, x, y: x.min(y), f64(2, 3), f64(3))
fails("maximum-number", lambda tn, x: tn.maximum(x, 1.0), f64(2))
case("mul-chain", lambda tn, x: x * x * x + x, f64(3))
case("mul-shared-middle", lambda tn, x, y: (x * y) * (x + x * y), f64(2, 2), f64(2))
case("mul-uint8-wraps", lambda tn, x: (x * 100, x + 250, x - 9), u8(4))
case("add-int32-wraps", lambda tn, x: x + 2147483647, i32(4))
case("mul-numpy-number", lambda tn, x: x * x.detach().numpy()[0], f32(3))
case("mul-no-grad", lambda tn, x: silently(tn, lambda: x * 2), f64(3))
TABLE.fails_backward(
    "mul-then-changed", lambda tn, x, y: changed(x, y, operator.mul), f64(2), f64(2)
)
TABLE.fails_backward(
    "div-then-changed", lambda tn, x, y: changed(x, y, operator.truediv), f64(2), f64(2)
)
TABLE.fails_backward("pow-then-changed", lambda tn, x: changed(x, 2, operator.pow), f64(2))
case("add-then-changed", lambda tn, x, y: changed(x, y, operator.add), f64(2), f64(2))
case("mul-then-other-changed", lambda tn, x, y: changed(x, y, operator.mul), f64(2), f64(2).const)


def changed(x, y, op):
    """The result of an operation one of whose inputs is written afterwards."""
    middle = x + 1
    result = op(middle, y)
    middle.add_(1)
    return result


def silently(tn, call):
    with tn.no_grad():
        return call()


# ---- where ----

for _label, (_left, _right) in PAIRS.items():
    case(
        f"where-{_label}",
        lambda tn, x, y: tn.where(x.detach() > 0, x, y),
        _left,
        _right,
    )
case("where-mask-broadcast", function("where"), mask(2, 1), f64(3), f64())
case("where-mask-empty", function("where"), mask(0, 1), f64(3), f64())
case("where-method", lambda tn, c, x, y: x.where(c, y), mask(2, 3), f64(2, 3), f64(3))
case(
    "where-numbers",
    lambda tn, c, x: (tn.where(c, x, 0.0), tn.where(c, 1, x)),
    mask(2, 3),
    f64(2, 3),
)
case("where-two-numbers", lambda tn, c: (tn.where(c, 1.0, 0.0), tn.where(c, 1, 0)), mask(2, 3))
case("where-condition-only", lambda tn, c: tn.where(c), mask(2, 3))
case("where-expanded-mask", function("where"), mask(2, 3).expanded, f64(2, 3), f64(3))
case("where-uint8-mask", function("where"), u8(3).upto(2), f64(3), f64(3))
for _dtype, _first in zip(DTYPES, kinds(2), strict=True):
    case(
        f"where-promote-{_dtype}",
        lambda tn, c, x, *others: each([lambda y=y: tn.where(c, x, y) for y in others]),
        *(mask(2), _first, *kinds(2), *kinds()),
    )
fails("where-float-mask", function("where"), f64(3), f64(3), f64(3))
fails("where-int64-mask", function("where"), i64(3), f64(3), f64(3))
fails("where-shape-mismatch", function("where"), mask(2), f64(3), f64(3))
