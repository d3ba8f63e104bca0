"""Operations that reduce dimensions, and cumsum."""

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

TABLE = Table("reductions")
case, fails = TABLE.case, TABLE.fails

# name: whether it can take no dim, several dims, an empty input without a dim
REDUCTIONS = {
    "sum": (True, True, True),
    "mean": (True, True, True),
    "prod": (True, False, True),
    "amax": (True, True, False),
    "amin": (True, True, False),
    "max": (True, False, False),
    "min": (True, False, False),
    "argmax": (True, False, False),
    "argmin": (True, False, False),
    "var": (True, True, True),
    "std": (True, True, True),
    "norm": (True, True, True),
    "logsumexp": (False, True, False),
    "all": (True, True, True),
    "any": (True, True, True),
}
TIES = [0.0, 2.0, 2.0, -1.0, -1.0, 2.0]
SPECIAL = [float("nan"), float("inf"), float("-inf"), 0.0, 1.0]


def of(name, spec):
    """Inputs on which the operation is smooth."""
    return spec.distinct if name in ("max", "min", "amax", "amin", "argmax", "argmin") else spec


for _name, (_whole, _several, _empty) in REDUCTIONS.items():
    _all = layouts(2, 3)
    for _layout, _spec in _all.items():
        _spec = of(_name, _spec)
        if _whole and (_empty or _layout != "empty"):
            _second = not (_name in ("std", "norm") and _layout in ("0d", "empty"))
            case(f"{_name}-whole-{_layout}", function(_name), _spec, second_order=_second)
        if _layout == "0d":
            _second = _name != "std"
            case(f"{_name}-0d-dim", function(_name, dim=0), _spec, second_order=_second)
            continue
        case(f"{_name}-last-{_layout}", method(_name, dim=-1), _spec)
    case(f"{_name}-first", method(_name, 0), of(_name, f64(3, 2)))
    case(f"{_name}-middle-keepdim", function(_name, dim=1, keepdim=True), of(_name, f64(2, 3, 2)))
    case(f"{_name}-keepdim-empty-rest", function(_name, dim=0, keepdim=True), of(_name, f64(2, 0)))
    case(f"{_name}-float32", method(_name, dim=-1), of(_name, f32(2, 3)))
    case(f"{_name}-special", function(_name, dim=-1), f64(5).of(SPECIAL).const)
    case(
        f"{_name}-dtypes",
        lambda tn, *inputs, n=_name: each([lambda x=x: getattr(x, n)(dim=-1) for x in inputs]),
        *(make(2, 3).upto(3) if "float" not in d else make(2, 3) for d, make in DTYPES.items()),
    )
    if _whole:
        case(
            f"{_name}-dtypes-whole",
            lambda tn, *inputs, n=_name: each([lambda x=x: getattr(tn, n)(x) for x in inputs]),
            *(make(3).upto(3) if "float" not in d else make(3).const for d, make in DTYPES.items()),
        )
    if _several:
        case(f"{_name}-two-dims", function(_name, dim=(0, 2)), of(_name, f64(2, 3, 2)))
        case(
            f"{_name}-two-dims-keepdim",
            method(_name, dim=(-1, 0), keepdim=True),
            of(_name, f64(2, 1, 3)),
        )
        case(f"{_name}-list-of-dims", function(_name, dim=[1]), of(_name, f64(2, 3)))
        # PyTorch errs: logsumexp raises about its own output, the gradients of var are infinite.
        if _name not in ("logsumexp", "var", "std"):
            case(f"{_name}-no-dims", function(_name, dim=()), of(_name, f64(2, 3)))
        fails(f"{_name}-dim-twice", method(_name, dim=(0, -2)), f64(2, 3))
    fails(f"{_name}-dim-too-large", method(_name, dim=2), f64(2, 3))
    fails(f"{_name}-dim-too-small", method(_name, dim=-3), f64(2, 3))
    fails(f"{_name}-dim-of-0d", method(_name, dim=1), f64())
    if _name != "norm":  # PyTorch: "object of type 'float' has no len()"
        fails(f"{_name}-dim-float", method(_name, dim=1.5), f64(2, 3))

# ---- max, min, argmax: values and indices, ties ----

for _name in ("max", "min"):
    case(f"{_name}-named", lambda tn, x, n=_name: named(getattr(tn, n)(x, 1)), f64(2, 3).distinct)
    case(f"{_name}-ties-whole", function(_name), f64(6).of(TIES))
    case(f"{_name}-ties-dim", function(_name, 0), f64(6).of(TIES))
    fails(f"{_name}-empty", method(_name), f64(0))
    fails(f"{_name}-empty-dim", method(_name, 0), f64(0, 3))
for _name in ("amax", "amin", "argmax", "argmin"):
    case(f"{_name}-ties-whole", function(_name), f64(6).of(TIES))
    case(f"{_name}-ties-dim", function(_name, dim=0), f64(6).of(TIES))
    fails(f"{_name}-empty", method(_name), f64(0))
    fails(f"{_name}-empty-dim", method(_name, dim=0), f64(0, 3))
case(
    "argmax-nan",
    lambda tn, x: (x.argmax(), x.max(0), x.argmin()),
    f64(4).of([1, float("nan"), 3, 2]).const,
)
case("argmax-keepdim", function("argmax", dim=0, keepdim=True), f64(2, 3))


