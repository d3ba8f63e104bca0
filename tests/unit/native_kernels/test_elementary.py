"""The functions of one number are exact in compiled code."""

import numpy as np
import pytest

from tests.tools.rounding import assert_near
from tinynet.kernels.llvm import elementary
from tinynet.kernels.llvm.kernel import Kernel

RANGE = np.float32(np.concatenate([np.linspace(-87, 88.7, 20001), np.linspace(-1, 1, 20001)]))


def each_exp(x, out):
    for i in range(x.size):
        out[i] = elementary.exp(x[i])


def each_tanh(x, out):
    for i in range(x.size):
        out[i] = elementary.tanh(x[i])


def each_rank(x, ranks, numbers):
    for i in range(x.size):
        ranks[i] = elementary.rank(x[i])
        numbers[i] = elementary.of_rank(elementary.rank(x[i]))


@pytest.fixture(params=["exp", "tanh"])
def function(compiled, request):
    kernel = Kernel({"exp": each_exp, "tanh": each_tanh}[request.param], request.node.name)

    def run(x):
        out = np.empty_like(x)
        kernel(x, out)
        return out

    return run, getattr(np, request.param)


def test_exact_enough(function):
    run, exact = function
    expected = exact(RANGE.astype(float))
    assert_near(run(RANGE), expected, scale=np.abs(expected))


def test_at_the_ends(function):
    run, exact = function
    ends = np.float32([-np.inf, np.inf, np.nan, -200, 200, 0])
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(run(ends), exact(ends))


def test_float64_is_that_of_the_c_library(function):
    run, exact = function
    x = np.linspace(-5, 5, 101)
    assert_near(run(x), exact(x), scale=np.abs(exact(x)))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_ranks_have_the_order_of_numbers(compiled, dtype):
    tiny, huge = np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max
    x = np.array([-np.inf, -huge, -1, -tiny, 0, tiny, 1, 1.5, huge, np.inf, np.nan], dtype)
    ranks, numbers = np.empty(x.size, f"i{x.itemsize}"), np.empty_like(x)
    Kernel(each_rank, "a test")(x, ranks, numbers)
    assert (np.diff(ranks.astype(object)) > 0).all()
    np.testing.assert_array_equal(numbers, x)
