"""interpolate, grid_sample, affine_grid, and the shuffles of nn.functional."""

from tests.tools.recorded.rows import Table, f32, f64, function, i64, layouts, u8

TABLE = Table("resampling")
case, fails = TABLE.case, TABLE.fails
SHAPES = {1: (2, 2, 5), 2: (2, 2, 5, 4), 3: (1, 2, 3, 4, 5)}
MODES = {
    1: ("nearest", "nearest-exact", "linear", "area"),
    2: ("nearest", "nearest-exact", "bilinear", "bicubic", "area"),
    3: ("nearest", "nearest-exact", "trilinear", "area"),
}


def functional(name, *args, **options):
    return function(f"nn.functional.{name}", *args, **options)


def interpolate(**options):
    return functional("interpolate", **options)


# ---- interpolate ----

for _rank, _shape in SHAPES.items():
    for _mode in MODES[_rank]:
        _name = f"interpolate-{_mode}-{_rank}d"
        case(f"{_name}-size", interpolate(size=7, mode=_mode), f64(*_shape))
        case(f"{_name}-twice", interpolate(scale_factor=2, mode=_mode), f64(*_shape))
        case(f"{_name}-factor", interpolate(scale_factor=1.7, mode=_mode), f64(*_shape))
        _again = {"scale_factor": 1.7, "recompute_scale_factor": True}
        case(f"{_name}-again", interpolate(mode=_mode, **_again), f64(*_shape))
        case(f"{_name}-fewer", interpolate(size=2, mode=_mode), f64(*_shape))
        case(f"{_name}-same", interpolate(size=_shape[2:], mode=_mode), f64(*_shape))
        for _layout in ("transposed", "strided", "expanded"):
            case(f"{_name}-{_layout}", interpolate(size=3, mode=_mode), layouts(*_shape)[_layout])
        case(f"{_name}-float32", interpolate(size=3, mode=_mode), f32(*_shape))
        case(f"{_name}-empty-batch", interpolate(size=3, mode=_mode), f64(0, *_shape[1:]).const)
        _align = interpolate(size=7, mode=_mode, align_corners=True)
        if _mode in ("nearest", "nearest-exact", "area"):
            fails(f"{_name}-align", _align, f64(*_shape))
        else:
            case(f"{_name}-align", _align, f64(*_shape))
            _single = interpolate(size=1, mode=_mode, align_corners=True)
            case(f"{_name}-align-single", _single, f64(*_shape))
        if _mode != "area":
            fails(f"{_name}-nothing", interpolate(size=0, mode=_mode), f64(*_shape))
            fails(f"{_name}-tiny", interpolate(scale_factor=0.01, mode=_mode), f64(*_shape))
            _none = f64(2, 0, *_shape[2:])
            fails(f"{_name}-no-channels", interpolate(size=3, mode=_mode), _none)
        fails(f"{_name}-no-elements", interpolate(size=3, mode=_mode), f64(*_shape[:-1], 0))
        fails(f"{_name}-int64", interpolate(size=3, mode=_mode), i64(*_shape))
        fails(f"{_name}-both", interpolate(size=3, scale_factor=2, mode=_mode), f64(*_shape))
        fails(f"{_name}-neither", interpolate(mode=_mode), f64(*_shape))
    case(f"interpolate-nearest-{_rank}d-uint8", interpolate(size=3), u8(*_shape))
    for _mode in ("linear", "bilinear", "trilinear", "bicubic", "lanczos", "cubic"):
        if _mode not in MODES[_rank]:
            fails(f"interpolate-{_mode}-{_rank}d", interpolate(size=2, mode=_mode), f64(*_shape))
for _mode in ("bilinear", "bicubic", "lanczos"):
    for _case, _options in {
        "fewer": {"size": (3, 4)},
        "factor": {"scale_factor": 0.6},
        "more": {"size": (9, 12)},
        "align": {"size": (3, 5), "align_corners": True},
    }.items():
        _call = interpolate(mode=_mode, antialias=True, **_options)
        _row = fails if (_mode, _case) == ("lanczos", "align") else case
        _row(f"interpolate-{_mode}-smooth-{_case}", _call, f64(1, 2, 8, 7))
