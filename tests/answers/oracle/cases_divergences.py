"""`kl_divergence`: every pair of distributions with a formula, and how one is found.

Each distribution comes once or twice, so that a pair meets a finite case and, where there is one,
one in which the first has values that the second has not.
"""

from __future__ import annotations

import itertools
from typing import Any

from tests.tools.recorded.rows import Input, Table, each

from .cases_probability import plain
from .families import FACTOR, FAMILIES, VECTORS, given

TABLE = Table("divergences")
case, fails = TABLE.case, TABLE.fails

# name -> how it is made, its parameters, and others for the second of a pair of the same family
A, B, C = given(0.4, 1.6, 3.5), given(2.2, 0.7, 1.3), given(1.1, 2.4, 0.6)
MADE: dict[str, tuple[Any, tuple[Input, ...], tuple[Input, ...]]] = {
    "Bernoulli": (FAMILIES["Bernoulli"].make, (given(0.2, 0.4, 0.9),), (given(0.3, 0.8, 0.4),)),
    "Beta": (FAMILIES["Beta"].make, (A, B), (C, A)),
    "Binomial": (FAMILIES["Binomial"].make, (given(0.2, 0.4, 0.9),), (given(0.3, 0.8, 0.4),)),
    "Categorical": (
        FAMILIES["Categorical"].make, FAMILIES["Categorical"].parameters,
        (given([1.0, 0.5, 0.5], [0.3, 0.3, 2.0]),),
    ),
    "Cauchy": (FAMILIES["Cauchy"].make, (given(0.3, -1.2, 2.0), A), (given(0.0, 1.0, 2.0), B)),
    "ContinuousBernoulli": (
        FAMILIES["ContinuousBernoulli"].make, (given(0.2, 0.4, 0.9),), (given(0.3, 0.8, 0.4),),
    ),
    "Dirichlet": (
        FAMILIES["Dirichlet"].make, FAMILIES["Dirichlet"].parameters,
        (given([1.0, 0.5, 0.5], [0.3, 0.3, 2.0]),),
    ),
    "Exponential": (FAMILIES["Exponential"].make, (A,), (B,)),
    "Gamma": (FAMILIES["Gamma"].make, (A, B), (C, A)),
    "Geometric": (FAMILIES["Geometric"].make, (given(0.2, 0.4, 0.9),), (given(0.3, 0.8, 0.4),)),
    "Gumbel": (FAMILIES["Gumbel"].make, (given(0.3, -1.2, 2.0), A), (given(0.0, 1.0, 2.0), B)),
    "HalfNormal": (FAMILIES["HalfNormal"].make, (A,), (B,)),
    "Independent": (
        FAMILIES["Independent"].make, (VECTORS, given(0.5, 2.0)), (VECTORS, given(1.5, 0.7)),
    ),
    "Laplace": (FAMILIES["Laplace"].make, (given(0.3, -1.2, 2.0), A), (given(0.0, 1.0, 2.0), B)),
    "LogNormal": (
        FAMILIES["LogNormal"].make, (given(0.3, -1.2, 2.0), A), (given(0.0, 1.0, 2.0), B),
    ),
    "LowRankMultivariateNormal": (
        FAMILIES["LowRankMultivariateNormal"].make,
        FAMILIES["LowRankMultivariateNormal"].parameters,
        (given(0.1, 0.2), given([0.7], [0.3]), given(0.6, 0.9)),
    ),
    "MultivariateNormal": (
        FAMILIES["MultivariateNormal"].make, (VECTORS, FACTOR),
        (given(0.1, 0.2), given([0.2, 0.3], [-0.4, 0.9])),
    ),
    "Normal": (FAMILIES["Normal"].make, (given(0.3, -1.2, 2.0), A), (given(0.0, 1.0, 2.0), B)),
    "OneHotCategorical": (
        FAMILIES["OneHotCategorical"].make, FAMILIES["Categorical"].parameters,
        (given([1.0, 0.5, 0.5], [0.3, 0.3, 2.0]),),
    ),
    "Pareto": (
        FAMILIES["Pareto"].make, (given(0.5, 1.5, 2.5), given(2.5, 3.5, 4.5)),
        (given(0.4, 0.2, 3.0), C),
    ),
    "Poisson": (FAMILIES["Poisson"].make, (A,), (B,)),
    "Uniform": (
        FAMILIES["Uniform"].make, (given(0.1, -0.5, 1.0), given(0.8, 0.6, 3.0)),
        (given(-0.2, -0.2, -1.0), given(1.5, 2.0, 3.5)),
    ),
    "Wishart": (
        FAMILIES["Wishart"].make, FAMILIES["Wishart"].parameters,
        (given(3.0, 6.0), given([0.2, 0.3], [-0.4, 0.9])),
    ),
}  # fmt: skip

