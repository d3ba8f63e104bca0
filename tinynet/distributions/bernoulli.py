"""Bernoulli, continuous Bernoulli, relaxed Bernoulli and geometric distributions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor
from tinynet.distributions import constraints
from tinynet.distributions.distribution import EMPTY, Distribution, ExponentialFamily
from tinynet.distributions.transformed_distribution import TransformedDistribution
from tinynet.distributions.transforms import SigmoidTransform
from tinynet.distributions.utils import (
    ProbsOrLogits,
    attribute,
    broadcast_all,
    clamp_probs,
    lazy_property,
    logits_to_probs,
    one_of,
    softplus,
)
from tinynet.ops import (
    arange,
    bernoulli,
    exp,
    expm1,
    log,
    log1p,
    logit,
    rand,
    where,
)

_PARAMETERS = {"probs": constraints.unit_interval, "logits": constraints.real}


class _OneAttempt(ProbsOrLogits, Distribution):
    """Base of distributions with the probability, or log-odds, of success in one attempt."""

    arg_constraints: Any = _PARAMETERS

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        name, value = one_of(probs=probs, logits=logits)
        (value,) = broadcast_all(value)
        self._give(name, value)
        super().__init__(value.size(), validate_args=validate_args)

    def _binary_entropy(self) -> Tensor:
        return softplus(self.logits) - self.logits * self.probs


class Bernoulli(_OneAttempt, ExponentialFamily):
    """The Bernoulli distribution: 1 with the given probability, otherwise 0.

    Args:
        probs: the probability of 1.
        logits: the log-odds of 1; an alternative to ``probs``.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint; none is given, or both.

    Example:
        >>> tn.distributions.Bernoulli(tn.tensor([0.25, 0.5])).log_prob(tn.ones(2))
        tensor([-1.3863, -0.6931])
    """

    arg_constraints = _PARAMETERS
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    mean: Tensor = attribute("probs")

    @property
    def mode(self) -> Tensor:
        """The more probable value; NaN if both are equally probable."""
        return where(self.probs == 0.5, math.nan, (self.probs >= 0.5).to(self.probs))

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        with no_grad():
            return bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        logits, value = broadcast_all(self.logits, value)
        # Each term is masked where the other counts, so that infinite logits give no 0 * inf.
        return value * logits - softplus(logits)

    def entropy(self) -> Tensor:
        return self._binary_entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = arange(2, dtype=self._param.dtype).reshape((2,) + (1,) * len(self._batch_shape))
        return values.expand((2,) + self._batch_shape) if expand else values

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (logit(self.probs),)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        (x,) = natural_params
        return log(1 + exp(x))


class ContinuousBernoulli(_OneAttempt, ExponentialFamily):
    """The continuous Bernoulli distribution on [0, 1], for data such as gray values.

    The density is proportional to ``probs ** x * (1 - probs) ** (1 - x)`` (G. Loaiza-Ganem,
    J. P. Cunningham, "The continuous Bernoulli: fixing a pervasive error in variational
    autoencoders", 2019).

    Args:
        probs: the parameter, which is not the mean.
        logits: the log-odds of ``probs``; an alternative.
        lims: bounds around 1/2 between which Taylor series replace formulas with a 0 / 0.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint; none is given, or both.

    Example:
        >>> tn.distributions.ContinuousBernoulli(0.5).log_prob(tn.tensor(0.3))
        tensor(0.)
    """

    arg_constraints = _PARAMETERS
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ):
        self._lims = lims
        super().__init__(probs, logits, validate_args)
        if probs is not None:
            self._give("probs", clamp_probs(self._param))

    @lazy_property
    def probs(self) -> Tensor:
        """The parameter, inside the open interval (0, 1)."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _outside_unstable_region(self) -> Tensor:
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut_probs(self) -> Tensor:
        """Return the probabilities, with a harmless value for those close to 1/2."""
        return where(self._outside_unstable_region(), self.probs, self._lims[0])

    def _joined(self, formula: Tensor, constant: float, odd: float, *even: float) -> Tensor:
        """Return a formula, or near 1/2 its series: ``constant + x ** odd * (c0 + c1 * x^2)``."""
        x = self.probs - 0.5
        series = constant + (even[0] + even[1] * x.pow(2)) * x.pow(odd)
        return where(self._outside_unstable_region(), formula, series)

    def _cont_bern_log_norm(self) -> Tensor:
        """Return the logarithm of the normalizing constant of the density."""
        p = self._cut_probs()
        formula = log((log1p(-p) - log(p)) / (1 - 2 * p))
        return self._joined(formula, math.log(2), 2, 4 / 3, 104 / 45)

    @property
    def mean(self) -> Tensor:
        """The expectation."""
        p = self._cut_probs()
        formula = p / (2 * p - 1) + 1 / (log1p(-p) - log(p))
        return self._joined(formula, 0.5, 1, 1 / 3, 16 / 45)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        p = self._cut_probs()
        formula = p * (p - 1) / (1 - 2 * p).pow(2) + 1 / (log1p(-p) - log(p)).pow(2)
        return self._joined(formula, 1 / 12, 2, -1 / 15, 128 / 945)

    def rsample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        return self.icdf(rand(self._extended_shape(sample_shape), dtype=self.probs.dtype))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        logits, value = broadcast_all(self.logits, value)
        return value * logits - softplus(logits) + self._cont_bern_log_norm()

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        p = self._cut_probs()
        formula = (p.pow(value) * (1 - p).pow(1 - value) + p - 1) / (2 * p - 1)
        inside = where(self._outside_unstable_region(), formula, value)
        return where(value <= 0, 0.0, where(value >= 1, 1.0, inside))

    def icdf(self, value: Tensor) -> Tensor:
        p = self._cut_probs()
        formula = (log1p(-p + value * (2 * p - 1)) - log1p(-p)) / (log(p) - log1p(-p))
        return where(self._outside_unstable_region(), formula, value)

    def entropy(self) -> Tensor:
        spread = self.mean * (log1p(-self.probs) - log(self.probs))
        return spread - self._cont_bern_log_norm() - log1p(-self.probs)

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (self.logits,)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        """Return ``log((exp(x) - 1) / x)``, by its series near 0."""
        (x,) = natural_params
        near = (x > self._lims[0] - 0.5) & (x < self._lims[1] - 0.5)
        safe = where(near, self._lims[1] - 0.5, x)
        return where(near, x / 2 + x.pow(2) / 24, log(expm1(safe).abs()) - log(safe.abs()))


class Geometric(_OneAttempt):
    """The geometric distribution: the number of failures before the first success.

    The probability of k is ``(1 - probs) ** k * probs``.

    Args:
        probs: the probability of success, above 0.
        logits: the log-odds of success; an alternative to ``probs``.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint; none is given, or both.

    Example:
        >>> tn.distributions.Geometric(0.25).mean
        tensor(3.)
    """

    arg_constraints = _PARAMETERS
    support = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        super().__init__(probs, logits, validate_args)
        if self._validate_args and probs is not None and not (self.probs > 0)._array.all():
            raise ValueError(
                f"Expected parameter probs ({type(self.probs).__name__} of shape "
                f"{tuple(self.probs.shape)}) of distribution {self!r} to be positive but found "
                f"invalid values:\n{self.probs[self.probs <= 0]}"
            )

    @property
    def mean(self) -> Tensor:
        """The expectation."""
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Tensor:
        """The most probable value: 0."""
        return self.probs * 0

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        with no_grad():
            waits = self.probs.new_empty(self._extended_shape(sample_shape)).exponential_()
            return (waits / -(-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        value, probs = broadcast_all(value, self.probs)
        certain = where((probs == 1) & (value == 0), 0.0, probs)  # avoids 0 * log(0)
        return value * (-certain).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        return self._binary_entropy() / self.probs


class LogitRelaxedBernoulli(_OneAttempt):
    """The distribution of the logits of a relaxed Bernoulli distribution.

    Args:
        temperature: the distance from a Bernoulli distribution.
        probs: the probability of 1.
        logits: the log-odds of 1; an alternative to ``probs``.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint; none is given, or both.
    """

    arg_constraints = _PARAMETERS
    support = constraints.real
    has_rsample = True
    _unexpanded = ("temperature",)

    def __init__(
        self,
        temperature: Tensor,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ):
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    def rsample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        shape = self._extended_shape(sample_shape)
        noise = clamp_probs(rand(shape, dtype=self.probs.dtype))
        probs = clamp_probs(self.probs.expand(shape))
        odds = noise.log() - (-noise).log1p() + probs.log() - (-probs).log1p()
        return odds / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        logits, value = broadcast_all(self.logits, value)
        away = logits - value * self.temperature
        return self.temperature.log() + away - 2 * softplus(away)


class RelaxedBernoulli(TransformedDistribution):
    """A continuous relaxation of the Bernoulli distribution, whose samples have gradients.

    (C. J. Maddison, A. Mnih, Y. W. Teh, "The Concrete Distribution", 2017.)

    Args:
        temperature: the distance from a Bernoulli distribution: near 0, samples are near 0 or 1.
        probs: the probability of 1.
        logits: the log-odds of 1; an alternative to ``probs``.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint; none is given, or both.

    Example:
        >>> d = tn.distributions.RelaxedBernoulli(tn.tensor(0.5), probs=tn.tensor([0.1, 0.9]))
        >>> d.rsample().shape
        tinynet.Size([2])
    """

    arg_constraints = _PARAMETERS
    support = constraints.unit_interval
    has_rsample = True
    base_dist: LogitRelaxedBernoulli

    def __init__(
        self,
        temperature: Tensor,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ):
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)

    temperature: Tensor = attribute(
        "base_dist.temperature", "The distance from a Bernoulli distribution."
    )

    logits: Tensor = attribute("base_dist.logits", "The log-odds of 1.")
    probs: Tensor = attribute("base_dist.probs", "The probability of 1.")
