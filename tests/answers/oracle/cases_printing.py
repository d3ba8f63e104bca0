"""What `print` shows: numbers, shapes, dtypes, history."""

from tests.tools.recorded.rows import DTYPES, Table, f32, f64, i64, mask

TABLE = Table("printing")
case, fails = TABLE.case, TABLE.fails

VALUES = {
    "integers-as-floats": [1.0, 2.0, 3.0],
    "fractions": [0.5, 1.25, -3.14159],
    "negative-zero": [-0.0, 0.0],
    "large": [1e5, 12345.678],
    "large-whole": [100000.0, 2.0],
    "huge": [1e9, 1.0],
    "tiny": [1e-5, 1.0],
    "all-tiny": [1e-6, 2e-6],
    "wide-range": [1e-4, 1e4],
    "ratio-1000": [0.001, 1.001],
    "nan": [float("nan"), 1.0],
    "inf": [float("inf"), -1.5, float("-inf")],
    "only-nan": [float("nan")],
    "whole-with-nan": [float("nan"), 2.0, float("inf")],
    "rounding": [0.99999, 1.00004],
    "extreme": [1e-300, 1e300],
    "all-zero": [0.0, 0.0],
    "hundreds": [123.456, 7.0],
    "whole-very-large": [1e8, 1e8 + 2],
}
for _name, _values in VALUES.items():
    case(
        f"repr-{_name}",
        lambda tn, v=_values: (repr(tn.tensor(v)), str(tn.tensor(v, dtype=tn.float64))),
    )
    case(f"repr-0d-{_name}", lambda tn, v=_values: [repr(tn.tensor(x)) for x in v])
INTEGERS = {"small": [1, 20, 300], "negative": [-1, 10], "zero": [0], "large": [2**40, 1]}
for _name, _values in INTEGERS.items():
    case(f"repr-int-{_name}", lambda tn, v=_values: (repr(tn.tensor(v)), repr(tn.tensor(v[0]))))
for _dtype, _make in DTYPES.items():
    case(
        f"repr-dtype-{_dtype}",
        lambda tn, x, y, z: [repr(t) for t in (x, y, z)],
        _make(3).const,
        _make().const,
        _make(0).const,
    )
    case(f"repr-dtype-{_dtype}-2d", lambda tn, x: repr(x), _make(2, 3).const)

# ---- shapes ----

SHAPES = {
    "row": (1, 4),
    "column": (4, 1),
    "matrix": (3, 3),
    "cube": (2, 2, 2),
    "four": (2, 1, 2, 2),
    "long": (20,),
    "longer-than-a-line": (2, 25),
    "many-ones": (1, 1, 1, 1),
}
for _name, _shape in SHAPES.items():
    case(f"repr-shape-{_name}", lambda tn, x: repr(x), f32(*_shape).const)
    case(f"repr-shape-{_name}-int64", lambda tn, x: repr(x), i64(*_shape))
for _shape in ((0,), (0, 3), (2, 0), (1, 0, 2)):
    case(
        f"repr-empty-{'x'.join(map(str, _shape))}",
        lambda tn, s=_shape: [repr(tn.zeros(s)), repr(tn.zeros(s, dtype=tn.int32))],
    )
case("repr-summarised-1d", lambda tn: (repr(tn.arange(1001)), repr(tn.arange(1001.0))))
case("repr-not-yet-summarised", lambda tn: repr(tn.arange(1000)))
case(
    "repr-summarised-2d",
    lambda tn: (repr(tn.zeros(40, 40)), repr(tn.arange(2000).reshape(1000, 2))),
)
case("repr-summarised-3d", lambda tn: repr(tn.arange(4000.0).reshape(10, 20, 20) / 7))
case("repr-summarised-long-rows", lambda tn: repr(tn.arange(1002).reshape(3, 334)))
case("repr-strided", lambda tn, x: repr(x), f64(2, 3).strided.const)
case("repr-transposed", lambda tn, x: repr(x), f64(2, 3).t.const)
case("repr-expanded", lambda tn, x: repr(x), f64(2, 3).expanded.const)
case("repr-mask", lambda tn, x: repr(x), mask(2, 3))

# ---- history ----

HISTORIES = {
    "requires-grad": lambda tn, x: x,
    "mul": lambda tn, x: x * 2,
    "add": lambda tn, x: x + 1,
    "exp": lambda tn, x: x.exp(),
    "sum": lambda tn, x: x.sum(),
    "mean": lambda tn, x: x.mean(),
    "view": lambda tn, x: x.t(),
    "index": lambda tn, x: x[0],
    "unbind": lambda tn, x: x.unbind()[0],
    "softmax": lambda tn, x: x.softmax(-1),
    "clone": lambda tn, x: x.clone(),
    "detach": lambda tn, x: x.detach(),
    "data": lambda tn, x: x.data,
    "empty": lambda tn, x: x[:0] * 2,
    "wide": lambda tn, x: (x * 2).repeat(1, 4),
}
for _name, _make in HISTORIES.items():
    case(f"repr-history-{_name}", lambda tn, x, m=_make: repr(m(tn, x)), f32(2, 3))
    case(f"repr-history-{_name}-float64", lambda tn, x, m=_make: str(m(tn, x)), f64(2, 3))


def copy_slices(tn, x):
    y = x * 1
    y[:] = 0
    return repr(y)


def long_line(tn):
    x = tn.arange(12.0, dtype=tn.float64).requires_grad_()
    return repr(x + 0.5), repr(x * 1)


case("repr-copy-slices", copy_slices, f32(4))
case("repr-history-wraps", long_line)
case("repr-print", lambda tn, x: f"{x} {x.sum()} {x[0, 0].item():.2f}", f32(2, 2))
case("repr-percent", lambda tn, x: "%s %r" % (x, x), i64(2))  # noqa: UP031

# ---- other things that are printed ----

case("repr-size", lambda tn, x: (repr(x.shape), str(x.size()), repr(tn.zeros(()).shape)), f32(2, 3))
case(
    "repr-dtypes",
    lambda tn: [repr(getattr(tn, d)) for d in (*DTYPES, "float", "double", "long", "int")],
)
case("repr-list-of-tensors", lambda tn, x: repr([x[0], x[1]]), i64(2, 2))
case("repr-named-result", lambda tn, x: repr(x.max(0)), f32(2, 3).const)
case("repr-device", lambda tn, x: repr(x.device), f32(1))

# ---- set_printoptions ----


def with_options(**options):
    def call(tn, x):
        tn.set_printoptions(**options)
        try:
            return repr(x)
        finally:
            tn.set_printoptions(profile="default")

    return call


case("set_printoptions-precision", with_options(precision=2), f32(2, 3).const)
case("set_printoptions-threshold", with_options(threshold=5, edgeitems=1), f32(3, 3).const)
case("set_printoptions-linewidth", with_options(linewidth=30), f32(8).const)
case("set_printoptions-sci-mode", with_options(sci_mode=True), f32(3).const)
case("set_printoptions-no-sci-mode", with_options(sci_mode=False), f32(2).of([1e-6, 1.0]).const)
