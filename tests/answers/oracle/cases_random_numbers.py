"""Random numbers: shapes, dtypes, ranges, distributions, repeatability; never the values.

Every call returns statements that must be true; a distribution is judged on 20,000 numbers with
bounds of six standard errors.
"""

from tests.tools.recorded.rows import Table, f32, f64, function, i64, layouts

TABLE = Table("random_numbers")
case, fails = TABLE.case, TABLE.fails

COUNT = 20_000
MAKERS = {
    "rand": lambda tn, **k: tn.rand(COUNT, **k),
    "randn": lambda tn, **k: tn.randn(COUNT, **k),
    "randint": lambda tn, **k: tn.randint(-2, 3, (COUNT,), **k),
    "randperm": lambda tn, **k: tn.randperm(COUNT, **k),
    "normal_": lambda tn, **k: tn.empty(COUNT).normal_(**k),
    "uniform_": lambda tn, **k: tn.empty(COUNT).uniform_(**k),
}


def seeded(tn, seed, call):
    tn.manual_seed(seed)
    return call()


def repeatable(make):
    """The same seed gives the same numbers, another seed or a second call others."""

    def call(tn):
        first = seeded(tn, 7, lambda: make(tn))
        second = make(tn)
        again = seeded(tn, 7, lambda: make(tn))
        other = seeded(tn, 8, lambda: make(tn))
        return [
            bool((first == again).all()),
            bool((first == second).all()),
            bool((first == other).all()),
        ]

    return call


def from_generator(make):
    """A generator of one's own repeats, and leaves the default generator alone."""

    def call(tn):
        tn.manual_seed(1)
        expected = tn.rand(3)
        tn.manual_seed(1)
        first = make(tn, generator=tn.Generator().manual_seed(5))
        untouched = tn.rand(3)
        generator = tn.Generator()
        generator.manual_seed(5)
        again = make(tn, generator=generator)
        return [bool((first == again).all()), bool((expected == untouched).all())]

    return call


for _name, _make in MAKERS.items():
    case(f"{_name}-repeatable", repeatable(_make))
    case(f"{_name}-generator", from_generator(_make))


def state_restored(tn):
    generator = tn.Generator().manual_seed(3)
    tn.rand(5, generator=generator)
    state = generator.get_state()
    first = tn.randn(4, generator=generator)
    generator.set_state(state)
    return bool((first == tn.randn(4, generator=generator)).all())


case("Generator-state", state_restored)
case("Generator-initial_seed", lambda tn: tn.Generator().manual_seed(11).initial_seed())
case("manual_seed-returns-generator", lambda tn: tn.manual_seed(4).initial_seed())
case("manual_seed-initial_seed", lambda tn: (tn.manual_seed(9), tn.initial_seed())[1])

# ---- shapes and dtypes ----


def facts(*tensors):
    return [(x.shape, x.dtype, x.requires_grad, x.is_leaf, x._version) for x in tensors]


for _name in ("rand", "randn"):
    case(
        f"{_name}-shapes",
        lambda tn, n=_name: facts(*(getattr(tn, n)(*s) for s in ((2, 3), ((4,),), (0, 2), ([],)))),
    )
    case(
        f"{_name}-float64",
        lambda tn, n=_name: facts(getattr(tn, n)(2, dtype=tn.float64, requires_grad=True)),
    )
    for _layout, _spec in layouts(2, 3).items():
        case(
            f"{_name}_like-{_layout}",
            lambda tn, x, n=_name: facts(getattr(tn, f"{n}_like")(x)),
            _spec,
        )
    case(
        f"{_name}_like-dtype",
        lambda tn, x, n=_name: facts(getattr(tn, f"{n}_like")(x, dtype=tn.float32)),
        i64(2),
    )
    fails(f"{_name}-int64", lambda tn, n=_name: getattr(tn, n)(2, dtype=tn.int64))
    fails(f"{_name}_like-int64", lambda tn, x, n=_name: getattr(tn, f"{n}_like")(x), i64(2))
    fails(f"{_name}-negative", lambda tn, n=_name: getattr(tn, n)(-1))
case(
    "randint-shapes",
    lambda tn: facts(tn.randint(5, (2, 3)), tn.randint(1, 5, (0,)), tn.randint(3, ())),
)
case(
    "randint-dtype",
    lambda tn: facts(tn.randint(5, (2,), dtype=tn.int32), tn.randint(5, (2,), dtype=tn.float32)),
)
for _layout, _spec in layouts(2, 3).items():
    case(
        f"randint_like-{_layout}",
        lambda tn, x: facts(tn.randint_like(x, 5), tn.randint_like(x, 1, 3)),
        _spec,
    )
case(
    "randperm-shapes",
    lambda tn: facts(tn.randperm(5), tn.randperm(0), tn.randperm(3, dtype=tn.int32)),
)
fails("randint-empty-range", lambda tn: tn.randint(3, 3, (2,)))
fails("randint-no-size", lambda tn: tn.randint(3))
fails("randperm-negative", lambda tn: tn.randperm(-1))

# ---- ranges and distributions ----


def near(value, expected, error):
    return abs(float(value) - expected) < 6 * error


