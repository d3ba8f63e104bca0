import numpy as np
import pytest

import tinynet as tn
from tests.numba_kernels.both import assert_alike, assert_gradients_alike, gradients
from tests.rounding import STEPS, assert_near
from tinynet.nn import functional as F
from tinynet.numba_kernels import rows
from tinynet.numba_kernels.compiler import plain as python

SHAPES = [(0, 4), (1, 3), (3, 5, 7), (37, 48), (700, 500)]


def numbers(*shape, seed=1):
    return (np.random.default_rng(seed).standard_normal(shape) * 3).astype("f4")


def vectors(shape):
    return numbers(*shape), numbers(shape[-1], seed=2), numbers(shape[-1], seed=3)


def layer_norm(x, w=None, b=None):
    return F.layer_norm(x, x.shape[-1:], w, b)


def rms_norm(x, w=None):
    return F.rms_norm(x, x.shape[-1:], w)


# ---- layer norm and RMS norm --------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("shape", SHAPES)
def test_layer_norm(compiled, shape, count):
    assert_gradients_alike(layer_norm, *vectors(shape)[:count], terms=max(shape))


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("shape", SHAPES)
def test_rms_norm(compiled, shape, count):
    assert_gradients_alike(rms_norm, *vectors(shape)[:count], terms=max(shape))


def test_norms_of_one_number(compiled):
    def run(*arrays):
        x, *affine = map(tn.from_numpy, arrays)
        made = layer_norm(x), rms_norm(x), layer_norm(x, *affine)
        return {str(i): y.numpy() for i, y in enumerate(made)}

    assert_alike(run, *vectors((4, 1)))


def test_norms_of_a_large_mean(compiled):
    x = numbers(20, 100) + 1000
    assert_gradients_alike(layer_norm, x, terms=100)


@pytest.mark.parametrize("norm", [layer_norm, rms_norm])
def test_norms_of_rows_with_nan(compiled, norm):
    x = numbers(5, 8)
    x[1, 2], x[3, 0] = np.nan, np.inf
    assert_gradients_alike(norm, x)


@pytest.mark.parametrize("norm", [layer_norm, rms_norm])
def test_norms_of_arrays_with_gaps(compiled, norm):
    assert_gradients_alike(lambda x: norm(x.T[::2]), numbers(6, 9))
    assert_gradients_alike(lambda x, w: norm(x.T, w[::2]).T[1:], numbers(6, 9), numbers(12))


def test_norms_in_half(compiled):
    x, w, b = (a.astype("f2") for a in vectors((6, 9)))
    assert_gradients_alike(layer_norm, x, w, b, steps=8)


def test_threads_change_nothing(compiled, threads):
    found = []
    for count in (1, 2):
        threads(count)
        found.append(gradients(layer_norm, *vectors((700, 500))))
    for name in found[0]:
        np.testing.assert_array_equal(found[0][name], found[1][name])


def test_norms_the_same_without_numba(compiled):
    x, w, b = vectors((3, 5))
    results = []
    for forward, back in ((rows.row_norm, rows.row_norm_back),
                          (python(rows.row_norm), python(rows.row_norm_back))):  # fmt: skip
        y, dx = np.empty_like(x), np.empty_like(x)
        mean, inverse = np.empty((2, 3), "f4")
        by_weight, by_bias = np.empty((2, 2, 5), "f4")  # in two parts
        forward(x, w, b, np.float32(1e-5), True, y, mean, inverse)
        back(y, x, w, mean, inverse, True, dx, by_weight, by_bias)
        results.append((y, mean, inverse, dx, by_weight, by_bias))
    for a, c in zip(*results, strict=True):
        assert_near(a, c.astype(float), 2 * (5 + STEPS))
