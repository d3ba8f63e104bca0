"""The distributions of `distributions`: densities, moments, shapes, samples, refusals."""

from __future__ import annotations

import warnings
from typing import Any

from tests.tools.recorded.rows import Table, attempt, each

from .families import FAMILIES, given

TABLE = Table("probability")
case, fails = TABLE.case, TABLE.fails

PROPERTIES = ("mean", "mode", "variance", "stddev")
METHODS = ("entropy", "perplexity")


def plain(tn: Any, result: Any, *inputs: Any) -> Any:
    """A result whose last operation is known, and that depends on all inputs, if only by zero.

    How a formula is put together is no part of what must agree; values and gradients are.
    """
    if isinstance(result, (list, tuple)):
        return [plain(tn, part, *inputs) for part in result]
    if not isinstance(result, tn.Tensor) or not result.is_floating_point():
        return result
    return result + sum((x * 0).sum() for x in inputs)


def of(name: str, made: Any) -> Any:
    """A property, or what a method returns; an error where there is none."""
    found = attempt(lambda: getattr(made, name)() if name in METHODS else getattr(made, name))
    # Of a mode that is missing, PyTorch's message names the file of the class.
    return "missing" if isinstance(found, NotImplementedError) else found


def moments(tn: Any, family: Any, inputs: Any, wrong: Any = ()) -> list[Any]:
    made = family.make(tn.distributions, *inputs)
    names = [name for name in (*PROPERTIES, *METHODS) if name not in wrong]
    return [plain(tn, of(name, made), *inputs) for name in names]


def density(tn: Any, family: Any, *inputs: Any) -> list[Any]:
    """`log_prob`, `cdf` and `icdf`, differentiated by the value, too."""
    *parameters, value = inputs
    made = family.make(tn.distributions, *parameters)
    found = [made.log_prob(value), attempt(lambda: made.cdf(value))]
    if not isinstance(found[1], Exception):
        found.append(attempt(lambda: made.icdf(made.cdf(value.detach()).detach())))
    return plain(tn, found, *inputs)


