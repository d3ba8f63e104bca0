"""Max pooling of windows of 2 by 2: maxima, their places and gradients are numpy's to the bit."""

import numpy as np
import pytest

import tinynet as tn
from tests.numba_kernels.both import assert_same, gradients
from tinynet.nn import functional as F
from tinynet.numba_kernels import pooling
from tinynet.numba_kernels.compiler import plain as python


def numbers(*shape):
    return np.random.default_rng(2).integers(-4, 5, shape).astype("f4")  # with equal neighbours


@pytest.mark.parametrize(
    "shape", [(1, 2, 2), (3, 5, 7), (2, 3, 28, 28), (4, 6, 34, 66), (0, 3, 4, 4), (64, 32, 32, 32)]
)
def test_max_pool(compiled, shape):
    assert_same(lambda: gradients(lambda x: F.max_pool2d(x, 2), numbers(*shape)))


def places(x):
    return {"": F.max_pool2d(tn.from_numpy(x), 2, return_indices=True)[1].numpy()}


def test_places(compiled):
    assert_same(lambda: places(numbers(3, 4, 9, 12)))


def test_nan_and_infinity(compiled):
    x = np.random.default_rng(3).choice(np.float32([np.nan, np.inf, -np.inf, 1, 2]), (5, 40, 40))
    assert_same(lambda: gradients(lambda x: F.max_pool2d(x, 2), x))
    assert_same(lambda: places(x))


def test_an_array_with_gaps(compiled):
    assert_same(lambda: gradients(lambda x: F.max_pool2d(x.mT[..., ::3], 2), numbers(2, 9, 30)))


def test_the_same_without_numba(compiled):
    x = numbers(2, 5, 6)
    x[0, 0, 0] = np.nan
    made = []
    for peaks, spread in (
        (pooling.peaks, pooling.spread),
        (python(pooling.peaks), python(pooling.spread)),
    ):
        best, offsets = np.zeros((2, 2, 3), "f4"), np.zeros((2, 2, 3), "u1")
        peaks(x, best, offsets)
        whole = np.zeros_like(x)
        spread(best, offsets, whole)
        made.append((best, offsets, whole))
    for found, plain in zip(*made, strict=True):
        np.testing.assert_array_equal(found, plain)
