"""Random numbers from named distributions: moments, ranges, dtypes, histories, refusals.

As in `cases_random_numbers`, calls return statements that must be true.
"""

from tests.tools.recorded.rows import Table, f32, f64, function, i64, inplace, mask

TABLE = Table("distributions")
case, fails = TABLE.case, TABLE.fails

COUNT = 20_000


def filled(tn, name, *args, dtype=None, **kwargs):
    tn.manual_seed(3)
    x = tn.empty(COUNT, dtype=dtype or tn.float64)
    return getattr(x, name)(*args, **kwargs)


def about(value, expected, spread):
    """Whether a mean lies within six standard errors."""
    return abs(float(value) - expected) < 6 * spread / COUNT**0.5


# name -> arguments, then a function of the numbers whose mean and spread are known
FILLS = {
    "uniform_": ((-1.0, 3.0), lambda x: x, 1.0, 4 / 12**0.5),
    "normal_": ((2.0, 0.5), lambda x: x, 2.0, 0.5),
    "log_normal_": ((0.5, 0.25), lambda x: x.log(), 0.5, 0.25),
    "exponential_": ((2.0,), lambda x: x, 0.5, 0.5),
    "geometric_": ((0.25,), lambda x: x, 4.0, 12**0.5),
    "cauchy_": ((1.0, 2.0), lambda x: (x > 3.0).double(), 0.25, 0.5),
    "bernoulli_": ((0.3,), lambda x: x, 0.3, 0.5),
    "random_": ((-2, 4), lambda x: x, 0.5, 1.8),
}
for _name, (_args, _of, _mean, _spread) in FILLS.items():
    case(
        f"{_name}-mean",
        lambda tn, n=_name, a=_args, f=_of, m=_mean, s=_spread: about(
            f(filled(tn, n, *a)).mean(), m, s
        ),
    )
    case(
        f"{_name}-default",
        lambda tn, n=_name: [
            bool((filled(tn, n, *([0.5] if n == "geometric_" else [])) * 0 == 0).all()),
            filled(tn, n, *([0.5] if n == "geometric_" else []), dtype=tn.float32).dtype,
        ],
    )
    case(f"{_name}-history", lambda tn, x, n=_name, a=_args: getattr(x * 1, n)(*a) * 0, f64(2, 3))
    case(f"{_name}-view", lambda tn, x, n=_name, a=_args: of_part(tn, x, n, a), f64(4))
    case(
        f"{_name}-generator",
        lambda tn, n=_name, a=_args: bool(
            (
                getattr(tn.empty(9), n)(*a, generator=tn.Generator().manual_seed(1))
                == getattr(tn.empty(9), n)(*a, generator=tn.Generator().manual_seed(1))
            ).all()
        ),
    )


def of_part(tn, x, name, args):
    """A write to half of a copy: what was there gets no gradient, the rest does."""
    whole = x * 1
    getattr(whole[:2], name)(*args)
    return whole[2:]


WHOLE = {"random_": (3,), "bernoulli_": (0.5,), "geometric_": (0.5,)}
for _name, _args in WHOLE.items():
    case(
        f"{_name}-int64",
        lambda tn, n=_name, a=_args: [
            filled(tn, n, *a, dtype=tn.int64).dtype,
            int(filled(tn, n, *a, dtype=tn.int64).min()),
        ],
    )
for _name in ("normal_", "uniform_", "log_normal_", "exponential_", "cauchy_"):
    fails(f"{_name}-int64", lambda tn, x, n=_name: getattr(x, n)(), i64(3))
for _name, _args in {
    "normal_": (0, -1),
    "uniform_": (1, 0),
    "log_normal_": (0, 0),
    "exponential_": (0,),
    "cauchy_": (0, -1),
    "geometric_": (1.5,),
    "bernoulli_": (2.0,),
    "random_": (5, 2),
}.items():
    fails(f"{_name}-out-of-range", lambda tn, x, n=_name, a=_args: getattr(x, n)(*a), f32(3).const)
    fails(f"{_name}-leaf", lambda tn, x, n=_name: getattr(x, n)(*WHOLE.get(n, ())), f64(3))
