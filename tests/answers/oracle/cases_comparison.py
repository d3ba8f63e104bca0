"""Comparisons, and the logic of masks."""

import operator

from tests.tools.recorded.rows import (
    DTYPES,
    Table,
    each,
    f32,
    f64,
    function,
    i64,
    inplace,
    layouts,
    mask,
    method,
    u8,
)

TABLE = Table("comparison")
case, fails = TABLE.case, TABLE.fails

COMPARISONS = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
NUMBERS = (True, 2, 0.5, -1)
SPECIAL = [float("nan"), float("inf"), 0.0, -0.0]


def alike(spec):
    """Values that are often equal."""
    return spec.upto(3)


for _name, _op in COMPARISONS.items():
    for _layout, _spec in layouts(2, 3).items():
        case(
            f"{_name}-{_layout}",
            function(_name),
            alike(_spec),
            alike(f64(3) if _spec.shape else f64()),
        )
    case(f"{_name}-outer", method(_name), alike(f64(2, 1)), alike(f64(1, 3)))
    case(f"{_name}-operator", lambda tn, x, y, op=_op: op(x, y), alike(f32(4)), alike(f32(4)))
    case(f"{_name}-special", lambda tn, x, y, op=_op: op(x[:, None], y), *[f64(4).of(SPECIAL)] * 2)
    for _dtype, _make in DTYPES.items():
        case(
            f"{_name}-dtypes-{_dtype}",
            lambda tn, x, *others, op=_op: each([lambda y=y: op(x, y) for y in others]),
            *(_make(3).upto(2), *[make(3).upto(2) for make in DTYPES.values()], f64()),
        )
    case(
        f"{_name}-numbers",
        lambda tn, *inputs, op=_op: each(
            [lambda x=x, v=v: op(x, v) for x in inputs for v in NUMBERS]
        ),
        *[make(3).upto(3) for make in DTYPES.values()],
    )
    case(
        f"{_name}-reflected",
        lambda tn, *inputs, op=_op: each(
            [lambda x=x, v=v: op(v, x) for x in inputs for v in NUMBERS]
        ),
        *[make(3).upto(3) for make in DTYPES.values()],
    )
    case(f"{_name}_-inplace", inplace(f"{_name}_"), f64(3).upto(2), f64(3).upto(2))
    case(f"{_name}_-inplace-number", inplace(f"{_name}_", 1), f32(3).upto(2))
    fails(f"{_name}-shape-mismatch", function(_name), f64(2), f64(3))
    fails(f"{_name}-string", function(_name, "a"), f64(2))
for _name in ("lt", "le", "gt", "ge"):
    fails(f"{_name}-operator-string", lambda tn, x, op=COMPARISONS[_name]: op(x, "a"), f64(2))
    fails(f"{_name}-operator-none", lambda tn, x, op=COMPARISONS[_name]: op(x, None), f64(2))
case("eq-operator-string", lambda tn, x: (x == "a", x != "a"), f64(2))
case("eq-operator-none", lambda tn, x: (x == None, x != None), f64(2))  # noqa: E711
case("lt-float32-against-double-number", lambda tn, x: (x == 0.1, x >= 0.1), f32(2).of(0.1))
case("eq-int64-large", lambda tn, x: x == 2**53 + 1, i64(2).of(2**53))
case("lt-uint8-negative-number", lambda tn, x: (x > -1, x == -1), u8(3))

# ---- truth ----

case("bool-of-one", lambda tn, x: (bool(x), bool(x[None]), not x), f64().of(2.0))
case("bool-of-comparison", lambda tn, x: bool((x > 0).all()), f64(3).positive)
fails("bool-of-many", lambda tn, x: bool(x), f64(2))
fails("bool-of-none", lambda tn, x: bool(x), f64(0))

# ---- masks ----

BITWISE = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}
for _name, _op in BITWISE.items():
    case(f"{_name}-mask", lambda tn, x, y, op=_op: op(x, y), mask(2, 3), mask(3))
    case(f"{_name}-int64", lambda tn, x, y, op=_op: op(x, y), i64(2, 3), i64(3))
    case(f"{_name}-number", lambda tn, x, op=_op: (op(x, True), op(False, x)), mask(2, 3))
    case(f"{_name}-empty", lambda tn, x, y, op=_op: op(x, y), mask(0, 3), mask(3))
    fails(f"{_name}-float", lambda tn, x, op=_op: op(x, x), f64(2))
case("invert-mask", lambda tn, x: ~x, mask(2, 3).strided)
case("invert-int", lambda tn, x, y: (~x, ~y), i64(3), u8(3))
fails("invert-float", lambda tn, x: ~x, f64(3))
