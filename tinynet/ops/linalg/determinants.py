"""Determinants of square matrices, their signs and logarithms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinynet.core.complex_rules import adjoint, conjugate, holds_complex
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.ops.arguments import EXPECTED
from tinynet.ops.linalg.checks import named, square
from tinynet.ops.linalg.inverses import inverted
from tinynet.ops.pointwise.arithmetic import where
from tinynet.ops.shaping.views import reshape, unsqueeze


@operation(node="LinalgDetBackward0", complex=True)
def determinant(A: Array, /) -> Array:
    """Return the determinants."""
    return np.linalg.det(A)


@operation(complex=True)
def cofactors(A: Array, /) -> Array:
    """Return the derivative of the determinant: ``det(A)`` times the transposed inverse.

    It is exact for singular matrices, too, by their singular values.
    """
    try:
        found = np.linalg.det(A)[..., None, None] * np.linalg.inv(A).mT
    except np.linalg.LinAlgError:
        found = None
    if found is not None and np.isfinite(found).all():
        return found
    U, S, Vh = np.linalg.svd(A)
    ones = np.ones_like(S[..., :1])
    before = np.cumprod(np.concatenate([ones, S[..., :-1]], -1), -1)
    after = np.cumprod(np.concatenate([ones, S[..., :0:-1]], -1), -1)[..., ::-1]
    sign = (np.linalg.det(U) * np.linalg.det(Vh))[..., None, None]
    return sign * np.conjugate((U * (before * after)[..., None, :]) @ Vh)


def _of_cofactors(g: Any, A: Any, result: Any) -> Any:
    """Return the second derivative of the determinant, for invertible matrices."""
    inverse = inverted(A)
    inner = reshape((g * inverse.mT).sum(-1).sum(-1), (*g.shape[:-2], 1, 1))
    return result * inner - result @ g.mT @ inverse.mT


# ``result`` is named for its version: a write to it before backward is refused, as in PyTorch.
determinant.grad(A=lambda g, A, result: unsqueeze(unsqueeze(g, -1), -1) * cofactors(A))
cofactors.grad(A=_of_cofactors)


@composite(module=True, out=EXPECTED)
def linalg_det(A: Tensor) -> Tensor:
    """Return the determinants of square matrices.

    ``prod(diag(U))`` of ``A = P @ L @ U``, negative if P swaps an odd number of rows.

    The derivative holds for singular matrices, too; the second derivative needs an inverse.

    Args:
        A: ``[..., n, n]``.

    Raises:
        RuntimeError: not floating-point square matrices.

    Example:
        >>> tn.linalg.det(tn.tensor([[1.0, 2.0], [3.0, 4.0]]))
        tensor(-2.)
    """
    square("linalg.det", A)
    return determinant.function(A)


@composite
def det(self: Tensor) -> Tensor:
    """Return the determinants of square matrices; ``linalg.det`` does the same.

    ``prod(diag(U))`` of ``A = P @ L @ U``, negative if P swaps an odd number of rows.

    Raises:
        RuntimeError: not floating-point square matrices.

    Example:
        >>> tn.det(tn.tensor([[1.0, 2.0], [3.0, 4.0]]))
        tensor(-2.)
    """
    return linalg_det(self)


@operation(
    outputs=("sign", "logabsdet"), differentiable=2, node="LinalgSlogdetBackward0", complex="given"
)
def sign_and_log(A: Array, /) -> tuple[Array, Array]:
    """Return the signs of determinants and the logarithms of their absolute values."""
    return np.linalg.slogdet(A)


def _of_sign_and_log(g: Any, A: Any, sign: Any) -> Any:
    """Return the gradient by ``A``: with a turn of the sign for complex numbers."""
    by_sign, by_log = g
    if holds_complex(sign):
        by_log = by_log - 1j * (conjugate(by_sign) * sign).imag
    return unsqueeze(unsqueeze(by_log, -1), -1) * adjoint(inverted(A))


sign_and_log.grad(A=lambda g, A, sign: _of_sign_and_log(g, A, sign))
_Slogdet = named("linalg_slogdet", ("sign", "logabsdet"))
_SlogdetOfTensor = named("slogdet", ("sign", "logabsdet"))


@composite(module=True, out=EXPECTED)
def linalg_slogdet(A: Tensor) -> Any:
    """Return the signs of determinants and the logarithms of their absolute values.

    ``log(abs(det(A)))`` is computed as a sum of logarithms, which does not overflow.

    Args:
        A: ``[..., n, n]``.

    Returns:
        ``(sign, logabsdet)``: 0 and ``-inf`` for a singular matrix.

    Raises:
        RuntimeError: not floating-point square matrices.

    Example:
        >>> sign, logabsdet = tn.linalg.slogdet(tn.tensor([[-1.0, 0.0], [0.0, 1.0]]))
        >>> sign, logabsdet
        (tensor(-1.), tensor(0.))
    """
    square("linalg.slogdet", A)
    return _Slogdet(*sign_and_log.function(A))


@composite(out=True)
def slogdet(self: Tensor) -> Any:
    """Return the signs of determinants and the logarithms of their absolute values.

    ``log(abs(det(A)))`` is computed as a sum of logarithms, which does not overflow.

    Raises:
        RuntimeError: not floating-point square matrices.

    Example:
        >>> tn.slogdet(tn.eye(2)).logabsdet
        tensor(0.)
    """
    return _SlogdetOfTensor(*linalg_slogdet(self))


@composite
def logdet(self: Tensor) -> Tensor:
    """Return the logarithms of determinants: ``-inf`` for zero, NaN for negative ones.

    ``log(abs(det(A)))`` is computed as a sum of logarithms, which does not overflow.

    Raises:
        RuntimeError: not floating-point square matrices.

    Example:
        >>> tn.logdet(tn.eye(3))
        tensor(0.)
    """
    square("logdet", self)
    sign, logarithm = sign_and_log.function(self)
    if sign.is_complex():
        return sign.log() + logarithm
    return where.function(sign == -1.0, math.nan, logarithm)
