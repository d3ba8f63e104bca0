"""Batch norm and max pooling by kernels, with both orders of the dimensions."""

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import STEPS, assert_near
from tests.unit.native_kernels.both import assert_gradients_alike, both
from tinynet.kernels import native as native_kernels
from tinynet.nn import functional as F


@pytest.mark.parametrize("shape", [(4, 3, 7), (5, 6, 9, 8), (2, 3, 4, 5, 6), (1, 2, 40, 3)])
def test_batch_norm(compiled, shape):
    rng = np.random.default_rng(0)
    x, weight, bias = (rng.standard_normal(s).astype("f4") for s in (shape, shape[1], shape[1]))

    def run(x, weight, bias):
        return F.batch_norm(x, None, None, weight, bias, training=True)

    terms = x.size // shape[1]
    assert_gradients_alike(run, x + np.float32(3), weight, bias, terms=terms, steps=3 * STEPS)


@pytest.mark.parametrize("shape", [(2, 3, 6, 8), (3, 7, 5), (2, 1, 9, 11), (0, 3, 4, 4)])
def test_max_pooling(compiled, shape):
    x = np.random.default_rng(0).integers(-2, 3, shape).astype("f4")  # with ties
    if x.size:
        x.flat[3], x.flat[8] = np.nan, np.inf

    def run():
        given = tn.from_numpy(x.copy()).requires_grad_()
        y = F.max_pool2d(given, 2)
        y.backward(tn.arange(y.numel(), dtype=tn.float32).reshape(y.shape))
        return y.detach().numpy(), given.grad.numpy()

    for plain, found in zip(*both(run), strict=True):
        np.testing.assert_array_equal(found, plain)


@pytest.mark.parametrize("far", [0.0, 300.0])
@pytest.mark.parametrize("channels", [1, 6, 64])
def test_norms_with_the_channels_last(compiled, channels, far):
    """The first rows may be far from the mean of all, from which the variance is computed."""
    last, rng = native_kernels.images_last, np.random.default_rng(0)
    x = rng.standard_normal((40, 2 * channels)).astype("f4")
    x[:16] += np.float32(far)
    weight, bias = rng.standard_normal((2, channels)).astype("f4")
    y, mean, var = np.empty_like(x), np.empty(channels), np.empty(channels)
    for floor, low in ((np.float32(-np.inf), -np.inf), (np.float32(0), 0)):
        last.batch_norm(x, weight, bias, 1e-5, floor, y, mean, var)
        exact = x.astype("f8").reshape(80, channels)
        spread = exact.var(0)
        assert_near(mean.astype("f4"), exact.mean(0), 80, np.abs(exact).max())
        assert_near(var.astype("f4"), spread, 80, np.square(exact - exact.mean(0)).max())
        wanted = (exact - exact.mean(0)) / np.sqrt(spread + 1e-5) * weight + bias
        size = np.abs(wanted).max() + np.abs(bias).max()
        assert_near(y.reshape(80, channels), np.maximum(wanted, low), 80, size)
