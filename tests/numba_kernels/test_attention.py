import numpy as np
import pytest

import tinynet as tn
from tests.numba_kernels.both import assert_alike, assert_gradients_alike, gradients
from tests.rounding import STEPS, assert_near
from tinynet.nn import functional as F
from tinynet.numba_kernels import attention as kernels
from tinynet.numba_kernels.compiler import plain as python

SHAPES = [(2, 3, 5, 4), (4, 1), (0, 2, 3), (16, 4, 65, 8)]


def numbers(*shape, seed=1):
    return np.random.default_rng(seed).standard_normal(shape).astype("f4")


def inputs(*shape):
    return tuple(numbers(*shape, seed=seed) for seed in range(3))


def attend(*mask, **options):
    masks = [tn.from_numpy(m) for m in mask]
    return lambda q, k, v: F.scaled_dot_product_attention(q, k, v, *masks, **options)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("causal", [False, True])
def test_shapes(compiled, shape, causal):
    assert_gradients_alike(attend(is_causal=causal), *inputs(*shape), terms=max(shape[-2:]))


@pytest.mark.parametrize(
    "shape", [(5, 5), (1, 5), (5, 1), (2, 1, 1, 5), (2, 3, 5, 5), (1, 1, 5, 5)]
)
def test_masks(compiled, shape):
    keep = np.random.default_rng(5).random(shape) < 0.6
    assert_gradients_alike(attend(keep), *inputs(2, 3, 5, 4), terms=5)


def test_a_bias(compiled):
    shapes = [*inputs(2, 3, 5, 4), numbers(5, 5, seed=7)]
    assert_gradients_alike(F.scaled_dot_product_attention, *shapes, terms=6)


def test_dropout(compiled):
    def run(q, k, v):
        tn.manual_seed(0)
        return attend(dropout_p=0.5)(q, k, v)

    assert_gradients_alike(run, *inputs(2, 3, 5, 4), terms=5)


def test_a_query_that_meets_no_key(compiled):
    keep = np.array([[True] * 3, [False] * 3, [True, False, True]])
    assert_gradients_alike(attend(keep), *inputs(2, 3, 4), terms=4)


def test_large_scores(compiled):
    q, k, v = inputs(2, 5, 4)

    def run(*arrays):
        return {"output": attend(is_causal=True)(*map(tn.from_numpy, arrays)).numpy()}

    assert_alike(run, q * 100, k * 100, v, terms=5)


def test_scores_that_are_not_numbers(compiled):
    q, k, v = inputs(2, 5, 4)
    q[0, 3, 1] = np.nan
    assert_gradients_alike(attend(is_causal=True), q, k, v, terms=5)


def test_heads_in_the_middle(compiled):
    """Gradients whose batch dimensions are in another order in memory."""

    def run(*x):
        return attend(is_causal=True)(*(a.permute(2, 1, 0, 3) for a in x))

    assert_gradients_alike(run, *inputs(4, 3, 2, 5), terms=5)


def test_the_gradient_of_the_gradient(compiled):
    def run(*arrays):
        q, k, v = (tn.from_numpy(a).requires_grad_() for a in arrays)
        first = tn.autograd.grad(attend()(q, k, v).square().sum(), q, create_graph=True)[0]
        return {"second": tn.autograd.grad(first.sum(), k)[0].numpy()}

    assert_alike(run, *inputs(2, 3, 4), terms=2 * 12)


def test_threads_change_nothing(compiled, threads):
    found = []
    for count in (1, 2):
        threads(count)
        found.append(gradients(attend(is_causal=True), *inputs(16, 4, 65, 8)))
    for name in found[0]:
        np.testing.assert_array_equal(found[0][name], found[1][name])


@pytest.mark.parametrize("rows, columns, size, width", [(9, 40, 16, 3), (33, 7, 20, 32)])
@pytest.mark.parametrize("causal", [False, True])
def test_lengths_and_sizes_of_their_own(compiled, rows, columns, size, width, causal):
    q, k, v = numbers(2, 3, rows, size), numbers(2, 3, columns, size), numbers(2, 3, columns, width)
    assert_gradients_alike(attend(is_causal=causal), q, k, v, terms=40)


def test_keys_in_the_middle_that_nobody_meets(compiled):
    keep = np.ones((12, 40), bool)
    keep[:, 9:30], keep[3:5], keep[7:9, 30:] = False, False, False
    q, k, v = numbers(12, 8), numbers(40, 8), numbers(40, 8)
    assert_gradients_alike(attend(keep), q, k, v, terms=40)


@pytest.mark.parametrize("which", range(3))
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_matters_also_behind_the_mask(compiled, which, bad):
    arrays = inputs(2, 20, 4)
    arrays[which][0, 17, 1] = bad
    with np.errstate(invalid="ignore"):
        assert_gradients_alike(attend(is_causal=True), *arrays, terms=20)


def packed(x, heads=3):
    """Attention as in a transformer's block, from queries, keys and values in one matrix."""
    batch, length, width = x.shape
    parts = x.view(batch, length, 3, heads, width // 3 // heads).permute(2, 0, 3, 1, 4)
    return attend(is_causal=True)(*parts.unbind(0)).transpose(1, 2).reshape(batch, length, -1)


def test_parts_of_one_matrix(compiled):
    x = numbers(2, 20, 3 * 3 * 8)
    assert_gradients_alike(packed, x, terms=20)
    assert_gradients_alike(lambda x: packed(x) + packed(2 * x), x, terms=20)


def test_gradients_of_parts_are_arrays_of_their_own(compiled):
    x = tn.from_numpy(numbers(3, 2, 20, 8)).requires_grad_()
    parts = x.unbind(0)
    for part in parts:
        part.retain_grad()
    attend(is_causal=True)(*parts).sum().backward()
    before = x.grad.clone()
    for i, part in enumerate(parts):
        np.testing.assert_array_equal(part.grad.numpy(), before[i].numpy())
        part.grad.zero_()
    np.testing.assert_array_equal(x.grad.numpy(), before.numpy())


def test_the_same_without_numba(compiled):
    """The kernels as Python runs them, with tiles and vectors by numpy."""
    q, k, v = (x.reshape(2, 1, 18, 4) for x in inputs(2, 18, 4))
    keep, scale = np.tri(18, dtype="f4"), np.float32(0.5)
    results = []
    for run in (lambda f: f, python):
        ends, weights, out = np.empty(18, "i4"), np.empty((2, 18, 18), "f4"), np.empty_like(v)
        run(kernels.reach)(keep, ends)
        sound = np.ones(1, "i4")
        run(kernels.attend)(q, k, v, keep, ends, scale, weights, out, sound, 0, 2)
        assert sound[0] == 1
        results.append((ends, weights, out))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    for found, plain in zip(results[0][1:], results[1][1:], strict=True):
        assert_near(found, plain.astype(float), 2 * (18 + STEPS))