fails("interpolate-nearest-smooth", interpolate(size=3, antialias=True), f64(1, 1, 4, 4))
fails("interpolate-rank", interpolate(size=(2, 2)), f64(1, 1, 4))
fails("interpolate-factors", interpolate(scale_factor=(2.0,)), f64(1, 1, 4, 4))
fails("interpolate-floats", interpolate(size=(2.5, 2)), f64(1, 1, 4, 4))
_again = interpolate(size=2, recompute_scale_factor=True)
fails("interpolate-again-size", _again, f64(1, 1, 4))
fails("interpolate-2d-input", interpolate(size=2), f64(3, 4))
case("upsample-older-name", functional("upsample", 3), f64(1, 1, 2, 2))
case("upsample_nearest-older-name", functional("upsample_nearest", 3), f64(1, 1, 2, 2))
case("upsample_bilinear-older-name", functional("upsample_bilinear", 3), f64(1, 1, 2, 2))

# ---- shuffles ----

case("pixel_shuffle-plain", functional("pixel_shuffle", 2), f64(2, 8, 2, 3))
case("pixel_shuffle-one", functional("pixel_shuffle", 1), f64(2, 2, 3))
case("pixel_shuffle-more-dims", functional("pixel_shuffle", 2), f64(2, 2, 4, 2, 3))
case("pixel_shuffle-int64", functional("pixel_shuffle", 2), i64(4, 2, 3))
case("pixel_unshuffle-plain", functional("pixel_unshuffle", 2), f64(2, 2, 4, 6))
for _layout in ("transposed", "strided", "expanded"):
    case(f"pixel_shuffle-{_layout}", functional("pixel_shuffle", 2), layouts(4, 2, 3)[_layout])
    case(f"pixel_unshuffle-{_layout}", functional("pixel_unshuffle", 2), layouts(2, 2, 4)[_layout])
    case(f"channel_shuffle-{_layout}", functional("channel_shuffle", 2), layouts(2, 4, 3)[_layout])
case("channel_shuffle-plain", functional("channel_shuffle", 3), f64(2, 6, 2, 2))
case("channel_shuffle-empty-batch", functional("channel_shuffle", 2), f64(0, 4, 2))
for _factor in (0, -1, 2.0):
    fails(f"pixel_shuffle-{_factor}", functional("pixel_shuffle", _factor), f64(4, 2, 2))
    fails(f"pixel_unshuffle-{_factor}", functional("pixel_unshuffle", _factor), f64(4, 2, 2))
    fails(f"channel_shuffle-{_factor}", functional("channel_shuffle", _factor), f64(1, 4, 2))
fails("pixel_shuffle-channels", functional("pixel_shuffle", 2), f64(6, 2, 2))
fails("pixel_shuffle-dims", functional("pixel_shuffle", 2), f64(4, 2))
fails("pixel_unshuffle-dims", functional("pixel_unshuffle", 2), f64(4, 2))
fails("pixel_unshuffle-height", functional("pixel_unshuffle", 2), f64(1, 3, 2))
fails("pixel_unshuffle-width", functional("pixel_unshuffle", 2), f64(1, 2, 3))
fails("channel_shuffle-channels", functional("channel_shuffle", 4), f64(1, 6, 2))
fails("channel_shuffle-dims", functional("channel_shuffle", 2), f64(4, 2))
fails("pixel_shuffle-list", lambda tn: tn.nn.functional.pixel_shuffle([1.0], 2))

# ---- grid_sample: PyTorch has no second derivative of it ----


def read(x, grid, *args, **options):
    name = f"grid_sample-{len(x.shape) - 2}d"
    call = functional("grid_sample", *args, **options)
    return (f"{name}-{'-'.join(map(str, args))}", call, x, grid)


