"""Matrix products, their shapes, and t / T / mT."""

from tests.tools.recorded.rows import (
    Table,
    each,
    f32,
    f64,
    function,
    i32,
    i64,
    layouts,
    mask,
    method,
)

TABLE = Table("linear_algebra")
case, fails = TABLE.case, TABLE.fails

MATMUL = {
    "1d-1d": (f64(3), f64(3)),
    "2d-2d": (f64(2, 3), f64(3, 4)),
    "1d-2d": (f64(3), f64(3, 2)),
    "2d-1d": (f64(2, 3), f64(3)),
    "3d-1d": (f64(2, 2, 3), f64(3)),
    "1d-3d": (f64(3), f64(2, 3, 2)),
    "3d-2d": (f64(2, 2, 3), f64(3, 2)),
    "2d-3d": (f64(2, 3), f64(2, 3, 2)),
    "3d-3d": (f64(2, 2, 3), f64(2, 3, 2)),
    "batch-broadcast": (f64(2, 1, 2, 3), f64(3, 3, 1)),
    "batch-of-one": (f64(1, 2, 3), f64(2, 3, 2)),
    "transposed": (f64(2, 3).t, f64(3, 2).t),
    "strided": (f64(2, 3).strided, f64(3, 2).strided),
    "expanded": (f64(2, 3).expanded, f64(3, 2).expanded),
    "expanded-batch": (f64(2, 2, 3).expanded, f64(2, 3, 2)),
    "empty-rows": (f64(0, 3), f64(3, 2)),
    "empty-inner": (f64(2, 0), f64(0, 3)),
    "empty-batch": (f64(0, 2, 3), f64(3, 2)),
    "empty-1d": (f64(0), f64(0)),
    "const-left": (f64(2, 3).const, f64(3, 2)),
    "const-right": (f64(2, 3), f64(3, 2).const),
    "float32": (f32(2, 3), f32(3, 2)),
    "int64": (i64(2, 3), i64(3, 2)),
    "int32": (i32(2, 3), i32(3)),
}
for _label, _pair in MATMUL.items():
    case(f"matmul-{_label}", function("matmul"), *_pair)
    if "d-" in _label:
        case(f"@-{_label}", lambda tn, x, y: x @ y, *_pair)
case("matmul-method", method("matmul"), f64(2, 3), f64(3))
case("matmul-with-itself", lambda tn, x: x @ x, f64(2, 2))
case("matmul-with-its-transpose", lambda tn, x: x @ x.t(), f64(2, 3))
case("@-vector-with-itself", lambda tn, x: x @ x, f64(3))
case("@-chain", lambda tn, x, y, z: (x @ y).tanh() @ z, f64(2, 3), f64(3, 2), f64(2, 1))
case("@-plus-bias", lambda tn, x, w, b: x @ w.t() + b, f32(4, 2), f32(3, 2), f32(3))
case(
    "matmul-special",
    function("matmul"),
    f64(1, 2).of([float("inf"), 0.0]).const,
    f64(2, 1).of(0).const,
)
case(
    "matmul-dtype-mismatch",
    lambda tn, *xs: each([lambda x=x, y=y: x @ y for x in xs for y in xs if x is not y]),
    *(f32(2, 2).const, f64(2, 2).const, i64(2, 2), i32(2, 2)),
)
fails("matmul-bool", function("matmul"), mask(2, 2), mask(2, 2))
MISMATCHES = {
    "1d-1d": (f64(2), f64(3)),
    "2d-2d": (f64(2, 3), f64(4, 5)),
    "2d-1d": (f64(2, 3), f64(2)),
    "1d-2d": (f64(2), f64(3, 2)),
    "3d-1d": (f64(2, 2, 3), f64(2)),
    "1d-3d": (f64(2), f64(2, 3, 2)),
    "3d-2d": (f64(2, 2, 3), f64(2, 2)),
    "3d-3d": (f64(2, 2, 3), f64(2, 2, 3)),
    "batches": (f64(2, 2, 3), f64(3, 3, 2)),
    "0d-left": (f64(), f64(2)),
    "0d-right": (f64(2), f64()),
}
for _label, _pair in MISMATCHES.items():
    fails(f"matmul-mismatch-{_label}", function("matmul"), *_pair)
