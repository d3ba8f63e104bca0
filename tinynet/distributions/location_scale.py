"""Distributions with a location and a scale: uniform, Laplace, von Mises, Cauchy, Student's t."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.distributions import constraints
from tinynet.distributions.distribution import EMPTY, Distribution, LocationScale
from tinynet.distributions.gamma import Chi2
from tinynet.distributions.transformed_distribution import Folded
from tinynet.distributions.utils import LOG_2PI, _standard_normal, attribute, broadcast_all
from tinynet.ops import (
    atan,
    cos,
    digamma,
    expm1,
    full_like,
    lgamma,
    log,
    log1p,
    rand,
    rsqrt,
    special,
    tan,
    where,
)
from tinynet.random import default_generator


class Uniform(Distribution):
    """The uniform distribution on ``[low, high)``.

    Args:
        low: the lower end.
        high: the upper end.
        validate_args: as in Distribution.

    Raises:
        ValueError: ``low`` is not below ``high``.

    Example:
        >>> tn.distributions.Uniform(0.0, 4.0).log_prob(tn.tensor(1.0))
        tensor(-1.3863)
    """

    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None):
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.size(), validate_args=validate_args)

    @property
    def arg_constraints(self) -> Any:
        """The constraints of the parameters, which bound each other."""
        return {
            "low": constraints.less_than(self.high),
            "high": constraints.greater_than(self.low),
        }

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """The interval."""
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Tensor:
        """The expectation."""
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Tensor:
        """NaN: all values have the same density."""
        return math.nan * self.high

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return (self.high - self.low) / math.sqrt(12)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        drawn = rand(self._extended_shape(sample_shape), dtype=self.low.dtype)
        return self.low + drawn * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        inside = self.low.le(value) & self.high.gt(value)
        return log(inside.type_as(self.low)) - log(self.high - self.low)

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Tensor) -> Tensor:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        return log(self.high - self.low)


class Laplace(LocationScale):
    """The Laplace distribution.

    The density is ``exp(-|x - loc| / scale) / (2 * scale)``.

    Args:
        loc: the mean.
        scale: the mean distance from the mean.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint.

    Example:
        >>> tn.distributions.Laplace(0.0, 1.0).variance
        tensor(2.)
    """

    arg_constraints = LocationScale.arg_constraints

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return math.sqrt(2) * self.scale

    def rsample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        # The difference of two exponential numbers.
        shape = self._extended_shape(sample_shape)
        one, other = (self.loc.new_empty(shape).exponential_() for _ in range(2))
        return self.loc + self.scale * (one - other)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return -log(2 * self.scale) - (value - self.loc).abs() / self.scale

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        away = value - self.loc
        return 0.5 - 0.5 * away.sign() * expm1(-away.abs() / self.scale)

    def icdf(self, value: Tensor) -> Tensor:
        away = value - 0.5
        return self.loc - self.scale * away.sign() * log1p(-2 * away.abs())

    def entropy(self) -> Tensor:
        return 1 + log(2 * self.scale)


class VonMises(Distribution):
    """The von Mises distribution of angles, similar to a normal distribution on the circle.

    The density is ``exp(concentration * cos(x - loc)) / (2 * pi * I0(concentration))``.

    Args:
        loc: the mean angle, in radians.
        concentration: approximately the inverse of the variance.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint.

    Example:
        >>> tn.distributions.VonMises(tn.tensor(0.0), tn.tensor(4.0)).variance
        tensor(0.1365)
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None):
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    mean: Tensor = attribute("loc", "The circular mean.")
    mode: Tensor = attribute("loc")

    @property
    def variance(self) -> Tensor:
        """The circular variance, ``1 - I1(concentration) / I0(concentration)``."""
        return 1 - special.i1e(self.concentration) / special.i0e(self.concentration)

    def sample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        shape = self._extended_shape(sample_shape)
        loc, concentration = self.loc._array, self.concentration._array
        drawn = default_generator.numpy.vonmises(0.0, concentration, shape) + loc
        turned = (drawn + math.pi) % (2 * math.pi) - math.pi
        return wrap(turned.astype(loc.dtype))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        # Both terms use the exponentially scaled I0, which does not overflow.
        turn = self.concentration * (cos(value - self.loc) - 1)
        return turn - LOG_2PI - log(special.i0e(self.concentration))


