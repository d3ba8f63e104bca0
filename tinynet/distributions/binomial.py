"""Distributions of counts: binomial, multinomial, negative binomial, Poisson."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.distributions import constraints
from tinynet.distributions.categorical import OfCategorical
from tinynet.distributions.distribution import EMPTY, Distribution, ExponentialFamily
from tinynet.distributions.gamma import Gamma
from tinynet.distributions.utils import (
    ProbsOrLogits,
    attribute,
    broadcast_all,
    lazy_property,
    one_of,
    softplus,
)
from tinynet.ops import arange, binomial, broadcast_tensors, exp, lgamma, poisson, tensor, where
from tinynet.random import default_generator


class _Attempts(ProbsOrLogits, Distribution):
    """Base of distributions with a count and the probability of success in one attempt."""

    def _set(self, total_count: Any, probs: Any, logits: Any, validate_args: bool | None) -> None:
        name, value = one_of(probs=probs, logits=logits)
        if not isinstance(total_count, Tensor):
            total_count = tensor(total_count)
        if not isinstance(value, Tensor):
            (value,) = broadcast_all(value)
        counts, value = broadcast_tensors(total_count, value)
        self.total_count = counts.type_as(value)
        self._give(name, value)
        super().__init__(value.size(), validate_args=validate_args)


class Binomial(_Attempts):
    """The binomial distribution: the number of successes in ``total_count`` attempts.

    The probability of k is ``n! / (k! (n - k)!) * probs ** k * (1 - probs) ** (n - k)``.

    Args:
        total_count: the number n of attempts.
        probs: the probability of success.
        logits: the log-odds of success; an alternative to ``probs``.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint; none is given, or both.

    Example:
        >>> tn.distributions.Binomial(4, probs=tn.tensor(0.5)).log_prob(tn.tensor(2.0)).exp()
        tensor(0.3750)
    """

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    def __init__(
        self,
        total_count: Any = 1,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ):
        self._set(total_count, probs, logits, validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """The integers from 0 to ``total_count``."""
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        """The expectation."""
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        found = ((self.total_count + 1) * self.probs).floor()
        return found.clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        n = self.total_count
        ways = lgamma(n + 1) - lgamma(value + 1) - lgamma(n - value + 1)
        return ways + value * self.logits - n * softplus(self.logits)

    def entropy(self) -> Tensor:
        self._one_count("entropy")
        found = self.log_prob(self.enumerate_support(False))
        return -(exp(found) * found).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        count = self._one_count("enumerate_support")
        values = arange(1 + count, dtype=self._param.dtype)
        values = values.reshape((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + self._batch_shape) if expand else values

    def _one_count(self, what: str) -> int:
        count = int(self.total_count.max())
        if not self.total_count.min() == count:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{what}`.")
        return count


class Multinomial(OfCategorical):
    """The multinomial distribution: the number of draws of each category.

    The probability of the counts k is ``n! / prod(k!) * prod(probs ** k)``.

    Args:
        total_count: the number n of draws, an integer.
        probs: the probabilities of the categories, not necessarily normalized.
        logits: unnormalized log-probabilities; an alternative to ``probs``.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint; none is given, or both.
        NotImplementedError: different counts in a batch.

    Example:
        >>> d = tn.distributions.Multinomial(2, probs=tn.tensor([0.5, 0.5]))
        >>> d.log_prob(tn.tensor([1.0, 1.0])).exp()
        tensor(0.5000)
    """

    arg_constraints = OfCategorical.arg_constraints
    total_count: int

    def __init__(
        self,
        total_count: int = 1,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ):
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        super().__init__(probs, logits, validate_args)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        """Vectors of counts."""
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        """The expectation."""
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        """The variance of each count."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        probs = self.probs._array.astype(np.float64)
        probs = probs / probs.sum(-1, keepdims=True)
        size = self._extended_shape(sample_shape)[:-1]
        drawn = default_generator.numpy.multinomial(self.total_count, probs, size=size)
        return wrap(drawn.astype(self.probs._array.dtype))

    def entropy(self) -> Tensor:
        n = tensor(self.total_count, dtype=self.probs.dtype)
        counts = self._binomial.enumerate_support(expand=False)[1:]
        chances = exp(self._binomial.log_prob(counts))
        ways = (chances * lgamma(counts + 1)).sum([0, -1])
        return n * self._categorical.entropy() - lgamma(n + 1) + ways

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        logits, value = broadcast_all(self.logits, value)
        logits = where((value == 0) & (logits == -math.inf), 0.0, logits)
        ways = lgamma(value.sum(-1) + 1) - lgamma(value + 1).sum(-1)
        return ways + (logits * value).sum(-1)


class NegativeBinomial(_Attempts):
    """The negative binomial distribution: the number of successes before n failures.

    The probability of k is ``gamma(n + k) / (k! gamma(n)) * (1 - probs) ** n * probs ** k``.

    Args:
        total_count: the number n of failures, not necessarily an integer.
        probs: the probability of success.
        logits: the log-odds of success; an alternative to ``probs``.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint; none is given, or both.

    Example:
        >>> tn.distributions.NegativeBinomial(3.0, probs=tn.tensor(0.5)).mean
        tensor(3.)
    """

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self,
        total_count: Any,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ):
        self._set(total_count, probs, logits, validate_args)

    @property
    def mean(self) -> Tensor:
        """The expectation."""
        return self.total_count * exp(self.logits)

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.mean / (-self.logits).sigmoid()

    @lazy_property
    def _gamma(self) -> Gamma:
        return Gamma(self.total_count, exp(-self.logits), validate_args=False)

    def sample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        with no_grad():
            return poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        n = self.total_count
        chance = -n * softplus(self.logits) - value * softplus(-self.logits)
        ways = lgamma(n + value) - lgamma(value + 1) - lgamma(n)
        return chance + where(n + value == 0, 0.0, ways)


class Poisson(ExponentialFamily):
    """The Poisson distribution.

    The probability of k is ``rate ** k * exp(-rate) / k!``.

    Args:
        rate: the mean.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint.

    Example:
        >>> tn.distributions.Poisson(4.0).variance
        tensor(4.)
    """

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None):
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size(), validate_args=validate_args)

    mean: Tensor = attribute("rate")

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        return self.rate.floor()

    variance: Tensor = attribute("rate")

    def sample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        with no_grad():
            return poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - lgamma(value + 1)

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (self.rate.log(),)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        (x,) = natural_params
        return exp(x)
