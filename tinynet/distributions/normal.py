"""Normal, log-normal, half-normal and logistic-normal distributions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor
from tinynet.distributions import constraints
from tinynet.distributions.distribution import EMPTY, ExponentialFamily, LocationScale
from tinynet.distributions.transformed_distribution import Folded, TransformedDistribution
from tinynet.distributions.transforms import ExpTransform, StickBreakingTransform
from tinynet.distributions.utils import LOG_2PI, _standard_normal, attribute
from tinynet.ops import erf, erfinv, log, normal


class Normal(LocationScale, ExponentialFamily):
    """The normal (Gaussian) distribution.

    The density is ``exp(-((x - loc) / scale) ** 2 / 2) / (scale * sqrt(2 * pi))``.

    Args:
        loc: the mean.
        scale: the standard deviation.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint.

    Example:
        >>> d = tn.distributions.Normal(0.0, 1.0)
        >>> d.log_prob(tn.tensor(0.0)), d.cdf(tn.tensor(0.0))
        (tensor(-0.9189), tensor(0.5000))
    """

    arg_constraints = LocationScale.arg_constraints
    _mean_carrier_measure = 0
    stddev: Tensor = attribute("scale")

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.scale.pow(2)

    def sample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.loc + self.scale * _standard_normal(shape, self.loc.dtype, self.loc.device)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        away = (value - self.loc) / self.scale
        return -0.5 * away**2 - log(self.scale) - LOG_2PI / 2

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return 0.5 * (1 + erf((value - self.loc) / self.scale / math.sqrt(2)))

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Tensor:
        return 0.5 + LOG_2PI / 2 + log(self.scale)

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        precision = self.scale.pow(-2)
        return self.loc * precision, -0.5 * precision

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        x, y = natural_params
        return -0.25 * x.pow(2) / y + 0.5 * log(-math.pi / y)


class LogNormal(TransformedDistribution):
    """The log-normal distribution of ``exp(x)`` for a normal x.

    Args:
        loc: the mean of the logarithm.
        scale: the standard deviation of the logarithm.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint.

    Example:
        >>> tn.distributions.LogNormal(0.0, 1.0).mean
        tensor(1.6487)
    """

    arg_constraints = LocationScale.arg_constraints
    support = constraints.positive
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None):
        base = Normal(loc, scale, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    base_dist: Normal

    loc: Tensor = attribute("base_dist.loc", "The mean of the logarithm.")
    scale: Tensor = attribute("base_dist.scale", "The standard deviation of the logarithm.")

    @property
    def mean(self) -> Tensor:
        """The expectation."""
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Tensor:
        """The value with the greatest density."""
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Tensor:
        """The variance."""
        square = self.scale.pow(2)
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc


class HalfNormal(Folded):
    """The half-normal distribution of ``|x|`` for a normal x with mean 0.

    Args:
        scale: the standard deviation of x.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint.

    Example:
        >>> tn.distributions.HalfNormal(1.0).mean
        tensor(0.7979)
    """

    arg_constraints = {"scale": constraints.positive}
    base_dist: Normal

    def __init__(self, scale: Any, validate_args: bool | None = None):
        super().__init__(Normal(0, scale, validate_args=False), validate_args)

    @property
    def mean(self) -> Tensor:
        """The expectation."""
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.scale.pow(2) * (1 - 2 / math.pi)


class LogisticNormal(TransformedDistribution):
    """The logistic-normal distribution: stick breaking of a normal vector gives a simplex point.

    Args:
        loc: the means, a vector.
        scale: the standard deviations.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint.

    Example:
        >>> tn.distributions.LogisticNormal(tn.zeros(2), tn.ones(2)).sample().shape
        tinynet.Size([3])
    """

    arg_constraints = LocationScale.arg_constraints
    support = constraints.simplex
    has_rsample = True
    base_dist: Any

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None):
        base = Normal(loc, scale, validate_args=validate_args)
        base = base if base.batch_shape else base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    loc: Tensor = attribute("base_dist.base_dist.loc", "The means of the normal vector.")
    scale: Tensor = attribute(
        "base_dist.base_dist.scale", "The standard deviations of the normal vector."
    )
