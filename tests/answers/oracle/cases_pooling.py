"""Pooling: the functions of nn.functional."""

from tests.tools.recorded.rows import Table, f32, f64, function, i32, i64, layouts, mask, u8

TABLE = Table("pooling")
case, fails, fails_backward = TABLE.case, TABLE.fails, TABLE.fails_backward
SHAPES = {1: (2, 3, 7), 2: (2, 3, 5, 6), 3: (1, 2, 4, 5, 3)}


def functional(name, *args, **options):
    return function(f"nn.functional.{name}", *args, **options)


for _rank, _shape in SHAPES.items():
    _max, _avg, _each = f"max_pool{_rank}d", f"avg_pool{_rank}d", (3, 2, 2)[:_rank]
    _input = f64(*_shape).distinct
    for _layout in ("plain", "transposed", "strided", "expanded"):
        _spec = layouts(*_shape)[_layout]
        case(f"{_avg}-{_layout}", functional(_avg, 2), _spec)
        if _layout != "expanded":
            case(f"{_max}-{_layout}", functional(_max, 2), _spec.distinct)
    case(f"{_max}-each", functional(_max, _each, (2, 1, 2)[:_rank], (1, 0, 1)[:_rank]), _input)
    case(f"{_max}-dilation", functional(_max, 2, 1, 1, 2), _input)
    case(f"{_max}-indices", functional(_max, 3, 2, 1, return_indices=True), _input)
    case(f"{_max}-ceil", functional(_max, 2, 3, ceil_mode=True, return_indices=True), _input)
    case(f"{_max}-one-tuple", functional(_max, (2,), (1,)), _input)
    case(f"{_max}-ties", functional(_max, 2, return_indices=True), f64(*_shape).upto(2).const)
    case(f"{_max}-no-batch", functional(_max, 2), f64(*_shape[1:]).distinct)
    case(f"{_max}-empty-batch", functional(_max, 2), f64(0, *_shape[1:]))
    case(f"{_max}-float32", functional(_max, 2), f32(*_shape).distinct)
    _nan = f64(*_shape[:2], *(3,) * _rank).of(float("nan")).const
    case(f"{_max}-nan", functional(_max, 2, 1, return_indices=True), _nan)
    _low = f64(*_shape[:2], *(3,) * _rank).of(float("-inf")).const
    case(f"{_max}-lowest", functional(_max, 2, 1, 1, return_indices=True), _low)
    case(f"{_avg}-each", functional(_avg, _each, (2, 1, 2)[:_rank], (1, 0, 1)[:_rank]), _input)
    for _include in (True, False):
        _options = {"ceil_mode": True, "count_include_pad": _include}
        case(f"{_avg}-ceil-{_include}", functional(_avg, 3, 2, 1, **_options), _input)
    case(f"{_avg}-int64", functional(_avg, 2), i64(*_shape))
    case(f"{_avg}-float32", functional(_avg, 3, 1), f32(*_shape))
    case(f"{_avg}-empty-batch", functional(_avg, 2), f64(0, *_shape[1:]))
    if _rank > 1:
        case(f"{_avg}-divisor", functional(_avg, 2, divisor_override=-3), _input)
        case(f"{_max}-int32", functional(_max, 2), i32(*_shape))
        case(f"{_max}-uint8", functional(_max, 2, 2, 1), u8(*_shape))
        fails(f"{_avg}-divisor-zero", functional(_avg, 2, divisor_override=0), _input)
        fails(f"{_avg}-divisor-float", functional(_avg, 2, divisor_override=1.5), _input)
    fails(f"{_max}-bool", functional(_max, 2), mask(*_shape))
    fails(f"{_avg}-int32", functional(_avg, 2), i32(*_shape))
    for _name in (_max, _avg):
        for _case, _args in {
            "no-kernel": (0, 1),
            "negative-kernel": (-1, 1),
            "no-stride": (2, 0),
            "negative-stride": (2, -1),
            "padding": (2, 2, 2),
            "negative-padding": (2, 2, -1),
            "large": (9,),
            "float": (2.0,),
            "text": ("2",),
            "floats": ((2.0,) * _rank,),
            "numbers": ((2,) * (_rank + 1),),
            "strides": (2, (2,) * (_rank + 1)),
            "paddings": (2, 2, (1,) * (_rank + 1)),
        }.items():
            fails(f"{_name}-{_case}", functional(_name, *_args), f64(*_shape))
        fails(f"{_name}-no-channels", functional(_name, 2), f64(2, 0, *_shape[2:]))
        fails(f"{_name}-no-elements", functional(_name, 2), f64(*_shape[:-1], 0))
        fails(f"{_name}-list", lambda tn, n=_name: getattr(tn.nn.functional, n)([1.0], 2))
        fails(f"{_name}-many-dims", functional(_name, 2), f64(1, 1, *_shape, 1))
    fails(f"{_max}-no-dilation", functional(_max, 2, 1, 0, 0), f64(*_shape))
    fails(f"{_max}-dilations", functional(_max, 2, 1, 0, (1,) * (_rank + 1)), f64(*_shape))

    case(f"{_max}_with_indices-plain", functional(f"{_max}_with_indices", 2), _input)
    _name = f"adaptive_{_max}_with_indices"
    case(f"{_name}-plain", functional(_name, 2), _input)

    # ---- even shares ----

    for _kind in ("avg", "max"):
        _name = f"adaptive_{_kind}_pool{_rank}d"
        for _layout in ("plain", "transposed", "strided"):
            case(f"{_name}-{_layout}", functional(_name, 3), layouts(*_shape)[_layout].distinct)
        case(f"{_name}-one", functional(_name, 1), _input)
        case(f"{_name}-more", functional(_name, 8), _input)
        case(f"{_name}-none-left", functional(_name, 0), f64(*_shape).const)
        fails_backward(f"{_name}-none-left-backward", functional(_name, 0), f64(*_shape))
        case(f"{_name}-no-batch", functional(_name, 2), f64(*_shape[1:]).distinct)
        case(f"{_name}-empty-batch", functional(_name, 2), f64(0, *_shape[1:]).const)
        case(f"{_name}-float32", functional(_name, 2), f32(*_shape).distinct)
        fails(f"{_name}-many-dims", functional(_name, 2), f64(1, 1, *_shape))
        fails(f"{_name}-no-elements", functional(_name, 2), f64(*_shape[:-1], 0))
        fails(f"{_name}-int64", functional(_name, 2), i64(*_shape))
        fails(f"{_name}-numbers", functional(_name, (2,) * (_rank + 1)), f64(*_shape))
        fails(f"{_name}-float", functional(_name, (2.0,) * _rank), f64(*_shape))
        if _rank > 1:
            case(f"{_name}-kept", functional(_name, (None, *(2, 3)[: _rank - 1])), _input)
            fails(f"{_name}-long", functional(_name, (2,) * 6), f64(*_shape))
    _name = f"adaptive_max_pool{_rank}d"
    case(f"{_name}-indices", functional(_name, 2, return_indices=True), _input)
    fails(
        f"adaptive_avg_pool{_rank}d-one-of-ints",
        functional(f"adaptive_avg_pool{_rank}d", 1),
        i64(*_shape),
    )

    # ---- power averages ----

    _name, _positive = f"lp_pool{_rank}d", f64(*_shape).positive
    case(f"{_name}-square", functional(_name, 2, 2), _positive)
    case(f"{_name}-cube", functional(_name, 3.0, 2, 1), _positive)
    case(f"{_name}-ceil", functional(_name, 2, 3, 2, True), _positive)
    case(f"{_name}-largest", functional(_name, float("inf"), 2), _input)
    case(f"{_name}-smallest", functional(_name, float("-inf"), 2), _input)
    fails(f"{_name}-zero", functional(_name, 0, 2), _positive)

