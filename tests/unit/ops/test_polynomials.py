"""Orthogonal polynomials: exact values, and where the two methods of Chebyshev's meet."""

import numpy as np
import pytest

import tinynet as tn

NAMES = [f"chebyshev_polynomial_{kind}" for kind in "tuvw"]


# Of degrees 0 to 4 at 3 (Abramowitz and Stegun, 22.3 and tables of chapter 22).
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("chebyshev_polynomial_t", [1, 3, 17, 99, 577]),
        ("chebyshev_polynomial_u", [1, 6, 35, 204, 1189]),
        ("chebyshev_polynomial_v", [1, 5, 29, 169, 985]),
        ("chebyshev_polynomial_w", [1, 7, 41, 239, 1393]),
        ("hermite_polynomial_h", [1, 6, 34, 180, 876]),
        ("hermite_polynomial_he", [1, 3, 8, 18, 30]),
        ("laguerre_polynomial_l", [1, -2, -0.5, 1, 1.375]),
        ("legendre_polynomial_p", [1, 3, 13, 63, 321]),
    ],
)
def test_values_at_3(name, values):
    found = getattr(tn.special, name)(tn.tensor(3.0, dtype=tn.float64), tn.arange(5))
    np.testing.assert_allclose(found.numpy(), values, rtol=1e-14)
    if name.startswith("chebyshev"):  # the shifted ones take 2 x - 1
        shifted = getattr(tn.special, f"shifted_{name}")(tn.tensor(2.0), tn.arange(5))
        assert shifted.tolist() == values


@pytest.mark.parametrize("name", NAMES)
def test_waves_continue_the_recurrence(name):
    x = tn.linspace(-1, 1, 41, dtype=tn.float64)
    function = getattr(tn.special, name)
    for n in (6, 7, 8, 20):
        expected = 2 * x * function(x, n) - function(x, n - 1)
        np.testing.assert_allclose(function(x, n + 1).numpy(), expected.numpy(), atol=1e-12)


def test_degrees():
    function = tn.special.legendre_polynomial_p
    x = tn.tensor([0.5, -2.0])
    assert function(x, 2.9).tolist() == function(x, 2).tolist()
    assert function(x, -1).tolist() == function(x, tn.tensor(float("nan"))).tolist() == [0, 0]
    assert function(0.5, tn.tensor([0, 1])).tolist() == [1, 0.5]
    assert function(tn.ones(3, 1), tn.arange(4)).shape == (3, 4)
    assert not function(x.requires_grad_(), 3).requires_grad


def test_a_huge_degree_ends():
    assert not tn.special.chebyshev_polynomial_t(tn.tensor([2.0]), 10**9).isfinite().any()
    assert abs(tn.special.chebyshev_polynomial_u(tn.tensor([0.5]), 10**9).item()) < 2


def test_half_precision_is_refused():
    with pytest.raises(NotImplementedError, match='"hermite_polynomial_h_cpu" not implemented'):
        tn.special.hermite_polynomial_h(tn.ones(2, dtype=tn.float16), 2)
