"""Distributions on the unit interval and the simplex: beta, Dirichlet, Kumaraswamy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.distributions import constraints
from tinynet.distributions.distribution import EMPTY, ExponentialFamily
from tinynet.distributions.location_scale import Uniform
from tinynet.distributions.transformed_distribution import TransformedDistribution
from tinynet.distributions.transforms import AffineTransform, PowerTransform
from tinynet.distributions.utils import EULER, broadcast_all
from tinynet.ops import _sample_dirichlet, digamma, exp, full_like, lgamma, stack, where, xlogy


class Dirichlet(ExponentialFamily):
    """The Dirichlet distribution of vectors on the simplex.

    The density is ``prod(x ** (c - 1)) * gamma(sum(c)) / prod(gamma(c))``.

    Args:
        concentration: c, a vector.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint, or has no dimension.

    Example:
        >>> tn.distributions.Dirichlet(tn.tensor([1.0, 3.0])).mean
        tensor([0.2500, 0.7500])
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Tensor, validate_args: bool | None = None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The expectation."""
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        """The value with the greatest density; a corner if all concentrations are below 1."""
        above = (self.concentration - 1).clamp(min=0.0)
        total = above.sum(-1, True)
        corner = self.concentration.argmax(-1, keepdim=True)
        corners = above.new_zeros(above.shape).scatter(-1, corner, 1.0)
        below = (self.concentration < 1).all(-1, keepdim=True)
        return where(below, corners, above / where(below, 1.0, total))

    @property
    def variance(self) -> Tensor:
        """The variance of each component."""
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        return _sample_dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        c = self.concentration
        return xlogy(c - 1.0, value).sum(-1) + lgamma(c.sum(-1)) - lgamma(c).sum(-1)

    def entropy(self) -> Tensor:
        c = self.concentration
        total, count = c.sum(-1), c.size(-1)
        normalizer = lgamma(c).sum(-1) - lgamma(total)
        return normalizer - (count - total) * digamma(total) - ((c - 1.0) * digamma(c)).sum(-1)

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (self.concentration,)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        (x,) = natural_params
        return x.lgamma().sum(-1) - lgamma(x.sum(-1))


class Beta(ExponentialFamily):
    """The beta distribution: the first component of a Dirichlet distribution of two.

    The density is ``x ** (a - 1) * (1 - x) ** (b - 1) / B(a, b)``.

    Args:
        concentration1: a.
        concentration0: b.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint.

    Example:
        >>> tn.distributions.Beta(1.0, 3.0).mean
        tensor(0.2500)
    """

    arg_constraints = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True
    _dirichlet: Dirichlet

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None):
        both = stack(broadcast_all(concentration1, concentration0), -1)
        self._dirichlet = Dirichlet(both, validate_args=validate_args)
        super().__init__(self._dirichlet._batch_shape, validate_args=validate_args)

    @property
    def concentration1(self) -> Tensor:
        """The exponent of x, plus 1."""
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self) -> Tensor:
        """The exponent of 1 - x, plus 1."""
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self) -> Tensor:
        """The expectation."""
        return self._dirichlet.mean[..., 0]

    @property
    def mode(self) -> Tensor:
        """The value with the greatest density."""
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self._dirichlet.variance[..., 0]

    def rsample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        return self._dirichlet.rsample(sample_shape)[..., 0]

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return self._dirichlet.log_prob(stack([value, 1.0 - value], -1))

    def entropy(self) -> Tensor:
        return self._dirichlet.entropy()

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        return self.concentration1, self.concentration0

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        x, y = natural_params
        return lgamma(x) + lgamma(y) - lgamma(x + y)


def _kumaraswamy_moment(a: Tensor, b: Tensor, n: int) -> Tensor:
    """Return ``E[x ** n] = b * B(1 + n / a, b)``."""
    argument = 1 + n / a
    return exp(b.log() + lgamma(argument) + lgamma(b) - lgamma(argument + b))


class Kumaraswamy(TransformedDistribution):
    """The Kumaraswamy distribution, similar to beta, with a simple distribution function.

    ``cdf(x) = 1 - (1 - x ** a) ** b``.

    Args:
        concentration1: a.
        concentration0: b.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint.

    Example:
        >>> tn.distributions.Kumaraswamy(1.0, 1.0).cdf(tn.tensor(0.25))
        tensor(0.2500)
    """

    arg_constraints = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None):
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        uniform = Uniform(
            full_like(self.concentration0, 0),
            full_like(self.concentration0, 1),
            validate_args=validate_args,
        )
        # (1 - u ** (1 / b)) ** (1 / a)
        transforms = [
            PowerTransform(self.concentration0.reciprocal()),
            AffineTransform(1.0, -1.0),
            PowerTransform(self.concentration1.reciprocal()),
        ]
        super().__init__(uniform, transforms, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The expectation."""
        return _kumaraswamy_moment(self.concentration1, self.concentration0, 1)

    @property
    def mode(self) -> Tensor:
        """The value with the greatest density, if both concentrations are at least 1."""
        a, b = self.concentration1, self.concentration0
        found = ((a - 1) / (a * b - 1)).pow(1 / a)
        return where((a >= 1) & (b >= 1) & (a * b > 1), found, math.nan)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        a, b = self.concentration1, self.concentration0
        return _kumaraswamy_moment(a, b, 2) - self.mean.pow(2)

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        harmonic = digamma(b + 1) + EULER
        return 1 - b.reciprocal() + (1 - a.reciprocal()) * harmonic - (a * b).log()
