"""Max pooling of windows of 2 by 2 against its definition: ties, NaN, and what is left over."""

import math

import numpy as np
import pytest

import tinynet as tn
from tinynet.nn import functional as F

SHAPES = [(3, 2, 4, 6), (2, 3, 5, 7), (1, 2, 3), (2, 1, 6, 2), (300, 2, 16, 16), (0, 2, 4, 4)]
VALUES = {
    "ties": (0.0, 1.0),
    "nan": (0.0, 1.0, math.nan),
    "infinite": (-math.inf, math.nan, math.inf, 2.0),
    "lowest": (-math.inf,),
}


def by_definition(x, g):
    """The maxima, their places in the plane, and the gradient, one window after the other."""
    *lead, height, width = (*x.shape[:-2], x.shape[-2] // 2, x.shape[-1] // 2)
    best, places = np.empty((*lead, height, width), x.dtype), np.zeros((*lead, height, width), int)
    back = np.zeros_like(x)
    for at in np.ndindex(*best.shape):
        *plane, row, column = at
        seen = [(2 * row + i, 2 * column + j) for i in range(2) for j in range(2)]
        wins = seen[0]
        for place in seen[1:]:
            value = x[(*plane, *place)]
            if value > x[(*plane, *wins)] or np.isnan(value):
                wins = place
        best[at], places[at] = x[(*plane, *wins)], wins[0] * x.shape[-1] + wins[1]
        back[(*plane, *wins)] = g[at]
    return best, places, back


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_halves(shape, values):
    random = np.random.RandomState(0)
    x = random.choice(np.array(VALUES[values], "f"), shape)
    g = random.choice(
        np.array([1, 2, np.nan, np.inf], "f"), (*shape[:-2], *(n // 2 for n in shape[-2:]))
    )
    best, places, back = by_definition(x, g)
    leaf = tn.tensor(x).requires_grad_()
    found = F.max_pool2d(leaf, 2)
    assert found.grad_fn.name() == "MaxPool2DWithIndicesBackward0"
    np.testing.assert_array_equal(found.detach().numpy(), best)
    np.testing.assert_array_equal(tn.autograd.grad(found, leaf, tn.tensor(g))[0].numpy(), back)
    with tn.no_grad():
        np.testing.assert_array_equal(F.max_pool2d(leaf, 2).numpy(), best)
    both = F.max_pool2d(leaf, 2, return_indices=True)
    np.testing.assert_array_equal(both[0].detach().numpy(), best)
    np.testing.assert_array_equal(both[1].numpy(), places)


@pytest.mark.parametrize("size", [3, 10_000, 300_000])
def test_relu_passes_gradients_as_they_are(size):
    """Not a product: what is not finite passes or not as all else; beside NaN it passes."""
    random = np.random.RandomState(0)
    x = random.choice(np.array([-1, 0, 1, np.nan, np.inf, -np.inf], "f"), size)
    g = random.choice(np.array([1, np.nan, np.inf], "f"), size)
    leaf = tn.tensor(x).requires_grad_()
    found = tn.autograd.grad(leaf.relu(), leaf, tn.tensor(g))[0]
    np.testing.assert_array_equal(found.numpy(), np.where(x <= 0, np.float32(0), g))


@pytest.mark.parametrize("size", [0, (0, 2), (2, 0)])
def test_adaptive_pooling_to_no_parts(size):
    rows, columns = size if size else (0, 0)
    found, indices = F.adaptive_max_pool2d(tn.ones(1, 3, 4, 5), size, return_indices=True)
    assert found.shape == indices.shape == (1, 3, rows, columns)
