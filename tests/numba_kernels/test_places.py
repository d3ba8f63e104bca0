import math

import numpy as np
import pytest

import tinynet as tn
from tests.numba_kernels.both import assert_alike, assert_gradients_alike, gradients
from tinynet.nn import functional as F

SHAPES = [(4, 3, 5, 7), (1, 1, 16), (2, 6, 17), (5, 4, 1), (7, 17), (33, 8, 40, 40), (900, 400)]


def numbers(*shape, seed=1):
    return (np.random.default_rng(seed).standard_normal(shape) * 3 + 1).astype("f4")


def vectors(shape):
    return numbers(*shape), numbers(shape[1], seed=2), numbers(shape[1], seed=3)


def batch_norm(x, w=None, b=None):
    return F.batch_norm(x, None, None, w, b, training=True)


def group_norm(x, w=None, b=None):
    return F.group_norm(x, 2 if x.shape[1] % 2 == 0 else 1, w, b)


def instance_norm(x, w=None, b=None):
    return F.instance_norm(x, weight=w, bias=b)


def output_of(norm):
    return lambda x: {"y": norm(tn.from_numpy(x)).numpy()}


NORMS = [batch_norm, group_norm, instance_norm]


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("count", [1, 3])
def test_norms(compiled, norm, shape, count):
    if len(shape) > 2 and shape[-1] > 1 or norm is batch_norm:
        assert_gradients_alike(norm, *vectors(shape)[:count], terms=math.prod(shape))


@pytest.mark.parametrize("shape", SHAPES)
def test_running_statistics(compiled, shape):
    def run(*arrays):
        x, w, b, mean, var = (tn.from_numpy(a.copy()) for a in arrays)
        F.batch_norm(x, mean, var, w, b, training=True, momentum=0.3)
        y = F.batch_norm(x, mean, var, w, b, training=False)
        return {"mean": mean.numpy(), "var": var.numpy(), "y": y.numpy()}

    before = np.float32([[0], [1]]) * np.ones(shape[1], "f4")
    assert_alike(run, *vectors(shape), *before, terms=math.prod(shape) // shape[1])


def test_gradients_in_evaluation(compiled):
    def norm(x, weight, bias):
        mean, var = tn.zeros(3, dtype=x.dtype), tn.full((3,), 2.0, dtype=x.dtype)
        return F.batch_norm(x, mean, var, weight, bias)

    assert_gradients_alike(norm, *vectors((4, 3, 5, 7)), terms=4 * 5 * 7)


@pytest.mark.parametrize("norm", NORMS)
def test_a_large_mean(compiled, norm):
    assert_alike(output_of(norm), numbers(4, 2, 6, 6) + 1000, terms=4 * 6 * 6)


def test_many_samples_with_a_large_mean(compiled):
    assert_alike(output_of(batch_norm), numbers(10000, 16) + 1000, terms=10000)


@pytest.mark.parametrize("norm", NORMS)
def test_what_is_not_finite(compiled, norm):
    x = numbers(3, 4, 20)
    x[0, 1, 2], x[1, 3, 4] = np.nan, np.inf
    assert_alike(output_of(norm), x, terms=60)


def test_statistics_of_columns_with_nan(compiled):
    x = numbers(5, 20)
    x[2, 3] = np.nan

    def run(x):
        x = tn.from_numpy(x)
        mean, var = tn.zeros(20, dtype=x.dtype), tn.ones(20, dtype=x.dtype)
        y = F.batch_norm(x, mean, var, training=True)
        return {"mean": mean.numpy(), "var": var.numpy(), "y": y.numpy()}

    assert_alike(run, x)


@pytest.mark.parametrize("norm", NORMS)
def test_channels_last_and_gaps(compiled, norm):
    def run(x):
        return norm(x.permute(0, 3, 1, 2)).transpose(2, 3)

    assert_gradients_alike(run, numbers(4, 5, 6, 2), terms=4 * 5 * 6)
    gaps = numbers(4, 4, 6, 12)
    assert_gradients_alike(lambda x: norm(x[:, ::2, :, ::2]), gaps, terms=4 * 6 * 6)


@pytest.mark.parametrize("norm", NORMS)
def test_half(compiled, norm):
    x, w, b = (a.astype("f2") for a in vectors((4, 2, 5, 7)))
    assert_gradients_alike(norm, x, w, b, steps=8)


@pytest.mark.parametrize(
    "norm, shape", [*((norm, (33, 8, 40, 40)) for norm in NORMS), (batch_norm, (900, 400))]
)
def test_threads_change_nothing(compiled, threads, norm, shape):
    found = []
    for count in (1, 2):
        threads(count)
        found.append(gradients(norm, *vectors(shape)))
    for name in found[0]:
        np.testing.assert_array_equal(found[0][name], found[1][name])
