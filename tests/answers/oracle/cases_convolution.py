"""The convolutions of `nn.functional`, and fold and unfold."""

from tests.tools.recorded.rows import Table, f32, f64, function, i64, mask

TABLE = Table("convolution")
case, fails = TABLE.case, TABLE.fails

SIZES = {1: (6,), 2: (5, 4), 3: (4, 3, 3)}
KERNELS = {1: (3,), 2: (3, 2), 3: (2, 3, 1)}
OPTIONS = {
    "plain": {},
    "stride": {"stride": 2},
    "padding": {"padding": 1},
    "dilation": {"dilation": 2, "padding": 1},
    "groups": {"groups": 2, "padding": 1},
    "one-number-list": {"stride": [2], "padding": (1,)},
}


def conv(rank, **options):
    return function(f"nn.functional.conv{rank}d", **options)


def transposed(rank, **options):
    return function(f"nn.functional.conv_transpose{rank}d", **options)


for _rank, _size in SIZES.items():
    _kernel = KERNELS[_rank]
    for _name, _options in OPTIONS.items():
        _inner = 4 // _options.get("groups", 1)
        _x, _w, _b = f64(2, 4, *_size), f64(2, _inner, *_kernel), f64(2)
        case(f"conv{_rank}d-{_name}", conv(_rank, **_options), _x, _w, _b)
        case(f"conv{_rank}d-no-bias-{_name}", conv(_rank, **_options), _x, _w)
        _w, _b = f64(4, 2, *_kernel), f64(2 * _options.get("groups", 1))
        case(f"conv_transpose{_rank}d-{_name}", transposed(_rank, **_options), _x, _w, _b)
        case(f"conv_transpose{_rank}d-no-bias-{_name}", transposed(_rank, **_options), _x, _w)
    _x, _w, _b = f64(2, 3, *_size), f64(2, 3, *_kernel), f64(2)
    _back = f64(3, 2, *_kernel)
    case(f"conv{_rank}d-valid", conv(_rank, padding="valid"), _x, _w, _b)
    case(f"conv{_rank}d-same", conv(_rank, padding="same"), _x, f64(2, 3, *(3,) * _rank), _b)
    case(f"conv{_rank}d-each", conv(_rank, stride=(2, 1, 3)[:_rank]), _x, _w, _b)
    case(f"conv{_rank}d-no-batch", conv(_rank), f64(3, *_size), _w, _b)
    case(f"conv{_rank}d-float32", conv(_rank), f32(2, 3, *_size), f32(2, 3, *_kernel), f32(2))
    case(f"conv{_rank}d-empty-batch", conv(_rank), f64(0, 3, *_size).const, _w.const, _b.const)
    case(f"conv{_rank}d-const-input", conv(_rank), _x.const, _w, _b)
    case(f"conv{_rank}d-const-weight", conv(_rank), _x, _w.const, _b.const)
    case(f"conv{_rank}d-strided", conv(_rank), _x.strided, _w.strided, _b.strided)
    case(f"conv{_rank}d-expanded", conv(_rank), _x.expanded, _w.expanded, _b)
    case(f"conv{_rank}d-int64", conv(_rank), i64(2, 3, *_size), i64(2, 3, *_kernel), i64(2))
    case(f"conv_transpose{_rank}d-no-batch", transposed(_rank), f64(3, *_size), _back, _b)
    case(
        f"conv_transpose{_rank}d-float32",
        transposed(_rank, stride=2),
        *(f32(2, 3, *_size), f32(3, 2, *_kernel), f32(2)),
    )
    case(
        f"conv_transpose{_rank}d-strided",
        transposed(_rank, stride=2, padding=1),
        *(_x.strided, _back.strided, _b.strided),
    )
    case(f"conv_transpose{_rank}d-expanded", transposed(_rank), _x.expanded, _back.expanded, _b)
    case(
        f"conv_transpose{_rank}d-output-padding",
        transposed(_rank, stride=3, output_padding=(2, 0, 1)[:_rank]),
        *(_x, _back, _b),
    )
    fails(f"conv{_rank}d-rank", conv(_rank), f64(3), _w)
    fails(f"conv{_rank}d-rank-many", conv(_rank), f64(1, 1, 1, *_size), _w)
    fails(f"conv{_rank}d-channels", conv(_rank), f64(2, 4, *_size), _w)
    fails(f"conv{_rank}d-channels-no-batch", conv(_rank), f64(4, *_size), _w)
    fails(f"conv{_rank}d-bias", conv(_rank), _x, _w, f64(3))
    fails(f"conv{_rank}d-small", conv(_rank), f64(2, 3, *(1,) * _rank), _w)
    fails(f"conv_transpose{_rank}d-rank", transposed(_rank), f64(3), _back)
    fails(f"conv_transpose{_rank}d-channels", transposed(_rank), f64(2, 4, *_size), _back)
    fails(f"conv_transpose{_rank}d-bias", transposed(_rank), _x, _back, f64(3))
    fails(f"conv_transpose{_rank}d-output-padding", transposed(_rank, output_padding=1), _x, _back)