def moments(tn, x, mean, deviation, kurtosis):
    """Mean and variance lie within six standard errors of a sample of this size."""
    x = x.double()
    root = COUNT**0.5
    variance = deviation**2
    return [
        near(x.mean(), mean, deviation / root),
        near(x.var(), variance, variance * (kurtosis - 1) ** 0.5 / root),
    ]


SIXTH = (1 / 12) ** 0.5


def rand_distribution(tn):
    x = seeded(tn, 0, lambda: tn.rand(COUNT))
    return [bool((x >= 0).all()), bool((x < 1).all()), *moments(tn, x, 0.5, SIXTH, 1.8)]


def randn_distribution(tn):
    x = seeded(tn, 0, lambda: tn.randn(COUNT))
    below = (x < 1).double().mean()
    return [*moments(tn, x, 0, 1, 3), near(below, 0.8413447, (0.8413 * 0.1587 / COUNT) ** 0.5)]


def normal_distribution(tn):
    x = seeded(tn, 0, lambda: tn.empty(COUNT, dtype=tn.float64).normal_(2.0, 3.0))
    return moments(tn, x, 2.0, 3.0, 3)


def uniform_distribution(tn):
    x = seeded(tn, 0, lambda: tn.empty(COUNT).uniform_(-1, 3))
    inside = [bool((x >= -1).all()), bool((x < 3).all())]
    return [*inside, *moments(tn, x, 1.0, 4 * SIXTH, 1.8)]


def randint_distribution(tn):
    x = seeded(tn, 0, lambda: tn.randint(-2, 3, (COUNT,)))
    error = (0.2 * 0.8 / COUNT) ** 0.5
    return [near((x == n).double().mean(), 0.2, error) for n in range(-2, 3)]


def randperm_is_a_permutation(tn):
    x = seeded(tn, 0, lambda: tn.randperm(1000))
    counts = tn.zeros(1000, dtype=tn.int64).scatter_add(0, x, tn.ones(1000, dtype=tn.int64))
    return [bool((counts == 1).all()), bool((x == tn.arange(1000)).all())]


def dropout_distribution(tn):
    x = tn.ones(COUNT)
    y = seeded(tn, 0, lambda: tn.nn.functional.dropout(x, 0.25))
    kept = y != 0
    scaled = bool((y[kept] == tn.ones(1) / 0.75).all())
    return [near(kept.double().mean(), 0.75, (0.75 * 0.25 / COUNT) ** 0.5), scaled]


case("rand-distribution", rand_distribution)
case("randn-distribution", randn_distribution)
case("normal_-distribution", normal_distribution)
case("uniform_-distribution", uniform_distribution)
case("randint-distribution", randint_distribution)
case("randperm-distribution", randperm_is_a_permutation)
case("dropout-distribution", dropout_distribution)

# ---- in-place fills and gradients ----

for _name in ("normal_", "uniform_"):
    case(
        f"{_name}-returns-self",
        lambda tn, x, n=_name: (getattr(x, n)() is x, x._version),
        f32(2).const,
    )
    case(f"{_name}-of-view", lambda tn, x, n=_name: kept_outside(tn, x, n), f64(4).const)
    case(f"{_name}-history", lambda tn, x, n=_name: history(getattr(x * 1, n)()), f64(3))
    fails(f"{_name}-leaf", lambda tn, x, n=_name: getattr(x, n)(), f64(3))
    fails(f"{_name}-int64", lambda tn, x, n=_name: getattr(x, n)(), i64(3))


def kept_outside(tn, x, name):
    """A fill of every second element leaves the others as they are."""
    before = x.clone()
    getattr(x[::2], name)(5, 6)
    return [bool((x[1::2] == before[1::2]).all()), bool((x[::2] == before[::2]).any()), x._version]


def history(x):
    return type(x.grad_fn).__name__, x.requires_grad, x._version


fails("normal_-negative-std", lambda tn, x: x.normal_(0, -1), f64(2).const)
fails("uniform_-crossed", lambda tn, x: x.uniform_(1, 0), f64(2).const)


def dropout_gradient(tn, x):
    """The gradient passes where the value passed, with the same scale."""
    y = tn.nn.functional.dropout(x, 0.5)
    (gradient,) = tn.autograd.grad(y.sum(), x)
    return bool(((y != 0) == (gradient != 0)).all()), bool(
        ((gradient == 0) | (gradient == 2)).all()
    )


case("dropout-gradient", dropout_gradient, f64(50).positive)
for _layout, _spec in layouts(2, 3).items():
    for _label, _options in {
        "not-training": {"p": 0.5, "training": False},
        "none": {"p": 0.0},
        "all": {"p": 1.0},
    }.items():
        case(f"dropout-{_label}-{_layout}", function("nn.functional.dropout", **_options), _spec)
for _name in ("normal_", "uniform_"):
    for _layout, _spec in layouts(2, 3).items():
        case(
            f"{_name}-{_layout}",
            lambda tn, x, n=_name: facts(getattr(x.clone(), n)()),
            _spec.const,
        )
fails("dropout-probability", lambda tn, x: tn.nn.functional.dropout(x, 1.5), f64(3))
