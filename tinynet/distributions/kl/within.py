"""Divergences within a family, in closed form."""

from __future__ import annotations

import math
from typing import Any

from tinynet.autograd import grad
from tinynet.core.tensors.tensor import Tensor
from tinynet.distributions.bernoulli import Bernoulli, ContinuousBernoulli, Geometric
from tinynet.distributions.beta import Beta, Dirichlet
from tinynet.distributions.binomial import Binomial, Poisson
from tinynet.distributions.categorical import Categorical, OneHotCategorical
from tinynet.distributions.cauchy import Cauchy
from tinynet.distributions.distribution import ExponentialFamily
from tinynet.distributions.gamma import Exponential, Gamma
from tinynet.distributions.kl.dispatch import kl_divergence, register_kl
from tinynet.distributions.normal import HalfNormal, Normal
from tinynet.distributions.pareto import Gumbel, Pareto
from tinynet.distributions.transformed_distribution import Independent, TransformedDistribution
from tinynet.distributions.uniform import Laplace, Uniform
from tinynet.distributions.utils import EULER, softplus, sum_rightmost
from tinynet.ops import digamma, exp, lgamma, log, log1p, where


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
