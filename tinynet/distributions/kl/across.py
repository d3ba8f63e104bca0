"""Divergences between families: ``-entropy(p) - E[log q(x)]``, the latter from moments of p.

``E[log q(x)]`` of each family q needs only a few moments of p: mean and variance, mean logarithm,
or the moment-generating function. So each family defines its moments once. If p has values outside
the support of q, the divergence is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.distributions.bernoulli import Bernoulli, ContinuousBernoulli
from tinynet.distributions.beta import Beta
from tinynet.distributions.binomial import Binomial, Poisson
from tinynet.distributions.gamma import Exponential, Gamma
from tinynet.distributions.kl.dispatch import register_kl
from tinynet.distributions.normal import Normal
from tinynet.distributions.pareto import Gumbel, Pareto
from tinynet.distributions.uniform import Laplace, Uniform
from tinynet.distributions.utils import EULER, LOG_2PI, xlogx
from tinynet.ops import digamma, erf, exp, full, lgamma, log, log1p, where

Moment = Callable[[Any], Tensor]

# ---- moments of p -------------------------------------------------------------------------------


def _mean_log_of_uniform(low: Tensor, high: Tensor) -> Tensor:
    """Return the mean of log(x) between nonnegative bounds; the integral is ``x log(x) - x``."""
    width = where(high > low, high - low, 1.0)
    return (xlogx(high) - xlogx(low)) / width - 1


MEAN_LOG: dict[type, Moment] = {
    Beta: lambda p: digamma(p.concentration1) - digamma(p.concentration1 + p.concentration0),
    Exponential: lambda p: -EULER - p.rate.log(),
    Gamma: lambda p: digamma(p.concentration) - p.rate.log(),
    Pareto: lambda p: p.scale.log() + p.alpha.reciprocal(),
    Uniform: lambda p: _mean_log_of_uniform(p.low.clamp(min=0), p.high),
}

# E[exp(-t * x)]
MEAN_EXP: dict[type, Callable[[Any, Tensor], Tensor]] = {
    Exponential: lambda p, t: p.rate / (p.rate + t),
    Gamma: lambda p, t: exp(-p.concentration * log1p(t / p.rate)),
    Normal: lambda p, t: exp(t * (t * p.variance / 2 - p.mean)),
    Uniform: lambda p, t: (exp(-t * p.low) - exp(-t * p.high)) / (t * (p.high - p.low)),
}


def _mean_distance(p: Normal, loc: Tensor) -> Tensor:
    """Return ``E[|x - loc|]``: the mean of a folded normal distribution."""
    away = (p.loc - loc) / p.scale
    near = math.sqrt(2 / math.pi) * exp(-0.5 * away.pow(2))
    return p.scale * (near + away * erf(away / math.sqrt(2)))


# ---- E[log q(x)] --------------------------------------------------------------------------------


def _of_beta(p: Any, q: Any) -> Tensor:
    a, b = q.concentration1, q.concentration0
    normalizer = lgamma(a + b) - lgamma(a) - lgamma(b)
    turned = _mean_log_of_uniform((1 - p.high).clamp(min=0), 1 - p.low)
    return normalizer + (a - 1) * MEAN_LOG[type(p)](p) + (b - 1) * turned


def _of_continuous_bernoulli(p: Any, q: Any) -> Tensor:
    return p.mean * q.logits + log1p(-q.probs) + q._cont_bern_log_norm()


def _of_exponential(p: Any, q: Any) -> Tensor:
    return q.rate.log() - q.rate * p.mean


def _of_gamma(p: Any, q: Any) -> Tensor:
    c, mean_log = q.concentration, _moment(MEAN_LOG, p)(p)
    return c * q.rate.log() - lgamma(c) + (c - 1) * mean_log - q.rate * p.mean


def _of_gumbel(p: Any, q: Any) -> Tensor:
    t = q.scale.reciprocal()
    far = exp(q.loc * t) * _moment(MEAN_EXP, p)(p, t)
    return -q.scale.log() + (q.loc - p.mean) * t - far


def _of_laplace(p: Any, q: Any) -> Tensor:
    return -(2 * q.scale).log() - _mean_distance(p, q.loc) / q.scale


def _of_normal(p: Any, q: Any) -> Tensor:
    square = (p.variance + (p.mean - q.loc).pow(2)) / q.scale.pow(2)
    return -0.5 * (square + LOG_2PI) - q.scale.log()


def _of_pareto(p: Any, q: Any) -> Tensor:
    mean_log = _moment(MEAN_LOG, p)(p)
    return q.alpha.log() + q.alpha * q.scale.log() - (q.alpha + 1) * mean_log


def _of_poisson(p: Any, q: Any) -> Tensor:
    """Return the formula for p with the values 0 and 1, whose factorials are 1."""
    return p.mean * q.rate.log() - q.rate


def _of_uniform(p: Any, q: Any) -> Tensor:
    return -log(q.high - q.low)


def _moment(table: dict[type, Any], p: Any) -> Any:
    return next(table[cls] for cls in type(p).__mro__ if cls in table)


EXPECTED: dict[type, Callable[[Any, Any], Tensor]] = {
    Beta: _of_beta,
    ContinuousBernoulli: _of_continuous_bernoulli,
    Exponential: _of_exponential,
    Gamma: _of_gamma,
    Gumbel: _of_gumbel,
    Laplace: _of_laplace,
    Normal: _of_normal,
    Pareto: _of_pareto,
    Poisson: _of_poisson,
    Uniform: _of_uniform,
}

# ---- pairs of distributions ---------------------------------------------------------------------

FINITE: dict[type, tuple[type, ...]] = {
    Bernoulli: (Poisson,),
    Beta: (ContinuousBernoulli, Exponential, Gamma, Normal, Uniform),
    ContinuousBernoulli: (Exponential, Normal, Uniform),
    Exponential: (Gamma, Gumbel, Normal),
    Gamma: (Exponential, Gumbel, Normal),
    Gumbel: (Normal,),
    Laplace: (Normal,),
    Normal: (Gumbel, Laplace),
    Pareto: (Exponential, Gamma, Normal),
    Uniform: (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Normal, Pareto),
}
_UNIT, _FROM_ZERO = (Beta, ContinuousBernoulli), (Exponential, Gamma)
INFINITE: dict[type, tuple[type, ...]] = {
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Exponential: (*_UNIT, Pareto, Uniform),
    Gamma: (*_UNIT, Pareto, Uniform),
    Gumbel: (*_UNIT, *_FROM_ZERO, Pareto, Uniform),
    Laplace: (*_UNIT, *_FROM_ZERO, Pareto, Uniform),
    Normal: (*_UNIT, *_FROM_ZERO, Pareto, Uniform),
    Pareto: (*_UNIT, Uniform),
    Poisson: (Bernoulli, Binomial),
}

# One has bounds as parameters: check whether p has values outside the support of q.
OUTSIDE: dict[tuple[type, type], Callable[[Any, Any], Tensor]] = {
    (Beta, Uniform): lambda p, q: (q.low > 0) | (q.high < 1),
    (ContinuousBernoulli, Uniform): lambda p, q: (q.low > 0) | (q.high < 1),
    (Uniform, Beta): lambda p, q: (p.low < 0) | (p.high > 1),
    (Uniform, ContinuousBernoulli): lambda p, q: (p.low < 0) | (p.high > 1),
    (Uniform, Exponential): lambda p, q: p.low < 0,
    (Uniform, Gamma): lambda p, q: p.low < 0,
    (Uniform, Pareto): lambda p, q: p.low < q.scale,
}


def _register_finite(type_p: type, type_q: type) -> None:
    expected, outside = EXPECTED[type_q], OUTSIDE.get((type_p, type_q))

    @register_kl(type_p, type_q)
    def divergence(p: Any, q: Any) -> Tensor:
        found = -p.entropy() - expected(p, q)
        return found if outside is None else where(outside(p, q), math.inf, found)


def _infinite(p: Any, q: Any) -> Tensor:
    return full(p.batch_shape, math.inf, dtype=p.mean.dtype)


for _p, _others in FINITE.items():
    for _q in _others:
        _register_finite(_p, _q)
for _p, _others in INFINITE.items():
    for _q in _others:
        register_kl(_p, _q)(_infinite)
