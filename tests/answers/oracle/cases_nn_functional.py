"""softmax and log_softmax, and the functions of `nn.functional`."""

from tests.tools.recorded.rows import Table, each, f32, f64, function, i64, layouts, method

TABLE = Table("nn_functional")
case, fails = TABLE.case, TABLE.fails

# ---- softmax, log_softmax ----

for _name in ("softmax", "log_softmax"):
    for _layout, _spec in layouts(2, 3).items():
        case(f"{_name}-{_layout}", function(_name, -1), _spec)
    case(f"{_name}-first", method(_name, 0), f64(2, 3))
    case(f"{_name}-middle", function(_name, dim=1), f64(2, 3, 2))
    case(f"{_name}-functional", function(f"nn.functional.{_name}", dim=-1), f64(2, 3))
    case(f"{_name}-float32", method(_name, dim=1), f32(2, 3))
    case(f"{_name}-dtype", lambda tn, x, n=_name: getattr(x, n)(1, dtype=tn.float64), f32(2, 3))
    case(f"{_name}-large", function(_name, 0), f64(3).of([1000.0, 1001.0, -1000.0]))
    case(f"{_name}-infinite", function(_name, 0), f64(3).of([float("-inf"), 0.0, 1.0]).const)
    case(f"{_name}-all-minus-infinite", function(_name, 0), f64(2).of(float("-inf")).const)
    case(f"{_name}-nan", function(_name, 0), f64(2).of([float("nan"), 0.0]).const)
    case(f"{_name}-empty-dim", function(_name, 1), f64(2, 0))
    case(
        f"{_name}-dtype-of-int64", lambda tn, x, n=_name: getattr(x, n)(0, dtype=tn.float32), i64(3)
    )
    fails(f"{_name}-int64", function(_name, 0), i64(3))
    fails(f"{_name}-dim", function(_name, 2), f64(2, 3))
    fails(f"{_name}-no-dim", method(_name), f64(3))
    TABLE.fails_backward(f"{_name}-then-changed", lambda tn, x, n=_name: changed(tn, x, n), f64(3))


def changed(tn, x, name):
    result = getattr(tn, name)(x, 0)
    result.mul_(2)
    return result


# ---- activations ----

ACTIVATIONS = {
    "relu": {},
    "leaky_relu": {"negative_slope": 0.2},
    "elu": {"alpha": 0.5},
    "gelu": {},
    "gelu-tanh": {"approximate": "tanh"},
    "silu": {},
    "softplus": {},
    "softplus-beta": {"beta": 2.0, "threshold": 1.0},
    "tanh": {},
    "sigmoid": {},
    "logsigmoid": {},
}
for _name, _options in ACTIVATIONS.items():
    _call = function(f"nn.functional.{_name.split('-')[0]}", **_options)
    case(f"{_name}-functional", _call, f64(2, 3))
    case(f"{_name}-functional-tails", _call, f64(6).of([-800, -30, -1e-9, 1e-9, 30, 800]).const)
    case(f"{_name}-functional-strided", _call, f64(2, 3).strided)
    case(f"{_name}-functional-expanded", _call, f64(2, 3).expanded)
    case(f"{_name}-functional-0d", _call, f64().of(-0.7))
    case(f"{_name}-functional-empty", _call, f64(0, 3))
    case(f"{_name}-functional-float32", _call, f32(3))
for _name in ("relu", "leaky_relu", "elu", "silu"):
    case(
        f"{_name}-functional-inplace",
        lambda tn, x, n=_name: getattr(tn.nn.functional, n)(x * 1, inplace=True),
        f64(4),
    )

# ---- linear, flatten, one_hot ----

LINEAR = {
    "plain": (f64(4, 3), f64(2, 3), f64(2)),
    "1d": (f64(3), f64(2, 3), f64(2)),
    "3d": (f64(2, 2, 3), f64(2, 3), f64(2)),
    "transposed": (f64(4, 3).t, f64(2, 3).t, f64(2)),
    "strided": (f64(4, 3).strided, f64(2, 3), f64(2).strided),
    "expanded": (f64(4, 3).expanded, f64(2, 3), f64(2)),
    "empty-batch": (f64(0, 3), f64(2, 3), f64(2)),
    "const-input": (f64(4, 3).const, f64(2, 3), f64(2)),
    "float32": (f32(4, 3), f32(2, 3), f32(2)),
}
for _label, _specs in LINEAR.items():
    case(f"linear-{_label}", function("nn.functional.linear"), *_specs)
    case(f"linear-no-bias-{_label}", function("nn.functional.linear"), *_specs[:2])
fails("linear-0d", function("nn.functional.linear"), f64(), f64(2, 3), f64(2))
fails("linear-shapes", function("nn.functional.linear"), f64(4, 2), f64(2, 3), f64(2))
fails("linear-bias-shape", function("nn.functional.linear"), f64(4, 3), f64(2, 3), f64(3))
fails("linear-dtypes", function("nn.functional.linear"), f64(4, 3), f32(2, 3))
fails("linear-dtypes-int64", function("nn.functional.linear"), i64(4, 3), f32(2, 3))