fails("random_-int8", lambda tn: tn.empty(3, dtype=tn.int8).random_(300))
case(
    "random_-uint8",
    lambda tn: [int(f(filled(tn, "random_", dtype=tn.uint8))) for f in (tn.min, tn.max)],
)
case(
    "random_-bool", lambda tn: about(filled(tn, "random_", dtype=tn.bool).double().mean(), 0.5, 0.5)
)
case("bernoulli_-tensor", inplace("bernoulli_"), f64(4), f64(4).of([0, 1, 1, 0]).const)
fails("bernoulli_-tensor-out-of-range", inplace("bernoulli_"), f64(2), f64(2).of(1.5).const)

# ---- drawn with probabilities of their own ----

case("bernoulli-function", function("bernoulli"), f64(4).of([0, 1, 1, 0]))
case("bernoulli-method", lambda tn, x: (x.bernoulli(), x.bernoulli(1.0)), f64(2).of([0, 1]).const)
fails("bernoulli-out-of-range", function("bernoulli"), f64(2).of(-0.5))
fails("bernoulli-int64", function("bernoulli"), i64(2).of(1))
case("poisson-zero", function("poisson"), f64(2, 3).of(0))
case("poisson-mean", lambda tn: about(tn.poisson(tn.full((COUNT,), 3.0)).mean(), 3, 3**0.5))
fails("poisson-negative", function("poisson"), f64(2).of(-1))
fails("poisson-int64", function("poisson"), i64(2))
case("binomial-sure", function("binomial"), f64(3).upto(5).const, f64(3).of([0, 1, 1]).const)
case(
    "binomial-mean",
    lambda tn: about(
        tn.binomial(tn.full((COUNT,), 10.0), tn.full((COUNT,), 0.3)).mean(), 3, 2.1**0.5
    ),
)
fails("binomial-int64", function("binomial"), i64(2), f64(2).of(0.5))
case(
    "multinomial-sure", function("multinomial", 2, True), f64(2, 3).of([[0, 1, 0], [3, 0, 0]]).const
)
case(
    "multinomial-without-replacement",
    lambda tn, x: tn.multinomial(x, 3).sort().values,
    f64(2, 5).of([0.5, 0, 2, 1, 0]).const,
)
case(
    "multinomial-frequencies",
    lambda tn: [
        about((tn.multinomial(tn.tensor([1.0, 3.0]), COUNT, True) == 1).double().mean(), 0.75, 0.5),
        about((tn.multinomial(tn.tensor([[1.0, 3.0]] * COUNT), 1) == 1).double().mean(), 0.75, 0.5),
    ],
)
case("multinomial-method", lambda tn, x: x.multinomial(1), f32(3).of([0, 1, 0]).const)
fails("multinomial-too-many", function("multinomial", 3), f64(2).of(1))
fails("multinomial-none", function("multinomial", 0), f64(2).of(1))
fails("multinomial-negative", function("multinomial", 1), f64(2).of(-1))
fails("multinomial-zeros", function("multinomial", 1), f64(2).of(0))
fails("multinomial-three-dims", function("multinomial", 1), f64(2, 2, 2).of(1))
fails("multinomial-int64", function("multinomial", 1), i64(2).of(1))

# ---- normal, likes ----

case("normal-sure", lambda tn, m: (tn.normal(m, 0.0), tn.normal(m, m * 0)), f64(3).const)
case("normal-shapes", lambda tn, m: list(tn.normal(m, tn.ones(2, 1)).shape), f32(3).const)
case(
    "normal-size", lambda tn: (tn.normal(2.0, 0.0, (2, 3)), tn.normal(1, 0, (2,), dtype=tn.float64))
)
fails("normal-shapes-differ", function("normal"), f64(2).const, f64(3).of(1).const)
fails("normal-negative", lambda tn: tn.normal(0.0, -1.0, (2,)))
fails("normal-negative-tensor", lambda tn, s: tn.normal(0.0, s), f64(2).of(-1).const)
fails("normal-two-numbers", lambda tn: tn.normal(0.0, 1.0))
case(
    "rand_like-options",
    lambda tn, x: [
        tn.rand_like(x).dtype,
        tn.randn_like(x, dtype=tn.float64).dtype,
        tn.randint_like(x, 3, 5, requires_grad=True).requires_grad,
        list(tn.randint_like(x, 3).shape),
    ],
    f32(2, 3).const,
)
fails("rand_like-int64", function("rand_like"), i64(2))
fails("randint-out-of-range", lambda tn: tn.randint(3, 300, (2,), dtype=tn.int8))
case("random_-of-mask", lambda tn, x: x.random_().dtype, mask(3))
