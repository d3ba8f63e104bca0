"""float16, and the limits of dtypes."""

from tests.tools.recorded.rows import Input, Table, f32, f64, function, i64

TABLE = Table("half")
case, fails = TABLE.case, TABLE.fails


def f16(*shape: int) -> Input:
    spec = f32(*shape)
    return Input(spec.shape, "float16", spec.values, requires_grad=True)


# ---- limits ----

FIELDS = "bits min max eps tiny smallest_normal resolution dtype".split()
for _kind in ("float16", "float32", "float64"):
    case(
        f"finfo-{_kind}",
        lambda tn, k=_kind: [getattr(tn.finfo(getattr(tn, k)), f) for f in FIELDS],
    )
    case(f"finfo-{_kind}-repr", lambda tn, k=_kind: repr(tn.finfo(getattr(tn, k))))
for _kind in ("uint8", "int8", "int16", "int32"):
    case(
        f"iinfo-{_kind}",
        lambda tn, k=_kind: [getattr(tn.iinfo(getattr(tn, k)), f) for f in ("bits", "min", "max")],
    )
case("iinfo-repr", lambda tn: [repr(tn.iinfo(k)) for k in (tn.int8, tn.uint8)])
case("finfo-default", lambda tn: tn.finfo().dtype)
fails("finfo-int32", lambda tn: tn.finfo(tn.int32))
fails("iinfo-float32", lambda tn: tn.iinfo(tn.float32))
fails("iinfo-bool", lambda tn: tn.iinfo(tn.bool))
case("constants-all", lambda tn: [tn.pi, tn.e, tn.inf, tn.newaxis, tn.nan])

# ---- float16 ----

HALF = {
    **{n: "normal" for n in "exp sigmoid tanh sin abs neg relu floor sinc erf square".split()},
    **{n: "positive" for n in "log sqrt reciprocal".split()},
}
for _name, _domain in HALF.items():
    _spec = f16(2, 3) if _domain == "normal" else f16(2, 3).positive
    case(f"{_name}-float16", function(_name), _spec)
for _name in ("add", "sub", "mul", "div", "maximum", "fmod", "atan2"):
    case(f"{_name}-float16", function(_name), f16(2, 3), f16(3))
for _name in ("sum", "mean", "var", "std", "softmax", "log_softmax", "cumsum", "amax", "norm"):
    case(f"{_name}-float16", function(_name, dim=1), f16(3, 40))
case("matmul-float16", lambda tn, x, y: x @ y, f16(3, 20), f16(20, 4))
case("scatter_add-float16", lambda tn, x, i: (x * 0).scatter_add(0, i, x), f16(9), i64(9).of(2))
case("index_add-float16", lambda tn, x, i: (x * 0).index_add(0, i, x), f16(9, 2), i64(9).of(2))
case(
    "casts-float16",
    lambda tn, x, y: [x.half(), y.half(), x.half().float(), x.half().long(), x.to(tn.float16)],
    f64(3),
    i64(3),
)
case("mixed-float16", lambda tn, x, y, z: [x + y, x * z, x + 1, x > y], f16(3), f32(3), i64(3))
NUMBERS = {
    "mul": lambda tn, x: x * 1e-8 * 1e8,
    "mul-on-the-left": lambda tn, x: 1e-8 * x * 1e8,
    "mul-0d": lambda tn, x: x * tn.tensor(1e-8, dtype=tn.float64) * 1e8,
    "mul-integer-0d": lambda tn, x: x / 1e5 * tn.tensor(100000),
    "mul-0d-first": lambda tn, x: tn.tensor(0.1) * x,
    "mul-rounds-once": lambda tn, x: (x * 0.1, x * 3.3333),
    "mul_": lambda tn, x: (x / 60000).mul_(7e4),
    "imul": lambda tn, x: (x / 60000).__imul__(7e4),
    "div": lambda tn, x: x / 65536 * 65536,
    "div-0d": lambda tn, x: x / tn.tensor(1e6) * 1e6,
    "div_": lambda tn, x: (x * 1e4).div_(1e5),
    "div-of-a-number": lambda tn, x: 1e5 / (x * 1e4),
    "floor_divide": lambda tn, x: (x * 1e4) // 7e4,
    "div-floor": lambda tn, x: tn.div(x / 1e5, 3e-8, rounding_mode="floor"),
    "div-trunc": lambda tn, x: tn.div(x / 1e5, 3e-8, rounding_mode="trunc"),
    "add": lambda tn, x: (x + 7e4, x - 7e4, 7e4 - x, x + 0.1),
    "remainder": lambda tn, x: (x % 1e6, tn.fmod(x, 1e6)),
    "pow": lambda tn, x: x**0.3333,
    "where": lambda tn, x: tn.where(x > 1, x, 1e6),
    "addcmul": lambda tn, x: tn.addcmul(x, x / 1e3, x / 1e3, value=1e6),
    "addcdiv": lambda tn, x: tn.addcdiv(x, x, x * 1e4, value=1e5),
    "lerp": lambda tn, x: tn.lerp(x, x * 1.01, 7e4),
    "ldexp": lambda tn, x: tn.ldexp(x / 60000, tn.tensor(18)),
    "leaky_relu": lambda tn, x: tn.nn.functional.leaky_relu(-x / 1e3, 7e4),
    "elu": lambda tn, x: tn.nn.functional.elu(-x / 1e4, 1e5),
    "celu": lambda tn, x: tn.nn.functional.celu(-x, 1e5),
}
for _name, _call in NUMBERS.items():
    case(f"{_name}-float16-number", _call, f16(3).of([1.5, 3.0, 0.7]).const)
case("mul-float16-number-gradient", lambda tn, x: x * 0.1, f16(5))
case("div-float16-number-gradient", lambda tn, x: x / 70000, f16(5).of(6e4))
case("mul-float16-0d-gradient", lambda tn, x, s: x * s, f16(5), f32())
for _name, _inputs in {
    "addmm": (f16(2, 3), f16(3, 2)),
    "baddbmm": (f16(1, 2, 3), f16(1, 3, 2)),
}.items():
    case(
        f"{_name}-float16-number",
        lambda tn, x, y, n=_name: getattr(tn, n)(tn.ones(2, dtype=x.dtype), x, y / 1e5, alpha=1e5),
        *_inputs,
    )
fails("pow-float16-too-large!", lambda tn, x: x**1e6, f16(2))
for _name in ("add", "sub", "rsub"):
    fails(f"{_name}-float16-alpha!", function(_name, alpha=1e6), f16(2), f16(2))
case("repr-float16", lambda tn, x: repr(x), f16(2, 3).const)
case("item-float16", lambda tn, x: x.sum().item(), f16(3).of(0.5))
case("overflow-float16", lambda tn, x: x * x, f16(2).of(300).const)
case(
    "default-float16",
    lambda tn: with_default(tn, tn.float16, lambda: [tn.ones(2), tn.tensor([1.5]), tn.arange(2.0)]),
)


def with_default(tn, kind, call):
    tn.set_default_dtype(kind)
    try:
        return call()
    finally:
        tn.set_default_dtype(tn.float32)
