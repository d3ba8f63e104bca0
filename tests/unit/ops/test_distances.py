"""Distances in blocks: shapes on both sides of a block's limits, against all differences."""

import itertools
import math

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import assert_near
from tinynet.kernels import distances

SHAPES = [(2, 3, 4, 5), (3, 40, 30, 200), (300, 20, 21, 3), (1, 80, 90, 700), (1, 2, 70000, 2)]
ORDERS = [0, 0.5, 1, 1.5, 2, 3, math.inf]


def exact(a, b, p):
    gap = np.abs(a[..., :, None, :].astype(np.float64) - b[..., None, :, :])
    if p == 0:
        return (gap != 0).sum(-1).astype(np.float64)
    return gap.max(-1) if p == math.inf else (gap**p).sum(-1) ** (1 / p)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_all_differences_are_covered_once(shape):
    batch, n, m, d = shape
    draw = np.random.default_rng(0)
    a, b = draw.normal(size=(batch, n, d)), draw.normal(size=(batch, m, d))
    found = np.zeros((batch, d, n, m))
    for at, k, gap in distances.gaps(a, b):
        found[at[0], k, at[1], at[2]] += gap
    np.testing.assert_array_equal(found, (a[:, :, None] - b[:, None]).transpose(0, 3, 1, 2))


@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize("shape", SHAPES[:4], ids=str)
def test_distances_and_gradients(shape, p):
    batch, n, m, d = shape
    tn.manual_seed(0)
    a, b = tn.randn(batch, n, d), tn.randn(batch, m, d)
    mode = "donot_use_mm_for_euclid_dist"
    expected = exact(a.numpy(), b.numpy(), p)
    assert_near(tn.cdist(a, b, p, mode).numpy(), expected, 4 * d, expected)
    x, y = (t.double().requires_grad_() for t in (a, b))
    wide = tn.autograd.grad(tn.cdist(x, y, p, mode).sum(), (x, y))
    for at in itertools.islice(np.ndindex(batch, n, m), 0, None, 97):
        i, j = at[:2], (at[0], at[2])
        one = exact(a.numpy()[i][None], b.numpy()[j][None], p)
        np.testing.assert_allclose(expected[at], one[0, 0], rtol=1e-12)
    x, y = (t.clone().requires_grad_() for t in (a, b))
    for found, correct in zip(
        tn.autograd.grad(tn.cdist(x, y, p, mode).sum(), (x, y)), wide, strict=True
    ):
        scale = np.abs(correct.numpy()).max() + n + m
        assert_near(found.numpy(), correct.numpy(), 8 * (d + n + m), scale)


@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (5, 0), (9, 4), (130, 70)], ids=str)
def test_pdist_is_the_upper_triangle_of_cdist(shape, p):
    tn.manual_seed(0)
    x = tn.randn(*shape, dtype=tn.float64).requires_grad_()
    first, second = np.triu_indices(len(x), 1)
    pairs = tn.pdist(x, p)
    square = tn.cdist(x, x, p, "donot_use_mm_for_euclid_dist")
    expected = square[tn.from_numpy(first), tn.from_numpy(second)]
    assert_near(pairs.detach().numpy(), expected.detach().numpy(), 4 * shape[1] + 9)
    g = tn.randn(*pairs.shape, dtype=tn.float64)
    found, correct = (tn.autograd.grad(y, x, g)[0].numpy() for y in (pairs, expected))
    assert_near(found, correct, 8 * sum(shape), np.abs(correct).max(initial=0) + shape[0])


def test_euclidean_gradients_of_close_points_are_exact():
    """Products in float64 would lose the direction of the first pair."""
    x = tn.tensor([[1e-12, 0.0], [0.0, 0.0], [1.0, 1.0]], requires_grad=True)
    tn.pdist(x)[0].backward()
    assert x.grad.tolist() == [[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]]


def test_ties_of_the_largest_difference_all_count():
    """PyTorch does not divide the gradient among them, unlike that of amax and vector_norm."""
    x = tn.tensor([[1.0, 2.0, 2.0], [0.0, 0.0, 0.0]], requires_grad=True)
    tn.pdist(x, math.inf).backward()
    assert x.grad.tolist() == [[0.0, 1.0, 1.0], [0.0, -1.0, -1.0]]
    x.grad = None
    tn.cdist(x, x.detach(), math.inf).sum().backward()
    assert x.grad.tolist() == [[0.0, 1.0, 1.0], [0.0, -1.0, -1.0]]


def test_zero_norm_has_a_zero_gradient_and_keeps_nan():
    x = tn.tensor([[1.0, math.nan], [0.0, 0.0], [0.0, 3.0]], requires_grad=True)
    found = tn.pdist(x, 0)
    assert [repr(y) for y in found.tolist()] == ["nan", "nan", "1.0"]
    found.sum().backward()
    assert not x.grad.any()


@pytest.mark.parametrize("dtype", [tn.float16, tn.bfloat16])
def test_pdist_refuses_16_bits_as_pytorch_does(dtype):
    with pytest.raises(
        NotImplementedError, match="\"pdist\" not implemented for '(BFloat16|Half)'"
    ):
        tn.pdist(tn.ones(3, 2, dtype=dtype))
