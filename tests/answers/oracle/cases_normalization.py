"""Normalisations of `nn.functional`, and dropouts where nothing is random."""

from tests.tools.recorded.rows import Table, f32, f64, function, i64, layouts

TABLE = Table("normalization")
case, fails = TABLE.case, TABLE.fails


def norm(name, *args, **kwargs):
    return function(f"nn.functional.{name}_norm", *args, **kwargs)


# ---- batch norm ---------------------------------------------------------------------------------


def trained(tn, x, w=None, b=None, momentum=0.3, steps=2, **options):
    """The results of calls in training and one in evaluation, and the running statistics."""
    mean, var = tn.zeros(x.shape[1], dtype=x.dtype), tn.ones(x.shape[1], dtype=x.dtype)
    options = {"weight": w, "bias": b, "momentum": momentum, **options}
    made = [
        tn.nn.functional.batch_norm(x * k, mean, var, training=True, **options)
        for k in range(1, steps + 1)
    ]
    made.append(tn.nn.functional.batch_norm(x, mean, var, **options))
    return [*made, mean * 1, var * 1]


BATCHES = {"2d": (4, 3), "3d": (4, 3, 2), "4d": (3, 2, 3, 2), "many": (2, 1, 97)}
for _title, _shape in BATCHES.items():
    _vectors = f64(_shape[1]), f64(_shape[1])
    case(f"batch_norm-{_title}", trained, f64(*_shape), *_vectors)
    if _title == "many":
        continue
    case(f"batch_norm-{_title}-plain", trained, f64(*_shape))
    case(f"batch_norm-{_title}-no-bias", trained, f64(*_shape), _vectors[0])
    case(f"batch_norm-{_title}-const", trained, f64(*_shape).const, *_vectors)
case("batch_norm-transposed", trained, f64(4, 3).t, f64(3), f64(3))
case("batch_norm-strided", trained, f64(4, 3, 2).strided, f64(3).strided, f64(3))
case("batch_norm-expanded", trained, f64(4, 3).expanded, f64(3), f64(3))
case("batch_norm-float32", trained, f32(4, 3, 2), f32(3), f32(3))
for _title, _shape in {"empty": (0, 3), "no-places": (2, 3, 0)}.items():
    case(
        f"batch_norm-{_title}",
        lambda tn, *inputs: [
            made * 1 for made in trained(tn, *inputs)
        ],  # PyTorch's node is AddBackward0
        *(f64(*_shape), f64(3), f64(3)),
    )
case(
    "batch_norm-empty-mixed",
    lambda tn, *inputs: [made * 1 for made in trained(tn, *inputs)],
    *(f32(0, 3), f64(3), f64(3)),
)
case("batch_norm-eps", lambda tn, x: trained(tn, x, eps=0.5), f64(4, 3))
case("batch_norm-momentum-1", lambda tn, x: trained(tn, x, momentum=1.0), f64(4, 3))
case("batch_norm-far-from-zero", trained, f64(3, 1).of([[1e2], [1e2 + 1], [1e2 + 3]]))
case("batch_norm-constant", trained, f64(3, 1).of(0.25))
case("batch_norm-untracked", norm("batch", None, None, training=True), f64(4, 3))
case(
    "batch_norm-float16",
    lambda tn, x, w: (
        tn.nn.functional.batch_norm(x.to(tn.float16), None, None, w, training=True).dtype
    ),
    f32(4, 3).const,
    f32(3).const,
)


def given(tn, x, *sizes, kinds=("float64",) * 4, **options):
    """Batch norm with mean, variance, weight and bias of these sizes; None for none."""
    made = [
        None if n is None else tn.ones(n, dtype=getattr(tn, kind))
        for n, kind in zip(sizes, kinds, strict=True)
    ]
    return tn.nn.functional.batch_norm(x, *made, **options)


for _title, _sizes in {
    "no-statistics": (None, None, 3, 3),
    "no-variance": (3, None, 3, 3),
    "mean-size": (4, 3, 3, 3),
    "variance-size": (3, 4, 3, 3),
    "weight-size": (3, 3, 4, 3),
    "bias-size": (3, 3, 3, 2),
}.items():
    fails(f"batch_norm-{_title}", lambda tn, x, s=_sizes: given(tn, x, *s), f64(2, 3))