def named(pair):
    """The fields of a named result and its two parts by position."""
    values, indices = pair
    return pair.values, pair.indices, values, indices


# ---- dtype, correction, order of the norm ----

case("sum-dtype", lambda tn, x: x.sum(dtype=tn.float64), f32(2, 3))
case("sum-dtype-dim", lambda tn, x: tn.sum(x, 1, dtype=tn.float32), f64(2, 3))
case("sum-int-to-float", lambda tn, x: x.sum(dtype=tn.float32), i64(2, 3))
case("sum-uint8-does-not-wrap", lambda tn, x: x.sum(), u8(4).of(200))
case("mean-dtype", lambda tn, x: x.mean(dtype=tn.float32), i64(2, 3))
case("prod-dtype", lambda tn, x: x.prod(dtype=tn.float64), i64(4))
case("cumsum-dtype", lambda tn, x: x.cumsum(0, dtype=tn.float64), f32(4))
case("prod-one-zero", lambda tn, x: (x.prod(), x.prod(0)), f64(4).of([2, 0, 3, -1]))
case("prod-two-zeros", lambda tn, x: (x.prod(), x.prod(0)), f64(4).of([2, 0, 0, -1]))
for _correction in (0, 1, 2, 3):
    case(f"var-correction-{_correction}", function("var", dim=1, correction=_correction), f64(2, 4))
    case(f"std-correction-{_correction}", function("std", dim=1, correction=_correction), f64(2, 4))
case("var-unbiased", lambda tn, x: (x.var(unbiased=False), x.var(1, unbiased=True)), f64(2, 3))
case("std-unbiased", lambda tn, x: (x.std(unbiased=False), x.std(1, unbiased=True)), f64(2, 3))
case("var-positional-unbiased", lambda tn, x: (x.var(False), x.var(1, False, True)), f64(2, 3))
case("var-too-few", lambda tn, x: x.var(dim=1), f64(2, 1))
case("var-constant", lambda tn, x: x.var(), f64(3).of(2))
case("std-constant", lambda tn, x: x.std(), f64(3).of(2), second_order=False)
for _order in (0, 1, 2, 3, 0.5, -1, float("inf"), float("-inf"), "fro"):
    case(f"norm-order-{_order}", function("norm", _order), f64(5))
    case(f"norm-order-{_order}-dim", function("norm", _order, 1, True), f64(2, 3))
case("norm-keywords", lambda tn, x: x.norm(p=1, dim=(0, 1), keepdim=True), f64(2, 3))
case("norm-of-zero", function("norm"), f64(3).of(0), second_order=False)
case("norm-dtype", lambda tn, x: x.norm(dtype=tn.float64), f32(3))
fails("norm-unknown-order", function("norm", "max"), f64(2, 3))
fails("norm-int64", function("norm"), i64(3))
fails("mean-int64", function("mean"), i64(3))
fails("mean-bool", function("mean"), mask(3))
fails("var-int64", function("var"), i64(3))
fails("std-int64", function("std"), i64(3))
fails("logsumexp-no-dim", function("logsumexp"), f64(3))
case("logsumexp-large", function("logsumexp", 0), f64(3).of([1000, 1001, -1000]))
case("logsumexp-minus-infinity", function("logsumexp", 0), f64(2).of(float("-inf")).const)
case("logsumexp-int64", function("logsumexp", 0), i64(3))
case("sum-of-nothing", lambda tn, x: (x.sum(), x.sum(0), x.prod(), x.prod(0)), f64(0, 2))
case("mean-of-nothing", lambda tn, x: (x.mean(), x.mean(0)), f64(0, 2))
case("sum-bool", lambda tn, x: (x.sum(), x.sum(0), x.prod()), mask(4))
case("sum-twice", lambda tn, x: x.sum(0).sum(), f64(2, 3))
case("sum-times-self", lambda tn, x: x * x.sum(), f64(3))
case("sum-float32-many", lambda tn, x: x.sum(), f32(4096).of(0.1).const)
case("all-uint8", lambda tn, x: (x.all(), x.any(), x.all(0)), u8(3))
case("all-nan", lambda tn, x: (x.all(), x.any()), f64(2).of(float("nan")).const)

# ---- cumsum ----

for _layout, _spec in layouts(2, 3).items():
    case(f"cumsum-{_layout}", function("cumsum", 0), _spec)
case("cumsum-last", method("cumsum", -1), f64(2, 3))
case("cumsum-keyword", function("cumsum", dim=1), f32(2, 3, 2))
case(
    "cumsum-dtypes",
    lambda tn, *xs: [x.cumsum(0) for x in xs],
    *[m(4).const for m in DTYPES.values()],
)
case("cumsum_-inplace", inplace("cumsum_", 1), f64(2, 3))
fails("cumsum-no-dim", function("cumsum"), f64(2))
fails("cumsum-dim-too-large", function("cumsum", 2), f64(2, 3))

# ---- a saved value that changes ----

for _name in ("prod", "norm", "var", "std", "amax", "max"):
    TABLE.fails_backward(f"{_name}-then-changed", lambda tn, x, n=_name: changed(tn, x, n), f64(3))
for _name in ("sum", "mean"):
    case(f"{_name}-then-changed", lambda tn, x, n=_name: changed(tn, x, n), f64(3))


def changed(tn, x, name):
    """The reduction of something that is written afterwards."""
    middle = x * 1
    result = getattr(tn, name)(middle)
    middle.mul_(2)
    return result
