"""Distributions derived from another: batch dimensions as events, or transformed samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Size, Tensor
from tinynet.distributions import constraints
from tinynet.distributions.distribution import EMPTY, Distribution
from tinynet.distributions.transforms import AbsTransform, ComposeTransform, Transform
from tinynet.distributions.utils import attribute, sum_rightmost
from tinynet.ops import where


class Independent(Distribution):
    """A distribution whose last batch dimensions count as event: it sums their log-densities.

    Args:
        base_distribution: the distribution.
        reinterpreted_batch_ndims: the number of batch dimensions that become event dimensions.
        validate_args: as in Distribution.

    Raises:
        ValueError: more dimensions than the batch shape has.

    Example:
        >>> D = tn.distributions
        >>> D.Independent(D.Normal(tn.zeros(3), 1.0), 1).log_prob(tn.zeros(3))
        tensor(-2.7568)
    """

    arg_constraints: Any = {}

    def __init__(
        self,
        base_distribution: Distribution,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ):
        if reinterpreted_batch_ndims > len(base_distribution.batch_shape):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {reinterpreted_batch_ndims} vs {len(base_distribution.batch_shape)}"
            )
        shape = base_distribution.batch_shape + base_distribution.event_shape
        event_dim = reinterpreted_batch_ndims + len(base_distribution.event_shape)
        cut = len(shape) - event_dim
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    has_rsample: Any = attribute("base_dist.has_rsample", "Whether the base has ``rsample``.")

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        """Whether the base has ``enumerate_support`` and no dimension is reinterpreted."""
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self) -> Any:
        """The support of the base, with more event dimensions."""
        result, more = self.base_dist.support, self.reinterpreted_batch_ndims
        return constraints.independent(result, more) if more else result

    mean: Tensor = attribute("base_dist.mean")
    mode: Tensor = attribute("base_dist.mode")
    variance: Tensor = attribute("base_dist.variance", "The variance of each element.")

    def sample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self) -> str:
        inside = f"({self.base_dist}, {self.reinterpreted_batch_ndims})"
        return self.__class__.__name__ + inside


class TransformedDistribution(Distribution):
    """The distribution of ``t(x)``, where x has a base distribution.

    Its density is the density of x divided by ``|det dt/dx|``.

    Args:
        base_distribution: the distribution of x.
        transforms: a transform, or a list of transforms applied in order; ``log_prob`` requires
            invertible ones.
        validate_args: as in Distribution.

    Raises:
        ValueError: ``transforms`` is not a transform or list; base samples have too few dimensions.

    Example:
        >>> D = tn.distributions
        >>> logistic = D.TransformedDistribution(
        ...     D.Uniform(0.0, 1.0), [D.SigmoidTransform().inv, D.AffineTransform(0.0, 2.0)]
        ... )
        >>> logistic.log_prob(tn.tensor(0.0))
        tensor(-2.0794)
    """

    arg_constraints: Any = {}

    def __init__(
        self,
        base_distribution: Distribution,
        transforms: Transform | Sequence[Transform],
        validate_args: bool | None = None,
    ):
        if isinstance(transforms, Transform):
            self.transforms = [transforms]
        elif isinstance(transforms, list):
            if not all(isinstance(t, Transform) for t in transforms):
                raise ValueError("transforms must be a Transform or a list of Transforms")
            self.transforms = transforms
        else:
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        self._set_base(base_distribution)
        shape, event_dim = self._shape_of_samples()
        cut = len(shape) - event_dim
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    def _set_base(self, base: Distribution) -> None:
        """Store the base, with the batch and event dimensions that the transforms need."""
        shape = base.batch_shape + base.event_shape
        whole = ComposeTransform(self.transforms)
        if len(shape) < whole.domain.event_dim:
            raise ValueError(
                "base_distribution needs to have shape with size at least "
                f"{whole.domain.event_dim}, but got {shape}."
            )
        wanted = whole.inverse_shape(whole.forward_shape(shape))
        if wanted != shape:
            base = base.expand(wanted[: len(wanted) - len(base.event_shape)])
        missing = whole.domain.event_dim - len(base.event_shape)
        self.base_dist = Independent(base, missing) if missing > 0 else base

    def _shape_of_samples(self) -> tuple[Size, int]:
        whole = ComposeTransform(self.transforms)
        shape = whole.forward_shape(self.base_dist.batch_shape + self.base_dist.event_shape)
        grown = whole.codomain.event_dim - whole.domain.event_dim
        event_dim = max(whole.codomain.event_dim, len(self.base_dist.event_shape) + grown)
        return Size(shape), event_dim

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        """The codomain of the last transform."""
        if not self.transforms:
            return self.base_dist.support
        codomain = self.transforms[-1].codomain
        missing = len(self.event_shape) - codomain.event_dim
        return constraints.independent(codomain, missing) if missing > 0 else codomain

    has_rsample: Any = attribute("base_dist.has_rsample", "Whether the base has ``rsample``.")

    def _transformed(self, x: Tensor) -> Tensor:
        for t in self.transforms:
            x = t(x)
        return x

    def sample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        with no_grad():
            return self._transformed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        return self._transformed(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        event_dim, y = len(self.event_shape), value
        stretched: Any = 0.0
        for t in reversed(self.transforms):
            x = t.inv(y)
            event_dim += t.domain.event_dim - t.codomain.event_dim
            jacobian = t.log_abs_det_jacobian(x, y)
            stretched = stretched - sum_rightmost(jacobian, event_dim - t.domain.event_dim)
            y = x
        inner = self.base_dist.log_prob(y)
        return stretched + sum_rightmost(inner, event_dim - len(self.base_dist.event_shape))

    def _monotonize_cdf(self, value: Tensor) -> Tensor:
        """Return ``1 - value`` where the transforms reverse the order."""
        sign: Any = 1
        for t in self.transforms:
            sign = sign * t.sign
        return value if isinstance(sign, int) and sign == 1 else sign * (value - 0.5) + 0.5

    def cdf(self, value: Tensor) -> Tensor:
        for t in self.transforms[::-1]:
            value = t.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._monotonize_cdf(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._transformed(self.base_dist.icdf(self._monotonize_cdf(value)))


class Folded(TransformedDistribution):
    """Base of the distributions of ``|x|``, where x is symmetric about 0 and has a scale."""

    support = constraints.nonnegative
    has_rsample = True
    scale: Tensor = attribute("base_dist.scale")

    def __init__(self, base_distribution: Distribution, validate_args: bool | None):
        super().__init__(base_distribution, AbsTransform(), validate_args=validate_args)

    @property
    def mode(self) -> Tensor:
        """The value with the greatest density: 0."""
        return self.scale * 0

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        found = self.base_dist.log_prob(value) + math.log(2)
        return where(value >= 0, found, -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob: Tensor) -> Tensor:
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)
