"""Orthogonal polynomials of degree n, by their recurrences of three terms (DLMF 18.9).

The degree is truncated to a whole number; below 0 the value is 0. Nothing here has a derivative,
as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet.core.operation import pointwise
from tinynet.dtypes import Array
from tinynet.ops.refuse import refuse_half

_TRIGONOMETRIC = 6  # Chebyshev polynomials of a higher degree are waves where |x| < 1


def _degree(n: Array) -> Array:
    whole = np.clip(np.nan_to_num(np.asarray(n, np.float64), nan=-1.0), -1.0, 2.0**62)
    return np.asarray(whole.astype(np.int64))


def _recurrence(
    x: Array, n: Array, first: Array, step: Callable[[int, Array, Array], Array]
) -> Array:
    """Return the values of degree n.

    Args:
        x: the arguments.
        n: their degrees, whole numbers, of the same shape.
        first: the values of degree 1.
        step: makes the values of degree k + 1 of k and those of degrees k and k - 1.
    """
    before, now = np.ones_like(x), first
    found = np.where(n < 0, 0, np.where(n == 0, before, now))
    for k in range(1, int(n.max(initial=0))):
        before, now = now, step(k, now, before)
        found = np.where(n > k, now, found)
        if not np.any(np.isfinite(now) & (n > k + 1)):
            break
    return found


def _prepared(name: str, x: Array, n: Array) -> Any:
    """Return arguments and degrees, as whole numbers, of one shape; refuse half precision."""
    refuse_half(name, x)
    return np.broadcast_arrays(x, _degree(n))


def _chebyshev(x: Array, n: Array, first: Array, wave: Any) -> Array:
    """Return ``2 * x * p_n - p_(n-1)``, where |x| < 1 and n is not small by the angle of x.

    ``wave`` gives the value from n and the angle t of ``x = cos(t)`` (DLMF 18.5.1 to 18.5.4).
    """
    waving = (n > _TRIGONOMETRIC) & (np.abs(x) < 1)
    found = _recurrence(
        x, np.where(waving, 0, n), first, lambda k, now, before: 2 * x * now - before
    )
    t = np.arccos(np.where(waving, x, 0))
    return np.where(waving, wave(n.astype(x.dtype), t), found)


def _first_kind(x: Array, n: Array) -> Array:
    return _chebyshev(x, n, x, lambda n, t: np.cos(n * t))


def _second_kind(x: Array, n: Array) -> Array:
    return _chebyshev(x, n, 2 * x, lambda n, t: np.sin((n + 1) * t) / np.sin(t))


def _third_kind(x: Array, n: Array) -> Array:
    return _chebyshev(x, n, 2 * x - 1, lambda n, t: np.cos((n + 0.5) * t) / np.cos(t / 2))


def _fourth_kind(x: Array, n: Array) -> Array:
    return _chebyshev(x, n, 2 * x + 1, lambda n, t: np.sin((n + 0.5) * t) / np.sin(t / 2))


@pointwise(ints="float", methods=False, out=True)
def chebyshev_polynomial_t(x: Array, n: Array, /) -> Array:
    """Return the Chebyshev polynomial of the first kind.

    Args:
        x: the arguments.
        n: the degree, a number or a tensor that is broadcast against ``x``.

    Raises:
        NotImplementedError: numbers of half precision.

    Example:
        >>> tn.special.chebyshev_polynomial_t(tn.tensor([0.5, 2.0]), 3)
        tensor([-1., 26.])
    """
    x, n = _prepared("chebyshev_polynomial_t", x, n)
    return _first_kind(x, n)


@pointwise(ints="float", methods=False, out=True)
def chebyshev_polynomial_u(x: Array, n: Array, /) -> Array:
    """Return the Chebyshev polynomial of the second kind.

    Args:
        x: the arguments.
        n: the degree, a number or a tensor that is broadcast against ``x``.

    Raises:
        NotImplementedError: numbers of half precision.

    Example:
        >>> tn.special.chebyshev_polynomial_u(tn.tensor([0.5, 2.0]), 3)
        tensor([-1., 56.])
    """
    x, n = _prepared("chebyshev_polynomial_u", x, n)
    return _second_kind(x, n)


@pointwise(ints="float", methods=False, out=True)
def chebyshev_polynomial_v(x: Array, n: Array, /) -> Array:
    """Return the Chebyshev polynomial of the third kind.

    Args:
        x: the arguments.
        n: the degree, a number or a tensor that is broadcast against ``x``.

    Raises:
        NotImplementedError: numbers of half precision.

    Example:
        >>> tn.special.chebyshev_polynomial_v(tn.tensor([0.5, 2.0]), 3)
        tensor([-1., 41.])
    """
    x, n = _prepared("chebyshev_polynomial_v", x, n)
    return _third_kind(x, n)


@pointwise(ints="float", methods=False, out=True)
def chebyshev_polynomial_w(x: Array, n: Array, /) -> Array:
    """Return the Chebyshev polynomial of the fourth kind.

    Args:
        x: the arguments.
        n: the degree, a number or a tensor that is broadcast against ``x``.

    Raises:
        NotImplementedError: numbers of half precision.

    Example:
        >>> tn.special.chebyshev_polynomial_w(tn.tensor([0.5, 2.0]), 3)
        tensor([-1., 71.])
    """
    x, n = _prepared("chebyshev_polynomial_w", x, n)
    return _fourth_kind(x, n)


@pointwise(ints="float", methods=False, out=True)
def shifted_chebyshev_polynomial_t(x: Array, n: Array, /) -> Array:
    """Return the Chebyshev polynomial of the first kind at ``2 * x - 1``.

    Args:
        x: the arguments.
        n: the degree, a number or a tensor that is broadcast against ``x``.

    Raises:
        NotImplementedError: numbers of half precision.

    Example:
        >>> tn.special.shifted_chebyshev_polynomial_t(tn.tensor([0.5, 2.0]), 3)
        tensor([-0., 99.])
    """
    x, n = _prepared("shifted_chebyshev_polynomial_t", x, n)
    return _first_kind(2 * x - 1, n)


@pointwise(ints="float", methods=False, out=True)
def shifted_chebyshev_polynomial_u(x: Array, n: Array, /) -> Array:
    """Return the Chebyshev polynomial of the second kind at ``2 * x - 1``.

    Args:
        x: the arguments.
        n: the degree, a number or a tensor that is broadcast against ``x``.

    Raises:
        NotImplementedError: numbers of half precision.

    Example:
        >>> tn.special.shifted_chebyshev_polynomial_u(tn.tensor([0.5, 2.0]), 3)
        tensor([ -0., 204.])
    """
    x, n = _prepared("shifted_chebyshev_polynomial_u", x, n)
    return _second_kind(2 * x - 1, n)


@pointwise(ints="float", methods=False, out=True)
def shifted_chebyshev_polynomial_v(x: Array, n: Array, /) -> Array:
    """Return the Chebyshev polynomial of the third kind at ``2 * x - 1``.

    Args:
        x: the arguments.
        n: the degree, a number or a tensor that is broadcast against ``x``.

    Raises:
        NotImplementedError: numbers of half precision.

    Example:
        >>> tn.special.shifted_chebyshev_polynomial_v(tn.tensor([0.5, 2.0]), 3)
        tensor([  1., 169.])
    """
    x, n = _prepared("shifted_chebyshev_polynomial_v", x, n)
    return _third_kind(2 * x - 1, n)


@pointwise(ints="float", methods=False, out=True)
def shifted_chebyshev_polynomial_w(x: Array, n: Array, /) -> Array:
    """Return the Chebyshev polynomial of the fourth kind at ``2 * x - 1``.

    Args:
        x: the arguments.
        n: the degree, a number or a tensor that is broadcast against ``x``.

    Raises:
        NotImplementedError: numbers of half precision.

    Example:
        >>> tn.special.shifted_chebyshev_polynomial_w(tn.tensor([0.5, 2.0]), 3)
        tensor([ -1., 239.])
    """
    x, n = _prepared("shifted_chebyshev_polynomial_w", x, n)
    return _fourth_kind(2 * x - 1, n)


@pointwise(ints="float", methods=False, out=True)
def hermite_polynomial_h(x: Array, n: Array, /) -> Array:
    """Return Hermite's polynomial H, of weight ``exp(-x**2)``.

    Args:
        x: the arguments.
        n: the degree, a number or a tensor that is broadcast against ``x``.

    Raises:
        NotImplementedError: numbers of half precision.

    Example:
        >>> tn.special.hermite_polynomial_h(tn.tensor([0.5, 2.0]), 3)
        tensor([-5., 40.])
    """
    x, n = _prepared("hermite_polynomial_h", x, n)
    return _recurrence(x, n, 2 * x, lambda k, now, before: 2 * (x * now - k * before))


@pointwise(ints="float", methods=False, out=True)
def hermite_polynomial_he(x: Array, n: Array, /) -> Array:
    """Return Hermite's polynomial He, of weight ``exp(-x**2 / 2)``.

    Args:
        x: the arguments.
        n: the degree, a number or a tensor that is broadcast against ``x``.

    Raises:
        NotImplementedError: numbers of half precision.

    Example:
        >>> tn.special.hermite_polynomial_he(tn.tensor([0.5, 2.0]), 3)
        tensor([-1.3750,  2.0000])
    """
    x, n = _prepared("hermite_polynomial_he", x, n)
    return _recurrence(x, n, x, lambda k, now, before: x * now - k * before)


@pointwise(ints="float", methods=False, out=True)
def laguerre_polynomial_l(x: Array, n: Array, /) -> Array:
    """Return Laguerre's polynomial, of weight ``exp(-x)``.

    Args:
        x: the arguments.
        n: the degree, a number or a tensor that is broadcast against ``x``.

    Raises:
        NotImplementedError: numbers of half precision.

    Example:
        >>> tn.special.laguerre_polynomial_l(tn.tensor([0.5, 2.0]), 3)
        tensor([-0.1458, -0.3333])
    """
    x, n = _prepared("laguerre_polynomial_l", x, n)
    return _recurrence(
        x, n, 1 - x, lambda k, now, before: ((2 * k + 1 - x) * now - k * before) / (k + 1)
    )


@pointwise(ints="float", methods=False, out=True)
def legendre_polynomial_p(x: Array, n: Array, /) -> Array:
    """Return Legendre's polynomial, of weight 1 on [-1, 1].

    Args:
        x: the arguments.
        n: the degree, a number or a tensor that is broadcast against ``x``.

    Raises:
        NotImplementedError: numbers of half precision.

    Example:
        >>> tn.special.legendre_polynomial_p(tn.tensor([0.5, 2.0]), 3)
        tensor([-0.4375, 17.0000])
    """
    x, n = _prepared("legendre_polynomial_p", x, n)
    return _recurrence(
        x, n, x, lambda k, now, before: ((2 * k + 1) * x * now - k * before) / (k + 1)
    )
