"""Activations of `nn.functional`: layouts, in-place names, refusals, what is random."""

import math

from tests.tools.recorded.rows import Table, each, f32, f64, function, i64, layouts, mask

TABLE = Table("activations")
case, fails = TABLE.case, TABLE.fails

FAR = [-800.0, -30.0, -1e-9, 0.0, 1e-9, 30.0, 800.0, math.inf, -math.inf, math.nan]
ELEMENTWISE = {
    "hardshrink": {"lambd": 0.7},
    "softshrink": {"lambd": 0.7},
    "rrelu": {"lower": 0.1, "upper": 0.3},
    "hardtanh": {"min_val": -0.5, "max_val": 1.0},
    "relu6": {},
    "hardswish": {},
    "threshold": {"threshold": 0.3, "value": -2.0},
    "celu": {"alpha": 0.5},
    "selu": {},
    "mish": {},
}
for _name, _options in ELEMENTWISE.items():
    _call = function(f"nn.functional.{_name}", **_options)
    for _layout, _spec in layouts(2, 3).items():
        case(f"{_name}-{_layout}", _call, _spec)
    case(f"{_name}-float32", _call, f32(2, 3))
    case(f"{_name}-far", _call, f64(10).of(FAR).const)
    case(f"{_name}-of-int64", lambda tn, x, c=_call: each([lambda: c(tn, x)]), i64(3))
for _layout, _spec in layouts(2, 3).items():
    case(f"hardsigmoid-{_layout}", function("nn.functional.hardsigmoid"), _spec.const)

# ---- written to the input ----

IN_PLACE = {
    "relu_": (),
    "leaky_relu_": (0.2,),
    "rrelu_": (0.1, 0.3),
    "threshold_": (0.3, -2.0),
    "hardtanh_": (-0.5, 1.0),
    "elu_": (0.5,),
    "selu_": (),
    "celu_": (0.5,),
}


def written(name, *args):
    """The result, and whether it is what was written."""

    def call(tn, x):
        input = x * 1
        result = getattr(tn.nn.functional, name)(input, *args)
        return result, result is input

    return call


for _name, _args in IN_PLACE.items():
    case(f"{_name}-written", written(_name, *_args), f64(2, 3))
    case(f"{_name}-strided", written(_name, *_args), f64(2, 3).strided)
    fails(f"{_name}-leaf", function(f"nn.functional.{_name}", *_args), f64(2, 3))
    TABLE.fails_backward(
        f"{_name}-saved",
        lambda tn, x, n=_name, a=_args: changed(tn, x, n, a),
        f64(2, 3),
    )


def changed(tn, x, name, args):
    """Multiplied by itself, and written after that."""
    input = x * 1
    product = input * input
    getattr(tn.nn.functional, name)(input, *args)
    return product


# ---- softmin, glu ----

for _layout, _spec in layouts(2, 4).items():
    case(f"softmin-{_layout}", function("nn.functional.softmin", dim=-1), _spec)
    if _layout != "0d":
        case(f"glu-{_layout}", function("nn.functional.glu"), _spec)
case("softmin-dtype", lambda tn, x: tn.nn.functional.softmin(x, 0, dtype=tn.float64), f32(3))
case("softmin-implicit", function("nn.functional.softmin"), f64(2, 3))
case("glu-first", function("nn.functional.glu", 0), f64(4, 3))
fails("glu-odd", function("nn.functional.glu"), f64(2, 3))
fails("glu-0d", function("nn.functional.glu"), f64())
fails("glu-int64", function("nn.functional.glu"), i64(2, 4))
fails("glu-dim", function("nn.functional.glu", 2), f64(2, 4))
fails("softmin-int64", function("nn.functional.softmin", dim=0), i64(3))

# ---- refusals ----