# ---- heavy tails --------------------------------------------------------------------------------


class Cauchy(LocationScale):
    """The Cauchy distribution, which has no mean.

    The density is ``scale / (pi * ((x - loc) ** 2 + scale ** 2))``.

    Args:
        loc: the median.
        scale: half of the samples are within ``scale`` of the median.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint.

    Example:
        >>> tn.distributions.Cauchy(0.0, 1.0).cdf(tn.tensor(1.0))
        tensor(0.7500)
    """

    arg_constraints = LocationScale.arg_constraints

    @property
    def mean(self) -> Tensor:
        """NaN: the mean does not exist."""
        return full_like(self.loc, math.nan).expand(self._extended_shape())

    @property
    def variance(self) -> Tensor:
        """Infinite."""
        return full_like(self.loc, math.inf).expand(self._extended_shape())

    def rsample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.loc + self.loc.new_empty(shape).cauchy_() * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        away = (value - self.loc) / self.scale
        return -math.log(math.pi) - log(self.scale) - log1p(away**2)

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + log(self.scale)


class HalfCauchy(Folded):
    """The distribution of ``|x|`` for a Cauchy-distributed x with median 0.

    Args:
        scale: the median.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint.

    Example:
        >>> tn.distributions.HalfCauchy(1.0).cdf(tn.tensor(1.0))
        tensor(0.5000)
    """

    arg_constraints = {"scale": constraints.positive}
    base_dist: Cauchy

    def __init__(self, scale: Any, validate_args: bool | None = None):
        super().__init__(Cauchy(0, scale, validate_args=False), validate_args)

    @property
    def mean(self) -> Tensor:
        """Infinite."""
        return full_like(self.scale, math.inf).expand(self._extended_shape())

    variance: Tensor = attribute("base_dist.variance", "Infinite, as for the Cauchy distribution.")


class StudentT(Distribution):
    """Student's t distribution: ``loc + scale * z / sqrt(q / df)``, z normal, q chi-squared.

    Args:
        df: the degrees of freedom.
        loc: the median.
        scale: the width.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint.

    Example:
        >>> tn.distributions.StudentT(4.0).variance
        tensor(2.)
    """

    arg_constraints = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True

    def __init__(
        self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None
    ):
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The expectation; NaN for ``df`` up to 1."""
        return where(self.df > 1, self.loc, math.nan)

    mode: Tensor = attribute("loc")

    @property
    def variance(self) -> Tensor:
        """The variance: infinite for ``df`` up to 2, NaN up to 1."""
        safe = where(self.df > 2, self.df, 3.0)
        found = where(self.df > 2, self.scale.pow(2) * safe / (safe - 2), math.inf)
        return where(self.df > 1, found, math.nan)

    def rsample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        shape = self._extended_shape(sample_shape)
        z = _standard_normal(shape, self.df.dtype, self.df.device)
        return self.loc + self.scale * z * rsqrt(self._chi2.rsample(sample_shape) / self.df)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        half, away = 0.5 * (self.df + 1), (value - self.loc) / self.scale
        scale = self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi)
        scale = scale + lgamma(0.5 * self.df) - lgamma(half)
        return -half * log1p(away**2.0 / self.df) - scale

    def entropy(self) -> Tensor:
        low, high = 0.5 * self.df, 0.5 * (self.df + 1)
        beta = lgamma(low) + math.lgamma(0.5) - lgamma(high)
        difference = digamma(high) - digamma(low)
        return self.scale.log() + high * difference + 0.5 * self.df.log() + beta
