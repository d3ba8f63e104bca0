"""Pooling layers."""

from tests.tools.recorded.layers import Table, f

TABLE = Table("pooling")

SHAPES = {1: (2, 3, 7), 2: (2, 3, 7, 6), 3: (2, 2, 5, 6, 7)}
INF = float("inf")


def add(name, case, shape, *args, **options):
    TABLE.layer(f"{name}-{case}", lambda lib: getattr(lib.nn, name)(*args, **options), f(*shape))


for _rank, _shape in SHAPES.items():
    _each = tuple(range(2, 2 + _rank))
    _max, _avg, _lp = f"MaxPool{_rank}d", f"AvgPool{_rank}d", f"LPPool{_rank}d"
    add(_max, "two", _shape, 2)
    add(_max, "no-batch", _shape[1:], 2)
    add(_max, "overlapping", _shape, 3, 2, 1)
    add(_max, "each", _shape, _each, (1,) * _rank, (1,) * _rank)
    add(_max, "dilation", _shape, 2, 1, 1, 2)
    add(_max, "indices", _shape, 3, 2, return_indices=True)
    add(_max, "ceil", _shape, 2, 3, ceil_mode=True)
    add(_max, "wide", _shape, _shape[-1] if _rank == 1 else _shape[2:])
    add(_avg, "two", _shape, 2)
    add(_avg, "no-batch", _shape[1:], 2)
    add(_avg, "overlapping", _shape, 3, 2, 1)
    add(_avg, "each", _shape, 3 if _rank == 1 else _each, 1, 1)
    add(_avg, "inner-only", _shape, 3, 2, 1, count_include_pad=False)
    add(_avg, "ceil", _shape, 2, 3, ceil_mode=True)
    add(_avg, "ceil-padded", _shape, 3, 2, 1, True)
    if _rank > 1:
        add(_avg, "divisor", _shape, 2, divisor_override=3)
    for _case, _args in (
        ("square", (2, 2)),
        ("one", (1, 3, 1)),
        ("ceil", (2, 2, 3, True)),
        ("largest", (INF, 2)),
        ("smallest", (-INF, 2)),
    ):
        TABLE.layer(
            f"{_lp}-{_case}",
            lambda lib, n=_lp, a=_args: getattr(lib.nn, n)(*a),
            f(*_shape).positive,
        )
    TABLE.layer(f"{_lp}-cube", lambda lib, n=_lp: getattr(lib.nn, n)(3.0, 2), f(*_shape).positive)
    for _kind in ("Avg", "Max"):
        _name = f"Adaptive{_kind}Pool{_rank}d"
        add(_name, "one", _shape, 1)
        add(_name, "three", _shape, 3)
        add(_name, "more", _shape, 9)
        add(_name, "no-batch", _shape[1:], 2)
        if _rank > 1:
            add(_name, "each", _shape, (*range(2, 1 + _rank), None))
    add(f"AdaptiveMaxPool{_rank}d", "indices", _shape, 3, return_indices=True)
    add(f"AdaptiveMaxPool{_rank}d", "dividing", (2, 3, *(6,) * _rank), 3, return_indices=True)
    add(f"AdaptiveAvgPool{_rank}d", "same", (2, 3, *(4,) * _rank), 4)

# ---- there and back -----------------------------------------------------------------------------


def there_and_back(rank, options):
    def call(module, x):
        lib = __import__(type(x).__module__.partition(".")[0])
        pool = getattr(lib.nn, f"MaxPool{rank}d")(*options, return_indices=True)
        values, indices = pool(x)
        return module(values * 2, indices, output_size=x.shape)

    return call


for _rank, _shape in SHAPES.items():
    for _case, _options in (("two", (2,)), ("padded", (2, 2, 1)), ("strided", (2, 3))):
        TABLE.layer(
            f"MaxUnpool{_rank}d-{_case}",
            lambda lib, n=_rank, o=_options: getattr(lib.nn, f"MaxUnpool{n}d")(*o),
            f(*_shape),
            call=there_and_back(_rank, _options),
        )