UNIT, FROM_ZERO = ("Beta", "ContinuousBernoulli"), ("Exponential", "Gamma")
LINE = ("Gumbel", "Normal")
PAIRS = [
    *((name, name) for name in MADE),
    ("Bernoulli", "Poisson"), ("Poisson", "Bernoulli"), ("Poisson", "Binomial"),
    *itertools.permutations((*UNIT, *FROM_ZERO, "Normal", "Pareto", "Uniform"), 2),
    *itertools.product((*FROM_ZERO, "Uniform", "Normal"), ["Gumbel"]),
    *itertools.product(["Gumbel", "Laplace"], (*UNIT, *FROM_ZERO, "Normal", "Pareto", "Uniform")),
    ("Normal", "Laplace"),
    ("MultivariateNormal", "LowRankMultivariateNormal"),
    ("LowRankMultivariateNormal", "MultivariateNormal"),
]  # fmt: skip
# Pairs of this list that PyTorch has no formula for.
WITHOUT = {("ContinuousBernoulli", "Beta"), ("ContinuousBernoulli", "Gamma")}
# PyTorch's digamma is differentiated by its trigamma, which is right to 1e-10.
TRIGAMMA = {"Beta", "Dirichlet", "Gamma", "Wishart", "Gumbel"}

# Where the divergence is infinite, PyTorch's gradients of these are not numbers.
NAN_OUTSIDE = {("Uniform", "Beta"), ("Uniform", "Gamma"), ("Uniform", "Pareto")}


def divergence(tn: Any, first: str, second: str, inputs: Any) -> Any:
    make_p, of_p, _ = MADE[first]
    make_q = MADE[second][0]
    D = tn.distributions
    p, q = make_p(D, *inputs[: len(of_p)]), make_q(D, *inputs[len(of_p) :])
    return plain(tn, D.kl_divergence(p, q), *inputs)


for _first, _second in PAIRS:
    if (_first, _second) in WITHOUT:
        continue
    _rough = {_first, _second} & TRIGAMMA
    _inputs = [x.float32 if _rough else x for x in (*MADE[_first][1], *MADE[_second][2])]
    case(
        f"kl_divergence-{_first}-{_second}",
        lambda tn, *inputs, a=_first, b=_second: divergence(tn, a, b, inputs),
        *(x.const if (_first, _second) in NAN_OUTSIDE else x for x in _inputs),
    )


# ---- which formula is found ---------------------------------------------------------------------


def found(tn: Any) -> list[Any]:
    """The formulas of subclasses: the nearest base counts, that of the first distribution more."""
    D = tn.distributions

    class Narrow(D.Normal):
        pass

    class Narrower(Narrow):
        pass

    registered = tn.distributions.kl._KL_REGISTRY
    before = dict(registered)
    try:
        D.register_kl(Narrow, D.Normal)(lambda p, q: "narrow")
        D.register_kl(D.Normal, Narrower)(lambda p, q: "narrower")
        kinds = {"normal": D.Normal, "narrow": Narrow, "narrower": Narrower}
        made = {name: kind(0.0, 1.0) for name, kind in kinds.items()}
        return [
            D.kl_divergence(made[p], made[q])
            for p in made
            for q in made
            if (p, q) != ("narrower", "narrower")
        ]
    finally:
        registered.clear()
        registered.update(before)


case("kl_divergence-of-subclasses", lambda tn: found(tn))
case(
    "kl_divergence-refusals",
    lambda tn: each(
        [
            lambda: tn.distributions.kl_divergence(
                tn.distributions.Cauchy(0.0, 1.0), tn.distributions.Normal(0.0, 1.0)
            ),
            lambda: tn.distributions.kl_divergence(
                tn.distributions.Independent(tn.distributions.Normal(tn.zeros(3), 1.0), 1),
                tn.distributions.Independent(tn.distributions.Normal(tn.zeros(3, 3), 1.0), 2),
            ),
            lambda: tn.distributions.kl_divergence(
                tn.distributions.Binomial(2, tn.tensor(0.5)),
                tn.distributions.Binomial(3, tn.tensor(0.5)),
            ),
            lambda: tn.distributions.kl_divergence(
                tn.distributions.Chi2(2.0), tn.distributions.Beta(1.0, 2.0)
            ),
        ]
    ),
)
