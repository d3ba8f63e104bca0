"""Transforms of vectors and matrices: to the simplex, Cholesky factors and covariances."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.distributions import constraints
from tinynet.distributions.transform import Transform
from tinynet.distributions.utils import finfo, softplus, tril_matrix_to_vec, vec_to_tril_matrix
from tinynet.ops import arange, cat, eye, linalg, log, ones_like, softmax, tanh


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
