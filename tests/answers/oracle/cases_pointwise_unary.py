"""Operations on one tensor, element by element; clamp and round with their arguments."""

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
from tests.unit.ops.elementwise import ELEMENTARY

TABLE = Table("pointwise_unary")
case, fails = TABLE.case, TABLE.fails

FLOAT_ONLY = [n for n in ELEMENTARY if n not in ("abs", "sign", "relu", "floor", "round", "neg")]
SPECIAL = [float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 1.0, -1.0, 1e300]
KINKS = [-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.5]


def within(domain: str, spec: Input) -> Input:
    return spec if domain in ("normal", "off_integers") else getattr(spec, domain)


def integers(name: str):
    """The operation on every dtype that is not floating."""
    return lambda tn, *inputs: each([lambda x=x: getattr(tn, name)(x) for x in inputs])


for _name, _domain in ELEMENTARY.items():
    for _layout, _spec in layouts(2, 3).items():
        case(f"{_name}-{_layout}", function(_name), within(_domain, _spec))
    case(f"{_name}-float32-method", method(_name), within(_domain, f32(2, 3)))
    case(f"{_name}-const", function(_name), within(_domain, f32(3)).const)
    case(f"{_name}-special", function(_name), f64(8).of(SPECIAL).const)
    case(
        f"{_name}-integers",
        integers(_name),
        *(i64(3).upto(4), i32(3).upto(4), u8(3).upto(4), mask(3), i64(), i64(0)),
    )
    for _layout, _spec in layouts(2, 3).items():
        case(f"{_name}_-inplace-{_layout}", inplace(f"{_name}_"), within(_domain, _spec))
    case(f"{_name}_-inplace-view", lambda tn, x, n=_name: partly(tn, x, n), f64(2, 4).positive)

for _name in FLOAT_ONLY:
    fails(f"{_name}_-inplace-int64", inplace(f"{_name}_"), i64(3))


def partly(tn, x, name):
    """Writes a strided view of a copy of x; the rest of the copy keeps its history."""
    written = x.clone()
    getattr(written[:, ::2], f"{name}_")()
    return written


for _name in ("abs", "sign", "relu", "floor", "round"):
    case(f"{_name}-kinks", function(_name), f64(8).of(KINKS))

case("neg-operator", lambda tn, x: -x, f64(2, 3))
case("neg-positive-operator", lambda tn, x: +x, f64(2, 3))
case("abs-operator", lambda tn, x: abs(x), f64(2, 3))
case("round-decimals", lambda tn, x: tn.round(x, decimals=1), f64(5).of([0.25, 0.35, -1.449, 2, 9]))
case("round-half-to-even", lambda tn, x: x.round(), f64(6).of([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]))
case("sign-negative-zero", lambda tn, x: 1 / tn.sign(x).abs(), f64(2).of([-0.0, 0.0]).const)
case("sqrt-at-zero", function("sqrt"), f64(2).of([0.0, 4.0]), second_order=False)
case("log-at-zero", function("log"), f64(2).of([0.0, 1.0]), second_order=False)
case("abs-no-grad", lambda tn, x: no_grad(tn, lambda: x.abs()), f64(2))
case("exp-large-float32", function("exp"), f32(4).of([88.0, 89.0, -110.0, 0.0]).const)
case("sigmoid-tails", function("sigmoid"), f64(6).of([-800, -40, -1e-9, 1e-9, 40, 800]))
case("tanh-tails", function("tanh"), f64(6).of([-800, -20, -1e-9, 1e-9, 20, 800]))
case("log1p-near-zero", function("log1p"), f64(3).of([1e-12, -1e-12, 1e-300]))
case("expm1-near-zero", function("expm1"), f64(3).of([1e-12, -1e-12, 1e-300]))


def no_grad(tn, call):
    with tn.no_grad():
        return call()


# ---- clamp ----