_x, _w = f64(1, 4, 3, 3), f64(2, 4, 3, 3)
for _name, _options in {
    "groups-zero": {"groups": 0},
    "groups-negative": {"groups": -1},
    "groups-many": {"groups": 3},
    "groups-channels": {"groups": 2},
    "stride-zero": {"stride": 0},
    "stride-negative": {"stride": (1, -1)},
    "stride-many": {"stride": (1, 1, 1)},
    "padding-negative": {"padding": -1},
    "padding-many": {"padding": (1, 1, 1)},
    "padding-word": {"padding": "full"},
    "same-stride": {"padding": "same", "stride": 2},
    "dilation-zero": {"dilation": 0},
    "dilation-negative": {"dilation": -1},
    "dilation-many": {"dilation": (1, 1, 1)},
    "dilation-large": {"dilation": 2},
}.items():
    fails(f"conv2d-{_name}", conv(2, **_options), _x, _w)
fails("conv2d-groups-divide", conv(2, groups=2), _x, f64(3, 2, 3, 3))
fails("conv2d-weight-3d", conv(2), _x, f64(2, 4, 3))
fails("conv2d-weight-2d", conv(2), _x, f64(2, 4))
fails("conv2d-weight-empty", conv(2), _x, f64(0, 4, 3, 3))
fails("conv2d-kernel-empty", conv(2), _x, f64(2, 4, 0, 3))
fails("conv2d-input-empty", conv(2, padding=1), f64(1, 4, 0, 3), f64(2, 4, 1, 1))
fails("conv2d-bias-2d", conv(2), _x, _w, f64(2, 1))
fails("conv2d-dtype", conv(2), f32(1, 4, 3, 3), _w)
fails("conv2d-dtype-int64", conv(2), i64(1, 4, 3, 3), _w)
fails("conv2d-dtype-bias", conv(2), _x, _w, f32(2))
fails("conv2d-bool", conv(2), mask(1, 4, 3, 3), mask(2, 4, 3, 3))
for _name, _options in {
    "groups-zero": {"groups": 0},
    "groups-divide": {"groups": 3},
    "stride-zero": {"stride": 0},
    "padding-negative": {"padding": -1},
    "padding-word": {"padding": "same"},
    "dilation-zero": {"dilation": 0},
    "dilation-negative": {"dilation": -1},
    "output-padding-negative": {"stride": 2, "output_padding": -1},
    "output-padding-many": {"output_padding": (0, 0, 0)},
    "output-padding-stride": {"stride": 2, "output_padding": (0, 2)},
}.items():
    fails(f"conv_transpose2d-{_name}", transposed(2, **_options), _x, f64(4, 2, 3, 3))
fails("conv_transpose2d-small", transposed(2, padding=2), f64(1, 4, 1, 1), f64(4, 2, 3, 3))
fails("conv_transpose2d-input-empty", transposed(2), f64(1, 4, 0, 3), f64(4, 2, 3, 3))
fails("conv_transpose2d-dtype", transposed(2), f32(1, 4, 3, 3), f64(4, 2, 3, 3))