# ---- embedding ----


def lookup(**options):
    return lambda tn, weight, index: tn.nn.functional.embedding(index, weight, **options)


for _label, _index in {
    "1d": i64(4).upto(5),
    "2d": i64(2, 3).upto(5),
    "0d": i64().upto(5),
    "empty": i64(0),
    "repeats": i64(5).upto(2),
    "strided": i64(4).upto(5).strided,
}.items():
    # PyTorch cannot differentiate an empty lookup: "cannot reshape tensor of 0 elements".
    _weight = f64(5, 2).const if _label == "empty" else f64(5, 2)
    case(f"embedding-{_label}", lookup(), _weight, _index)
    case(f"embedding-padding-{_label}", lookup(padding_idx=1), _weight, _index)
    case(
        f"embedding-scaled-{_label}",
        lookup(scale_grad_by_freq=True),
        *(_weight, _index),
        second_order=False,
    )
case("embedding-float32", lookup(), f32(5, 2), i64(3).upto(5))
case("embedding-weight-expanded", lookup(), f64(5, 2).expanded, i64(3).upto(5))
case("embedding-weight-transposed", lookup(), f64(5, 2).t, i64(3).upto(5))
case("embedding-padding-negative", lookup(padding_idx=-1), f64(3, 2), i64(6).upto(3))


def renormed(norm_type=2.0):
    """An embedding with max_norm writes the weight: result, weight, version."""

    def call(tn, weight, index):
        table = weight.detach().clone()
        looked_up = tn.nn.functional.embedding(index, table, max_norm=1.0, norm_type=norm_type)
        return looked_up, table, table._version

    return call


case("embedding-max-norm", renormed(), f64(5, 3), i64(4).of([0, 2, 2, 4]))
case("embedding-max-norm-one", renormed(1.0), f64(5, 3), i64(2).of([1, 3]))
case("embedding-max-norm-infinite", renormed(float("inf")), f64(5, 3), i64(2).of([1, 3]))
case("embedding-max-norm-small", renormed(), f64(3, 2).of(0.1), i64(2).of([0, 1]))
fails("embedding-range", lookup(), f64(3, 2), i64(1).of(3))
fails("embedding-negative", lookup(), f64(3, 2), i64(1).of(-1))
fails("embedding-float-index", lookup(), f64(3, 2), f64(1).const)
fails("embedding-weight-1d", lookup(), f64(3), i64(1).of(0))
fails("embedding-padding-range", lookup(padding_idx=3), f64(3, 2), i64(1).of(0))

# ---- losses ----

REDUCTIONS = ("mean", "sum", "none")
for _reduction in REDUCTIONS:
    _options = {"reduction": _reduction}
    case(
        f"mse_loss-{_reduction}",
        function("nn.functional.mse_loss", **_options),
        f64(2, 3),
        f64(2, 3),
    )
    case(
        f"mse_loss-const-{_reduction}",
        function("nn.functional.mse_loss", **_options),
        f64(2, 3).t,
        f64(2, 3).const,
    )
    case(
        f"binary_cross_entropy_with_logits-{_reduction}",
        function("nn.functional.binary_cross_entropy_with_logits", **_options),
        *(f64(2, 3), f64(2, 3).positive),
    )
    case(
        f"cross_entropy-{_reduction}",
        function("nn.functional.cross_entropy", **_options),
        f64(4, 3),
        i64(4).upto(3),
    )
    case(
        f"cross_entropy-ignore-{_reduction}",
        function("nn.functional.cross_entropy", ignore_index=1, **_options),
        *(f64(4, 3), i64(4).of([0, 1, 2, 1])),
    )
    case(
        f"cross_entropy-weight-{_reduction}",
        lambda tn, x, y, w, r=_reduction: tn.nn.functional.cross_entropy(
            x, y, weight=w, reduction=r
        ),
        *(f64(4, 3), i64(4).upto(3), f64(3).positive.const),
    )
    case(
        f"cross_entropy-smoothing-{_reduction}",
        function("nn.functional.cross_entropy", label_smoothing=0.1, **_options),
        *(f64(4, 3), i64(4).upto(3)),
    )
    case(
        f"cross_entropy-everything-{_reduction}",
        lambda tn, x, y, w, r=_reduction: tn.nn.functional.cross_entropy(
            x, y, weight=w, ignore_index=0, label_smoothing=0.2, reduction=r
        ),
        *(f64(4, 3), i64(4).of([0, 1, 2, 1]), f64(3).positive.const),
    )
    case(
        f"cross_entropy-probabilities-{_reduction}",
        lambda tn, x, y, r=_reduction: tn.nn.functional.cross_entropy(x, y.softmax(1), reduction=r),
        *(f64(4, 3), f64(4, 3)),
    )
    case(
        f"cross_entropy-probabilities-everything-{_reduction}",
        lambda tn, x, y, w, r=_reduction: tn.nn.functional.cross_entropy(
            x, y.softmax(1), weight=w, label_smoothing=0.2, reduction=r
        ),
        *(f64(4, 3), f64(4, 3).const, f64(3).positive.const),
    )
    case(
        f"cross_entropy-images-{_reduction}",
        function("nn.functional.cross_entropy", **_options),
        f64(2, 3, 2),
        i64(2, 2).upto(3),
    )
    case(
        f"nll_loss-{_reduction}",
        function("nn.functional.nll_loss", **_options),
        f64(4, 3),
        i64(4).upto(3),
    )
    case(
        f"nll_loss-weight-{_reduction}",
        lambda tn, x, y, w, r=_reduction: tn.nn.functional.nll_loss(
            x, y, w, ignore_index=2, reduction=r
        ),
        *(f64(4, 3), i64(4).of([0, 1, 2, 1]), f64(3).positive.const),
    )