for _title, _sizes in {"only-mean": (3, None, 3, 3), "only-variance": (None, 3, 3, 3)}.items():
    fails(
        f"batch_norm-{_title}",
        lambda tn, x, s=_sizes: given(tn, x, *s, training=True),
        f64(2, 3),
    )
SINGLE = ("float32",) * 4
for _title, _input, _kinds in (
    ("float32-parameters", f64(2, 3), SINGLE),
    ("float64-parameters", f32(2, 3), ("float64",) * 4),
    ("mixed-parameters", f64(2, 3), ("float64", "float64", "float64", "float32")),
    ("integers", i64(2, 3), SINGLE),
):
    fails(
        f"batch_norm-{_title}",
        lambda tn, x, k=_kinds: given(tn, x, 3, 3, 3, 3, kinds=k),
        _input,
    )
fails("batch_norm-1d", lambda tn, x: given(tn, x, 3, 3, 3, 3), f64(3))
fails("batch_norm-1d-untracked", norm("batch", None, None, training=True), f64(3))
fails("batch_norm-one-value", norm("batch", None, None, training=True), f64(1, 3))
fails("batch_norm-eps-zero", norm("batch", None, None, training=True, eps=0.0), f64(2, 3))
fails("batch_norm-eps-negative", lambda tn, x: given(tn, x, 3, 3, 3, 3, eps=-1.0), f64(2, 3))
fails("batch_norm-list", lambda tn: tn.nn.functional.batch_norm([1.0], None, None))
fails(
    "batch_norm-mean-requires-grad",
    lambda tn, x, m: tn.nn.functional.batch_norm(x, m, tn.ones(3, dtype=tn.float64)),
    f64(2, 3),
    f64(3),
)
TABLE.fails_backward(
    "batch_norm-input-changed",
    lambda tn, x: changed(tn, x * 1),
    f64(4, 3),
)


def changed(tn, x):
    result = tn.nn.functional.batch_norm(x, None, None, training=True)
    x.mul_(2)
    return result


# ---- instance norm ------------------------------------------------------------------------------


def followed(tn, x, w=None, b=None, **options):
    """Instance norm by its own and by running statistics, and these."""
    mean, var = tn.zeros(x.shape[1], dtype=x.dtype), tn.ones(x.shape[1], dtype=x.dtype)
    instance = tn.nn.functional.instance_norm
    made = [
        instance(x, mean, var, w, b, momentum=0.3, **options),
        instance(x, mean, var, w, b, use_input_stats=False, **options),
    ]
    return [*made, mean * 1, var * 1]


for _title, _shape in {"3d": (2, 3, 4), "4d": (2, 3, 2, 2)}.items():
    case(f"instance_norm-{_title}", followed, f64(*_shape), f64(_shape[1]), f64(_shape[1]))
    case(f"instance_norm-{_title}-plain", norm("instance"), f64(*_shape))
case("instance_norm-transposed", followed, f64(2, 3, 4).t, f64(3), f64(3))
case("instance_norm-eps-zero", norm("instance", eps=0.0), f64(2, 3, 4))
case("instance_norm-empty", norm("instance"), f64(0, 3, 4))
fails("instance_norm-2d", norm("instance"), f64(2, 3))
fails("instance_norm-one-value", norm("instance"), f64(2, 3, 1))
fails("instance_norm-no-statistics", norm("instance", use_input_stats=False), f64(2, 3, 4))
fails("instance_norm-integers", norm("instance"), i64(2, 3, 4))
fails(
    "instance_norm-weight-size",
    lambda tn, x, w: tn.nn.functional.instance_norm(x, weight=w),
    f64(2, 3, 4),
    f64(4),
)
fails(
    "instance_norm-only-mean",
    lambda tn, x: tn.nn.functional.instance_norm(x, tn.zeros(3, dtype=tn.float64)),
    f64(2, 3, 4),
)

# ---- layer and RMS norm -------------------------------------------------------------------------


def layer(tn, x, w=None, b=None, shape=None, **options):
    return tn.nn.functional.layer_norm(x, shape or x.shape[-1:], w, b, **options)


