"""Extreme value distributions: Pareto, generalized Pareto, Gumbel, Weibull."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.distributions import constraints
from tinynet.distributions.distribution import EMPTY, Distribution, LocationScale
from tinynet.distributions.gamma import Exponential
from tinynet.distributions.location_scale import Uniform
from tinynet.distributions.transformed_distribution import TransformedDistribution
from tinynet.distributions.transforms import AffineTransform, ExpTransform, PowerTransform
from tinynet.distributions.utils import EULER, attribute, broadcast_all, finfo
from tinynet.ops import exp, expm1, full_like, lgamma, log, log1p, ones_like, rand, where


class Pareto(TransformedDistribution):
    """The Pareto distribution of type 1.

    The density is ``alpha * scale ** alpha / x ** (alpha + 1)`` for x from ``scale`` on.

    Args:
        scale: the smallest value.
        alpha: the exponent.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint.

    Example:
        >>> tn.distributions.Pareto(1.0, 2.0).mean
        tensor(2.)
    """

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None):
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        transforms = [ExpTransform(), AffineTransform(loc=0, scale=self.scale)]
        super().__init__(base, transforms, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """The numbers greater than or equal to ``scale``."""
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Tensor:
        """The expectation; infinite for ``alpha`` up to 1."""
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    mode: Tensor = attribute("scale")

    @property
    def variance(self) -> Tensor:
        """The variance; infinite for ``alpha`` up to 2."""
        a = self.alpha.clamp(min=2)
        return self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))

    def entropy(self) -> Tensor:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class GeneralizedPareto(Distribution):
    """The generalized Pareto distribution of excesses over a high threshold.

    ``cdf(x) = 1 - (1 + c * z) ** (-1 / c)`` with ``z = (x - loc) / scale``, and ``1 - exp(-z)`` at
    c = 0 (J. R. M. Hosking, J. R. Wallis, "Parameter and Quantile Estimation for the Generalized
    Pareto Distribution", 1987).

    Args:
        loc: the smallest value.
        scale: the width.
        concentration: the shape c; if negative, ``loc - scale / c`` bounds the values.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint.

    Example:
        >>> tn.distributions.GeneralizedPareto(0.0, 1.0, 0.5).mean
        tensor(2.)
    """

    arg_constraints = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None):
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.size(), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """The numbers from ``loc`` on; negative concentrations have an upper bound, too."""
        high = where(self.concentration < 0, self.loc - self.scale / self._shape, math.inf)
        return constraints.interval(self.loc, high)

    @property
    def _is_exponential(self) -> Tensor:
        return self.concentration.abs() < finfo(self.concentration).eps

    @property
    def _shape(self) -> Tensor:
        """Return the concentration, with 1 in place of 0, where the other formula holds."""
        return where(self._is_exponential, ones_like(self.concentration), self.concentration)

    def _z(self, x: Tensor) -> Tensor:
        return (x - self.loc) / self.scale

    def rsample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        return self.icdf(rand(self._extended_shape(sample_shape), dtype=self.loc.dtype))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        z, c = self._z(value), self._shape
        found = where(self._is_exponential, -z, -(1 + 1 / c) * log1p(c * z))
        return found - self.scale.log()

    def log_survival_function(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability that a sample exceeds a value."""
        self._check_value(value)
        z, c = self._z(value), self._shape
        return where(self._is_exponential, -z, -log1p(c * z) / c)

    def log_cdf(self, value: Tensor) -> Tensor:
        """Return the logarithm of ``cdf``."""
        return log1p(-exp(self.log_survival_function(value)))

    def cdf(self, value: Tensor) -> Tensor:
        return exp(self.log_cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        left, c = log1p(-value), self._shape
        z = where(self._is_exponential, -left, expm1(-c * left) / c)
        return self.loc + self.scale * z

    @property
    def mean(self) -> Tensor:
        """The expectation; NaN for concentrations from 1 on."""
        c = self.concentration
        safe = where(c < 1, c, 0.5)
        return where(c < 1, self.loc + self.scale / (1 - safe), math.nan)

    @property
    def variance(self) -> Tensor:
        """The variance; NaN for concentrations from 1/2 on."""
        c = self.concentration
        safe = where(c < 0.5, c, 0.25)
        found = self.scale**2 / ((1 - safe) ** 2 * (1 - 2 * safe))
        return where(c < 0.5, found, math.nan)

    mode: Tensor = attribute("loc")

    def entropy(self) -> Tensor:
        return log(self.scale) + self.concentration + 1


class Gumbel(TransformedDistribution):
    """The Gumbel distribution of the maximum of many samples.

    ``cdf(x) = exp(-exp(-(x - loc) / scale))``.

    Args:
        loc: the mode.
        scale: the width.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint.

    Example:
        >>> tn.distributions.Gumbel(0.0, 1.0).mean
        tensor(0.5772)
    """

    arg_constraints = LocationScale.arg_constraints
    support = constraints.real

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None):
        self.loc, self.scale = broadcast_all(loc, scale)
        limits = finfo(self.loc)
        low, high = full_like(self.loc, limits.tiny), full_like(self.loc, 1 - limits.eps)
        base = Uniform(low, high, validate_args=validate_args)
        # -log(-log(u)), then scaled and shifted.
        transforms = [
            ExpTransform().inv,
            AffineTransform(loc=0, scale=-ones_like(self.scale)),
            ExpTransform().inv,
            AffineTransform(loc=self.loc, scale=-self.scale),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        away = (self.loc - value) / self.scale
        return (away - away.exp()) - self.scale.log()

    @property
    def mean(self) -> Tensor:
        """The expectation."""
        return self.loc + self.scale * EULER

    mode: Tensor = attribute("loc")

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.stddev.pow(2)

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + EULER)


class Weibull(TransformedDistribution):
    """The Weibull distribution.

    ``cdf(x) = 1 - exp(-(x / scale) ** concentration)``.

    Args:
        scale: the scale.
        concentration: the exponent.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint.

    Example:
        >>> tn.distributions.Weibull(1.0, 1.0).mean
        tensor(1.)
    """

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None):
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(ones_like(self.scale), validate_args=validate_args)
        transforms = [
            PowerTransform(exponent=self.concentration_reciprocal),
            AffineTransform(loc=0, scale=self.scale),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    def _moment(self, n: int) -> Tensor:
        return self.scale.pow(n) * exp(lgamma(1 + n * self.concentration_reciprocal))

    @property
    def mean(self) -> Tensor:
        """The expectation."""
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        """The value with the greatest density: 0 for concentrations up to 1."""
        at = (1 - self.concentration_reciprocal).clamp(min=0)
        return self.scale * at.pow(self.concentration_reciprocal)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self._moment(2) - self._moment(1).pow(2)

    def entropy(self) -> Tensor:
        reciprocal = self.concentration_reciprocal
        return EULER * (1 - reciprocal) + log(self.scale * reciprocal) + 1