# ---- fold and unfold ----

SQUARE = {"kernel_size": 2}
for _name, _options in {
    "plain": SQUARE,
    "stride": {"kernel_size": (2, 1), "stride": (2, 3)},
    "padding": {"kernel_size": 3, "padding": (1, 2)},
    "dilation": {"kernel_size": (2, 2), "dilation": (1, 2)},
    "everything": {"kernel_size": 2, "dilation": 2, "padding": 1, "stride": 2},
    "pointwise": {"kernel_size": 1},
}.items():
    _unfold = function("nn.functional.unfold", **_options)
    for _layout, _x in {
        "plain": f64(2, 3, 4, 5),
        "no-batch": f64(3, 4, 5),
        "strided": f64(2, 3, 4, 5).strided,
        "transposed": f64(2, 3, 4, 5).t,
        "expanded": f64(2, 3, 4, 5).expanded,
        "float32": f32(2, 3, 4, 5),
        "empty": f64(0, 3, 4, 5).const,
        "bool": mask(2, 3, 4, 5),
    }.items():
        case(f"unfold-{_name}-{_layout}", _unfold, _x)
COLUMNS = {
    "plain": (12, SQUARE),
    "stride": (4, {"kernel_size": (2, 2), "stride": (2, 3)}),
    "padding": (20, {"kernel_size": 2, "padding": (1, 0)}),
    "dilation": (9, {"kernel_size": (2, 2), "dilation": (1, 2)}),
    "everything": (6, {"kernel_size": 2, "dilation": 2, "padding": 1, "stride": 2}),
}
for _name, (_count, _options) in COLUMNS.items():
    _fold = function("nn.functional.fold", (4, 5), **_options)
    for _layout, _x in {
        "plain": f64(2, 8, _count),
        "no-batch": f64(8, _count),
        "strided": f64(2, 8, _count).strided,
        "transposed": f64(2, 8, _count).t,
        "expanded": f64(2, 8, _count).expanded,
        "float32": f32(2, 8, _count),
        "empty": f64(0, 8, _count).const,
        "bool": mask(2, 8, _count),
    }.items():
        case(f"fold-{_name}-{_layout}", _fold, _x)
for _name, _options in {
    "kernel-zero": {"kernel_size": 0},
    "kernel-few": {"kernel_size": (2,)},
    "kernel-many": {"kernel_size": (2, 2, 2)},
    "stride-zero": {"kernel_size": 2, "stride": 0},
    "stride-many": {"kernel_size": 2, "stride": (1, 1, 1)},
    "dilation-zero": {"kernel_size": 2, "dilation": (1, 0)},
    "padding-negative": {"kernel_size": 2, "padding": -1},
    "kernel-large": {"kernel_size": (6, 2)},
}.items():
    fails(f"unfold-{_name}", function("nn.functional.unfold", **_options), f64(1, 2, 4, 5))
    fails(f"fold-{_name}", function("nn.functional.fold", (4, 5), **_options), f64(1, 24, 12))
fails("unfold-5d", function("nn.functional.unfold", 2), f64(1, 1, 1, 4, 5))
fails("unfold-no-channels", function("nn.functional.unfold", 2), f64(1, 0, 4, 5))
fails("unfold-int64", function("nn.functional.unfold", 2), i64(1, 2, 4, 5))
fails("unfold-no-tensor", lambda tn: tn.nn.functional.unfold([1.0], 2))
for _name, _x in {
    "1d": f64(8),
    "4d": f64(1, 8, 12, 1),
    "channels": f64(1, 7, 12),
    "count": f64(1, 8, 11),
    "count-no-batch": f64(8, 11),
    "no-channels": f64(1, 0, 12),
    "int64": i64(1, 8, 12),
}.items():
    fails(f"fold-{_name}", function("nn.functional.fold", (4, 5), 2), _x)
fails("fold-size-few", function("nn.functional.fold", (4,), 2), f64(1, 8, 12))
fails("fold-size-small", function("nn.functional.fold", (1, 1), 2), f64(1, 8, 12))
