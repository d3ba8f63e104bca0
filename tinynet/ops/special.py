"""``tinynet.special``: special functions under PyTorch's names."""

from __future__ import annotations

import math

import numpy as np

from tinynet.core.declaration.operation import operation, public
from tinynet.core.declaration.out_argument import with_out as _with_out
from tinynet.core.tensors.inplace import run_inplace
from tinynet.core.tensors.tensor import Tensor, method
from tinynet.dtypes import Array
from tinynet.ops.argument_names import keywords as _keywords
from tinynet.ops.pointwise import (
    bessel,
    error_function,
    exponential,
    gamma,
    logarithms,
    polynomials,
    rounding,
    trigonometry,
)
from tinynet.ops.reduction.softmax import log_softmax as log_softmax_op
from tinynet.ops.reduction.softmax import logsumexp as logsumexp_op
from tinynet.ops.reduction.softmax import softmax as softmax_op

# ---- of a tensor and an integer -----------------------------------------------------------------


@public(as_method=False)
@_with_out()
def polygamma(n: int, input: Tensor) -> Tensor:
    """Return the ``n``-th derivative of ``digamma``.

    Raises:
        RuntimeError: ``n`` is negative.

    Example:
        >>> tn.polygamma(1, tn.tensor([1.0, 0.5]))
        tensor([1.6449, 4.9348])
    """
    return gamma.higher_gamma.function(input, n)


def _polygamma(self: Tensor, n: int) -> Tensor:
    """Return the ``n``-th derivative of ``digamma``."""
    return gamma.higher_gamma.function(self, n)


def _polygamma_(self: Tensor, n: int) -> Tensor:
    """Write the ``n``-th derivative of ``digamma`` to this tensor and return it."""
    return run_inplace(gamma.higher_gamma, self, (n,), {}, what="polygamma_")


method(_polygamma, "polygamma")
method(_polygamma_, "polygamma_")


def _halves(p: int) -> list[float]:
    return [j / 2 for j in range(p)]


@operation(inplace=True, batch="elementwise")
def mvlgamma(self: Array, /, p: int) -> Array:
    """Return the logarithm of the multivariate gamma function of dimension ``p``.

    ``p * (p - 1) / 4 * log(pi) + sum(lgamma(x - i / 2))`` over i below p.

    Raises:
        RuntimeError: ``p`` is below 1.

    Example:
        >>> tn.mvlgamma(tn.tensor(3.0), 2)
        tensor(1.5502)
    """
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    kind = self.dtype if self.dtype.kind == "f" else np.dtype(np.float32)
    x = self.astype(np.float64)
    total = sum((gamma.lgamma.kernel(x - h) for h in _halves(p)), np.zeros(()))
    return (total + p * (p - 1) / 4 * math.log(math.pi)).astype(kind)


mvlgamma.grad(
    self=lambda g, self, p: (
        g * sum((gamma.digamma(self - h) for h in _halves(p)[1:]), gamma.digamma(self))
    )
)

# ---- names --------------------------------------------------------------------------------------

digamma = psi = gamma.digamma.function
gammaln = gamma.lgamma.function
gammainc = gamma.igamma.function
gammaincc = gamma.igammac.function
multigammaln = mvlgamma.function
zeta = gamma.zeta.function
entr = logarithms.entr.function
logit = logarithms.logit.function
xlogy = logarithms.xlogy.function
xlog1py = logarithms.xlog1py.function
erf = error_function.erf.function
erfc = error_function.erfc.function
erfcx = error_function.erfcx.function
erfinv = error_function.erfinv.function
ndtr = error_function.ndtr.function
ndtri = error_function.ndtri.function
log_ndtr = error_function.log_ndtr.function
i0 = bessel.i0.function
i0e = bessel.i0e.function
i1 = bessel.i1.function
i1e = bessel.i1e.function
airy_ai = bessel.airy_ai.function
bessel_j0 = bessel.bessel_j0.function
bessel_j1 = bessel.bessel_j1.function
bessel_y0 = bessel.bessel_y0.function
bessel_y1 = bessel.bessel_y1.function
modified_bessel_i0 = bessel.modified_bessel_i0.function
modified_bessel_i1 = bessel.modified_bessel_i1.function
modified_bessel_k0 = bessel.modified_bessel_k0.function
modified_bessel_k1 = bessel.modified_bessel_k1.function
scaled_modified_bessel_k0 = bessel.scaled_modified_bessel_k0.function
scaled_modified_bessel_k1 = bessel.scaled_modified_bessel_k1.function
spherical_bessel_j0 = bessel.spherical_bessel_j0.function
exp2 = exponential.exp2.function
expm1 = exponential.expm1.function
expit = exponential.sigmoid.function
log1p = exponential.log1p.function
round = rounding.round.function
sinc = trigonometry.sinc.function
softmax = _keywords(softmax_op.function)
log_softmax = _keywords(log_softmax_op.function)
logsumexp = _keywords(logsumexp_op.function)
chebyshev_polynomial_t = polynomials.chebyshev_polynomial_t.function
chebyshev_polynomial_u = polynomials.chebyshev_polynomial_u.function
chebyshev_polynomial_v = polynomials.chebyshev_polynomial_v.function
chebyshev_polynomial_w = polynomials.chebyshev_polynomial_w.function
shifted_chebyshev_polynomial_t = polynomials.shifted_chebyshev_polynomial_t.function
shifted_chebyshev_polynomial_u = polynomials.shifted_chebyshev_polynomial_u.function
shifted_chebyshev_polynomial_v = polynomials.shifted_chebyshev_polynomial_v.function
shifted_chebyshev_polynomial_w = polynomials.shifted_chebyshev_polynomial_w.function
hermite_polynomial_h = polynomials.hermite_polynomial_h.function
hermite_polynomial_he = polynomials.hermite_polynomial_he.function
laguerre_polynomial_l = polynomials.laguerre_polynomial_l.function
legendre_polynomial_p = polynomials.legendre_polynomial_p.function