def rms(tn, x, w=None, shape=None, **options):
    return tn.nn.functional.rms_norm(x, shape or x.shape[-1:], w, **options)


for _layout, _spec in layouts(2, 3).items():
    if _layout != "0d":
        case(f"layer_norm-{_layout}", layer, _spec, f64(3), f64(3))
        hidden = (lambda tn, *inputs: rms(tn, *inputs) * 1) if _layout == "transposed" else rms
        case(
            f"rms_norm-{_layout}", hidden, _spec, f64(3)
        )  # hidden: PyTorch's node is CloneBackward0
case("layer_norm-plain-affine", layer, f64(4, 3))
case("layer_norm-weight", layer, f64(4, 3), f64(3))
case(
    "layer_norm-bias",
    lambda tn, x, b: layer(tn, x, None, b),
    *(f64(4, 3), f64(3)),
    second_order=False,  # PyTorch's own fails
)
case("layer_norm-const", layer, f64(4, 3).const, f64(3), f64(3))
case("layer_norm-const-weight", layer, f64(4, 3), f64(3).const, f64(3).const)
case("layer_norm-1d", layer, f64(5), f64(5), f64(5))
case("layer_norm-float32", layer, f32(4, 3), f32(3), f32(3))
case("layer_norm-no-numbers", layer, f64(2, 0), f64(0), f64(0))
case("layer_norm-list", lambda tn, x: layer(tn, x, shape=[2, 3], eps=0.1), f64(2, 2, 3))
case(
    "layer_norm-dims",
    lambda tn, x, w, b: layer(tn, x, w, b, shape=(2, 3)),
    *(f64(2, 2, 3), f64(2, 3), f64(2, 3).t),
)
case("layer_norm-far-from-zero", layer, f64(1, 3).of([[1e2, 1e2 + 1, 1e2 + 3]]))
case("layer_norm-float16", lambda tn, x: layer(tn, x.to(tn.float16)).dtype, f32(4, 3).const)
fails("layer_norm-other-shape", lambda tn, x: layer(tn, x, shape=(4,)), f64(2, 3))
fails("layer_norm-more-dims", lambda tn, x: layer(tn, x, shape=(2, 2, 3)), f64(2, 3))
fails("layer_norm-no-dims", lambda tn, x: tn.nn.functional.layer_norm(x, ()), f64(2, 3))
fails("layer_norm-int", lambda tn, x: tn.nn.functional.layer_norm(x, 3), f64(2, 3))
fails("layer_norm-weight-shape", layer, f64(2, 3), f64(2))
fails("layer_norm-bias-shape", layer, f64(2, 3), f64(3), f64(2))
fails("layer_norm-weight-dtype", layer, f64(2, 3), f32(3))
fails("layer_norm-weight-dtype-64", layer, f32(2, 3), f64(3))
fails("layer_norm-bias-dtype", layer, f64(2, 3), f64(3), f32(3))
fails("layer_norm-integers", layer, i64(2, 3))
fails("layer_norm-number", lambda tn: tn.nn.functional.layer_norm(1.0, (3,)))

case("rms_norm-plain-weight", rms, f64(4, 3))
case("rms_norm-const", rms, f64(4, 3).const, f64(3))
case("rms_norm-1d", rms, f64(5), f64(5))
case("rms_norm-float32", rms, f32(4, 3), f32(3))
case("rms_norm-eps", lambda tn, x: rms(tn, x, eps=0.1), f64(2, 3))
case("rms_norm-zeros", rms, f64(2, 3).of(0.0).const)
case("rms_norm-dims", lambda tn, x, w: rms(tn, x, w, shape=(2, 3)), f64(2, 2, 3), f64(2, 3))
fails("rms_norm-other-shape", lambda tn, x: rms(tn, x, shape=(4,)), f64(2, 3))
fails("rms_norm-no-dims", lambda tn, x: tn.nn.functional.rms_norm(x, ()), f64(2, 3))
fails("rms_norm-weight-shape", rms, f64(2, 3), f64(2))
fails("rms_norm-integers", rms, i64(2, 3))

# ---- group norm ---------------------------------------------------------------------------------


def group(tn, x, w=None, b=None, groups=2, **options):
    return tn.nn.functional.group_norm(x, groups, w, b, **options)