for _label, _spec in layouts(2, 3).items():
    if _label not in ("0d", "empty"):
        case(f"@-{_label}", lambda tn, x, y: x @ y, _spec, f64(3))
case("@-empty", lambda tn, x, y: x @ y, f64(0, 3), f64(3))
fails("@-0d", lambda tn, x, y: x @ y, f64(), f64(2))
fails("@-number", lambda tn, x: x @ 2, f64(2))
fails("@-reflected-number", lambda tn, x: 2 @ x, f64(2))
fails("matmul-list", lambda tn, x: tn.matmul(x, [1.0, 2.0]), f64(2))

# ---- mm, bmm, dot ----

STRICT = {
    "mm": ((2, 3), (3, 2)),
    "bmm": ((2, 2, 3), (2, 3, 2)),
    "dot": ((3,), (3,)),
}
for _name, (_left, _right) in STRICT.items():
    case(f"{_name}-plain", function(_name), f64(*_left), f64(*_right))
    case(f"{_name}-method", method(_name), f64(*_left), f64(*_right))
    case(f"{_name}-float32", function(_name), f32(*_left), f32(*_right))
    case(f"{_name}-int64", function(_name), i64(*_left), i64(*_right))
    case(f"{_name}-strided", function(_name), f64(*_left).strided, f64(*_right).strided)
    case(f"{_name}-expanded", function(_name), f64(*_left).expanded, f64(*_right))
    case(f"{_name}-transposed", function(_name), f64(*_left).t, f64(*_right).t)
    case(f"{_name}-const", function(_name), f64(*_left), f64(*_right).const)
    fails(f"{_name}-dtype-mismatch", function(_name), f64(*_left), f32(*_right))
    fails(f"{_name}-wrong-dims", function(_name), f64(*_left), f64(2, 2, 2, 2))
    fails(f"{_name}-0d", function(_name), f64(), f64())
    fails(f"{_name}-sizes", function(_name), f64(*_left), f64(*[n + 2 for n in _right]))
case("mm-empty", function("mm"), f64(0, 3), f64(3, 2))
case("mm-empty-inner", function("mm"), f64(2, 0), f64(0, 2))
case("bmm-empty", function("bmm"), f64(0, 2, 3), f64(0, 3, 2))
case("bmm-empty-inner", function("bmm"), f64(2, 2, 0), f64(2, 0, 2))
case("dot-empty", function("dot"), f64(0), f64(0))
fails("mm-first-1d", function("mm"), f64(3), f64(3, 2))
fails("bmm-batches", function("bmm"), f64(2, 2, 3), f64(3, 3, 2))
fails("bmm-first-2d", function("bmm"), f64(2, 3), f64(2, 3, 2))

# ---- t, T, mT ----

for _layout, _spec in layouts(2, 3).items():
    case(f"t-{_layout}", method("t"), _spec)
    case(f"T-{_layout}", lambda tn, x: x.T, _spec)
case("t-1d", lambda tn, x: (x.t(), tn.t(x)), f64(3))
case("t-function", function("t"), f32(2, 3))
case("T-1d", lambda tn, x: x.T, f64(3))
case("mT-3d", lambda tn, x: x.mT, f64(2, 3, 1))
case("t-write", lambda tn, x: written(x.clone(), lambda y: y.t()), f64(2, 3))
case("T-write", lambda tn, x: written(x.clone(), lambda y: y.T), f64(2, 3))
case("T-3d", lambda tn, x: x.T, f64(2, 3, 1))
fails("t-3d", method("t"), f64(2, 2, 2))
fails("mT-1d", lambda tn, x: x.mT, f64(2))


def written(base, view):
    """Writes the first row of a view of `base`; both are results."""
    seen = view(base)
    seen[0].mul_(3)
    return base, seen


# ---- a saved value that changes ----

for _name, (_left, _right) in STRICT.items():
    TABLE.fails_backward(
        f"{_name}-then-changed",
        lambda tn, x, y, n=_name: changed(tn, x, y, n),
        *(f64(*_left), f64(*_right)),
    )
case(
    "mm-then-unneeded-changed", lambda tn, x, y: changed(tn, x, y, "mm"), f64(2, 2), f64(2, 2).const
)


def changed(tn, x, y, name):
    """The product of something that is written afterwards."""
    middle = x * 1
    result = getattr(tn, name)(middle, y)
    middle.zero_()
    return result
