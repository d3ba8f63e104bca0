"""Distributions over categories: as indices, as one-hot vectors, relaxed; mixtures by category."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Size, Tensor
from tinynet.distributions import constraints
from tinynet.distributions.distribution import EMPTY, Distribution
from tinynet.distributions.transformed_distribution import TransformedDistribution
from tinynet.distributions.transforms import ExpTransform
from tinynet.distributions.utils import (
    ProbsOrLogits,
    attribute,
    broadcast_all,
    broadcastable,
    clamp_probs,
    finfo,
    normalized,
    one_of,
)
from tinynet.ops import (
    arange,
    broadcast_tensors,
    eye,
    full,
    gather,
    log_softmax,
    logsumexp,
    multinomial,
    rand,
)

# ---- categories ---------------------------------------------------------------------------------


class Categorical(ProbsOrLogits, Distribution):
    """The distribution of an index with a probability for each value.

    Args:
        probs: the probabilities, along the last dimension, not necessarily normalized.
        logits: unnormalized log-probabilities; an alternative to ``probs``.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint, or has no dimension; none is given, or
            both.

    Example:
        >>> d = tn.distributions.Categorical(probs=tn.tensor([1.0, 3.0]))
        >>> d.log_prob(tn.tensor(1)).exp()
        tensor(0.7500)
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    is_binary = False

    def __init__(
        self,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ):
        name, value = one_of(probs=probs, logits=logits)
        self._give(name, normalized(name, value))
        self._num_events = self._param.size()[-1]
        super().__init__(self._param.size()[:-1], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """The indices of the categories."""
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Tensor:
        """NaN: indices have no mean."""
        shape = self._extended_shape()
        return full(shape, math.nan, dtype=self.probs.dtype)

    variance = mean

    @property
    def mode(self) -> Tensor:
        """The most probable index."""
        return self.probs.argmax(dim=-1)

    def sample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        shape = self._extended_shape(sample_shape)
        rows = self.probs.detach()
        rows = rows if rows.ndim == 2 else rows.reshape(-1, self._num_events)
        count = math.prod(sample_shape)
        if not count:
            return full(shape, 0)
        drawn = multinomial(rows, count, True)
        return (drawn if count == 1 else drawn.T).reshape(shape)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        value = value.long().unsqueeze(-1)
        log_probs = self.logits
        if value.shape[:-1] != log_probs.shape[:-1]:
            value, log_probs = broadcast_tensors(value, log_probs)
            value = value[..., :1]
        return log_probs.gather(-1, value).squeeze(-1)

    def entropy(self) -> Tensor:
        least = finfo(self.logits).min  # avoids 0 * -inf
        return -(self.logits.clamp(min=least) * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = arange(self._num_events).reshape((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + self._batch_shape) if expand else values


class OfCategorical(Distribution):
    """Base of distributions of vectors with the parameters of a Categorical."""

    arg_constraints: Any = {"probs": constraints.simplex, "logits": constraints.real_vector}
    _categorical: Categorical

    def __init__(
        self,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ):
        self._categorical = Categorical(probs, logits)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    _param: Tensor = attribute("_categorical._param")

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._categorical._new(*args, **kwargs)

    probs: Tensor = attribute("_categorical.probs", "The probabilities of the categories.")
    logits: Tensor = attribute("_categorical.logits", "The log-probabilities of the categories.")
    param_shape: Any = attribute(
        "_categorical.param_shape", "The shape of the parameter that was given."
    )


class OneHotCategorical(OfCategorical):
    """The distribution of one-hot vectors.

    Args:
        probs: the probabilities, along the last dimension, not necessarily normalized.
        logits: unnormalized log-probabilities; an alternative to ``probs``.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint, or has no dimension; none is given, or
            both.

    Example:
        >>> tn.distributions.OneHotCategorical(probs=tn.tensor([0.0, 1.0])).sample()
        tensor([0., 1.])
    """

    arg_constraints = OfCategorical.arg_constraints
    support = constraints.one_hot
    has_enumerate_support = True

    mean: Tensor = attribute("_categorical.probs")

    @property
    def mode(self) -> Tensor:
        """The most probable vector."""
        return self._one_hot(self._categorical.mode)

    @property
    def variance(self) -> Tensor:
        """The variance of each element."""
        return self.probs * (1 - self.probs)

    def _one_hot(self, index: Tensor) -> Tensor:
        return eye(self._event_shape[0], dtype=self._param.dtype)[index]

    def sample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        return self._one_hot(self._categorical.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n = self.event_shape[0]
        values = eye(n, dtype=self._param.dtype)
        values = values.view((n,) + (1,) * len(self.batch_shape) + (n,))
        return values.expand((n,) + self.batch_shape + (n,)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """OneHotCategorical whose samples pass gradients to the probabilities.

    (Y. Bengio, N. Leonard, A. Courville, "Estimating or Propagating Gradients Through Stochastic
    Neurons for Conditional Computation", 2013.)

    Args:
        probs: the probabilities, along the last dimension, not necessarily normalized.
        logits: unnormalized log-probabilities; an alternative to ``probs``.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint, or has no dimension; none is given, or
            both.

    Example:
        >>> logits = tn.zeros(2, requires_grad=True)
        >>> d = tn.distributions.OneHotCategoricalStraightThrough(logits=logits)
        >>> d.rsample().requires_grad
        True
    """

    has_rsample = True

    def rsample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        samples, probs = self.sample(sample_shape), self._categorical.probs
        return samples + (probs - probs.detach())


class ExpRelaxedCategorical(OfCategorical):
    """The distribution of the logarithms of relaxed one-hot vectors.

    (C. J. Maddison, A. Mnih, Y. W. Teh, "The Concrete Distribution", 2017, appendix C.3.)

    Args:
        temperature: the distance from a categorical distribution.
        probs: the probabilities, along the last dimension, not necessarily normalized.
        logits: unnormalized log-probabilities; an alternative to ``probs``.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint, or has no dimension; none is given, or
            both.
    """

    arg_constraints = OfCategorical.arg_constraints
    support = constraints.real_vector  # vectors whose exponentials sum to 1
    has_rsample = True
    _unexpanded = ("temperature",)

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ):
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    def rsample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        shape = self._extended_shape(sample_shape)
        uniform = clamp_probs(rand(shape, dtype=self.logits.dtype))
        scores = (self.logits - (-uniform.log()).log()) / self.temperature
        return scores - logsumexp(scores, dim=-1, keepdim=True)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        logits, value = broadcast_all(self.logits, value)
        count = self._categorical._num_events
        scale = math.lgamma(count) + (count - 1) * self.temperature.log()
        score = logits - value * self.temperature
        return (score - logsumexp(score, dim=-1, keepdim=True)).sum(-1) + scale


class RelaxedOneHotCategorical(TransformedDistribution):
    """A continuous relaxation of one-hot vectors on the simplex, whose samples have gradients.

    (E. Jang, S. Gu, B. Poole, "Categorical Reparameterization with Gumbel-Softmax", 2017.)

    Args:
        temperature: the distance from a categorical distribution: near 0, samples are nearly
            one-hot.
        probs: the probabilities, along the last dimension, not necessarily normalized.
        logits: unnormalized log-probabilities; an alternative to ``probs``.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint, or has no dimension; none is given, or
            both.

    Example:
        >>> d = tn.distributions.RelaxedOneHotCategorical(tn.tensor(0.5), logits=tn.zeros(3))
        >>> d.rsample().shape
        tinynet.Size([3])
    """

    arg_constraints = OfCategorical.arg_constraints
    support = constraints.simplex
    has_rsample = True
    base_dist: ExpRelaxedCategorical

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ):
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    temperature: Tensor = attribute(
        "base_dist.temperature", "The distance from a categorical distribution."
    )

    logits: Tensor = attribute("base_dist.logits", "The logarithms of the probabilities.")
    probs: Tensor = attribute("base_dist.probs", "The probabilities of the categories.")


# ---- mixtures -----------------------------------------------------------------------------------
# Of distributions of one family.


class MixtureSameFamily(Distribution):
    """A mixture of distributions of one family: the last batch dimension is the component.

    Args:
        mixture_distribution: the Categorical that selects a component.
        component_distribution: the components.
        validate_args: as in Distribution.

    Raises:
        ValueError: an argument of the wrong type, or incompatible shapes.

    Example:
        >>> D = tn.distributions
        >>> mixture = D.MixtureSameFamily(
        ...     D.Categorical(tn.ones(2)), D.Normal(tn.tensor([-1.0, 1.0]), 1.0)
        ... )
        >>> mixture.mean, mixture.variance
        (tensor(0.), tensor(2.))
    """

    arg_constraints: Any = {}
    has_rsample = False

    def __init__(
        self,
        mixture_distribution: Categorical,
        component_distribution: Distribution,
        validate_args: bool | None = None,
    ):
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        _check_components(mixture_distribution, component_distribution)
        self._num_component = component_distribution.batch_shape[-1]
        self._event_ndims = len(component_distribution.event_shape)
        super().__init__(
            component_distribution.batch_shape[:-1],
            component_distribution.event_shape,
            validate_args=validate_args,
        )

    def _expanded(self, batch_shape: Size) -> dict[str, Any]:
        mixture = self._mixture_distribution.expand(batch_shape)
        return {**super()._expanded(batch_shape), "_mixture_distribution": mixture}

    mixture_distribution: Categorical = attribute(
        "_mixture_distribution", "The distribution of the component's index."
    )

    component_distribution: Distribution = attribute("_component_distribution", "The components.")

    @constraints.dependent_property
    def support(self) -> Any:
        """The values that every component supports."""
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def _weights(self) -> Tensor:
        return self._over_events(self._mixture_distribution.probs)

    def _over_events(self, x: Tensor) -> Tensor:
        """Give numbers per component dimensions that broadcast over events."""
        return x.reshape(x.shape + (1,) * self._event_ndims)

    def _summed(self, x: Tensor) -> Tensor:
        return x.sum(-1 - self._event_ndims)

    @property
    def mean(self) -> Tensor:
        """The expectation."""
        return self._summed(self._weights * self._component_distribution.mean)

    @property
    def variance(self) -> Tensor:
        """The mean of the variances plus the variance of the means."""
        weights, components = self._weights, self._component_distribution
        away = components.mean - self.mean.unsqueeze(-1 - self._event_ndims)
        return self._summed(weights * components.variance) + self._summed(weights * away.pow(2))

    def cdf(self, value: Tensor) -> Tensor:
        inside = self._component_distribution.cdf(self._pad(value))
        return (inside * self._mixture_distribution.probs).sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        inside = self._component_distribution.log_prob(self._pad(value))
        return logsumexp(inside + log_softmax(self._mixture_distribution.logits, dim=-1), dim=-1)

    def sample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        with no_grad():
            picked = self._over_events(
                self._mixture_distribution.sample(sample_shape).unsqueeze(-1)
            )
            drawn = self._component_distribution.sample(sample_shape)
            dim = -1 - self._event_ndims
            shape = drawn.shape[: drawn.dim() + dim] + (1,) + self.event_shape
            return gather(drawn, dim, picked.expand(shape)).squeeze(dim)

    def _pad(self, x: Tensor) -> Tensor:
        return x.unsqueeze(-1 - self._event_ndims)

    def __repr__(self) -> str:
        inside = f"\n  {self._mixture_distribution},\n  {self._component_distribution}"
        return f"MixtureSameFamily({inside})"


def _check_components(mixture: Any, components: Any) -> None:
    if not isinstance(mixture, Categorical):
        raise ValueError(
            " The Mixture distribution needs to be an  instance of "
            "tinynet.distributions.Categorical"
        )
    if not isinstance(components, Distribution):
        raise ValueError(
            "The Component distribution needs to be an instance of "
            "tinynet.distributions.Distribution"
        )
    outer, inner = mixture.batch_shape, components.batch_shape[:-1]
    if not broadcastable(outer, inner):
        raise ValueError(
            f"`mixture_distribution.batch_shape` ({outer}) is not compatible with "
            f"`component_distribution.batch_shape`({inner})"
        )
    count = mixture.logits.shape[-1]
    if components.batch_shape and count != components.batch_shape[-1]:
        raise ValueError(
            f"`mixture_distribution component` ({count}) does not equal "
            f"`component_distribution.batch_shape[-1]` ({components.batch_shape[-1]})"
        )
    if not components.batch_shape:
        raise ValueError("component_distribution needs a batch dimension: that of the components")
