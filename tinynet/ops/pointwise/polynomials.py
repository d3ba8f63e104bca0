"""Orthogonal polynomials of degree n by three-term recurrences (DLMF 18.9).

The degree is truncated to an integer; below 0 the value is 0. As in PyTorch, these functions have
no derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet.dtypes import Array
from tinynet.ops.argument_errors import refuse_half
from tinynet.ops.special_functions import only_special

_TRIGONOMETRIC = 6  # above, Chebyshev polynomials are computed as waves where |x| < 1


def _degree(n: Array) -> Array:
    whole = np.clip(np.nan_to_num(np.asarray(n, np.float64), nan=-1.0), -1.0, 2.0**62)
    return np.asarray(whole.astype(np.int64))


def _recurrence(
    x: Array, n: Array, first: Array, step: Callable[[int, Array, Array], Array]
) -> Array:
    """Return the values of degree n.

    Args:
        x: the arguments.
        n: their degrees, integers of the same shape.
        first: the values of degree 1.
        step: computes degree k + 1 from k and the values of degrees k and k - 1.
    """
    before, now = np.ones_like(x), first
    found = np.where(n < 0, 0, np.where(n == 0, before, now))
    for k in range(1, int(n.max(initial=0))):
        before, now = now, step(k, now, before)
        found = np.where(n > k, now, found)
        if not np.any(np.isfinite(now) & (n > k + 1)):
            break
    return found


def _polynomial(name: str, what: str, example: str, values: Callable[[Array, Array], Array]) -> Any:
    """Declare the operation ``name``; ``values`` takes arguments and integer degrees."""

    def kernel(x: Array, n: Array, /) -> Array:
        refuse_half(name, x)
        x, n = np.broadcast_arrays(x, _degree(n))
        return values(x, n)

    kernel.__name__ = kernel.__qualname__ = name
    kernel.__doc__ = f"""Return {what}.

    Args:
        x: the arguments.
        n: the degree, a number or a tensor that is broadcast against ``x``.

    Raises:
        NotImplementedError: half-precision inputs.

    Example:
        >>> tn.special.{name}(tn.tensor([0.5, 2.0]), 3)
        tensor({example})
    """
    return only_special(kernel)


def _chebyshev(
    letter: str,
    kind: str,
    examples: tuple[str, str],
    first: Callable[[Array], Array],
    wave: Callable[[Array, Array], Array],
) -> tuple[Any, Any]:
    """Declare the Chebyshev polynomials of a kind, plain and shifted (of ``2 * x - 1``).

    Computed by ``2 * x * p_n - p_(n-1)``, or by the angle of x where |x| < 1 and n is not small.

    Args:
        letter, kind, examples: for the names and documentation.
        first: the values of degree 1.
        wave: computes the values from n and the angle t of ``x = cos(t)`` (DLMF 18.5.1 to 18.5.4).
    """

    def values(x: Array, n: Array) -> Array:
        waving = (n > _TRIGONOMETRIC) & (np.abs(x) < 1)
        low = np.where(waving, 0, n)
        found = _recurrence(x, low, first(x), lambda k, now, before: 2 * x * now - before)
        t = np.arccos(np.where(waving, x, 0))
        return np.where(waving, wave(n.astype(x.dtype), t), found)

    name, what = f"chebyshev_polynomial_{letter}", f"the Chebyshev polynomial of the {kind} kind"
    return (
        _polynomial(name, what, examples[0], values),
        _polynomial(
            f"shifted_{name}",
            f"{what} at ``2 * x - 1``",
            examples[1],
            lambda x, n: values(2 * x - 1, n),
        ),
    )


chebyshev_polynomial_t, shifted_chebyshev_polynomial_t = _chebyshev(
    *("t", "first", ("[-1., 26.]", "[-0., 99.]")),
    first=lambda x: x,
    wave=lambda n, t: np.cos(n * t),
)
chebyshev_polynomial_u, shifted_chebyshev_polynomial_u = _chebyshev(
    *("u", "second", ("[-1., 56.]", "[ -0., 204.]")),
    first=lambda x: 2 * x,
    wave=lambda n, t: np.sin((n + 1) * t) / np.sin(t),
)
chebyshev_polynomial_v, shifted_chebyshev_polynomial_v = _chebyshev(
    *("v", "third", ("[-1., 41.]", "[  1., 169.]")),
    first=lambda x: 2 * x - 1,
    wave=lambda n, t: np.cos((n + 0.5) * t) / np.cos(t / 2),
)
chebyshev_polynomial_w, shifted_chebyshev_polynomial_w = _chebyshev(
    *("w", "fourth", ("[-1., 71.]", "[ -1., 239.]")),
    first=lambda x: 2 * x + 1,
    wave=lambda n, t: np.sin((n + 0.5) * t) / np.sin(t / 2),
)
hermite_polynomial_h = _polynomial(
    "hermite_polynomial_h",
    "Hermite's polynomial H, of weight ``exp(-x**2)``",
    "[-5., 40.]",
    lambda x, n: _recurrence(x, n, 2 * x, lambda k, now, before: 2 * (x * now - k * before)),
)
hermite_polynomial_he = _polynomial(
    "hermite_polynomial_he",
    "Hermite's polynomial He, of weight ``exp(-x**2 / 2)``",
    "[-1.3750,  2.0000]",
    lambda x, n: _recurrence(x, n, x, lambda k, now, before: x * now - k * before),
)
laguerre_polynomial_l = _polynomial(
    "laguerre_polynomial_l",
    "Laguerre's polynomial, of weight ``exp(-x)``",
    "[-0.1458, -0.3333]",
    lambda x, n: _recurrence(
        x, n, 1 - x, lambda k, now, before: ((2 * k + 1 - x) * now - k * before) / (k + 1)
    ),
)
legendre_polynomial_p = _polynomial(
    "legendre_polynomial_p",
    "Legendre's polynomial, of weight 1 on [-1, 1]",
    "[-0.4375, 17.0000]",
    lambda x, n: _recurrence(
        x, n, x, lambda k, now, before: ((2 * k + 1) * x * now - k * before) / (k + 1)
    ),
)
