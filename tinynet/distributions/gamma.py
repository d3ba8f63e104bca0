"""The gamma, exponential, chi-squared, inverse gamma and F distributions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.distributions import constraints
from tinynet.distributions.distribution import EMPTY, Distribution, ExponentialFamily
from tinynet.distributions.transformed_distribution import TransformedDistribution
from tinynet.distributions.transforms import PowerTransform
from tinynet.distributions.utils import attribute, broadcast_all, finfo
from tinynet.ops import _standard_gamma, digamma, exp, igamma, lgamma, log, log1p, where, xlogy


class Gamma(ExponentialFamily):
    """The gamma distribution.

    The density is ``rate ** c * x ** (c - 1) * exp(-rate * x) / gamma(c)``.

    Args:
        concentration: the shape c.
        rate: the inverse of the scale.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint.

    Example:
        >>> d = tn.distributions.Gamma(2.0, 4.0)
        >>> d.mean, d.variance
        (tensor(0.5000), tensor(0.1250))
    """

    arg_constraints: Any = {
        "concentration": constraints.positive,
        "rate": constraints.positive,
    }
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None):
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The expectation."""
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        """The value with the greatest density."""
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        shape = self._extended_shape(sample_shape)
        value = _standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        value.detach().clamp_(min=finfo(value).tiny)  # so that its logarithm is finite
        return value

    def log_prob(self, value: Tensor) -> Tensor:
        value = _as_tensor(value, self.rate)
        self._check_value(value)
        shape, rate = self.concentration, self.rate
        return xlogy(shape, rate) + xlogy(shape - 1, value) - rate * value - lgamma(shape)

    def entropy(self) -> Tensor:
        shape = self.concentration
        return shape - log(self.rate) + lgamma(shape) + (1.0 - shape) * digamma(shape)

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        x, y = natural_params
        return lgamma(x + 1) - (x + 1) * log(-y)

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return igamma(self.concentration, self.rate * value)


def _as_tensor(value: Any, like: Tensor) -> Tensor:
    return value.to(like.dtype) if isinstance(value, Tensor) else like.new_tensor(value)


class Chi2(Gamma):
    """The distribution of the sum of squares of ``df`` standard normal numbers.

    Args:
        df: the degrees of freedom, not necessarily an integer.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint.

    Example:
        >>> tn.distributions.Chi2(3.0).mean
        tensor(3.)
    """

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None):
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self.concentration * 2


class Exponential(ExponentialFamily):
    """The exponential distribution.

    The density is ``rate * exp(-rate * x)``.

    Args:
        rate: the inverse of the mean.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint.

    Example:
        >>> tn.distributions.Exponential(2.0).icdf(tn.tensor(0.5))
        tensor(0.3466)
    """

    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, rate: Any, validate_args: bool | None = None):
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The expectation."""
        return self.rate.reciprocal()

    @property
    def mode(self) -> Tensor:
        """The value with the greatest density: 0."""
        return self.rate * 0

    stddev = mean

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.rate.new_empty(shape).exponential_() / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return 1 - exp(-self.rate * value)

    def icdf(self, value: Tensor) -> Tensor:
        return -log1p(-value) / self.rate

    def entropy(self) -> Tensor:
        return 1.0 - log(self.rate)

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (-self.rate,)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        (x,) = natural_params
        return -log(-x)


class InverseGamma(TransformedDistribution):
    """The distribution of ``1 / x`` for a gamma-distributed x.

    Args:
        concentration: the shape of the gamma distribution.
        rate: the rate of the gamma distribution, which is the scale here.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint.

    Example:
        >>> tn.distributions.InverseGamma(3.0, 4.0).mean
        tensor(2.)
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True
    base_dist: Gamma

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None):
        base = Gamma(concentration, rate, validate_args=validate_args)
        inverse = PowerTransform(base.rate.new_tensor(-1.0))
        super().__init__(base, inverse, validate_args=validate_args)

    concentration: Tensor = attribute(
        "base_dist.concentration", "The shape of the gamma distribution."
    )

    rate: Tensor = attribute("base_dist.rate", "The rate of the gamma distribution.")

    @property
    def mean(self) -> Tensor:
        """The expectation; infinite for concentrations up to 1."""
        shape = self.concentration
        return where(shape > 1, self.rate / where(shape > 1, shape - 1, 1.0), math.inf)

    @property
    def mode(self) -> Tensor:
        """The value with the greatest density."""
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        """The variance; infinite for concentrations up to 2."""
        shape = self.concentration
        safe = where(shape > 2, shape, 3.0)
        return where(shape > 2, self.rate.square() / ((safe - 1).square() * (safe - 2)), math.inf)

    def entropy(self) -> Tensor:
        shape = self.concentration
        return shape + self.rate.log() + shape.lgamma() - (1 + shape) * shape.digamma()


class FisherSnedecor(Distribution):
    """The F distribution of the ratio of two chi-squared numbers over their degrees of freedom.

    Args:
        df1: the degrees of freedom of the numerator.
        df2: the degrees of freedom of the denominator.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint.

    Example:
        >>> tn.distributions.FisherSnedecor(1.0, 4.0).mean
        tensor(2.)
    """

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None):
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2)
        super().__init__(self.df1.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The expectation; NaN for ``df2`` up to 2."""
        safe = where(self.df2 > 2, self.df2, math.nan)
        return safe / (safe - 2)

    @property
    def mode(self) -> Tensor:
        """The value with the greatest density; NaN for ``df1`` up to 2."""
        safe = where(self.df1 > 2, self.df1, math.nan)
        return (safe - 2) / safe * self.df2 / (self.df2 + 2)

    @property
    def variance(self) -> Tensor:
        """The variance; NaN for ``df2`` up to 4."""
        safe = where(self.df2 > 4, self.df2, math.nan)
        below = self.df1 * (safe - 2).pow(2) * (safe - 4)
        return 2 * safe.pow(2) * (self.df1 + safe - 2) / below

    def rsample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        # Gamma(df / 2, df) is chi-squared over 2 df: the twos cancel.
        tiny = finfo(self.df2).tiny
        value = self._gamma1.rsample(sample_shape) / self._gamma2.rsample(sample_shape)
        value.detach().clamp_(min=tiny)
        return value

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        one, two, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        scale = (one + two).lgamma() - one.lgamma() - two.lgamma() + one * ratio.log()
        return scale + (one - 1) * value.log() - (one + two) * log1p(ratio * value)