PICTURES = {2: (f64(2, 2, 3, 4), f64(2, 3, 2, 2)), 3: (f64(1, 2, 3, 4, 2), f64(1, 2, 1, 3, 3))}
for _rank, (_picture, _grid) in PICTURES.items():
    for _mode in ("bilinear", "nearest", "bicubic"):
        for _padding in ("zeros", "border", "reflection"):
            for _align in (True, False):
                _row = read(_picture, _grid, _mode, _padding, _align)
                if (_rank, _mode) == (3, "bicubic"):
                    fails(*_row)
                else:
                    case(*_row, second_order=False)
SAMPLE = functional("grid_sample", align_corners=False)
_picture, _grid = PICTURES[2]
for _layout in ("transposed", "strided", "expanded"):
    _places = layouts(2, 3, 2, 2)[_layout].unit
    _seen = layouts(2, 2, 3, 4)[_layout]
    case(f"grid_sample-{_layout}", SAMPLE, _seen, _places, second_order=False)
case("grid_sample-warns", functional("grid_sample"), _picture, _grid.unit, second_order=False)
case("grid_sample-float32", SAMPLE, f32(1, 2, 3, 4), f32(1, 2, 2, 2).unit)
_nan = f64(1, 1, 1, 2).of(float("nan")).const
case("grid_sample-nan", SAMPLE, f64(1, 1, 2, 2).const, _nan)
_infinite = f64(1, 1, 1, 2).of(float("inf")).const
case("grid_sample-infinite", SAMPLE, f64(1, 1, 2, 2).const, _infinite)
case("grid_sample-no-places", SAMPLE, f64(2, 2, 3, 4).const, f64(2, 0, 2, 2).const)
fails("grid_sample-mode", functional("grid_sample", "cubic"), _picture, _grid)
fails("grid_sample-padding", functional("grid_sample", "nearest", "wrap"), _picture, _grid)
fails("grid_sample-batch", SAMPLE, _picture, f64(1, 3, 2, 2))
fails("grid_sample-last", SAMPLE, _picture, f64(2, 3, 2, 3))
fails("grid_sample-dims", SAMPLE, _picture, f64(2, 3, 1, 2, 2))
fails("grid_sample-3d-input", SAMPLE, f64(2, 3, 4), f64(2, 3, 1))
fails("grid_sample-dtype", SAMPLE, _picture, f32(2, 3, 2, 2))
fails("grid_sample-int64", SAMPLE, i64(1, 1, 2, 2), i64(1, 1, 1, 2))
fails("grid_sample-empty", SAMPLE, f64(2, 3, 0, 4), f64(2, 3, 2, 2))

# ---- affine_grid ----


def affine(*args, **options):
    return functional("affine_grid", *args, **options)


for _align in (True, False):
    _size, _deep = (2, 1, 3, 4), (2, 1, 3, 4, 2)
    case(f"affine_grid-2d-{_align}", affine(_size, align_corners=_align), f64(2, 2, 3))
    case(f"affine_grid-3d-{_align}", affine(_deep, align_corners=_align), f64(2, 3, 4))
    case(f"affine_grid-unit-{_align}", affine((2, 1, 1, 4), align_corners=_align), f64(2, 2, 3))
case("affine_grid-warns", affine((2, 1, 3, 4)), f64(2, 2, 3))
for _layout in ("transposed", "strided", "expanded"):
    case(f"affine_grid-{_layout}", affine((2, 1, 3, 4), False), layouts(2, 2, 3)[_layout])
case("affine_grid-float32", affine((2, 1, 3, 4), False), f32(2, 2, 3))
fails("affine_grid-shape", affine((2, 1, 3, 4), False), f64(2, 3, 3))
fails("affine_grid-shape-3d", affine((2, 1, 3, 4, 2), False), f64(2, 2, 3))
fails("affine_grid-size", affine((2, 3, 4), False), f64(2, 2, 3))
fails("affine_grid-nothing", affine((2, 1, 0, 4), False), f64(2, 2, 3))
fails("affine_grid-batch", affine((3, 1, 3, 4), False), f64(2, 2, 3))
fails("affine_grid-int64", affine((2, 1, 3, 4), False), i64(2, 2, 3))
