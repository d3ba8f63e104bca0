"""Special functions. Written by ``python -m docs.stubs``."""

from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes.kinds import DtypeLike
from tinynet.ops.reduction.sums import Dims

__all__ = [
    "airy_ai",
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammainc",
    "gammaincc",
    "gammaln",
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
    "log1p",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "modified_bessel_i0",
    "modified_bessel_i1",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "multigammaln",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "round",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
    "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
    "sinc",
    "softmax",
    "spherical_bessel_j0",
    "xlog1py",
    "xlogy",
    "zeta",
]

def airy_ai(x: Tensor) -> Tensor:
    """Return Airy's function Ai, which solves ``y'' = x * y`` and vanishes at infinity."""

def bessel_j0(x: Tensor) -> Tensor:
    """Return the Bessel function of the first kind of order 0."""

def bessel_j1(x: Tensor) -> Tensor:
    """Return the Bessel function of the first kind of order 1."""

def bessel_y0(x: Tensor) -> Tensor:
    """Return the Bessel function of the second kind of order 0; NaN below 0."""

def bessel_y1(x: Tensor) -> Tensor:
    """Return the Bessel function of the second kind of order 1; NaN below 0."""

def chebyshev_polynomial_t(x: Tensor, n: Tensor | float) -> Tensor:
    """Return the Chebyshev polynomial of the first kind."""

def chebyshev_polynomial_u(x: Tensor, n: Tensor | float) -> Tensor:
    """Return the Chebyshev polynomial of the second kind."""

def chebyshev_polynomial_v(x: Tensor, n: Tensor | float) -> Tensor:
    """Return the Chebyshev polynomial of the third kind."""

def chebyshev_polynomial_w(x: Tensor, n: Tensor | float) -> Tensor:
    """Return the Chebyshev polynomial of the fourth kind."""

def digamma(self: Tensor) -> Tensor:
    """Return the derivative of ``lgamma``."""

def entr(self: Tensor) -> Tensor:
    """Return ``-x * log(x)``: 0 at 0, minus infinity below."""

def erf(self: Tensor) -> Tensor:
    """Return the error function, ``2 / sqrt(pi)`` times the integral of ``exp(-t^2)`` to x."""

def erfc(self: Tensor) -> Tensor:
    """Return ``1 - erf(x)``, accurate even where erf is close to 1."""

def erfcx(self: Tensor) -> Tensor:
    """Return ``exp(x^2) * erfc(x)``, without overflow for large x."""

def erfinv(self: Tensor) -> Tensor:
    """Return the inverse of the error function; NaN outside [-1, 1]."""

def exp2(self: Tensor) -> Tensor:
    """Return 2 to the power of each element."""

def expit(self: Tensor) -> Tensor:
    """Return the logistic function ``1 / (1 + exp(-x))``."""

def expm1(self: Tensor) -> Tensor:
    """Return ``exp(x) - 1``, accurate for small x."""

def gammainc(self: Tensor, other: Tensor) -> Tensor:
    """Return the regularized lower incomplete gamma function P(self, other), from 0 to 1."""

def gammaincc(self: Tensor, other: Tensor) -> Tensor:
    """Return the regularized upper incomplete gamma function, ``1 - igamma``."""

def gammaln(self: Tensor) -> Tensor:
    """Return the logarithm of the absolute value of the gamma function."""

def hermite_polynomial_h(x: Tensor, n: Tensor | float) -> Tensor:
    """Return Hermite's polynomial H, of weight ``exp(-x**2)``."""

def hermite_polynomial_he(x: Tensor, n: Tensor | float) -> Tensor:
    """Return Hermite's polynomial He, of weight ``exp(-x**2 / 2)``."""

def i0(self: Tensor) -> Tensor:
    """Return the modified Bessel function of order 0."""

def i0e(self: Tensor) -> Tensor:
    """Return ``exp(-|x|) * i0(x)``."""

def i1(self: Tensor) -> Tensor:
    """Return the modified Bessel function of order 1."""

def i1e(self: Tensor) -> Tensor:
    """Return ``exp(-|x|) * i1(x)``."""

def laguerre_polynomial_l(x: Tensor, n: Tensor | float) -> Tensor:
    """Return Laguerre's polynomial, of weight ``exp(-x)``."""