# ---- the way back ----


def unpool(rank, change=lambda tn, x, indices: (x, indices), **options):
    def call(tn, x):
        pool = getattr(tn.nn.functional, f"max_pool{rank}d")
        values, indices = pool(x, 2, return_indices=True)
        back = getattr(tn.nn.functional, f"max_unpool{rank}d")
        return back(*change(tn, values, indices), 2, **options)

    return call


EVEN = {1: (2, 3, 6), 2: (2, 3, 4, 6), 3: (1, 2, 4, 4, 6)}
for _rank, _shape in EVEN.items():
    _name, _input = f"max_unpool{_rank}d", f64(*_shape).distinct
    case(f"{_name}-plain", unpool(_rank), _input)
    case(f"{_name}-size", unpool(_rank, output_size=_shape), _input)
    _wider = tuple(n + 1 for n in _shape[2:])
    case(f"{_name}-wider", unpool(_rank, output_size=_wider), _input)
    case(f"{_name}-no-batch", unpool(_rank), f64(*_shape[1:]).distinct)
    case(f"{_name}-empty-batch", unpool(_rank, lambda tn, x, i: (x[:0], i[:0])), _input.const)
    case(f"{_name}-twice", unpool(_rank, lambda tn, x, i: (x * x, i)), _input)
    fails(f"{_name}-int32", unpool(_rank, lambda tn, x, i: (x, i.int())), _input)
    fails(f"{_name}-floats", unpool(_rank, lambda tn, x, i: (x, x)), _input)
    fails(f"{_name}-shape", unpool(_rank, lambda tn, x, i: (x[0], i)), _input)
    fails(f"{_name}-outside", unpool(_rank, lambda tn, x, i: (x, i * 0 + 999)), _input)
    fails(f"{_name}-negative", unpool(_rank, lambda tn, x, i: (x, i * 0 - 1)), _input)
    fails(f"{_name}-sizes", unpool(_rank, output_size=(2,) * (_rank + 1)), _input)
    fails(f"{_name}-too-wide", unpool(_rank, output_size=(20,) * _rank), _input)
    fails(f"{_name}-dims", unpool(_rank, lambda tn, x, i: (x[0, 0], i[0, 0])), _input)
    fails(f"{_name}-of-ints", unpool(_rank, lambda tn, x, i: (x.long(), i)), _input)

