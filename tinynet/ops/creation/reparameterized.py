"""Samples of gamma and Dirichlet distributions, differentiable with respect to the parameters.

Let ``F(x; a)`` be the distribution function and ``f`` the density. A sample with a fixed quantile
moves with the parameter at the rate ``dx/da = -(dF/da) / f`` (M. Figurnov, S. Mohamed, A. Mnih,
"Implicit Reparameterization Gradients", 2018; M. Jankowiak, F. Obermeyer, "Pathwise Derivatives
Beyond the Reparameterization Trick", 2018). The series and the continued fraction of the incomplete
functions (Abramowitz and Stegun, 6.5.29, 6.5.31 and 26.5.4) are differentiated term by term, in
double precision; an expansion replaces them where they would be long.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.core.declaration.composite import called
from tinynet.core.declaration.operation import composite, operation, pointwise
from tinynet.core.tensors.tensor import Tensor, public_function
from tinynet.dtypes import Array, extension_dtypes
from tinynet.ops.arguments import no_derivative
from tinynet.ops.creation.random import refuse_integers
from tinynet.ops.pointwise.gamma import digamma
from tinynet.random import Generator, numbers_of

_MOST_TERMS = 5000
_LARGE = 1e4  # larger parameters use the expansion


def _done(term: Array, total: Array) -> bool:
    return not np.any(np.abs(term) > np.abs(total) * 1e-16)


# ---- gamma --------------------------------------------------------------------------------------


def _by_series(a: Array, x: Array) -> Array:
    """Differentiate the series of the lower function, for x up to about a."""
    term, psi, log_x = np.ones_like(x), digamma.kernel(a + 1), np.log(x)
    total = psi - log_x
    for k in range(1, _MOST_TERMS):
        term = term * x / (a + k)
        psi = psi + 1 / (a + k)
        change = term * (psi - log_x)
        total = total + change
        if _done(change, total):
            break
    return x / a * total


def _by_fraction(a: Array, x: Array) -> Array:
    """Differentiate the continued fraction of the upper function, for x above a + 1 (Lentz)."""
    b = x + 1 - a
    d, slope_d = 1 / b, 1 / (b * b)
    c, slope_c = np.full_like(b, 1e300), np.zeros_like(b)
    found, slope = d, slope_d
    for k in range(1, _MOST_TERMS):
        factor = k * (a - k)
        b = b + 2
        slope_d = k * d + factor * slope_d - 1
        d = 1 / (b + factor * d)
        slope_d = -slope_d * d * d
        slope_c = k / c - factor * slope_c / (c * c) - 1
        c = b + factor / c
        slope = slope * (c * d) + found * (slope_c * d + c * slope_d)
        found = found * c * d
        if not np.any(np.abs(c * d - 1) > 4e-16):  # two roundings
            break
    return x * (found * (np.log(x) - digamma.kernel(a)) + slope)


def _by_expansion(a: Array, x: Array) -> Array:
    """Expand the signed root of the likelihood ratio, with its first correction, for large a."""
    ratio = x / a
    off = ratio - 1
    near = np.abs(off) < 1e-3
    safe = np.where(near, 1.0, off)
    eta = np.sign(off) * np.sqrt(2 * np.maximum(safe - np.log1p(safe), 0))
    eta = np.where(near, off - off * off / 3 + 7 / 36 * off**3, eta)
    rate = np.where(near, 1 - 2 / 3 * off + 7 / 12 * off * off, off / (ratio * eta + near))
    correction = 1 / 3 - eta / 36
    return ratio - (eta - correction / a) / (2 * (1 - 1 / (36 * a)) * rate)


@pointwise(numbers=False)
def _standard_gamma_grad(self: Array, output: Array, /) -> Array:
    """Return the derivative of a gamma sample with respect to its shape."""
    a, x = np.broadcast_arrays(self.astype(np.float64), output.astype(np.float64))
    usable = (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
    low, large = x <= a + 1, a > _LARGE
    found = np.where(x == 0, 0.0, np.full(a.shape, np.nan))
    for form, here in (
        (_by_series, low & ~large),
        (_by_fraction, ~low & ~large),
        (_by_expansion, large),
    ):
        here = here & usable
        if here.any():
            found[here] = form(a[here], x[here])
    return found.astype(self.dtype)


_standard_gamma_grad.grad(
    self=no_derivative("_standard_gamma_grad"), output=no_derivative("_standard_gamma_grad")
)


@operation(node="StandardGammaBackward0")
def gamma_values(self: Array, /, values: Array) -> Array:
    """Draw values from gamma distributions with the shapes ``self``."""
    return values.astype(self.dtype)


gamma_values.grad(self=lambda g, self, result: g * _standard_gamma_grad(self, result))


@composite(method=False, checks=True)
def _standard_gamma(self: Tensor, generator: Generator | None = None) -> Tensor:
    """Draw samples from gamma distributions with the given shapes and rate 1.

    The density is ``x ** (a - 1) * exp(-x) / gamma(a)``. The gradient is the implicit one.

    Raises:
        NotImplementedError: the shapes are not floating-point.

    Example:
        >>> bool((tn._standard_gamma(tn.ones(3)) > 0).all())
        True
    """
    refuse_integers(self._array.dtype, "_standard_gamma")
    shapes = self._array.astype(np.float64)
    drawn = numbers_of(generator, "_standard_gamma").standard_gamma(np.where(shapes > 0, shapes, 0))
    least = extension_dtypes.finfo(self._array.dtype).tiny  # has a finite logarithm
    return gamma_values.function(self, np.maximum(np.where(shapes >= 0, drawn, np.nan), least))


# ---- Dirichlet ----------------------------------------------------------------------------------


def _beta_by_series(p: Array, q: Array, x: Array, of_first: Array) -> Array:
    """Return ``(dF/dp) / f`` of the beta distribution (``dF/dq / f`` where not ``of_first``)."""
    both = p + q
    term = np.ones_like(x)
    psi_both, psi_one = digamma.kernel(both), digamma.kernel(np.where(of_first, p + 1, q))
    log = np.where(of_first, np.log(x), np.log1p(-x))
    total = log + psi_both - psi_one
    for k in range(_MOST_TERMS):
        psi_both = psi_both + 1 / (both + k)
        psi_one = np.where(of_first, psi_one + 1 / (p + 1 + k), psi_one)
        term = term * x * (both + k) / (p + 1 + k)
        change = term * (log + psi_both - psi_one)
        total = total + change
        if _done(change, total) and not np.any(x * (both + k) > p + 1 + k):
            break
    return x * (1 - x) / p * total


def _beta_slope(x: Array, a: Array, b: Array) -> Array:
    """Return the derivative of a beta sample with respect to its first parameter."""
    mean = a / (a + b)
    off = x - mean
    # Far out, the sample keeps the likelihood ratio, whose derivative by a is log(mean / x).
    relative = np.where(np.abs(off) < 1e-9 * mean, 1.0, np.log1p(off / mean) / (off + (off == 0)))
    relative = np.where(np.abs(off) < 1e-9 * mean, 1 / mean, relative)
    found = np.asarray(x * (1 - x) / (a + b) * relative)
    here = np.minimum(a, b) < _LARGE
    if here.any():
        a, b, x = a[here], b[here], x[here]
        low = x <= 0.5
        p, q, near = np.where(low, a, b), np.where(low, b, a), np.where(low, x, 1 - x)
        found[here] = np.where(low, -1, 1) * _beta_by_series(p, q, near, low)
    return found


@pointwise(numbers=False)
def _dirichlet_grad(x: Array, alpha: Array, total: Array, /) -> Array:
    """Return the derivative of samples by their own parameter: ``-(dF/da) / f / (1 - x)``.

    F and f are the distribution function and the density of the beta distribution.
    """
    kind = x.dtype
    x, a, b = np.broadcast_arrays(*(v.astype(np.float64) for v in (x, alpha, total - alpha)))
    usable = (x > 0) & (x < 1) & (a > 0) & (b > 0)
    safe = [np.where(usable, v, other) for v, other in ((x, 0.5), (a, 1.0), (b, 1.0))]
    return np.where(usable, _beta_slope(*safe) / (1 - safe[0]), 0.0).astype(kind)


_dirichlet_grad.grad(
    x=no_derivative("_dirichlet_grad"),
    alpha=no_derivative("_dirichlet_grad"),
    total=no_derivative("_dirichlet_grad"),
)


@operation(node="SampleDirichletBackward0")
def dirichlet_values(self: Array, /, values: Array) -> Array:
    """Draw values from Dirichlet distributions with the parameters ``self``."""
    return values.astype(self.dtype)


def _toward_others(g: Any, self: Any, result: Any) -> Any:
    """Return the gradient: when one component grows, the others keep their proportions."""
    rate = _dirichlet_grad(result, self, self.sum(-1, keepdims=True) + np.zeros_like(self))
    return rate * (g - (result * g).sum(-1, keepdims=True))


dirichlet_values.grad(self=_toward_others)


@composite(method=False, checks=True)
def _sample_dirichlet(self: Tensor, generator: Generator | None = None) -> Tensor:
    """Draw samples from Dirichlet distributions with their parameters in the last dimension.

    The density is ``prod(x ** (a - 1)) * gamma(sum(a)) / prod(gamma(a))`` on the simplex. The
    samples are gamma variates divided by their sum, in logarithms, so that tiny parameters do not
    underflow. The gradient is the implicit one.

    Raises:
        NotImplementedError: the parameters are not floating-point.

    Example:
        >>> tn._sample_dirichlet(tn.ones(2, 3)).sum(-1).allclose(tn.ones(2))
        True
    """
    refuse_integers(self._array.dtype, "_sample_dirichlet")
    draw, a = numbers_of(generator, "_sample_dirichlet"), self._array.astype(np.float64)
    a = np.where(a > 0, a, np.nan)
    logs = np.log(draw.standard_gamma(np.nan_to_num(a, nan=1.0) + 1))
    logs = logs - draw.standard_exponential(a.shape) / a
    parts = np.exp(logs - logs.max(-1, keepdims=True)) if logs.size else logs
    return dirichlet_values.function(self, parts / parts.sum(-1, keepdims=True))


public_function(called(_standard_gamma_grad.function, out=True))
public_function(called(_dirichlet_grad.function, out=True))