def facts(tn: Any, family: Any, inputs: Any) -> list[Any]:
    """Shapes, flags, representations, and the shapes of samples; also after `expand`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch looks at samples of Wishart, and may not like one
        return _facts(tn, family.make(tn.distributions, *inputs))


def _facts(tn: Any, made: Any) -> list[Any]:
    wide = made.expand((4, *made.batch_shape))
    shown = [repr(made), repr(wide)]
    seen = [
        [list(d.batch_shape), list(d.event_shape), d.has_rsample, d.has_enumerate_support,
         list(d.sample().shape), list(d.sample((2, 3)).shape), str(d.sample().dtype),
         d.sample().requires_grad, list(d.log_prob(d.sample((5,))).shape),
         list(d.rsample((2,)).shape) if d.has_rsample else attempt(d.rsample),
         d.has_rsample and d.rsample().requires_grad]
        for d in (made, wide)
    ]  # fmt: skip
    limits = [repr(made.support), {k: repr(v) for k, v in made.arg_constraints.items()}]
    values = [attempt(made.enumerate_support), attempt(lambda: made.enumerate_support(False))]
    inside = [bool(made.support.check(made.sample((20,))).all())]
    return [*shown, *seen, *limits, plain(tn, values), inside]


# PyTorch's trigamma is right to 1e-10, its Bessel functions to 1e-7, so that these rows are in
# float32; its GeneralizedPareto takes nothing else.
TRIGAMMA = {"Beta", "Chi2", "Dirichlet", "Gamma", "InverseGamma", "Kumaraswamy", "LKJCholesky"}
TRIGAMMA |= {"StudentT", "Weibull", "Wishart", "Wishart-tril", "FisherSnedecor"}
TRIGAMMA |= {"Multinomial", "NegativeBinomial", "NegativeBinomial-logits", "Poisson", "Binomial"}
TRIGAMMA |= {"Binomial-logits"}
FLOAT32 = {"VonMises", "GeneralizedPareto"}
# The derivative of the incomplete gamma function by its order is missing in PyTorch.
BY_VALUE = {"Chi2", "Gamma", "InverseGamma"}

# Where PyTorch is wrong: Kumaraswamy's mode is never a number there.
WRONG = {"Kumaraswamy": ("mode",)}

for _name, _family in FAMILIES.items():
    _rough = _name in TRIGAMMA | FLOAT32
    _inputs = tuple(x.float32 if _name in FLOAT32 else x for x in _family.inputs)
    case(
        f"{_name}-moments",
        lambda tn, *inputs, f=_family, n=_name: moments(tn, f, inputs, WRONG.get(n, ())),
        *(x.float32 if _rough else x for x in _family.parameters),
    )
    case(
        f"{_name}-density",
        lambda tn, *inputs, f=_family: density(tn, f, *inputs),
        *(x.const if _name in BY_VALUE and x is not _inputs[-1] else x for x in _inputs),
        second_order=not _rough,
    )
    case(
        f"{_name}-facts",
        lambda tn, *inputs, f=_family: facts(tn, f, inputs),
        *(x.const for x in _inputs[:-1]),
    )

# ---- at the edges -------------------------------------------------------------------------------

HUGE, TINY = given(-200.0, 0.0, 200.0), given(1e-30, 1.0, 1e30)
EDGES = {
    "Bernoulli": lambda D, x, y: [
        D.Bernoulli(given_probs).log_prob(value)
        for given_probs in (x.sigmoid(), x.sigmoid().round())
        for value in (y * 0, y * 0 + 1)
    ],
    "Bernoulli-logits": lambda D, x, y: [
        D.Bernoulli(logits=x).log_prob(y * 0), D.Bernoulli(logits=x).entropy()
    ],
    "Categorical": lambda D, x, y: [
        D.Categorical(logits=x).entropy(), D.Categorical(logits=x).probs,
        D.Categorical(x.sigmoid()).logits, D.Categorical(x.sigmoid()).entropy(),
        D.Categorical(logits=x.abs().log()).entropy(),
    ],
    "Poisson": lambda D, x, y: [D.Poisson(y * 0).log_prob(y * 0), D.Poisson(y).log_prob(y * 0)],
    "Geometric": lambda D, x, y: [D.Geometric(y * 0 + 1).log_prob(y * 0)],
    "Multinomial": lambda D, x, y: [
        D.Multinomial(3, logits=x).log_prob((y == 1).to(y) * 3),
        D.Multinomial(3, y.clamp(max=1).round()).log_prob((y >= 1).to(y)),
    ],
    "NegativeBinomial": lambda D, x, y: [D.NegativeBinomial(y * 0, y * 0).log_prob(y * 0)],
    "Normal": lambda D, x, y: [
        D.Normal(x, 1.0).log_prob(x * 0), D.Normal(0.0, 1.0).cdf(x),
        D.Normal(0.0, 1.0).icdf(y.clamp(max=1)),
    ],
    "LogNormal": lambda D, x, y: [D.LogNormal(x / 100, 1.0).log_prob(y)],
    "Laplace": lambda D, x, y: [D.Laplace(0.0, 1.0).cdf(x), D.Laplace(0.0, 1.0).log_prob(x)],
    "Uniform": lambda D, x, y: [
        D.Uniform(-1.0, x.abs() + 1, validate_args=False).log_prob(x),
        D.Uniform(-1.0, 1.0, validate_args=False).cdf(x),
    ],
    "Gamma": lambda D, x, y: [D.Gamma(1.0, 1.0).log_prob(y * 0), D.Gamma(2.0, 1.0).cdf(y)],
    "Beta": lambda D, x, y: [
        D.Beta(1.0, 1.0).log_prob(y.clamp(max=1)), D.Beta(0.5, 2.0).log_prob(y.clamp(max=1))
    ],
    "StudentT": lambda D, x, y: [
        of(name, D.StudentT(y.clamp(0.5, 2.0), x)) for name in ("mean", "variance")
    ],
    "Pareto": lambda D, x, y: [
        of(name, D.Pareto(1.0, y.clamp(0.5, 2.0))) for name in ("mean", "variance")
    ],
    "InverseGamma": lambda D, x, y: [
        of(name, D.InverseGamma(y.clamp(0.5, 2.0), 1.0)) for name in ("mean", "variance")
    ],
    "FisherSnedecor": lambda D, x, y: [
        of(name, D.FisherSnedecor(y.clamp(0.5, 3.0), y.clamp(0.5, 4.0)))
        for name in ("mean", "mode", "variance")
    ],
    "ContinuousBernoulli": lambda D, x, y: [
        D.ContinuousBernoulli(logits=x).log_prob(y.clamp(max=1)),
        D.ContinuousBernoulli(0.3).cdf(y.clamp(max=1)),
    ],
    "RelaxedBernoulli": lambda D, x, y: [
        D.RelaxedBernoulli(y * 0 + 1, logits=x).log_prob(y.clamp(max=1))
    ],
}  # fmt: skip
for _name, _call in EDGES.items():
    case(
        f"{_name}-edges",
        lambda tn, x, y, call=_call: plain(tn, call(tn.distributions, x, y)),
        HUGE.const,
        TINY.const,
    )

# ---- refusals -----------------------------------------------------------------------------------


def refused(*calls: Any) -> Any:
    """A row of calls that raise; each gets the distributions and the library."""
    return lambda tn: each([lambda c=c: [c(tn.distributions, tn), "no error"][1] for c in calls])


REFUSALS = {
    "Normal": (
        lambda D, tn: D.Normal(tn.zeros(2), tn.tensor([1.0, -1.0])),
        lambda D, tn: D.Normal(float("nan"), 1.0),
        lambda D, tn: D.Normal("a", 1.0),
        lambda D, tn: D.Normal(None, 1.0),
        lambda D, tn: D.Normal(tn.zeros(2), tn.ones(3)),
        lambda D, tn: D.Normal(0.0, 1.0).log_prob(0.0),
        lambda D, tn: D.Normal(tn.zeros(2), 1.0).log_prob(tn.zeros(3)),
        lambda D, tn: D.Normal(tn.zeros(2), 1.0).cdf(tn.tensor([0.0, float("nan")])),
        lambda D, tn: D.Normal(tn.zeros(2), 1.0).expand((3,)),
        lambda D, tn: D.Normal(0.0, 1.0).enumerate_support(),
        lambda D, tn: D.Normal(0.0, 1.0).sample(3),
        lambda D, tn: D.Normal(tn.tensor([0, 1]), tn.tensor([1, 1])).sample(),
        lambda D, tn: D.Normal(0.0, -1.0, validate_args=False).log_prob(tn.tensor(0.0)),
    ),
    "Bernoulli": (
        lambda D, tn: D.Bernoulli(),
        lambda D, tn: D.Bernoulli(0.5, 0.5),
        lambda D, tn: D.Bernoulli(1.5),
        lambda D, tn: D.Bernoulli(0.5).log_prob(tn.tensor(0.3)),
        lambda D, tn: D.Bernoulli(0.5).rsample(),
        lambda D, tn: D.Bernoulli(0.5).cdf(tn.tensor(1.0)),
        lambda D, tn: D.Bernoulli(0.5).icdf(tn.tensor(1.0)),
    ),
    "Binomial": (
        lambda D, tn: D.Binomial(-1, tn.tensor(0.5)),
        lambda D, tn: D.Binomial(3, tn.tensor(0.5)).log_prob(tn.tensor(4.0)),
        lambda D, tn: D.Binomial(tn.tensor([2, 3]), tn.tensor(0.5)).entropy(),
        lambda D, tn: D.Binomial(tn.tensor([2, 3]), tn.tensor(0.5)).enumerate_support(),
    ),
    "Categorical": (
        lambda D, tn: D.Categorical(),
        lambda D, tn: D.Categorical(tn.tensor(0.5)),
        lambda D, tn: D.Categorical(logits=tn.tensor(0.5)),
        lambda D, tn: D.Categorical(tn.tensor([0.2, -0.3])),
        lambda D, tn: D.Categorical(logits=tn.tensor([float("nan"), 0.0])),
        lambda D, tn: D.Categorical(tn.ones(2)).log_prob(tn.tensor(3)),
        lambda D, tn: D.Categorical(tn.ones(2, 3)).log_prob(tn.tensor([0, 1, 2])),
    ),
    "Dirichlet": (
        lambda D, tn: D.Dirichlet(tn.tensor(1.0)),
        lambda D, tn: D.Dirichlet(tn.tensor([1.0, 0.0])),
        lambda D, tn: D.Dirichlet(tn.ones(2)).log_prob(tn.tensor([0.5, 0.6])),
    ),
    "Geometric": (
        lambda D, tn: D.Geometric(0.0),
        lambda D, tn: D.Geometric(),
        lambda D, tn: D.Geometric(0.5).log_prob(tn.tensor(-1.0)),
    ),
    "Independent": (
        lambda D, tn: D.Independent(D.Normal(tn.zeros(3), 1.0), 2),
        lambda D, tn: D.Independent(D.Bernoulli(tn.ones(3)), 1).enumerate_support(),
    ),
    "LKJCholesky": (
        lambda D, tn: D.LKJCholesky(1),
        lambda D, tn: D.LKJCholesky(2).log_prob(tn.ones(2, 2)),
    ),
    "LowRankMultivariateNormal": (
        lambda D, tn: D.LowRankMultivariateNormal(tn.tensor(0.0), tn.ones(1, 1), tn.ones(1)),
        lambda D, tn: D.LowRankMultivariateNormal(tn.ones(1), tn.ones(1), tn.ones(1)),
        lambda D, tn: D.LowRankMultivariateNormal(tn.ones(2), tn.ones(3, 1), tn.ones(2)),
        lambda D, tn: D.LowRankMultivariateNormal(tn.ones(2), tn.ones(2, 1), tn.ones(3)),
    ),
    "MultivariateNormal": (
        lambda D, tn: D.MultivariateNormal(tn.tensor(0.0), tn.eye(2)),
        lambda D, tn: D.MultivariateNormal(tn.zeros(2)),
        lambda D, tn: D.MultivariateNormal(tn.zeros(2), tn.eye(2), tn.eye(2)),
        lambda D, tn: D.MultivariateNormal(tn.zeros(2), tn.ones(2)),
        lambda D, tn: D.MultivariateNormal(tn.zeros(2), scale_tril=tn.ones(2)),
        lambda D, tn: D.MultivariateNormal(tn.zeros(2), precision_matrix=tn.ones(2)),
        lambda D, tn: D.MultivariateNormal(tn.zeros(2), tn.tensor([[1.0, 2.0], [2.0, 1.0]])),
        lambda D, tn: D.MultivariateNormal(tn.zeros(2), scale_tril=tn.ones(2, 2)),
        lambda D, tn: D.MultivariateNormal(tn.zeros(2), tn.eye(2)).log_prob(tn.zeros(3)),
    ),
    "MixtureSameFamily": (
        lambda D, tn: D.MixtureSameFamily(D.Normal(0.0, 1.0), D.Normal(tn.zeros(3), 1.0)),
        lambda D, tn: D.MixtureSameFamily(D.Categorical(tn.ones(3)), 3),
        lambda D, tn: D.MixtureSameFamily(D.Categorical(tn.ones(3)), D.Normal(tn.zeros(2), 1.0)),
        lambda D, tn: D.MixtureSameFamily(
            D.Categorical(tn.ones(2, 3)), D.Normal(tn.zeros(3, 3), 1.0)
        ),
    ),
    "Multinomial": (
        lambda D, tn: D.Multinomial(tn.tensor([1, 2]), tn.ones(2)),
        lambda D, tn: D.Multinomial(3, tn.ones(2)).log_prob(tn.tensor([2.0, 2.0])),
    ),
    "NegativeBinomial": (
        lambda D, tn: D.NegativeBinomial(3.0),
        lambda D, tn: D.NegativeBinomial(-1.0, tn.tensor(0.5)),
        lambda D, tn: D.NegativeBinomial(1.0, tn.tensor(1.0)),
    ),
    "OneHotCategorical": (
        lambda D, tn: D.OneHotCategorical(tn.ones(2)).log_prob(tn.ones(2)),
        lambda D, tn: D.OneHotCategorical(),
    ),
    "TransformedDistribution": (
        lambda D, tn: D.TransformedDistribution(D.Normal(0.0, 1.0), 3),
        lambda D, tn: D.TransformedDistribution(D.Normal(0.0, 1.0), [3]),
        lambda D, tn: D.TransformedDistribution(D.Normal(0.0, 1.0), D.StickBreakingTransform()),
        lambda D, tn: D.TransformedDistribution(D.Normal(0.0, 1.0), D.ExpTransform()).mean,
        lambda D, tn: D.TransformedDistribution(D.Normal(0.0, 1.0), D.AbsTransform()).log_prob(
            tn.tensor(1.0)
        ),
    ),
    "Uniform": (
        lambda D, tn: D.Uniform(1.0, 0.0),
        lambda D, tn: D.Uniform(0.0, 1.0).log_prob(tn.tensor(2.0)),
    ),
    "Wishart": (
        lambda D, tn: D.Wishart(tn.tensor(1.0), tn.eye(2)),
        lambda D, tn: D.Wishart(tn.tensor(3.0), tn.ones(2)),
        lambda D, tn: D.Wishart(tn.tensor(1.5), tn.eye(2)),
        lambda D, tn: D.Wishart(tn.tensor(2.0), tn.eye(2)),
        lambda D, tn: D.Wishart(tn.tensor(3.0), tn.tensor([[1.0, 2.0], [2.0, 1.0]])),
    ),
    "Distribution": (
        lambda D, tn: D.Distribution(validate_args=False).mean,
        lambda D, tn: D.Distribution(validate_args=False).support,
        lambda D, tn: D.Distribution(validate_args=False).expand((2,)),
        lambda D, tn: D.Distribution(validate_args=False).log_prob(tn.tensor(0.0)),
        lambda D, tn: D.Distribution(),
        lambda D, tn: D.Distribution.set_default_validate_args(3),
        lambda D, tn: custom(D).expand((2,)),
        lambda D, tn: D.Normal(0.0, 1.0).sample_n(2),
    ),
}
for _name, _calls in REFUSALS.items():
    case(f"{_name}-refusals", refused(*_calls))


fails("Wishart-without-a-matrix", lambda tn: tn.distributions.Wishart(tn.tensor(3.0)))


def custom(D: Any) -> Any:
    class Standard(D.Normal):
        def __init__(self):
            super().__init__(0.0, 1.0)

    return Standard()