fails("softshrink-negative", function("nn.functional.softshrink", -1.0), f64(3))
fails("hardshrink-bool", function("nn.functional.hardshrink"), mask(3))
fails("rrelu-order", function("nn.functional.rrelu", 0.5, 0.1), f64(3))
fails("rrelu-infinite", function("nn.functional.rrelu", -math.inf), f64(3))
fails("hardtanh-order", function("nn.functional.hardtanh", 1.0, -1.0), f64(3))
fails("celu-zero", function("nn.functional.celu", 0.0), f64(3))

# ---- what is random ----


def leaks(tn, x):
    """Whether the slopes below 0 are spread over their bounds, and the rest is unchanged."""
    x = x.abs().flatten()
    y = tn.nn.functional.rrelu(-x, 0.2, 0.4, training=True)
    slopes = (-y / x).detach()
    unchanged = bool((tn.nn.functional.rrelu(x, 0.2, 0.4, training=True) == x).all())
    low, high = float(slopes.min()), float(slopes.max())
    return [
        unchanged,
        0.2 <= low < 0.21,
        0.39 < high <= 0.4,
        abs(float(slopes.mean()) - 0.3) < 0.005,
        abs(float(slopes.std()) - 0.2 / math.sqrt(12)) < 0.005,
    ]


def gradient_is_slope(tn, x):
    """The slope that was drawn is that of the derivative."""
    y = tn.nn.functional.rrelu(x, training=True)
    (g,) = tn.autograd.grad(y.sum(), x)
    return bool(((g * x - y).abs() < 1e-12).all())


def choices(tn, x):
    """How often each of three classes is drawn."""
    logits = x.repeat(4000, 1)
    hard = tn.nn.functional.gumbel_softmax(logits, hard=True)
    often = hard.detach().mean(0) - x.softmax(0)
    one_hot = bool(((hard == 0) | ((hard - 1).abs() < 1e-12)).all())
    return one_hot, bool((often.abs() < 0.04).all())


def soft_choices(tn, x):
    """Sums to 1 along the dimension; nearly one-hot at a low temperature."""
    warm = tn.nn.functional.gumbel_softmax(x, tau=2.0, dim=0)
    cold = tn.nn.functional.gumbel_softmax(x, tau=1e-3, dim=0)
    sums = bool(((warm.sum(0) - 1).abs() < 1e-12).all())
    return sums, bool((cold.amax(0) > 0.9).double().mean() > 0.9), warm.dtype == x.dtype


def straight_through(tn, x):
    """The gradient of a hard draw is one of softmax: its rows sum to 0."""
    hard = tn.nn.functional.gumbel_softmax(x, hard=True, dim=1)
    (g,) = tn.autograd.grad((hard * hard.detach()).sum(), x)
    return bool((g.sum(1).abs() < 1e-12).all()), bool((g != 0).any())


case("rrelu-draws", leaks, f64(100, 100).const)
case("rrelu-derivative", gradient_is_slope, f64(4, 5))
case("gumbel_softmax-hard", choices, f64(3))
case("gumbel_softmax-soft", soft_choices, f64(3, 50))
case("gumbel_softmax-straight", straight_through, f64(4, 3))
case("gumbel_softmax-empty", function("nn.functional.gumbel_softmax", dim=1), f64(0, 3))
fails("gumbel_softmax-int64", function("nn.functional.gumbel_softmax"), i64(3))
fails("gumbel_softmax-dim", function("nn.functional.gumbel_softmax", dim=2), f64(2, 3))

# ---- infinity and NaN, in whole vectors of PyTorch's loops ----

ENDS = [math.nan, math.inf, -math.inf, 1.0] * 16
for _name in (
    "relu6", "hardtanh", "hardshrink", "softshrink", "hardswish", "elu", "selu", "celu", "gelu",
    "leaky_relu", "softplus", "silu", "logsigmoid",
):  # fmt: skip
    for _make in (f32, f64):
        _input = _make(64).of(ENDS)
        case(f"{_name}-ends-{_make.__name__}", function(f"nn.functional.{_name}"), _input)
