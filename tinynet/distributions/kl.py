"""The Kullback-Leibler divergence between two distributions, by a table of formulas."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from tinynet.autograd import grad
from tinynet.core.tensors.tensor import Tensor
from tinynet.distributions.bernoulli import Bernoulli, ContinuousBernoulli, Geometric
from tinynet.distributions.beta import Beta, Dirichlet
from tinynet.distributions.binomial import Binomial, Poisson
from tinynet.distributions.categorical import Categorical, OneHotCategorical
from tinynet.distributions.distribution import Distribution, ExponentialFamily
from tinynet.distributions.gamma import Exponential, Gamma
from tinynet.distributions.location_scale import Cauchy, Laplace, Uniform
from tinynet.distributions.normal import (
    HalfNormal,
    LowRankMultivariateNormal,
    MultivariateNormal,
    Normal,
    half_log_det,
    solved,
)
from tinynet.distributions.pareto import Gumbel, Pareto
from tinynet.distributions.transformed_distribution import Independent, TransformedDistribution
from tinynet.distributions.utils import EULER, LOG_2PI, softplus, sum_rightmost, xlogx
from tinynet.ops import digamma, erf, exp, full, lgamma, log, log1p, where

__all__ = ["kl_divergence", "register_kl"]


# ---- dispatch -----------------------------------------------------------------------------------
# ``kl_divergence`` and ``register_kl``: formulas by pairs of distributions.


Formula = TypeVar("Formula", bound=Callable[[Any, Any], Tensor])

_KL_REGISTRY: dict[tuple[type, type], Callable[[Any, Any], Tensor]] = {}
_FOUND: dict[tuple[type, type], Callable[[Any, Any], Tensor]] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Formula], Formula]:
    """Register the decorated function as the formula for a pair of classes and their subclasses.

    Args:
        type_p: the class of the first distribution.
        type_q: the class of the second.

    Raises:
        TypeError: a class is not a distribution.

    Example:
        >>> D = tn.distributions
        >>> class Mine(D.Normal):
        ...     pass
        >>> @D.register_kl(Mine, D.Normal)
        ... def _(p, q):
        ...     return p.loc - q.loc
        >>> D.kl_divergence(Mine(3.0, 1.0), D.Normal(1.0, 1.0))
        tensor(2.)
    """
    for name, given in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(given, type):  # others that behave like distributions, too
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {given}")

    def register(formula: Formula) -> Formula:
        _KL_REGISTRY[type_p, type_q] = formula
        _FOUND.clear()
        return formula

    return register


def _find(type_p: type, type_q: type) -> Callable[[Any, Any], Tensor]:
    """Return the formula for the nearest base classes, giving priority to those of p."""
    steps = {
        pair: (type_p.__mro__.index(pair[0]), type_q.__mro__.index(pair[1]))
        for pair in _KL_REGISTRY
        if issubclass(type_p, pair[0]) and issubclass(type_q, pair[1])
    }
    if not steps:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type_p.__name__} and q type "
            f"{type_q.__name__}"
        )
    by_p = min(steps, key=lambda pair: steps[pair])
    by_q = min(steps, key=lambda pair: steps[pair][::-1])
    if _KL_REGISTRY[by_p] is not _KL_REGISTRY[by_q]:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please "
            f"register_kl({by_p[0].__name__}, {by_q[1].__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return _KL_REGISTRY[by_p]


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """Return the Kullback-Leibler divergence: the mean of ``log p(x) - log q(x)`` for x from p.

    Args:
        p: the distribution of the samples.
        q: the distribution to compare with.

    Returns:
        A tensor of the batch shape.

    Raises:
        NotImplementedError: no formula is registered for the two classes.

    Example:
        >>> D = tn.distributions
        >>> D.kl_divergence(D.Normal(0.0, 1.0), D.Normal(1.0, 1.0))
        tensor(0.5000)
    """
    pair = type(p), type(q)
    if pair not in _FOUND:
        _FOUND[pair] = _find(*pair)
    return _FOUND[pair](p, q)


# ---- across -------------------------------------------------------------------------------------
# Divergences between families: ``-entropy(p) - E[log q(x)]``, the latter from moments of p.
#
# ``E[log q(x)]`` of each family q needs only a few moments of p: mean and variance, mean logarithm,
# or the moment-generating function. So each family defines its moments once. If p has values
# outside the support of q, the divergence is infinite.


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


# ---- multivariate -------------------------------------------------------------------------------
# Divergences between multivariate normal distributions, with full or low-rank covariances.
#
# ``(tr(inv(C1) @ C0) + d @ inv(C1) @ d - n + log det C1 - log det C0) / 2``, where d is the
# difference of the means. The trace is the sum of ``x @ inv(C1) @ x`` over the columns x of any R
# with ``C0 = R @ R.mT``.


_KINDS = (MultivariateNormal, LowRankMultivariateNormal)


def _squares(q: Any, x: Tensor) -> Tensor:
    """Return the sum of ``x @ inv(C) @ x`` over the columns of a matrix."""
    if isinstance(q, MultivariateNormal):
        return solved(q._unbroadcasted_scale_tril, x).pow(2).sum((-2, -1))
    outside = x.pow(2).sum(-1) / q._unbroadcasted_cov_diag
    inside = solved(q._capacitance_tril, q._scaled_factor @ x)
    return outside.sum(-1) - inside.pow(2).sum((-2, -1))


def _squares_of_diagonal(q: Any, diagonal: Tensor) -> Tensor:
    """Return that sum for the square root of a diagonal matrix, stored as a vector."""
    if isinstance(q, MultivariateNormal):
        return _squares(q, diagonal.sqrt().diag_embed())
    outside = (diagonal / q._unbroadcasted_cov_diag).sum(-1)
    inside = solved(q._capacitance_tril, q._scaled_factor * diagonal.sqrt().unsqueeze(-2))
    return outside - inside.pow(2).sum((-2, -1))


def _trace(p: Any, q: Any) -> Tensor:
    if isinstance(p, MultivariateNormal):
        return _squares(q, p._unbroadcasted_scale_tril)
    diagonal = _squares_of_diagonal(q, p._unbroadcasted_cov_diag)
    return _squares(q, p._unbroadcasted_cov_factor) + diagonal


def _log_det(p: Any) -> Tensor:
    if isinstance(p, MultivariateNormal):
        return 2 * half_log_det(p._unbroadcasted_scale_tril)
    return p._log_det()


def _divergence(p: Any, q: Any) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be "
            "computed"
        )
    away = _squares(q, (q.loc - p.loc).unsqueeze(-1))
    return 0.5 * (_trace(p, q) + away - p.event_shape[0] + _log_det(q) - _log_det(p))


for _p in _KINDS:
    for _q in _KINDS:
        register_kl(_p, _q)(_divergence)


# ---- within -------------------------------------------------------------------------------------
# Divergences within a family, in closed form.


@register_kl(ExponentialFamily, ExponentialFamily)
def _bregman(p: Any, q: Any) -> Tensor:
    """Return the Bregman divergence of the log-normalizer between the natural parameters."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot be computed "
            "using Bregman divergences"
        )
    at = [x.detach().requires_grad_() for x in p._natural_params]
    normalizer = p._log_normalizer(*at)
    slopes = grad(normalizer.sum(), at, create_graph=True)
    result = q._log_normalizer(*q._natural_params) - normalizer
    for x, y, slope in zip(at, q._natural_params, slopes, strict=True):
        result = result - sum_rightmost((y - x) * slope, len(q.event_shape))
    return result


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Tensor:
    """Return the divergence of the bases, which bijections do not change."""
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


