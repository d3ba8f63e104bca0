"""The functions of one number: exact enough, and the same with and without numba."""

import math

import numpy as np
import pytest

from tests.rounding import STEPS, assert_near
from tinynet.numba_kernels import elementary
from tinynet.numba_kernels.compiler import plain as python

RANGE = np.float32(np.concatenate([np.linspace(-86.5, 88.7, 20001), np.linspace(-1, 1, 20001)]))
EXACT = {
    "exp": np.exp,
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "normal": np.vectorize(lambda x: math.erfc(-x * math.sqrt(0.5)) / 2),
}


def at(name, numbers):
    """The values of a function, one after the other."""
    return np.array([getattr(elementary, name)(x) for x in np.float32(numbers)], np.float32)


@pytest.mark.parametrize("name", EXACT)
def test_exact_enough(compiled, name):
    expected, found = EXACT[name](RANGE.astype(float)), at(name, RANGE)
    # In the lower tail of the normal distribution only the difference is small.
    assert_near(found, expected, scale=1 if name == "normal" else np.abs(expected))


def test_exact_where_exp_falls(compiled):
    below = RANGE[RANGE <= 0]
    expected = np.exp(below.astype(float))
    assert_near(at("falling", below), expected, scale=expected)


@pytest.mark.parametrize("name", EXACT)
def test_the_same_without_numba(compiled, name):
    function, numbers = getattr(elementary, name), RANGE[::997]
    plain = np.array([python(function)(x) for x in numbers], np.float32)
    found = at(name, numbers).astype(float)
    assert_near(plain, found, 2 * STEPS, scale=np.abs(found))


@pytest.mark.parametrize("name, low, high", [
    ("exp", 0, np.inf), ("tanh", -1, 1), ("sigmoid", 0, 1), ("normal", 0, 1)
])  # fmt: skip
def test_at_the_ends(compiled, name, low, high):
    found = at(name, [-np.inf, np.inf, np.nan])
    np.testing.assert_array_equal(found, [low, high, np.nan])


def test_exp_that_falls_at_the_ends(compiled):
    np.testing.assert_array_equal(at("falling", [-np.inf, 0, np.nan]), [0, 1, np.nan])
