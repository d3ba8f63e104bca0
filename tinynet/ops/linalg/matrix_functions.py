"""Functions of square matrices: powers, the exponential, determinants and their logarithms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinynet.core.complex_rules import adjoint, conjugate, holds_complex
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import Array
from tinynet.ops.arguments import EXPECTED, is_whole
from tinynet.ops.linalg.checks import floating, matrices, named, square, square_sizes
from tinynet.ops.linalg.inverses import inv, inverted
from tinynet.ops.pointwise.arithmetic import where
from tinynet.ops.pointwise.where import zeros_for
from tinynet.ops.products.matmul import matmul
from tinynet.ops.shaping.copies import clone
from tinynet.ops.shaping.joining import cat
from tinynet.ops.shaping.views import contiguous_copy, reshape, unsqueeze

# ---- powers and the exponential -----------------------------------------------------------------


@composite(out=True)
def matrix_power(self: Tensor, n: int) -> Tensor:
    """Raise square matrices to the n-th power by repeated squaring.

    ``A @ A @ ... @ A`` with n factors.

    Args:
        self: ``[..., m, m]``.
        n: an integer; negative powers need an inverse, 0 gives identity matrices.

    Raises:
        LinAlgError: a negative power of a singular matrix.
        RuntimeError: not square matrices.

    Example:
        >>> tn.matrix_power(tn.tensor([[1.0, 1.0], [0.0, 1.0]]), 5)
        tensor([[1., 5.],
                [0., 1.]])
    """
    name = "linalg.matrix_power"
    a = matrices(name, self)
    square_sizes(name, a)
    if not is_whole(n):
        raise TypeError(
            f"matrix_power(): argument 'n' (position 2) must be int, not {type(n).__name__}"
        )
    n = int(n)
    if n == 0:
        unit = np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape)
        return contiguous_copy.function(self).copy_(wrap(unit.copy()))
    base = inv(self) if n < 0 else self
    if abs(n) == 1:
        return base if n < 0 else clone.function(base)
    result, n = None, abs(n)
    while True:
        n, odd = divmod(n, 2)
        if odd:
            result = base if result is None else matmul(result, base)
        if not n:
            return result  # type: ignore[return-value]  # the last digit of n is 1
        base = matmul(base, base)


# Coefficients of the numerators of the Pade approximants [m/m] of exp, and the 1-norm up to which
# each is accurate to double precision (Higham 2005, table 2.3).
_PADE = {
    3: (120.0, 60.0, 12.0, 1.0),
    5: (30240.0, 15120.0, 3360.0, 420.0, 30.0, 1.0),
    7: (17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0),
    9: (
        17643225600.0, 8821612800.0, 2075673600.0, 302702400.0, 30270240.0, 2162160.0, 110880.0,
        3960.0, 90.0, 1.0,
    ),
    13: (
        64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0,
        129060195264000.0, 10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0,
        40840800.0, 960960.0, 16380.0, 182.0, 1.0,
    ),
}  # fmt: skip
_LIMITS = {
    3: 1.495585217958292e-2,
    5: 2.539398330063230e-1,
    7: 9.504178996162932e-1,
    9: 2.097847961257068e0,
    13: 5.371920351148152e0,
}


def _pade(A: Array, degree: int) -> Array:
    """Evaluate the approximant of this degree."""
    coefficients = _PADE[degree]
    unit = np.eye(A.shape[-1], dtype=A.dtype)
    square = A @ A
    power: Array = unit
    odd, even = coefficients[1] * unit, coefficients[0] * unit
    for i in range(2, degree + 1, 2):
        power = square if i == 2 else power @ square
        odd = odd + coefficients[i + 1] * power
        even = even + coefficients[i] * power
    odd = A @ odd
    return np.linalg.solve(even - odd, even + odd)


@operation(node="LinalgMatrixExpBackward0", complex=True)
def matrix_exponential(A: Array, /) -> Array:
    """Compute the exponential by scaling, a Pade approximant, and squaring (Higham 2005)."""
    if A.size == 0:
        return A.copy()
    kind = A.dtype
    A = A.astype(np.result_type(A, np.float64))  # squaring loses digits
    norm = np.abs(A).sum(-2).max(-1)
    finite = np.isfinite(norm)
    A, norm = np.where(finite[..., None, None], A, 0), np.where(finite, norm, 0)
    largest = float(norm.max())
    for degree, limit in _LIMITS.items():
        if largest <= limit or degree == 13:
            break
    halvings = np.maximum(np.ceil(np.log2(np.maximum(norm / limit, 1e-300))), 0).astype(np.int64)
    result = _pade(A * np.ldexp(1.0, -halvings[..., None, None]), degree)
    for done in range(int(halvings.max())):
        more = (halvings > done)[..., None, None]
        result = np.where(more, result @ result, result)
    return np.where(finite[..., None, None], result, math.nan).astype(kind)


def _exponential_gradient(g: Any, A: Any) -> Any:
    """Return the upper right block of the exponential of [[A^T, g], [0, A^T]]."""
    n = A.shape[-1]
    A = A.mT
    upper, lower = cat([A, g], -1), cat([zeros_for(g), A], -1)
    return matrix_exponential(cat([upper, lower], -2))[..., :n, n:]


matrix_exponential.grad(A=lambda g, A: _exponential_gradient(g, A))


@composite
def matrix_exp(self: Tensor) -> Tensor:
    """Return the matrix exponentials of square matrices.

    Computed in double precision (Higham 2005, "The scaling and squaring method for the matrix
    exponential revisited"); the derivative is a block of a larger exponential.

    Args:
        self: ``[..., n, n]``.

    Raises:
        RuntimeError: not floating-point square matrices.

    Example:
        >>> tn.matrix_exp(tn.tensor([[0.0, 1.0], [0.0, 0.0]]))
        tensor([[1., 1.],
                [0., 1.]])
    """
    name = "linalg.matrix_exp"
    a = matrices(name, self)
    square_sizes(name, a)
    floating(name, a)
    return matrix_exponential.function(self)


# ---- determinants -------------------------------------------------------------------------------


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