def legendre_polynomial_p(x: Tensor, n: Tensor | float) -> Tensor:
    """Return Legendre's polynomial, of weight 1 on [-1, 1]."""

def log1p(self: Tensor) -> Tensor:
    """Return ``log(1 + x)``, accurate for small x."""

def log_ndtr(self: Tensor) -> Tensor:
    """Return the logarithm of ``ndtr``, accurate even far below zero."""

def log_softmax(self: Tensor, dim: int, dtype: DtypeLike = None) -> Tensor:
    """Return the logarithm of softmax, accurate even where softmax is close to 0."""

def logit(self: Tensor, eps: float | None = None) -> Tensor:
    """Return ``log(x / (1 - x))``, the inverse of sigmoid."""

def logsumexp(self: Tensor, dim: Dims, keepdim: bool = False) -> Tensor:
    """Return the logarithm of the sum of exponentials over the dimensions, without overflow."""

def modified_bessel_i0(x: Tensor) -> Tensor:
    """Return what ``i0`` returns, without a derivative."""

def modified_bessel_i1(x: Tensor) -> Tensor:
    """Return what ``i1`` returns, without a derivative."""

def modified_bessel_k0(x: Tensor) -> Tensor:
    """Return the modified Bessel function of the second kind of order 0; NaN below 0."""

def modified_bessel_k1(x: Tensor) -> Tensor:
    """Return the modified Bessel function of the second kind of order 1; NaN below 0."""

def multigammaln(self: Tensor, p: int) -> Tensor:
    """Return the logarithm of the multivariate gamma function of dimension ``p``."""

def ndtr(self: Tensor) -> Tensor:
    """Return the standard normal distribution function: the area below the density up to x."""

def ndtri(self: Tensor) -> Tensor:
    """Return the standard normal quantile function, the inverse of ``ndtr``."""

def polygamma(n: int, input: Tensor) -> Tensor:
    """Return the ``n``-th derivative of ``digamma``."""

def psi(self: Tensor) -> Tensor:
    """Return the derivative of ``lgamma``."""

def round(self: Tensor, *, decimals: int = 0) -> Tensor:
    """Round to the nearest integer (halves to even), or to ``decimals`` places."""

def scaled_modified_bessel_k0(x: Tensor) -> Tensor:
    """Return ``exp(x) * modified_bessel_k0(x)``."""

def scaled_modified_bessel_k1(x: Tensor) -> Tensor:
    """Return ``exp(x) * modified_bessel_k1(x)``."""

def shifted_chebyshev_polynomial_t(x: Tensor, n: Tensor | float) -> Tensor:
    """Return the Chebyshev polynomial of the first kind at ``2 * x - 1``."""

def shifted_chebyshev_polynomial_u(x: Tensor, n: Tensor | float) -> Tensor:
    """Return the Chebyshev polynomial of the second kind at ``2 * x - 1``."""

def shifted_chebyshev_polynomial_v(x: Tensor, n: Tensor | float) -> Tensor:
    """Return the Chebyshev polynomial of the third kind at ``2 * x - 1``."""

def shifted_chebyshev_polynomial_w(x: Tensor, n: Tensor | float) -> Tensor:
    """Return the Chebyshev polynomial of the fourth kind at ``2 * x - 1``."""

def sinc(self: Tensor) -> Tensor:
    """Return ``sin(pi x) / (pi x)``, and 1 at 0."""

def softmax(self: Tensor, dim: int, dtype: DtypeLike = None) -> Tensor:
    """Return the exponentials divided by their sum along a dimension."""

def spherical_bessel_j0(x: Tensor) -> Tensor:
    """Return ``sin(x) / x``, the spherical Bessel function of order 0."""

def xlog1py(self: Tensor, other: Tensor | float) -> Tensor:
    """Return ``self * log(1 + other)``, or 0 where ``self`` is 0."""

def xlogy(self: Tensor, other: Tensor | float) -> Tensor:
    """Return ``self * log(other)``, or 0 where ``self`` is 0."""

def zeta(self: Tensor, other: Tensor | float) -> Tensor:
    """Return the Hurwitz zeta function: the sum of ``(k + other) ** -self`` over k >= 0."""
