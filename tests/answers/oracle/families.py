"""The distributions that the tables are about: how each is made, and a value of its support."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.tools.recorded.rows import Input, f64


def given(*values: Any) -> Input:
    """A float64 input with exactly these values, that requires grad."""
    shape = tuple(_shape(list(values)))
    return f64(*shape).of(list(values))


def _shape(values: Any) -> list[int]:
    return [len(values), *_shape(values[0])] if isinstance(values, list) else []


@dataclass(frozen=True)
class Family:
    """One distribution: `make(D, *parameters)`, its parameters, and a value."""

    make: Callable[..., Any]
    parameters: tuple[Input, ...]
    value: Input

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The parameters and the value."""
        return *self.parameters, self.value


def _covariance(factor: Any) -> Any:
    """A positive definite matrix from any: the factor times its transpose, and more diagonal."""
    return factor @ factor.mT + factor.new_tensor([[1.0, 0.0], [0.0, 1.0]])


def _lower(factor: Any) -> Any:
    return factor.tril(-1) + factor.diagonal(dim1=-2, dim2=-1).exp().diag_embed()


def _mixture(D: Any, weights: Any, loc: Any, scale: Any) -> Any:
    return D.MixtureSameFamily(D.Categorical(weights), D.Normal(loc, scale))


LOC, SCALE = given(0.3, -1.2, 2.0), given(0.5, 1.5, 2.5)
POSITIVE, OTHER = given(0.4, 1.6, 3.5), given(2.2, 0.7, 1.3)
PROBS, LOGITS = given(0.2, 0.4, 0.9), given(-1.2, 0.3, 2.5)
REAL, ABOVE_0, UNIT = given(-0.7, 0.4, 3.1), given(0.3, 1.2, 2.6), given(0.15, 0.45, 0.8)
BINARY, COUNTS = given(0.0, 1.0, 1.0), given(0.0, 2.0, 3.0)
WEIGHTS = given([0.4, 1.2, 0.9], [1.0, 2.0, 0.7])
SCORES = given([-0.3, 0.5, 1.1], [0.4, -2.0, 0.7])
ONE_HOT = given([0.0, 1.0, 0.0], [0.0, 0.0, 1.0])
SIMPLEX = given([0.2, 0.5, 0.3], [0.1, 0.3, 0.6])
VECTORS = given([0.3, -0.5], [1.2, 0.7])
FACTOR = given([0.8, -0.3], [0.5, 1.1])
MATRIX = given([2.0, 0.4], [0.4, 1.5])
CORRELATION = given([1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, 0.6, 0.8])
TEMPERATURE = given(0.7, 0.7, 0.7)

