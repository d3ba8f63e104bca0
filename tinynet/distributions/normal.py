"""Normal, log-normal, half-normal, logistic-normal and multivariate normal distributions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Size, Tensor
from tinynet.distributions import constraints
from tinynet.distributions.distribution import EMPTY, Distribution, ExponentialFamily, LocationScale
from tinynet.distributions.transformed_distribution import Folded, TransformedDistribution
from tinynet.distributions.transforms import ExpTransform, StickBreakingTransform
from tinynet.distributions.utils import LOG_2PI, _standard_normal, attribute, lazy_property
from tinynet.ops import (
    broadcast_shapes,
    cholesky_inverse,
    erf,
    erfinv,
    eye,
    flip,
    linalg,
    log,
    normal,
)

# ---- of numbers ---------------------------------------------------------------------------------


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


# ---- of vectors ---------------------------------------------------------------------------------
# Multivariate normal distributions, with full or low-rank covariance.


def solved(lower: Tensor, x: Tensor) -> Tensor:
    """Return ``inv(lower) @ x`` for a lower triangular matrix."""
    return linalg.solve_triangular(lower, x, upper=False)


def mahalanobis(lower: Tensor, x: Tensor) -> Tensor:
    """Return the squared Mahalanobis length of vectors x: the squared length of ``inv(lower) @ x``.

    Samples become columns, so that each triangular system is solved once for all samples.
    """
    batch = len(lower.shape) - 2
    samples = x.shape[: x.dim() - 1 - batch]
    columns = x.reshape((samples.numel(),) + x.shape[x.dim() - 1 - batch :]).movedim(0, -1)
    return solved(lower, columns).pow(2).sum(-2).movedim(-1, 0).reshape(x.shape[:-1])


def half_log_det(lower: Tensor) -> Tensor:
    """Return half of the log-determinant of ``lower @ lower.mT``."""
    return lower.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def precision_to_scale_tril(precision: Tensor) -> Tensor:
    """Return the Cholesky factor of the inverse of a matrix.

    With both dimensions reversed, a Cholesky factor is an upper triangular U whose ``U @ U.mT`` is
    the matrix; the inverse of ``U.mT`` is the lower triangular factor.
    """
    upper = flip(linalg.cholesky(flip(precision, (-2, -1))), (-2, -1))
    identity = eye(precision.shape[-1], dtype=precision.dtype)
    return solved(upper.mT, identity)


_precision_to_scale_tril = precision_to_scale_tril  # PyTorch's name, which libraries import


class GivenMatrix(Distribution):
    """Base of distributions with a matrix parameter in one of three forms."""

    _unexpanded = ("_unbroadcasted_scale_tril",)
    _matrix_dims = 2

    def _give_matrix(self, name: str, matrix: Tensor, batch_shape: Sequence[int]) -> None:
        vars(self)[name] = matrix.expand(Size(batch_shape) + matrix.shape[-2:])

    def _factor(self, name: str, matrix: Tensor) -> None:
        """Store the Cholesky factor of the covariance matrix; it requires validated parameters."""
        forms = {
            "scale_tril": lambda m: m,
            "covariance_matrix": linalg.cholesky,
            "precision_matrix": precision_to_scale_tril,
        }
        self._unbroadcasted_scale_tril: Tensor = forms[name](matrix)

    def _over_batch(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self._batch_shape + matrix.shape[-2:])

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance matrix."""
        return self._over_batch(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix."""
        lower = self._unbroadcasted_scale_tril
        return self._over_batch(lower @ lower.mT)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance matrix."""
        return self._over_batch(cholesky_inverse(self._unbroadcasted_scale_tril))


class MultivariateNormal(GivenMatrix):
    """The multivariate normal distribution, with one of three forms of the covariance.

    The density is ``exp(-d @ inv(C) @ d / 2) / sqrt(det(2 * pi * C))`` with ``d = x - loc``.

    Args:
        loc: the mean, a vector.
        covariance_matrix: C.
        precision_matrix: the inverse of C; an alternative.
        scale_tril: the Cholesky factor of C; an alternative that needs no factorization.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint, or has too few dimensions; not exactly
            one of the matrices is given.

    Example:
        >>> d = tn.distributions.MultivariateNormal(tn.zeros(2), tn.eye(2))
        >>> d.log_prob(tn.zeros(2))
        tensor(-1.8379)
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        name, matrix = one_matrix(covariance_matrix, precision_matrix, scale_tril)
        if matrix.dim() < 2:
            what = "scale_tril matrix" if name == "scale_tril" else name
            raise ValueError(
                f"{what} must be at least two-dimensional, with optional leading batch dimensions"
            )
        batch_shape = broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        self._give_matrix(name, matrix, batch_shape)
        self.loc = loc.expand(batch_shape + loc.shape[-1:])
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        self._factor(name, matrix)

    mean: Tensor = attribute("loc")

    mode = mean

    @property
    def variance(self) -> Tensor:
        """The variance of each element."""
        found = self._unbroadcasted_scale_tril.pow(2).sum(-1)
        return found.expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        shape = self._extended_shape(sample_shape)
        noise = _standard_normal(shape, self.loc.dtype, self.loc.device)
        return self.loc + (self._unbroadcasted_scale_tril @ noise.unsqueeze(-1)).squeeze(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        lower = self._unbroadcasted_scale_tril
        square = mahalanobis(lower, value - self.loc)
        return -0.5 * (self._event_shape[0] * LOG_2PI + square) - half_log_det(lower)

    def entropy(self) -> Tensor:
        half = half_log_det(self._unbroadcasted_scale_tril)
        found = 0.5 * self._event_shape[0] * (1.0 + LOG_2PI) + half
        return found.expand(self._batch_shape)


def one_matrix(
    covariance_matrix: Any, precision_matrix: Any, scale_tril: Any, error: Any = ValueError
) -> tuple[str, Any]:
    """Return the name and the value of the one matrix that is given."""
    given = {
        "covariance_matrix": covariance_matrix,
        "precision_matrix": precision_matrix,
        "scale_tril": scale_tril,
    }
    found = [(name, matrix) for name, matrix in given.items() if matrix is not None]
    if len(found) != 1:
        raise error(
            "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."
        )
    return found[0]


class LowRankMultivariateNormal(Distribution):
    """The multivariate normal distribution with covariance ``W @ W.mT + diag(D)``.

    With few columns in W it needs less memory and time than a full matrix: by Woodbury's identity
    and the matrix determinant lemma, only ``I + W.mT @ diag(1 / D) @ W`` is factored.

    Args:
        loc: the mean, a vector.
        cov_factor: W.
        cov_diag: D, a vector.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint, or its shape does not match.

    Example:
        >>> D = tn.distributions
        >>> d = D.LowRankMultivariateNormal(tn.zeros(2), tn.ones(2, 1), tn.ones(2))
        >>> d.covariance_matrix
        tensor([[2., 1.],
                [1., 2.]])
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True
    _unexpanded = (
        "_unbroadcasted_cov_factor",
        "_unbroadcasted_cov_diag",
        "_capacitance_tril",
    )

    def __init__(
        self,
        loc: Tensor,
        cov_factor: Tensor,
        cov_diag: Tensor,
        validate_args: bool | None = None,
    ):
        _check_low_rank(loc, cov_factor, cov_diag)
        shapes = loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1]
        batch_shape = broadcast_shapes(*shapes)
        self.loc = loc.expand(batch_shape + loc.shape[-1:])
        self.cov_diag = cov_diag.expand(batch_shape + cov_diag.shape[-1:])
        self.cov_factor = cov_factor.expand(batch_shape + cov_factor.shape[-2:])
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        factor_batch = broadcast_shapes(cov_factor.shape[:-2], cov_diag.shape[:-1])
        self._unbroadcasted_cov_factor = cov_factor.expand(factor_batch + cov_factor.shape[-2:])
        self._unbroadcasted_cov_diag = cov_diag.expand(factor_batch + cov_diag.shape[-1:])
        scaled = self._scaled_factor
        small = scaled @ self._unbroadcasted_cov_factor
        identity = eye(small.shape[-1], dtype=small.dtype)
        self._capacitance_tril = linalg.cholesky(small + identity)

    @property
    def _scaled_factor(self) -> Tensor:
        """``W.mT @ diag(1 / D)``."""
        return self._unbroadcasted_cov_factor.mT / self._unbroadcasted_cov_diag.unsqueeze(-2)

    mean: Tensor = attribute("loc")

    mode = mean

    @lazy_property
    def variance(self) -> Tensor:
        """The variance of each element."""
        found = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return found.expand(self._batch_shape + self._event_shape)

    def _over_batch(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self._batch_shape + matrix.shape[-2:])

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance matrix."""
        # Factors I + inv(sqrt(D)) @ W @ W.mT @ inv(sqrt(D)), which is accurate for small D, too.
        root = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / root
        identity = eye(scaled.shape[-2], dtype=scaled.dtype)
        return self._over_batch(root * linalg.cholesky(scaled @ scaled.mT + identity))

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix."""
        factor = self._unbroadcasted_cov_factor
        return self._over_batch(factor @ factor.mT + self._unbroadcasted_cov_diag.diag_embed())

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance matrix."""
        part = solved(self._capacitance_tril, self._scaled_factor)
        diagonal = self._unbroadcasted_cov_diag.reciprocal().diag_embed()
        return self._over_batch(diagonal - part.mT @ part)

    def rsample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        shape, kind = self._extended_shape(sample_shape), self.loc.dtype
        factor = self._unbroadcasted_cov_factor
        common = _standard_normal(shape[:-1] + factor.shape[-1:], kind, self.loc.device)
        own = _standard_normal(shape, kind, self.loc.device)
        together = (factor @ common.unsqueeze(-1)).squeeze(-1)
        return self.loc + together + self._unbroadcasted_cov_diag.sqrt() * own

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        away = value - self.loc
        outside = (away.pow(2) / self._unbroadcasted_cov_diag).sum(-1)
        inside = (self._scaled_factor @ away.unsqueeze(-1)).squeeze(-1)
        square = outside - mahalanobis(self._capacitance_tril, inside)
        return -0.5 * (self._event_shape[0] * LOG_2PI + self._log_det() + square)

    def _log_det(self) -> Tensor:
        diagonal = self._unbroadcasted_cov_diag.log().sum(-1)
        return diagonal + 2 * half_log_det(self._capacitance_tril)

    def entropy(self) -> Tensor:
        found = 0.5 * (self._event_shape[0] * (1.0 + LOG_2PI) + self._log_det())
        return found.expand(self._batch_shape)


def _check_low_rank(loc: Tensor, cov_factor: Tensor, cov_diag: Tensor) -> None:
    if loc.dim() < 1:
        raise ValueError("loc must be at least one-dimensional.")
    if cov_factor.dim() < 2:
        raise ValueError(
            "cov_factor must be at least two-dimensional, with optional leading batch dimensions"
        )
    event_shape = loc.shape[-1:]
    if cov_factor.shape[-2:-1] != event_shape:
        raise ValueError(f"cov_factor must be a batch of matrices with shape {event_shape[0]} x m")
    if cov_diag.shape[-1:] != event_shape:
        raise ValueError(f"cov_diag must be a batch of vectors with shape {event_shape}")
