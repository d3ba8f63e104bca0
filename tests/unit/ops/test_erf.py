"""The error function's accuracy, on all its pieces and in blocks."""

import math

import numpy as np
import pytest

import tinynet as tn
from tinynet.ops.pointwise.error_function import _BLOCK, erf_of

PLACES = np.concatenate([np.linspace(1e-6, 7, 60_001), np.logspace(-300, 300, 3_001)])
SINGLE = PLACES[(PLACES > 1e-30) & (PLACES < 1e30)].astype(np.float32)


def exact(x, scale=1.0):
    return np.array([math.erf(scale * float(v)) for v in x])


@pytest.mark.parametrize("scale", [1.0, math.sqrt(0.5)])
def test_double_precision(scale):
    for x in (PLACES, -PLACES):
        wanted = exact(x, scale)
        assert (np.abs(erf_of(x, scale) - wanted) <= 1e-15 * np.abs(wanted)).all()


@pytest.mark.parametrize("scale", [1.0, math.sqrt(0.5)])
def test_single_precision(scale):
    for x in (SINGLE, -SINGLE):
        wanted = exact(x, scale)
        units = np.abs(erf_of(x, scale) - wanted) / np.spacing(np.abs(wanted).astype(np.float32))
        assert units.max() <= 3.5 and units.mean() < 0.5


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_special_values(dtype):
    with np.errstate(over="ignore"):
        x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 6e4, -6e4], dtype)
    found = erf_of(x)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.array([0, -0.0, 1, -1, np.nan, 1, -1], dtype))
    assert np.signbit(found[1])


@pytest.mark.parametrize("count", [0, 1, _BLOCK - 1, _BLOCK, _BLOCK + 1])
def test_blocks(count):
    x = np.linspace(-3, 3, max(count, 1))[:count]
    found = erf_of(x)
    assert found.shape == x.shape
    for i in {0, count // 2, count - 1} if count else ():
        assert found[i] == pytest.approx(math.erf(x[i]), rel=1e-15, abs=1e-300)


def test_layouts_and_no_input_changes():
    x = np.random.RandomState(0).standard_normal((6, 8))
    for view in (x.T, x[::2, 1::3], np.broadcast_to(x[0], (3, 8)), x[0, 0]):
        before = view.copy()
        found = tn.tensor(view).erf().numpy()
        np.testing.assert_allclose(found, exact(view.ravel()).reshape(view.shape), rtol=1e-15)
        np.testing.assert_allclose(erf_of(view), found, rtol=0)
        np.testing.assert_array_equal(view, before)