# ---- discrete -----------------------------------------------------------------------------------


def _weighted(chance: Any, difference: Any, impossible: Any) -> Tensor:
    """Return ``chance * difference``: 0 for chance 0, infinite for values that q excludes."""
    found = where(impossible, math.inf, chance * difference)
    return where(chance == 0, 0.0, found)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Tensor:
    ones = softplus(-q.logits) - softplus(-p.logits)
    zeros = softplus(q.logits) - softplus(p.logits)
    return _weighted(p.probs, ones, q.probs == 0) + _weighted(1 - p.probs, zeros, q.probs == 1)


@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Tensor:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented"
        )
    away = p.probs * (p.logits - q.logits) + log1p(-p.probs) - log1p(-q.probs)
    return where(p.total_count > q.total_count, math.inf, p.total_count * away)


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Tensor:
    return _weighted(p.probs, p.logits - q.logits, q.probs == 0).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: Any, q: Any) -> Tensor:
    return kl_divergence(p._categorical, q._categorical)


@register_kl(Geometric, Geometric)
def _geometric(p: Any, q: Any) -> Tensor:
    return -p.entropy() - log1p(-q.probs) / p.probs - q.logits


@register_kl(Poisson, Poisson)
def _poisson(p: Any, q: Any) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


# ---- continuous ---------------------------------------------------------------------------------


@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Tensor:
    return kl_divergence(p._dirichlet, q._dirichlet)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Tensor:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    normalizers = lgamma(total) - lgamma(b.sum(-1)) - (lgamma(a) - lgamma(b)).sum(-1)
    return normalizers + ((a - b) * (digamma(a) - digamma(total).unsqueeze(-1))).sum(-1)


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Any, q: Any) -> Tensor:
    """F. Chyzak, F. Nielsen, "A closed-form formula for the KL divergence of Cauchy", 2019."""
    square = (p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)
    return square.log() - (4 * p.scale * q.scale).log()


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: Any, q: Any) -> Tensor:
    away = p.mean * (p.logits - q.logits) + log1p(-p.probs) - log1p(-q.probs)
    return away + p._cont_bern_log_norm() - q._cont_bern_log_norm()


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - 1 - ratio.log()


@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Tensor:
    a, b = p.concentration, q.concentration
    scales = b * (p.rate / q.rate).log() + (q.rate - p.rate) * (a / p.rate)
    return scales + lgamma(b) - lgamma(a) + (a - b) * digamma(a)


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Any, q: Any) -> Tensor:
    ratio, away = p.scale / q.scale, (p.loc - q.loc) / q.scale
    far = exp(lgamma(1 + ratio) - away)
    return away - ratio.log() + ratio * EULER + far - (1 + EULER)


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: Any, q: Any) -> Tensor:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Tensor:
    ratio, away = p.scale / q.scale, (p.loc - q.loc).abs()
    return away / q.scale + ratio * exp(-away / p.scale) - ratio.log() - 1


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Tensor:
    ratio, away = (p.scale / q.scale).pow(2), ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (ratio + away - 1 - ratio.log())


@register_kl(Pareto, Pareto)
def _pareto(p: Any, q: Any) -> Tensor:
    ratio = q.alpha / p.alpha
    found = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return where(p.scale < q.scale, math.inf, found)


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Tensor:
    found = log((q.high - q.low) / (p.high - p.low))
    return where((q.low > p.low) | (q.high < p.high), math.inf, found)
