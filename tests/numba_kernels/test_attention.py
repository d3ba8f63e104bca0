import numpy as np
import pytest

import tinynet as tn
from tests.numba_kernels.both import assert_alike, gradients
from tinynet.nn import functional as F

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
    assert_alike(lambda: gradients(attend(is_causal=causal), *inputs(*shape)), 1e-5)


@pytest.mark.parametrize(
    "shape", [(5, 5), (1, 5), (5, 1), (2, 1, 1, 5), (2, 3, 5, 5), (1, 1, 5, 5)]
)
def test_masks(compiled, shape):
    keep = np.random.default_rng(5).random(shape) < 0.6
    assert_alike(lambda: gradients(attend(keep), *inputs(2, 3, 5, 4)), 1e-5)


def test_a_bias(compiled):
    shapes = [*inputs(2, 3, 5, 4), numbers(5, 5, seed=7)]
    assert_alike(lambda: gradients(F.scaled_dot_product_attention, *shapes), 1e-5)


def test_dropout(compiled):
    def run():
        tn.manual_seed(0)
        return gradients(attend(dropout_p=0.5), *inputs(2, 3, 5, 4))

    assert_alike(run, 1e-5)


def test_a_query_that_meets_no_key(compiled):
    keep = np.array([[True] * 3, [False] * 3, [True, False, True]])
    assert_alike(lambda: gradients(attend(keep), *inputs(2, 3, 4)), 1e-5)


def test_large_scores(compiled):
    q, k, v = (tn.from_numpy(x) for x in inputs(2, 5, 4))
    assert_alike(lambda: {"output": attend(is_causal=True)(q * 100, k * 100, v).numpy()})


def test_scores_that_are_not_numbers(compiled):
    q, k, v = inputs(2, 5, 4)
    q[0, 3, 1] = np.nan
    assert_alike(lambda: gradients(attend(is_causal=True), q, k, v), 1e-5)


def test_heads_in_the_middle(compiled):
    """Gradients whose batch dimensions are in another order in memory."""
    run = attend(is_causal=True)
    assert_alike(lambda: gradients(lambda *x: run(*(a.permute(2, 1, 0, 3) for a in x)),
                                   *inputs(4, 3, 2, 5)), 1e-5)  # fmt: skip


def test_the_gradient_of_the_gradient(compiled):
    def run():
        q, k, v = (tn.from_numpy(a).requires_grad_() for a in inputs(2, 3, 4))
        first = tn.autograd.grad(attend()(q, k, v).square().sum(), q, create_graph=True)[0]
        return {"second": tn.autograd.grad(first.sum(), k)[0].numpy()}

    assert_alike(run, 1e-5)


def test_threads_change_nothing(compiled, threads):
    found = []
    for count in (1, 2):
        threads(count)
        found.append(gradients(attend(is_causal=True), *inputs(16, 4, 65, 8)))
    for name in found[0]:
        np.testing.assert_array_equal(found[0][name], found[1][name])
