"""Mixtures of distributions of one family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Size, Tensor
from tinynet.distributions import constraints
from tinynet.distributions.categorical import Categorical
from tinynet.distributions.distribution import EMPTY, Distribution
from tinynet.distributions.utils import attribute, broadcastable
from tinynet.ops import gather, log_softmax, logsumexp


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