# ---- random windows -----------------------------------------------------------------------------


def samples(lib, rank):
    numbers = [n / 64 for n in (7, 58, 29, 20, 42, 3, 51, 36, 13)]  # exact in float32
    return lib.tensor((numbers * 2)[: 6 * rank], dtype=lib.float64).reshape(2, 3, rank)


for _rank in (2, 3):
    _shape = (2, 3, *(7, 8, 9)[:_rank])
    for _case, _options in (
        ("size", {"output_size": 3}),
        ("each", {"output_size": (2, 4, 3)[:_rank]}),
        ("ratio", {"output_ratio": (0.5, 0.3, 0.7)[:_rank]}),
        ("indices", {"output_size": 4, "return_indices": True}),
        ("single", {"output_size": 1}),
    ):
        TABLE.layer(
            f"FractionalMaxPool{_rank}d-{_case}",
            lambda lib, r=_rank, o=_options: getattr(lib.nn, f"FractionalMaxPool{r}d")(
                2, _random_samples=samples(lib, r), **o
            ),
            f(*_shape),
        )
    _name = f"FractionalMaxPool{_rank}d"
    TABLE.fails(f"{_name}-neither", lambda lib, n=_name: getattr(lib.nn, n)(2))
    TABLE.fails(f"{_name}-both", lambda lib, n=_name: getattr(lib.nn, n)(2, 3, 0.5))
    TABLE.fails(f"{_name}-ratio", lambda lib, n=_name: getattr(lib.nn, n)(2, output_ratio=1.0))
TABLE.fails("FractionalMaxPool3d-no-kernel", lambda lib: lib.nn.FractionalMaxPool3d(0, 3))
TABLE.fails(
    "FractionalMaxPool2d-large",
    lambda lib: lib.nn.FractionalMaxPool2d(4, 3)(lib.zeros(1, 1, 5, 5)),
)

# ---- refusals -----------------------------------------------------------------------------------

for _rank in (1, 2, 3):
    for _kind in ("Max", "Avg"):
        _name = f"{_kind}Pool{_rank}d"
        for _case, _args in (
            ("no-kernel", (0, 1)),
            ("no-stride", (2, 0)),
            ("padding", (2, 2, 2)),
            ("negative-padding", (2, 2, -1)),
            ("large", (9,)),
        ):
            TABLE.fails(
                f"{_name}-{_case}",
                lambda lib, n=_name, a=_args, r=_rank: getattr(lib.nn, n)(*a)(
                    lib.zeros(1, 1, *(4,) * r)
                ),
            )
TABLE.fails("MaxPool2d-rank", lambda lib: lib.nn.MaxPool2d(2)(lib.zeros(4, 4)))
TABLE.fails("MaxPool2d-three-numbers", lambda lib: lib.nn.MaxPool2d((1, 2, 3))(lib.zeros(1, 4, 4)))
TABLE.fails("MaxPool2d-float", lambda lib: lib.nn.MaxPool2d(2.0)(lib.zeros(1, 4, 4)))
TABLE.fails("MaxUnpool2d-size", lambda lib: unpooled(lib, [9, 9]))
TABLE.fails("MaxUnpool2d-sizes", lambda lib: unpooled(lib, [4, 4, 4]))
TABLE.fails(
    "AdaptiveAvgPool2d-rank", lambda lib: lib.nn.AdaptiveAvgPool2d(2)(lib.zeros(2, 2, 2, 4, 4))
)
TABLE.fails("AdaptiveAvgPool2d-long", lambda lib: lib.nn.AdaptiveAvgPool2d([1] * 4)(lib.zeros(4)))


def unpooled(lib, size):
    x, indices = lib.nn.MaxPool2d(2, return_indices=True)(lib.zeros(1, 4, 4))
    return lib.nn.MaxUnpool2d(2)(x, indices, output_size=size)
