import numpy as np
import pytest

import tinynet as tn
from tests.numba_kernels.both import assert_alike, gradients
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
    assert_alike(lambda: gradients(layer_norm, *vectors(shape)[:count]), 5e-6)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("shape", SHAPES)
def test_rms_norm(compiled, shape, count):
    assert_alike(lambda: gradients(rms_norm, *vectors(shape)[:count]), 5e-6)


def test_norms_of_one_number(compiled):
    x, w, b = (tn.from_numpy(a) for a in vectors((4, 1)))
    assert_alike(lambda: {f.__name__: f(x).numpy() for f in (layer_norm, rms_norm)})
    assert_alike(lambda: {"layer norm": layer_norm(x, w, b).numpy()})


def test_norms_of_a_large_mean(compiled):
    x = numbers(20, 100) + 1000
    assert_alike(lambda: gradients(layer_norm, x), 1e-3)


@pytest.mark.parametrize("norm", [layer_norm, rms_norm])
def test_norms_of_rows_with_nan(compiled, norm):
    x = numbers(5, 8)
    x[1, 2], x[3, 0] = np.nan, np.inf
    assert_alike(lambda: gradients(norm, x))


@pytest.mark.parametrize("norm", [layer_norm, rms_norm])
def test_norms_of_arrays_with_gaps(compiled, norm):
    assert_alike(lambda: gradients(lambda x: norm(x.T[::2]), numbers(6, 9)))
    weight = tn.from_numpy(numbers(12))[::2]
    assert_alike(lambda: gradients(lambda x: norm(x.T, weight).T[1:], numbers(6, 9)))


def test_norms_in_half(compiled):
    x, w, b = (a.astype("f2") for a in vectors((6, 9)))
    assert_alike(lambda: gradients(layer_norm, x, w, b), 1e-3)


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
        np.testing.assert_allclose(a, c, rtol=0, atol=1e-5)