FAMILIES: dict[str, Family] = {
    "Bernoulli": Family(lambda D, p: D.Bernoulli(p), (PROBS,), BINARY),
    "Bernoulli-logits": Family(lambda D, x: D.Bernoulli(logits=x), (LOGITS,), BINARY),
    "Beta": Family(lambda D, a, b: D.Beta(a, b), (POSITIVE, OTHER), UNIT),
    "Binomial": Family(lambda D, p: D.Binomial(3, p), (PROBS,), COUNTS),
    "Binomial-logits": Family(lambda D, x: D.Binomial(3, logits=x), (LOGITS,), COUNTS),
    "Categorical": Family(lambda D, p: D.Categorical(p), (WEIGHTS,), given(1.0, 2.0)),
    "Categorical-logits": Family(
        lambda D, x: D.Categorical(logits=x), (SCORES,), given(1.0, 2.0)
    ),
    "Cauchy": Family(lambda D, m, s: D.Cauchy(m, s), (LOC, SCALE), REAL),
    "Chi2": Family(lambda D, n: D.Chi2(n), (POSITIVE,), ABOVE_0),
    "ContinuousBernoulli": Family(
        lambda D, p: D.ContinuousBernoulli(p), (given(0.2, 0.4996, 0.9),), UNIT
    ),
    "ContinuousBernoulli-logits": Family(
        lambda D, x: D.ContinuousBernoulli(logits=x), (given(-1.2, 0.001, 2.5),), UNIT
    ),
    "Dirichlet": Family(lambda D, c: D.Dirichlet(c), (WEIGHTS,), SIMPLEX),
    "Exponential": Family(lambda D, r: D.Exponential(r), (POSITIVE,), ABOVE_0),
    "FisherSnedecor": Family(
        lambda D, a, b: D.FisherSnedecor(a, b),
        (given(2.5, 3.5, 6.0), given(4.5, 5.5, 9.0)),
        ABOVE_0,
    ),
    "Gamma": Family(lambda D, c, r: D.Gamma(c, r), (POSITIVE, OTHER), ABOVE_0),
    "GeneralizedPareto": Family(
        lambda D, m, s, c: D.GeneralizedPareto(m, s, c),
        (given(-1.0, 0.0, 1.0), SCALE, given(0.4, -0.3, 0.2)),
        given(-0.5, 0.7, 2.0),
    ),
    "Geometric": Family(lambda D, p: D.Geometric(p), (PROBS,), COUNTS),
    "Geometric-logits": Family(lambda D, x: D.Geometric(logits=x), (LOGITS,), COUNTS),
    "Gumbel": Family(lambda D, m, s: D.Gumbel(m, s), (LOC, SCALE), REAL),
    "HalfCauchy": Family(lambda D, s: D.HalfCauchy(s), (SCALE,), ABOVE_0),
    "HalfNormal": Family(lambda D, s: D.HalfNormal(s), (SCALE,), ABOVE_0),
    "Independent": Family(
        lambda D, m, s: D.Independent(D.Normal(m, s), 1), (VECTORS, given(0.5, 2.0)), VECTORS
    ),
    "InverseGamma": Family(
        lambda D, c, r: D.InverseGamma(c, r), (given(2.4, 3.6, 4.5), OTHER), ABOVE_0
    ),
    "Kumaraswamy": Family(lambda D, a, b: D.Kumaraswamy(a, b), (POSITIVE, OTHER), UNIT),
    "LKJCholesky": Family(lambda D, c: D.LKJCholesky(3, c), (given(0.7, 1.5),), CORRELATION),
    "Laplace": Family(lambda D, m, s: D.Laplace(m, s), (LOC, SCALE), REAL),
    "LogNormal": Family(lambda D, m, s: D.LogNormal(m, s), (LOC, SCALE), ABOVE_0),
    "LogisticNormal": Family(
        lambda D, m, s: D.LogisticNormal(m, s), (VECTORS, given(0.5, 2.0)), SIMPLEX
    ),
    "LowRankMultivariateNormal": Family(
        lambda D, m, w, d: D.LowRankMultivariateNormal(m, w, d),
        (VECTORS, given([0.5], [-1.2]), given(0.4, 1.5)),
        VECTORS,
    ),
    "MixtureSameFamily": Family(
        _mixture, (WEIGHTS, SCORES, given(0.5, 1.5, 0.8)), given(0.4, -1.5)
    ),
    "Multinomial": Family(
        lambda D, p: D.Multinomial(3, p), (WEIGHTS,), given([1.0, 2.0, 0.0], [1.0, 1.0, 1.0])
    ),
    "MultivariateNormal": Family(
        lambda D, m, a: D.MultivariateNormal(m, _covariance(a)), (VECTORS, FACTOR), VECTORS
    ),
    "MultivariateNormal-precision": Family(
        lambda D, m, a: D.MultivariateNormal(m, precision_matrix=_covariance(a)),
        (VECTORS, FACTOR),
        VECTORS,
    ),
    "MultivariateNormal-tril": Family(
        lambda D, m, a: D.MultivariateNormal(m, scale_tril=_lower(a)), (VECTORS, FACTOR), VECTORS
    ),
    "NegativeBinomial": Family(
        lambda D, n, p: D.NegativeBinomial(n, p), (POSITIVE, PROBS), COUNTS
    ),
    "NegativeBinomial-logits": Family(
        lambda D, n, x: D.NegativeBinomial(n, logits=x), (POSITIVE, LOGITS), COUNTS
    ),
    "Normal": Family(lambda D, m, s: D.Normal(m, s), (LOC, SCALE), REAL),
    "OneHotCategorical": Family(lambda D, p: D.OneHotCategorical(p), (WEIGHTS,), ONE_HOT),
    "OneHotCategoricalStraightThrough": Family(
        lambda D, x: D.OneHotCategoricalStraightThrough(logits=x), (SCORES,), ONE_HOT
    ),
    "Pareto": Family(
        lambda D, s, a: D.Pareto(s, a), (SCALE, given(2.5, 3.5, 4.5)), given(0.8, 1.6, 7.0)
    ),
    "Poisson": Family(lambda D, r: D.Poisson(r), (POSITIVE,), COUNTS),
    "RelaxedBernoulli": Family(
        lambda D, t, p: D.RelaxedBernoulli(t, p), (TEMPERATURE, PROBS), UNIT
    ),
    "RelaxedBernoulli-logits": Family(
        lambda D, t, x: D.RelaxedBernoulli(t, logits=x), (TEMPERATURE, LOGITS), UNIT
    ),
    "RelaxedOneHotCategorical": Family(
        lambda D, t, x: D.RelaxedOneHotCategorical(t, logits=x), (f64().of(0.7), SCORES), SIMPLEX
    ),
    "StudentT": Family(
        lambda D, n, m, s: D.StudentT(n, m, s), (given(2.5, 3.0, 7.0), LOC, SCALE), REAL
    ),
    "TransformedDistribution": Family(
        lambda D, m, s: D.TransformedDistribution(
            D.Normal(m, s), [D.AffineTransform(0.5, -2.0), D.SigmoidTransform()]
        ),
        (LOC, SCALE),
        UNIT,
    ),
    "TransformedDistribution-vectors": Family(
        lambda D, m, s: D.TransformedDistribution(
            D.Normal(m, s), [D.ExpTransform(), D.StickBreakingTransform()]
        ),
        (given([0.3, -0.5]), given(0.5, 2.0)),
        given([0.4, 0.35, 0.25]),
    ),
    "Uniform": Family(
        lambda D, a, b: D.Uniform(a, b),
        (given(-1.0, 0.0, 2.5), given(0.5, 1.0, 4.0)),
        given(-0.3, 0.4, 3.0),
    ),
    "VonMises": Family(lambda D, m, k: D.VonMises(m, k), (LOC, POSITIVE), REAL),
    "Weibull": Family(
        lambda D, s, c: D.Weibull(s, c), (SCALE, given(1.4, 1.6, 3.5)), ABOVE_0
    ),
    "Wishart": Family(
        lambda D, n, a: D.Wishart(n, _covariance(a)), (given(3.5, 4.2), FACTOR), MATRIX
    ),
    "Wishart-tril": Family(
        lambda D, n, a: D.Wishart(n, scale_tril=_lower(a)), (given(3.5, 4.2), FACTOR), MATRIX
    ),
}  # fmt: skip
