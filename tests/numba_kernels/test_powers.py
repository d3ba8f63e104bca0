import numpy as np
import pytest

import tinynet as tn
from tests.numba_kernels.both import assert_gradients_alike, gradients
from tests.rounding import STEPS, assert_near
from tinynet.nn import functional as F

SHAPES = [(0, 4), (3, 0), (1, 1), (5,), (3, 5, 7), (700, 501)]
FUNCTIONS = [F.softmax, F.log_softmax]


def numbers(*shape):
    return (np.random.default_rng(1).standard_normal(shape) * 3).astype("f4")


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("shape", SHAPES)
def test_softmax(compiled, function, shape):
    assert_gradients_alike(lambda x: function(x, dim=-1), numbers(*shape), terms=shape[-1])


@pytest.mark.parametrize("function", FUNCTIONS)
def test_softmax_of_other_layouts(compiled, function):
    assert_gradients_alike(lambda x: function(x, dim=0), numbers(4, 5))
    assert_gradients_alike(lambda x: function(x.T[::2], dim=1), numbers(4, 5))
    assert_gradients_alike(lambda x: function(x, dim=1).T, numbers(4, 5))


SPECIAL = [
    [1000, 0, -1000, 1],
    [np.nan, 1, 2, 3],
    [-np.nan, 1, 2, 3],
    [-np.inf, 1, 2, -np.inf],
    [np.inf, 1, 2, 3],
    [-np.inf] * 4,
    [-1e38, -1e38, -2e38, -3e38],
    [-0.0, 0, -1e-40, 1e-40],
]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("row", SPECIAL)
def test_softmax_of_special_numbers(compiled, function, row):
    assert_gradients_alike(lambda x: function(x, dim=0), np.float32(row))


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("ignored", [-100, 1])
@pytest.mark.parametrize("shape", [(1, 2), (5, 7), (0, 3), (700, 501)])
def test_cross_entropy(compiled, reduction, ignored, shape):
    target = tn.from_numpy(np.random.default_rng(2).integers(0, shape[1], shape[0]))

    def entropy(x):
        return F.cross_entropy(x, target, ignore_index=ignored, reduction=reduction)

    if shape[0] or reduction != "mean":
        assert_gradients_alike(entropy, numbers(*shape), terms=max(shape))


@pytest.mark.parametrize("row", SPECIAL)
def test_cross_entropy_of_special_numbers(compiled, row):
    x, target = np.float32([row, [1, 2, 3, 4]]), tn.tensor([1, 2])
    assert_gradients_alike(lambda x: F.cross_entropy(x, target, reduction="none"), x)


def test_cross_entropy_of_an_array_with_gaps(compiled):
    target = tn.tensor([0, 9, 1, 9, 2])[::2]
    assert_gradients_alike(lambda x: F.cross_entropy(x.T, target), numbers(4, 3))


@pytest.mark.parametrize(
    "function", [*FUNCTIONS, lambda x, dim: F.cross_entropy(x, tn.arange(len(x)) % 7)]
)
def test_threads_change_nothing(compiled, threads, function):
    found = []
    for count in (1, 2):
        threads(count)
        found.append(gradients(lambda x: function(x, dim=1), numbers(700, 501)))
    for name in found[0]:
        np.testing.assert_array_equal(found[0][name], found[1][name])


def test_log_softmax_of_large_numbers_keeps_its_digits(compiled):
    found = F.log_softmax(tn.full((3, 50), 1e6), dim=1).numpy()
    assert_near(found, np.full((3, 50), -np.log(50)), 50 + STEPS)
