"""Functions of one and two tensors beyond arithmetic: angles, logarithms, special functions."""

from dataclasses import replace

from tests.tools.recorded.rows import (
    Input,
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
from tests.unit.ops.elementwise import FUNCTIONS

TABLE = Table("functions")
case, fails = TABLE.case, TABLE.fails

NAN, INF = float("nan"), float("inf")
SPECIAL = [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1e300]
WIDE = [-30.0, -8.5, -3.0, -1.75, -0.46, -1e-5, 1e-5, 0.3, 0.9, 2.5, 7.0, 12.5, 24.0, 40.0]
INSIDE = [-1 + 1e-9, -0.999, -0.6, -1e-4, 1e-9, 0.2, 0.49, 0.51, 0.9, 0.9999, 1 - 1e-12]

OTHER_NAMES = {
    "special.gammaln": "positive",
    "special.psi": "positive",
    "special.expit": "normal",
}
NO_INPLACE_DERIVATIVE = ("acosh", "asinh", "atanh", "arctanh", "arcsinh")  # tinynet has it
VALUES = {
    "above": [1.2, 2.5, 3.75, 1.01, 5.5, 30.0],
    "part": [0.1, 0.45, 0.93, 0.5, 0.75, 0.02],
}


def within(domain: str, spec: Input) -> Input:
    if domain in VALUES:
        row = VALUES[domain]
        return replace(spec, values=lambda random, shape: random.choice(row, shape))
    return spec if domain in ("normal", "off_integers") else getattr(spec, domain)


# ---- one tensor ----

for _path, _domain in {**FUNCTIONS, **OTHER_NAMES}.items():
    _name = _path.removeprefix("special.")
    # PyTorch's trigamma, their second derivative, is right to 1e-9 only
    _second = _name not in ("lgamma", "gammaln", "digamma", "psi")
    for _layout, _spec in layouts(2, 3).items():
        _spec = within(_domain, _spec)
        _spec = _spec if _second else replace(_spec, dtype="float32")
        case(f"{_name}-{_layout}", function(_path), _spec)
    case(f"{_name}-float32", function(_path), within(_domain, f32(2, 3)))
    _special = SPECIAL[3:] if _name in ("i0", "i1") else SPECIAL  # PyTorch: NaN at infinity
    case(f"{_name}-special", function(_path), f64(len(_special)).of(_special).const)
    case(f"{_name}-wide", function(_path), f64(len(WIDE)).of(WIDE).const)
    if _second:
        case(f"{_name}-inside", function(_path), f64(len(INSIDE)).of(INSIDE).const)
    case(
        f"{_name}-integers",
        lambda tn, *xs, n=_path: each([lambda x=x: function(n)(tn, x) for x in xs]),
        *(i64(3).upto(4), i32(3).upto(4), u8(3).upto(4), mask(3), i64(), i64(0)),
    )
    if _name == _path:
        _spec = within(_domain, f64(2, 3))
        _spec = _spec.const if _name in NO_INPLACE_DERIVATIVE or not _second else _spec
        case(f"{_name}_-inplace", inplace(f"{_name}_"), _spec)
        case(f"{_name}_-inplace-strided", inplace(f"{_name}_"), _spec.strided)
        case(f"{_name}-method", method(_name), within(_domain, f32(2, 3)))
        if _name not in ("frac", "sgn"):
            fails(f"{_name}_-inplace-int64", inplace(f"{_name}_"), i64(3))

case("sinc-at-zero", function("sinc"), f64(2).of([0.0, 1.0]), second_order=False)
case("logit-eps", function("logit", eps=0.2), f64(4).of([0.0, 0.1, 0.7, 1.0]))
case("logit-outside", function("logit"), f64(2).of([-0.5, 1.5]), second_order=False)
case("lgamma-negative", function("lgamma"), f64(5).of([-0.5, -1.5, -20.3, -3.0, 0.0]).const)
case("digamma-negative", function("digamma"), f64(5).of([-0.5, -1.5, -20.3, -3.0, -0.0]).const)
case("digamma-gradient-negative", function("digamma"), f32(2).of([-0.3, -2.7]))
for _n in range(4):
    case(f"polygamma-{_n}", lambda tn, x, n=_n: tn.polygamma(n, x), f32(2, 3).positive)
    case(f"polygamma-{_n}-negative", lambda tn, x, n=_n: x.polygamma(n), f32(2).of([-0.3, -2.6]))
case("polygamma-float32", method("polygamma", 2), f32(3).positive)
case("polygamma-int64", method("polygamma", 1), i64(3).upto(5, 1))
case("polygamma_-inplace", inplace("polygamma_", 1), f32(3).positive)
case("polygamma-special", lambda tn, x: tn.special.polygamma(1, x), f32(3).positive)
fails("polygamma-minus-one", method("polygamma", -1), f64(3))
for _p in (1, 2, 4):
    case(f"mvlgamma-{_p}", function("mvlgamma", _p), f32(3).of([2.1, 3.5, 8.0]))
case("mvlgamma-int64", function("special.multigammaln", 2), i64(3).upto(9, 2))
case("mvlgamma_-inplace", inplace("mvlgamma_", 2), f32(3).of([2.1, 3.5, 8.0]))
fails("mvlgamma-p-zero", function("mvlgamma", 0), f64(3).positive)
case("signbit-float", function("signbit"), f64(len(SPECIAL)).of(SPECIAL).const)
case("signbit-others", lambda tn, *xs: [tn.signbit(x) for x in xs], i64(4), u8(3), mask(2))
case("positive-float", lambda tn, x: tn.positive(x) is x, f64(3))
fails("positive-bool", function("positive"), mask(3))
case("frexp-parts", function("frexp"), f64(6).of([0.0, 8.0, -3.0, 0.1, 1e-310, 1e300]))
case("frexp-named", lambda tn, x: tn.frexp(x).exponent, f32(4).of([NAN, INF, -INF, 0.75]).const)
fails("frexp-int64", function("frexp"), i64(3))
case("bitwise_not_-inplace", inplace("bitwise_not_"), i64(3))
case("logical_not_-inplace", inplace("logical_not_"), f64(3).const)
for _name in ("isposinf", "isneginf", "isreal"):
    case(f"{_name}-float", function(_name), f64(len(SPECIAL)).of(SPECIAL).const)
    case(f"{_name}-int64", function(_name), i64(3))

# ---- other names ----

for _name in ("arccos", "arcsin", "arctanh", "arctan", "arcsinh", "absolute", "negative", "fix"):
    _spec = f64(2, 3).unit.const if _name in NO_INPLACE_DERIVATIVE else f64(2, 3).unit
    case(f"{_name}-alias", function(_name), _spec)
    case(f"{_name}_-inplace", inplace(f"{_name}_"), _spec)
case("arccosh-alias", function("arccosh"), f64(2, 3).of(1.5))
case("arctan2-alias", function("arctan2"), f64(3), f64(3))
for _name in ("greater", "greater_equal", "less", "less_equal", "not_equal"):
    case(f"{_name}-alias", function(_name), i64(2, 3), i64(3))
    case(f"{_name}_-inplace", inplace(f"{_name}_", 1), i64(2, 3))
for _name in ("divide", "multiply", "subtract", "true_divide"):
    case(f"{_name}_-inplace", inplace(f"{_name}_"), f64(2, 3), f64(3))
case("div_-rounded", inplace("div_", rounding_mode="floor"), f64(2, 3), f64(3))
case("swapdims-alias", function("swapdims", 0, 1), f64(2, 3))
for _name in ("exp_", "abs_", "sqrt_", "clamp_min_", "zero_", "trunc_"):
    _args = (0.5,) if _name == "clamp_min_" else ()
    case(
        f"{_name}-function",
        lambda tn, x, n=_name, a=_args: getattr(tn, n)(x.clone(), *a),
        f64(3).positive,
    )

# ---- two tensors ----

PAIRS = {
    "atan2": "normal",
    "hypot": "normal",
    "copysign": "normal",
    "nextafter": "normal",
    "ldexp": "normal",
    "logaddexp": "normal",
    "logaddexp2": "normal",
    "xlogy": "positive",
    "fmod": "normal",
    "fmax": "distinct",
    "fmin": "distinct",
    "heaviside": "normal",
    "float_power": "positive",
    "igamma": "positive",
    "igammac": "positive",
    "special.xlog1py": "positive",
    "special.zeta": "above",
}
CONSTANT = ("igamma", "igammac", "special.zeta", "heaviside")  # no derivative by the first
IN_PLACE = ("atan2", "hypot", "copysign", "nextafter", "ldexp", "xlogy", "fmod", "float_power")
CORNERS = [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 2.5]


def over(domain: str, *shape: int) -> Input:
    return within(domain, f64(*shape))


for _name, _domain in PAIRS.items():
    _short = _name.removeprefix("special.")
    _first, _second = over(_domain, 2, 3), over(_domain, 2, 3)
    if _name in CONSTANT:
        _first = _first.const
    if _name == "heaviside":
        _second = _second.const
    case(f"{_short}-same", function(_name), _first, _second)
    case(f"{_short}-broadcast", function(_name), _first, over(_domain, 3).const)
    case(f"{_short}-0d", function(_name), _first, over(_domain).const)
    case(f"{_short}-empty", function(_name), over(_domain, 0, 3).const, over(_domain, 3).const)
    case(f"{_short}-transposed", function(_name), _first.t, _second.strided.const)
    case(f"{_short}-float32", function(_name), f32(3).positive.const, f32(3).positive.const)
    if _short not in ("zeta", "igamma", "igammac"):
        case(
            f"{_short}-corners",
            function(_name),
            f64(8, 1).of([[x] for x in CORNERS]).const,
            f64(8).of(CORNERS).const,
        )
    case(
        f"{_short}-kinds",
        lambda tn, a, b, c, d, n=_name: each(
            [lambda x=x, y=y: function(n)(tn, x, y) for x in (a, b, c, d) for y in (a, b, c, d)]
        ),
        f32(2).of([1.5, 2.5]).const,
        i64(2).upto(4, 1),
        mask(2).of(True),
        i64().of(2),
    )
    fails(f"{_short}-shapes", function(_name), f64(2, 3), f64(4))
    fails(f"{_short}-string", lambda tn, x, n=_name: function(n)(tn, x, "a"), f64(2))
    if _name in IN_PLACE:
        case(f"{_short}_-inplace", inplace(f"{_name}_"), _first, _second)
for _name in ("copysign", "xlogy", "fmod", "float_power", "special.xlog1py"):
    _short = _name.removeprefix("special.")
    case(f"{_short}-number", function(_name, 1.5), f64(3).positive)
    case(f"{_short}-int-number", function(_name, 2), i64(3).upto(6, 1))
    case(f"{_short}-int-float-number", function(_name, 2.5), i64(3).upto(6, 1))
for _name in ("xlogy", "float_power"):
    case(f"{_name}-number-first", lambda tn, x, n=_name: getattr(tn, n)(2.0, x), f64(3).positive)
for _name in ("atan2", "hypot", "fmax", "nextafter", "gcd", "logaddexp"):
    fails(f"{_name}-number", function(_name, 1.5), f64(3))
case("igamma-wide", function("igamma"), f64(4).of([0.1, 1.0, 12.5, 150.0]).const, f64(1).of(13.0))
case("igammac-wide", function("igammac"), f64(4).of([0.1, 1.0, 12.5, 150.0]).const, f64(1).of(13.0))
case(
    "igamma-corners",
    lambda tn, a, x: (tn.igamma(a, x), tn.igammac(a, x)),
    f64(5, 1).of([[v] for v in (0.0, 1.0, -1.0, INF, 2.5)]).const,
    f64(5).of([0.0, 1.0, -1.0, INF, 30.0]).const,
)
TABLE.fails_backward("igamma-by-order", function("igamma"), f64(2).positive, f64(2).positive)
TABLE.fails_backward("heaviside-backward", function("heaviside"), f64(2), f64(2))
TABLE.fails_backward(
    "ldl_factor-backward", lambda tn, x: tn.linalg.ldl_factor(x @ x.mT)[0], f64(2, 2)
)
fails("heaviside-kinds-differ", function("heaviside"), f64(2), f32(2))
fails("float_power_-float32", inplace("float_power_", 2), f32(2))
for _name in ("gcd", "lcm", "bitwise_left_shift", "bitwise_right_shift"):
    case(f"{_name}-int64", function(_name), i64(2, 3).upto(20, -20), i64(3).upto(9))
    case(f"{_name}-kinds", lambda tn, x, y, n=_name: getattr(tn, n)(x, y), i32(3), u8(3))
    case(f"{_name}_-inplace", inplace(f"{_name}_"), i64(2, 3), i64(3).upto(5))
    fails(f"{_name}-bool", function(_name), mask(3), mask(3))
    fails(f"{_name}-float", function(_name), f64(3), i64(3))
case("bitwise_left_shift-operators", lambda tn, x: (x << 2, x >> 1, 3 << x), i64(4).upto(9))
case("bitwise_left_shift-far", lambda tn, x: (x << 64, x >> 64, x << -1, x >> -1), i64(4))
case("fmod-signs", function("fmod"), i64(4).of([-7, 7, -7, 7]), i64(4).of([3, -3, -3, 3]))
case("fmod-by-zero", function("fmod", 0), f64(2).const)
fails("fmod-int-by-zero", function("fmod", 0), i64(2))
fails("fmod-bool", function("fmod"), mask(2), mask(2))

# ---- nearly the same ----

NEAR = [1.0, 1.0 + 1e-6, 1.1, NAN, INF, -INF, 0.0, 1e-9]
case(
    "isclose-pairs",
    lambda tn, x, y: [
        tn.isclose(x, y).tolist(),
        tn.isclose(x, y, equal_nan=True).tolist(),
        x.isclose(y, 0.2, 0.3).tolist(),
    ],
    f64(8, 1).of([[x] for x in NEAR]).const,
    f64(8).of(NEAR).const,
)
case("isclose-int64", lambda tn, x, y: tn.isclose(x, y, rtol=0.5).tolist(), i64(3), i64(3))
case("isclose-exact", function("isclose", rtol=0, atol=0), i64(3).of(2), i64(3).of([1, 2, 3]))
case("isclose-bool", lambda tn, x, y: x.isclose(y).tolist(), mask(3), mask(3))
fails("isclose-negative-rtol", function("isclose", rtol=-1), f64(3), f64(3))
fails("isclose-negative-atol", function("isclose", atol=-1), f64(3), f64(3))
fails("isclose-kinds", function("isclose"), f64(3), f32(3))
case("allclose-true", lambda tn, x: tn.allclose(x, x + 1e-9), f64(3).const)
case("allclose-false", lambda tn, x: x.allclose(x + 1), f64(3).const)
case("allclose-nan", lambda tn, x: x.allclose(x, equal_nan=True), f64(2).of([NAN, 1.0]).const)
fails("allclose-kinds", function("allclose"), f64(3), f32(3))
case("equal-values", lambda tn, x: (tn.equal(x, x.clone()), x.equal(x + 1)), f64(3).const)
case("equal-shapes", lambda tn, x: tn.equal(x, x[:2]), f64(3).const)
case("equal-nan", lambda tn, x: x.equal(x.clone()), f64(1).of(NAN).const)
case("equal-kinds", lambda tn, x, y: tn.equal(x, y), f64(3).of(1).const, f32(3).of(1).const)
