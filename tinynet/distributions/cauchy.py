"""Heavy-tailed distributions: Cauchy, half-Cauchy, Student's t."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.distributions import constraints
from tinynet.distributions.distribution import EMPTY, Distribution, LocationScale
from tinynet.distributions.gamma import Chi2
from tinynet.distributions.transformed_distribution import Folded
from tinynet.distributions.utils import _standard_normal, attribute, broadcast_all
from tinynet.ops import atan, digamma, full_like, lgamma, log, log1p, rsqrt, tan, where


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