for _title, _shape in {"2d": (3, 4), "3d": (2, 4, 3), "4d": (2, 6, 2, 2)}.items():
    case(f"group_norm-{_title}", group, f64(*_shape), f64(_shape[1]), f64(_shape[1]))
    case(f"group_norm-{_title}-plain", group, f64(*_shape))
case("group_norm-one", lambda tn, x: group(tn, x, groups=1, eps=0.1), f64(2, 4, 3))
case("group_norm-each", lambda tn, x: group(tn, x, groups=4), f64(2, 4, 3))
case("group_norm-transposed", group, f64(2, 4, 3).t, f64(4), f64(4))
case("group_norm-strided", group, f64(2, 4, 3).strided, f64(4), f64(4))
case("group_norm-float32", group, f32(2, 4, 3), f32(4), f32(4))
case("group_norm-empty", group, f64(0, 4, 2), f64(4), f64(4))
case("group_norm-no-places", group, f64(2, 4, 0))
fails("group_norm-1d", group, f64(4))
fails("group_norm-not-divisible", group, f64(2, 3))
fails("group_norm-negative", lambda tn, x: group(tn, x, groups=-2), f64(2, 4, 2))
fails("group_norm-one-value", lambda tn, x: group(tn, x, groups=3), f64(1, 3))
fails("group_norm-weight-size", group, f64(2, 4, 2), f64(3))
fails("group_norm-weight-dtype", group, f64(2, 4, 2), f32(4))
fails("group_norm-integers", group, i64(2, 4))

# ---- local response norm ------------------------------------------------------------------------

for _size in (1, 2, 3, 5):
    case(f"local_response_norm-{_size}", norm("local_response", _size, alpha=0.3), f64(2, 4, 3))
case("local_response_norm-options", norm("local_response", 3, 0.5, 0.6, 2.0), f64(2, 3, 2, 2))
case("local_response_norm-empty", norm("local_response", 2), f64(0, 3, 2).const)
fails("local_response_norm-2d", norm("local_response", 2), f64(2, 3))

# ---- dropout ------------------------------------------------------------------------------------

DROPOUTS = {
    "dropout": [(), (3,), (2, 3)],
    "alpha_dropout": [(), (2, 3)],
    "dropout1d": [(2, 3), (2, 3, 4)],
    "dropout2d": [(2, 3), (2, 3, 4), (2, 3, 2, 2), (2, 3, 2, 2, 2)],
    "dropout3d": [(2, 3, 2, 2), (2, 3, 2, 2, 2), (2, 3)],
    "feature_alpha_dropout": [(2, 3), (2, 3, 4)],
}
for _name, _shapes in DROPOUTS.items():
    for _shape in _shapes:
        for _p, _training in ((1.0, True), (0.0, True), (0.4, False)):
            case(
                f"{_name}-{len(_shape)}d-{_p}-{_training}",
                function(f"nn.functional.{_name}", _p, _training),
                f64(*_shape),
            )
    _shape = _shapes[-1]
    case(f"{_name}-empty", function(f"nn.functional.{_name}", 0.5, True), f64(0, *_shape[1:]))
    case(
        f"{_name}-inplace",
        lambda tn, x, n=_name: getattr(tn.nn.functional, n)(x.clone(), 1.0, True, True),
        f64(*_shape),
    )
    fails(f"{_name}-probability", function(f"nn.functional.{_name}", 1.5, True), f64(*_shape))
    fails(f"{_name}-integers", function(f"nn.functional.{_name}", 0.5, True), i64(*_shape))
    fails(
        f"{_name}-inplace-leaf",
        function(f"nn.functional.{_name}", 0.5, True, True),
        f64(*_shape),
    )
for _n in (0, 1, 4):
    fails(f"dropout1d-{_n}d", function("nn.functional.dropout1d"), f64(*(2, 3, 2, 2)[:_n]))
for _n in (0, 1):
    fails(f"dropout2d-{_n}d", function("nn.functional.dropout2d"), f64(*(2,) * _n))
    fails(
        f"feature_alpha_dropout-{_n}d",
        function("nn.functional.feature_alpha_dropout", training=True),
        f64(*(2,) * _n),
    )
