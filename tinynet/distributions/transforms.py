"""Transforms of numbers, vectors and matrices; the names of all transforms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.distributions import constraints
from tinynet.distributions.distribution import Distribution
from tinynet.distributions.transform import (
    CatTransform,
    ComposeTransform,
    IndependentTransform,
    ReshapeTransform,
    StackTransform,
    Transform,
    identity_transform,
)
from tinynet.distributions.utils import (
    attribute,
    broadcast_all,
    finfo,
    softplus,
    sum_rightmost,
    tril_matrix_to_vec,
    vec_to_tril_matrix,
)
from tinynet.ops import (
    arange,
    broadcast_shapes,
    cat,
    eye,
    full_like,
    linalg,
    log,
    ones_like,
    softmax,
    tanh,
)

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "CatTransform",
    "ComposeTransform",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "ExpTransform",
    "IndependentTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
    "identity_transform",
]


# ---- transforms of vectors and matrices ---------------------------------------------------------
# To the simplex, Cholesky factors and covariances.


class WithoutParameters(Transform):
    """Base of transforms without parameters: all instances of a class are equal."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    __hash__ = None


def _refuse_short(shape: Sequence[int], least: int) -> None:
    if len(shape) < least:
        raise ValueError("Too few dimensions on input")


def _before(x: Tensor) -> Tensor:
    """Prepend a one to the vector and drop its last number: ``[1, x[0], ..., x[n - 2]]``."""
    return cat([ones_like(x[..., :1]), x[..., :-1]], -1)


class SoftmaxTransform(WithoutParameters):
    """``softmax``: from vectors to the simplex. Not bijective: a shift of x does not change y.

    Example:
        >>> tn.distributions.SoftmaxTransform()(tn.zeros(2))
        tensor([0.5000, 0.5000])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        return softmax(x, -1)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def forward_shape(self, shape: Sequence[int]) -> Any:
        _refuse_short(shape, 1)
        return shape

    inverse_shape = forward_shape


class StickBreakingTransform(WithoutParameters):
    """Stick breaking: from n numbers to a point on the simplex with n + 1 components.

    Component i is the fraction ``sigmoid(x[i] - log(n - i))`` of the remainder of the previous
    ones, so that zeros give equal components.

    Example:
        >>> tn.distributions.StickBreakingTransform()(tn.zeros(3))
        tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def _shifted(self, x: Tensor) -> Tensor:
        return x - log(_others(x))

    def _call(self, x: Tensor) -> Tensor:
        fraction = self._shifted(x).sigmoid()
        left = (1 - fraction).cumprod(-1)
        return cat([fraction * _before(left), left[..., -1:]], -1)

    def _inverse(self, y: Tensor) -> Tensor:
        part = y[..., :-1]
        left = (1 - part.cumsum(-1)).clamp(min=finfo(y).tiny)
        return part.log() - left.log() + log(_others(part))

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        # dy[i] / dx[i] is y[i] times the fraction that remains after it.
        return (y[..., :-1].log() - softplus(self._shifted(x))).sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> Any:
        _refuse_short(shape, 1)
        return (*shape[:-1], shape[-1] + 1)

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        _refuse_short(shape, 1)
        return (*shape[:-1], shape[-1] - 1)


def _others(x: Tensor) -> Tensor:
    """Return n, n - 1, ..., 1: the number of components after each."""
    return arange(x.shape[-1], 0, -1, dtype=x.dtype)


