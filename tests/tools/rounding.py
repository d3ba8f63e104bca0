"""How far rounding may take a result from the exact one, whatever processor computed it.

The bound follows from the number of roundings n on the way to a result: each is a part of at most
u, half of numpy's eps, so they add up to n u of what was added (Higham, Accuracy and Stability of
Numerical Algorithms, 2002, section 3.1). Orders of summation, fused multiplications and wider
vectors change where roundings happen, and none of them makes more. Many roundings point both ways:
they stay below l sqrt(n) u with probability 1 - 2 exp(-l**2 / 2) (Higham and Mary, A New Approach
to Probabilistic Rounding Error Analysis, 2019); with l = 8, one result in 10**13 may not.
"""

import math

import numpy as np
import pytest

STEPS = 16  # roundings beside those of a sum: a function such as exp, a division, a few products


def bound(dtype, roundings):
    """The largest error after `roundings` of them, as a part of what was added."""
    return min(roundings, 8 * math.sqrt(roundings)) * float(np.finfo(dtype).eps) / 2


def near(exact, roundings=STEPS, scale=None, dtype=np.float32):
    """Compare equal to what rounding may make of `exact`: ``assert loss.item() == near(1 / 3)``.

    Numbers, lists and arrays; `scale` as for `assert_near`, but one number. An `exact` that was
    rounded, too, such as a recorded answer of PyTorch in float32, takes the roundings of both.
    """
    exact = np.asarray(exact, np.float64)
    if scale is None:
        scale = np.abs(exact[np.isfinite(exact)]).max(initial=0)
    exact = exact if exact.ndim else exact.item()
    return pytest.approx(exact, rel=0, abs=bound(dtype, roundings) * float(scale))


def assert_near(found, exact, roundings=STEPS, scale=None, name=""):
    """Check an array against the exact one in float64; what is not finite must be the same.

    `scale` is what was added, in absolute value: one number, or an array of one for each result.
    Without it, the largest exact number is taken.
    """
    assert found.shape == exact.shape, name
    finite = np.isfinite(exact)
    np.testing.assert_array_equal(found[~finite], exact[~finite], err_msg=name)
    if scale is None:
        scale = np.abs(exact[finite]).max(initial=0)
    scale = np.broadcast_to(scale, exact.shape)[finite]
    error = np.abs(found[finite] - exact[finite])
    allowed = bound(found.dtype, roundings) * scale + float(np.finfo(found.dtype).tiny)
    worst = (error / allowed).max(initial=0)
    assert worst <= 1, f"{name}: {worst:.3g} times the error of {roundings} roundings"


def assert_product(found, a, b, added=0.0, roundings=1):
    """Check ``a @ b + added``: a sum of one product for each column of `a`."""
    a, b, added = (np.asarray(x, np.float64) for x in (a, b, added))
    scale = np.abs(a) @ np.abs(b) + np.abs(added)
    assert_near(found, a @ b + added, a.shape[-1] + 1 + roundings, scale)