# ---- random windows ----


def drawn(name, kernel, sample_shape=None, **options):
    def call(tn, x):
        rank = int(name[len("fractional_max_pool")])
        shape = sample_shape or (2, 3, rank)
        count = 1
        for n in shape:
            count *= n
        samples = (tn.arange(count, dtype=tn.float64) * 0.37 % 1.0).reshape(*shape)
        return getattr(tn.nn.functional, name)(x, kernel, _random_samples=samples, **options)

    return call


for _rank in (2, 3):
    _name, _input = f"fractional_max_pool{_rank}d", f64(2, 3, *(7, 8, 6)[:_rank]).distinct
    fails(f"{_name}-kernel-of-one", functional(_name, (1,), 3), _input)
    case(f"{_name}-size", drawn(_name, 2, output_size=3), _input)
    case(f"{_name}-indices", drawn(_name, 2, output_size=3, return_indices=True), _input)
    case(f"{_name}_with_indices-plain", drawn(f"{_name}_with_indices", 2, output_size=3), _input)
    case(f"{_name}-ratio", drawn(_name, 2, output_ratio=(0.5, 0.4, 0.6)[:_rank]), _input)
    case(f"{_name}-each", drawn(_name, (1, 3, 2)[:_rank], output_size=(2, 4, 3)[:_rank]), _input)
    case(f"{_name}-one", drawn(_name, 2, output_size=1), _input)
    case(f"{_name}-no-batch", drawn(_name, 2, output_size=3), f64(3, *(7, 8, 6)[:_rank]).distinct)
    fails(f"{_name}-neither", functional(_name, 2), _input)
    fails(f"{_name}-large", functional(_name, 5, 4), _input)
    fails(f"{_name}-many-dims", functional(_name, 2, 3), f64(1, 1, 1, *(7, 8, 6)[:_rank]))
    fails(f"{_name}-kernels", functional(_name, (2,) * (_rank + 1), 3), _input)
    fails(f"{_name}-sizes", functional(_name, 2, (2,) * (_rank + 1)), _input)
    fails(f"{_name}-negative", functional(_name, 2, -1), _input)
    fails(f"{_name}-float-kernel", functional(_name, 2.0, 1), _input)
    fails(f"{_name}-no-channels", functional(_name, 2, 2), f64(2, 0, *(7, 8, 6)[:_rank]))
    fails(f"{_name}-samples-dims", drawn(_name, 2, (6, _rank), output_size=3), _input)
    fails(f"{_name}-samples-channels", drawn(_name, 2, (2, 2, _rank), output_size=3), _input)
    fails(f"{_name}-samples-width", drawn(_name, 2, (2, 3, _rank + 1), output_size=3), _input)
    fails(f"{_name}-samples-dtype", drawn(_name, 2, output_size=3), f32(2, 3, *(7, 8, 6)[:_rank]))
    fails(f"{_name}-int64", functional(_name, 2, 3), i64(2, 3, *(7, 8, 6)[:_rank]))