class LowerCholeskyTransform(WithoutParameters):
    """From any matrices to lower triangular ones: exponentials on the diagonal, zeros above it.

    Example:
        >>> tn.distributions.LowerCholeskyTransform()(tn.zeros(2, 2))
        tensor([[1., 0.],
                [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(WithoutParameters):
    """From any matrices to positive definite ``L @ L.mT``, with L from LowerCholeskyTransform.

    Example:
        >>> tn.distributions.PositiveDefiniteTransform()(tn.zeros(2, 2))
        tensor([[1., 0.],
                [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        lower = LowerCholeskyTransform()(x)
        return lower @ lower.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inv(linalg.cholesky(y))


class CorrCholeskyTransform(Transform):
    """From ``n * (n - 1) / 2`` numbers to the Cholesky factor of an n by n correlation matrix.

    The hyperbolic tangents of the numbers are the canonical partial correlations, row by row; the
    diagonal holds the remainder of each row (D. Lewandowski, D. Kurowicka, H. Joe, "Generating
    random correlation matrices based on vines and extended onion method", 2009).

    Example:
        >>> tn.distributions.CorrCholeskyTransform()(tn.zeros(1))
        tensor([[1., 0.],
                [0., 1.]])
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        eps = finfo(x).eps
        partial = vec_to_tril_matrix(tanh(x).clamp(min=-1 + eps, max=1 - eps), diag=-1)
        left = (1 - partial**2).sqrt().cumprod(-1)
        return (partial + eye(partial.shape[-1], dtype=x.dtype)) * _before(left)

    def _inverse(self, y: Tensor) -> Tensor:
        left = _before(1 - (y * y).cumsum(-1))
        below = tril_matrix_to_vec(left, diag=-1)
        return (tril_matrix_to_vec(y, diag=-1) / below.sqrt()).atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        left = _before(1 - (y * y).cumsum(-1))
        stretched = 0.5 * log(tril_matrix_to_vec(left, diag=-1)).sum(-1)
        # log(1 - tanh(x) ** 2) = 2 log 2 - 2 x - 2 softplus(-2 x)
        slopes = -2 * (x + softplus(-2 * x) - math.log(2))
        return stretched + slopes.sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> Any:
        _refuse_short(shape, 1)
        count = shape[-1]
        n = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != count:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return (*shape[:-1], n, n)

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        _refuse_short(shape, 2)
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return (*shape[:-2], shape[-1] * (shape[-1] - 1) // 2)


# ---- transforms of numbers ----------------------------------------------------------------------


class ExpTransform(WithoutParameters):
    """``y = exp(x)``.

    Example:
        >>> tn.distributions.ExpTransform()(tn.tensor(0.0))
        tensor(1.)
    """

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = +1

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class PowerTransform(Transform):
    """``y = x ** exponent`` of positive numbers.

    Args:
        exponent: the power: a number or a tensor.
        cache_size: as in Transform.

    Raises:
        ValueError: the exponent is neither a number nor a tensor.

    Example:
        >>> tn.distributions.PowerTransform(2.0)(tn.tensor(3.0))
        tensor(9.)
    """

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Any, cache_size: int = 0):
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    def _arguments(self) -> tuple[Any, ...]:
        return (self.exponent,)

    @property
    def sign(self) -> Any:
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PowerTransform):
            return False
        return bool(self.exponent.eq(other.exponent).all())

    __hash__ = None

    def _call(self, x: Tensor) -> Tensor:
        return x.pow(self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Sequence[int]) -> Any:
        return broadcast_shapes(shape, self.exponent.shape)

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        return broadcast_shapes(shape, self.exponent.shape)


class SigmoidTransform(WithoutParameters):
    """``y = 1 / (1 + exp(-x))``, kept inside the open interval (0, 1).

    Example:
        >>> tn.distributions.SigmoidTransform()(tn.tensor(0.0))
        tensor(0.5000)
    """

    domain = constraints.real
    codomain = constraints.unit_interval
    bijective = True
    sign = +1

    def _call(self, x: Tensor) -> Tensor:
        return x.sigmoid().clamp(min=finfo(x).tiny, max=1.0 - finfo(x).eps)

    def _inverse(self, y: Tensor) -> Tensor:
        y = y.clamp(min=finfo(y).tiny, max=1.0 - finfo(y).eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x) - softplus(x)


class SoftplusTransform(WithoutParameters):
    """``y = log(1 + exp(x))``.

    Example:
        >>> tn.distributions.SoftplusTransform()(tn.tensor(0.0))
        tensor(0.6931)
    """

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = +1

    def _call(self, x: Tensor) -> Tensor:
        return softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x)


class TanhTransform(WithoutParameters):
    """``y = tanh(x)``. With ``cache_size=1``, the inverse returns large x instead of infinity.

    Example:
        >>> tn.distributions.TanhTransform()(tn.tensor(0.0))
        tensor(0.)
    """

    domain = constraints.real
    codomain = constraints.interval(-1.0, 1.0)
    bijective = True
    sign = +1

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return 2.0 * (
            math.log(2.0) - x - softplus(-2.0 * x)
        )  # log(1 - tanh(x) ** 2), accurate for large x


class AbsTransform(WithoutParameters):
    """``y = |x|``, which is not bijective; the inverse returns the positive x.

    Example:
        >>> tn.distributions.AbsTransform()(tn.tensor(-2.0))
        tensor(2.)
    """

    domain = constraints.real
    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class AffineTransform(Transform):
    """``y = loc + scale * x``.

    Args:
        loc: the summand: a number or a tensor.
        scale: the factor.
        event_dim: the number of trailing dimensions in one event.
        cache_size: as in Transform.

    Raises:
        ValueError: ``cache_size`` is neither 0 nor 1.

    Example:
        >>> tn.distributions.AffineTransform(1.0, 2.0)(tn.tensor(3.0))
        tensor(7.)
    """

    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0):
        super().__init__(cache_size=cache_size)
        self.loc, self.scale = loc, scale
        self._event_dim = event_dim

    def _arguments(self) -> tuple[Any, ...]:
        return self.loc, self.scale, self._event_dim

    event_dim: Any = attribute("_event_dim")

    @property
    def domain(self) -> Any:
        """Real numbers, or events of them."""
        real = constraints.real
        return constraints.independent(real, self._event_dim) if self._event_dim else real

    codomain = domain

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AffineTransform):
            return False
        pairs = ((self.loc, other.loc), (self.scale, other.scale))
        return all(_equal(a, b) for a, b in pairs)

    __hash__ = None

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if isinstance(self.scale, Tensor):
            result = self.scale.abs().log().expand(x.shape)
        else:
            result = full_like(x, math.log(abs(self.scale)))
        return sum_rightmost(result, self._event_dim)

    def forward_shape(self, shape: Sequence[int]) -> Any:
        return broadcast_shapes(shape, _shape(self.loc), _shape(self.scale))

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        return self.forward_shape(shape)


def _shape(x: Any) -> Sequence[int]:
    return getattr(x, "shape", ())


def _equal(a: Any, b: Any) -> bool:
    same = a == b
    return bool(same.all()) if isinstance(same, Tensor) else same


class CumulativeDistributionTransform(Transform):
    """The distribution function as a transform: it maps samples to uniform numbers.

    Args:
        distribution: a distribution of numbers with ``cdf`` and ``icdf``.
        cache_size: as in Transform.

    Raises:
        ValueError: ``cache_size`` is neither 0 nor 1.

    Example:
        >>> D = tn.distributions
        >>> D.CumulativeDistributionTransform(D.Normal(0.0, 1.0))(tn.tensor(0.0))
        tensor(0.5000)
    """

    bijective = True
    codomain = constraints.unit_interval
    sign = +1

    def __init__(self, distribution: Distribution, cache_size: int = 0):
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    def _arguments(self) -> tuple[Any, ...]:
        return (self.distribution,)

    domain: Any = attribute("distribution.support", "The support of the distribution.")

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)
