"""Distributions of matrices: Wishart, and LKJ for correlation matrices."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.distributions import constraints
from tinynet.distributions.beta import Beta
from tinynet.distributions.distribution import EMPTY, Distribution, ExponentialFamily
from tinynet.distributions.gamma import Chi2
from tinynet.distributions.normal import GivenMatrix, half_log_det, one_matrix, solved
from tinynet.distributions.utils import _standard_normal, broadcast_all, finfo
from tinynet.ops import arange, broadcast_shapes, cat, digamma, mvlgamma, slogdet, tensor


def _digammas(x: Tensor, p: int) -> Tensor:
    """Return the sum of digamma at x, x - 1/2, ..., the derivative of ``mvlgamma``."""
    return digamma(x.unsqueeze(-1) - arange(p, dtype=x.dtype) / 2).sum(-1)


class Wishart(GivenMatrix, ExponentialFamily):
    """The Wishart distribution of ``X.mT @ X``, where X has df rows of a normal distribution.

    Samples use Bartlett's decomposition: L @ A @ A.mT @ L.mT, where A is lower triangular with
    chi-distributed numbers on the diagonal and normal ones below (S. Sawyer, "Wishart Distributions
    and Inverse-Wishart Sampling", 2007).

    Args:
        df: the degrees of freedom, above the dimension minus 1.
        covariance_matrix: the covariance of a row.
        precision_matrix: the inverse of the covariance; an alternative.
        scale_tril: the Cholesky factor of the covariance; an alternative.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint, or has too few dimensions.
        AssertionError: not exactly one of the matrices is given.

    Example:
        >>> tn.distributions.Wishart(tn.tensor(3.0), tn.eye(2)).mean
        tensor([[3., 0.],
                [0., 3.]])
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    @property
    def arg_constraints(self) -> Any:
        """The constraints of the parameters."""
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    def __init__(
        self,
        df: Any,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ):
        name, matrix = one_matrix(
            covariance_matrix, precision_matrix, scale_tril, error=AssertionError
        )
        if matrix.dim() < 2:
            raise ValueError(
                "scale_tril must be at least two-dimensional, with optional leading batch "
                "dimensions"
            )
        n = matrix.shape[-1]
        df = df if isinstance(df, Tensor) else tensor(df, dtype=matrix.dtype)
        if not (df > n - 1)._array.all():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {n - 1}.")
        batch_shape = broadcast_shapes(df.shape, matrix.shape[:-2])
        self.df = df.expand(batch_shape)
        self._give_matrix(name, matrix, batch_shape)
        if (df < n)._array.any():
            warnings.warn(
                "Low df values detected. Singular samples are highly likely to occur for "
                "ndim - 1 < df < ndim.",
                stacklevel=2,
            )
        super().__init__(batch_shape, matrix.shape[-2:], validate_args=validate_args)
        self._factor(name, matrix)
        self._dist_chi2 = Chi2(self.df.unsqueeze(-1) - arange(n, dtype=matrix.dtype))

    @property
    def _p(self) -> int:
        return self._event_shape[-1]

    @property
    def mean(self) -> Tensor:
        """The expectation."""
        return self.df.view(self._batch_shape + (1, 1)) * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        """The matrix with the greatest density; NaN for ``df`` up to dimension + 1."""
        factor = self.df - self._p - 1
        factor = factor.masked_fill(factor <= 0, math.nan)
        return factor.view(self._batch_shape + (1, 1)) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        """The variance of each element."""
        covariance = self.covariance_matrix
        diagonal = covariance.diagonal(dim1=-2, dim2=-1)
        products = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self.df.view(self._batch_shape + (1, 1)) * (covariance.pow(2) + products)

    def rsample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        shape = self._extended_shape(sample_shape)
        chi = self._dist_chi2.rsample(sample_shape).clamp(min=finfo(self.df).tiny).sqrt()
        noise = _standard_normal(shape, self.df.dtype, self.df.device)
        lower = self._unbroadcasted_scale_tril @ (noise.tril(-1) + chi.diag_embed())
        return lower @ lower.mT

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        nu, p, lower = self.df, self._p, self._unbroadcasted_scale_tril
        trace = solved(lower, solved(lower, value).mT).diagonal(dim1=-2, dim2=-1).sum(-1)
        scale = -nu * (p * math.log(2) / 2 + half_log_det(lower)) - mvlgamma(nu / 2, p)
        return scale + (nu - p - 1) / 2 * slogdet(value).logabsdet - trace / 2

    def entropy(self) -> Tensor:
        nu, p = self.df, self._p
        half = half_log_det(self._unbroadcasted_scale_tril)
        size = (p + 1) * (half + p * math.log(2) / 2) + mvlgamma(nu / 2, p)
        return size - (nu - p - 1) / 2 * _digammas(nu / 2, p) + nu * p / 2

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        return -self.precision_matrix / 2, (self.df - self._p - 1) / 2

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        x, y = natural_params
        p, half = self._p, y + (self._p + 1) / 2
        log_det = slogdet(-2 * x).logabsdet
        return half * (p * math.log(2) - log_det) + mvlgamma(half, p)


class LKJCholesky(Distribution):
    """The LKJ distribution of Cholesky factors of correlation matrices.

    The density of the matrix is proportional to ``det ** (concentration - 1)``. Samples are drawn
    row by row with the extended onion method (D. Lewandowski, D. Kurowicka, H. Joe, "Generating
    random correlation matrices based on vines and extended onion method", 2009).

    Args:
        dim: the number of rows.
        concentration: 1 gives uniform correlation matrices; larger values favour the identity.
        validate_args: as in Distribution.

    Raises:
        ValueError: a parameter is outside its constraint; ``dim`` is below 2.

    Example:
        >>> tn.distributions.LKJCholesky(3, 0.5).sample().shape
        tinynet.Size([3, 3])
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None):
        if dim < 2:
            raise ValueError(
                f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}."
            )
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        super().__init__(self.concentration.size(), (dim, dim), validate_args=validate_args)
        rows = arange(1, dim, dtype=self.concentration.dtype)
        rest = self.concentration.unsqueeze(-1) + 0.5 * (dim - 1 - rows)
        self._beta = Beta(0.5 * rows, rest)

    def sample(self, sample_shape: Sequence[int] = EMPTY) -> Tensor:
        """Return samples: each row is a random direction, completed to length 1 by the diagonal."""
        square = self._beta.sample(sample_shape).unsqueeze(-1)
        shape = self._extended_shape(sample_shape)
        kind = self.concentration.dtype
        noise = _standard_normal(shape, kind, self.concentration.device).tril(-1)[..., 1:, :]
        rows = square.sqrt() * noise / noise.norm(dim=-1, keepdim=True)
        rows = cat([rows.new_zeros(rows.shape[:-2] + (1, self.dim)), rows], -2)
        left = (1 - rows.square().sum(-1)).clamp(min=finfo(rows).tiny).sqrt()
        return rows + left.diag_embed()

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density of a factor (page 1999 of the paper)."""
        self._check_value(value)
        n = self.dim - 1
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = arange(n - 1, -1, -1, dtype=self.concentration.dtype)
        order = 2 * (self.concentration.unsqueeze(-1) - 1) + order
        alpha = self.concentration + 0.5 * n
        normalizer = 0.5 * n * math.log(math.pi) + mvlgamma(alpha - 0.5, n) - n * alpha.lgamma()
        return (order * diagonal.log()).sum(-1) - normalizer