for _reduction in REDUCTIONS:
    case(
        f"binary_cross_entropy_with_logits-weighted-{_reduction}",
        lambda tn, x, y, w, p, r=_reduction: tn.nn.functional.binary_cross_entropy_with_logits(
            x, y, weight=w, pos_weight=p, reduction=r
        ),
        *(f64(2, 3).strided, f64(2, 3).upto(2).const, f64(3).positive.const, f64(3).positive.const),
    )
case("cross_entropy-one", function("nn.functional.cross_entropy"), f64(3), i64().upto(3))
case("cross_entropy-float32", function("nn.functional.cross_entropy"), f32(4, 3), i64(4).upto(3))
case(
    "cross_entropy-strided",
    function("nn.functional.cross_entropy"),
    f64(4, 3).strided,
    i64(4).upto(3).strided,
)
case(
    "cross_entropy-transposed", function("nn.functional.cross_entropy"), f64(4, 3).t, i64(4).upto(3)
)
case(
    "cross_entropy-expanded",
    function("nn.functional.cross_entropy"),
    f64(4, 3).expanded,
    i64(4).upto(3),
)
case(
    "cross_entropy-large",
    function("nn.functional.cross_entropy"),
    f64(1, 2).of([[1000.0, -1000.0]]),
    i64(1).of(1),
)
case(
    "cross_entropy-all-ignored",
    function("nn.functional.cross_entropy"),
    f64(2, 3).const,
    i64(2).of(-100),
)
case(
    "cross_entropy-empty",
    lambda tn, x, y: each([lambda: tn.nn.functional.cross_entropy(x, y)]),
    f64(0, 3).const,
    i64(0),
)
for _layout, _spec in layouts(2, 3).items():
    for _name in ("mse_loss", "binary_cross_entropy_with_logits"):
        case(f"{_name}-{_layout}", function(f"nn.functional.{_name}"), _spec, _spec.positive)
case("mse_loss-float32", function("nn.functional.mse_loss"), f32(2, 3), f32(2, 3))
case("mse_loss-broadcast", function("nn.functional.mse_loss"), f64(2, 3), f64(3))
case("mse_loss-dtypes", function("nn.functional.mse_loss"), f32(3), f64(3))
case(
    "binary_cross_entropy_with_logits-large",
    function("nn.functional.binary_cross_entropy_with_logits"),
    f64(3).of([-800, 0, 800]),
    f64(3).of([1, 0.5, 1]).const,
)
fails("mse_loss-shapes", function("nn.functional.mse_loss"), f64(2, 3), f64(2))
fails("mse_loss-reduction", function("nn.functional.mse_loss", reduction="avg"), f64(2), f64(2))
fails(
    "binary_cross_entropy_with_logits-shapes",
    function("nn.functional.binary_cross_entropy_with_logits"),
    f64(2, 1),
    f64(2),
)
fails(
    "cross_entropy-class-range",
    function("nn.functional.cross_entropy"),
    f64(2, 3),
    i64(2).of([0, 3]),
)
fails(
    "cross_entropy-class-negative",
    function("nn.functional.cross_entropy"),
    f64(2, 3),
    i64(2).of([0, -1]),
)
fails(
    "cross_entropy-target-count", function("nn.functional.cross_entropy"), f64(2, 3), i64(3).upto(3)
)
fails("cross_entropy-target-dtype", function("nn.functional.cross_entropy"), f64(2, 3), f64(2))
fails(
    "cross_entropy-target-ndim",
    function("nn.functional.cross_entropy"),
    f64(2, 3),
    i64(2, 3).upto(2),
)
fails(
    "cross_entropy-weight-shape",
    lambda tn, x, y, w: tn.nn.functional.cross_entropy(x, y, w),
    f64(2, 3),
    i64(2).upto(3),
    f64(2).const,
)
fails(
    "cross_entropy-smoothing-range",
    function("nn.functional.cross_entropy", label_smoothing=1.5),
    f64(2, 3),
    i64(2).upto(3),
)
fails(
    "cross_entropy-reduction",
    function("nn.functional.cross_entropy", reduction="avg"),
    f64(2, 3),
    i64(2).upto(3),
)
fails("cross_entropy-0d", function("nn.functional.cross_entropy"), f64(), i64())
