import numpy as np
import pytest

import tinynet as tn
from tests.numba_kernels.both import assert_gradients_alike, assert_same, gradients
from tinynet.nn import functional as F


def numbers(shape):
    return (np.random.default_rng(1).standard_normal(shape) * 3).astype("f4")


@pytest.mark.parametrize("shape", [(0,), (7,), (3, 5, 7), (300, 1000)])
def test_gelu(compiled, shape):
    assert_gradients_alike(F.gelu, numbers(shape))


def test_gelu_of_what_is_not_finite(compiled):
    x = np.float32([np.nan, np.inf, -np.inf, 0, -0.0, 50, -50])
    assert_gradients_alike(F.gelu, x)


def test_gelu_of_an_array_with_gaps(compiled):
    assert_gradients_alike(lambda x: F.gelu(x.T[::2]), numbers((6, 9)))


@pytest.mark.parametrize("shape", [(0,), (7,), (3, 7, 1700), (300, 1000)])
def test_relu(compiled, shape):
    assert_same(lambda: gradients(F.relu, numbers(shape)))
    assert_same(lambda: gradients(lambda x: F.relu(x[..., ::2]), numbers(shape)))


def test_relu_of_what_is_not_finite(compiled):
    x = np.tile(np.float32([np.nan, np.inf, -np.inf, 0, -0.0, 50, -50]), 2000)
    slopes = tn.from_numpy(np.tile(np.float32([np.nan, 1, np.inf, 2]), 3500))
    assert_same(lambda: gradients(lambda x: F.relu(x) * slopes, x))