BOUNDS = {
    "both": (-0.5, 0.5),
    "int-bounds": (-1, 1),
    "crossed": (0.5, -0.5),
}
for _label, (_low, _high) in BOUNDS.items():
    case(f"clamp-{_label}", lambda tn, x, a=_low, b=_high: tn.clamp(x, a, b), f64(2, 3))
for _layout, _spec in layouts(2, 3).items():
    case(f"clamp-min-{_layout}", lambda tn, x: x.clamp(min=0), _spec)
case("clamp-max", lambda tn, x: x.clamp(max=0.25), f64(2, 3))
case("clamp-float32", lambda tn, x: x.clamp(-0.5, 0.5), f32(2, 3))
case("clamp-kinks", lambda tn, x: x.clamp(-0.5, 1.5), f64(8).of(KINKS))
case("clamp-special", lambda tn, x: x.clamp(-2, 2), f64(8).of(SPECIAL).const)
case("clamp-int64", lambda tn, x: x.clamp(0, 2), i64(5))
case("clamp-int64-float-bound", lambda tn, x: x.clamp(0, 1.5), i64(5))
case("clamp-uint8", lambda tn, x: x.clamp(max=4), u8(5))
case("clamp-tensors", lambda tn, x, a, b: tn.clamp(x, a, b), f64(2, 3), f64(3), f64(2, 1))
case("clamp-tensor-min", lambda tn, x, a: tn.clamp(x, min=a), f64(2, 3), f64(1, 3))
case("clamp-tensor-max", lambda tn, x, a: x.clamp(max=a), f64(2, 3), f64())
for _layout, _spec in layouts(2, 3).items():
    case(f"clamp_-inplace-{_layout}", inplace("clamp_", -0.5, 0.5), _spec)
case("clamp_-inplace-min", inplace("clamp_", min=0), f64(2, 3))
case("clamp_-inplace-int", inplace("clamp_", 0, 2), i64(4))
fails("clamp-no-bound", lambda tn, x: tn.clamp(x), f64(2))
fails("clamp-string", lambda tn, x: tn.clamp(x, "a"), f64(2))
case("clamp-bool", lambda tn, x: tn.clamp(x, 0, 1), mask(2))

# ---- leaves ----

for _name in ("exp", "relu", "sigmoid", "neg", "sqrt"):
    fails(f"{_name}_-leaf", method(f"{_name}_"), f64(2))
fails("clamp_-leaf", lambda tn, x: x.clamp_(0, 1), f64(2))
fails("exp_-view-of-leaf", lambda tn, x: x[0].exp_(), f64(2, 2))
fails("exp_-expanded", lambda tn, x: x.clone().expand(3, 2).exp_(), f64(2))

# ---- a saved value that changes ----

for _name in ("exp", "sigmoid", "tanh", "relu", "sqrt", "rsqrt", "log", "sin", "abs"):
    TABLE.fails_backward(
        f"{_name}-then-changed",
        lambda tn, x, n=_name: changed_after(tn, x, n),
        f64(3).positive,
    )
for _name in ("neg", "floor", "sign"):
    case(f"{_name}-then-changed", lambda tn, x, n=_name: changed_after(tn, x, n), f64(3).positive)


def changed_after(tn, x, name):
    """Changes both the operation's input and its output after the operation."""
    middle = x * 1
    result = getattr(tn, name)(middle)
    middle.mul_(2)
    result.mul_(2)
    return result


# ---- wrong arguments ----

fails("exp-string", lambda tn: tn.exp("a"))
fails("exp-number", lambda tn: tn.exp(1.5))
fails("exp-list", lambda tn: tn.exp([1.0]))
fails("relu-bool", lambda tn, x: tn.relu(x), mask(2))
fails("neg-bool", lambda tn, x: -x, mask(2))
fails("square_-bool", lambda tn, x: x.square_(), mask(2))
case("square-bool", lambda tn, x: x.square(), mask(2))
