"""Attention by kernels."""

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import STEPS
from tests.unit.native_kernels.both import assert_gradients_alike, both, gradients
from tinynet.kernels import native as native_kernels
from tinynet.kernels import threads
from tinynet.nn import functional as F

SHAPES = [(16, 4, 64, 8), (2, 2, 200, 16), (9, 130, 8)]


def heads_of(shape, keys=None):
    rng = np.random.default_rng(0)
    other = (*shape[:-2], keys or shape[-2], shape[-1])
    return [rng.standard_normal(s).astype("f4") for s in (shape, other, other)]


def irregular(length, keys):
    """A mask with all kinds of rows: of all keys, of none, of some at the ends and in the midst."""
    mask = np.random.default_rng(1).random((length, keys)) < 0.7
    mask[0], mask[1], mask[2, : keys // 2], mask[3, keys // 2 :] = True, False, False, False
    mask[length // 2 :, -keys // 3 :] = False
    return mask


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("is_causal", [False, True])
def test_attention(compiled, shape, is_causal):
    def run(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)

    assert_gradients_alike(run, *heads_of(shape), terms=shape[-2] + shape[-1], steps=6 * STEPS)


@pytest.mark.parametrize("keys", [180, 300])
@pytest.mark.parametrize("scale", [None, -0.7, 0.0])
def test_attention_with_a_mask_and_other_keys(compiled, keys, scale):
    mask = irregular(200, keys)

    def run(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, tn.from_numpy(mask), scale=scale)

    arrays = heads_of((2, 3, 200, 8), keys)
    assert_gradients_alike(run, *arrays, terms=keys + 8, steps=6 * STEPS)


@pytest.mark.parametrize("shape", SHAPES)
def test_dropout(compiled, shape):
    def run(q, k, v):
        tn.manual_seed(0)
        return F.scaled_dot_product_attention(q, k, v, dropout_p=0.3, is_causal=True)

    terms = shape[-2] + shape[-1]
    assert_gradients_alike(run, *heads_of(shape), terms=terms, steps=8 * STEPS)


def test_rows_that_lie_apart(compiled):
    def run(qkv):
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    x = np.random.default_rng(0).standard_normal((4, 100, 3, 4, 8)).astype("f4")
    assert_gradients_alike(run, x, terms=108, steps=6 * STEPS)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 3e38])
def test_scores_that_are_not_finite(compiled, number):
    q, k, v = heads_of((4, 4, 64, 4))
    q[1, 2, 3, 0] = number

    def run():
        with tn.no_grad():
            tensors = map(tn.from_numpy, (q, k, v))
            return F.scaled_dot_product_attention(*tensors, is_causal=True).numpy()

    with np.errstate(all="ignore"):
        plain, native = both(run)
    assert (np.isfinite(plain) == np.isfinite(native)).all()


@pytest.mark.parametrize("is_causal", [False, True])
def test_threads_change_no_bit(compiled, is_causal):
    arrays = heads_of((4, 4, 150, 16))
    tn.backends.llvm.enabled = True

    def attend(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)

    def run(count):
        with threads.used(count):
            return gradients(attend, *arrays)

    once = run(1)
    for count in (2, 3):
        np.testing.assert_equal(run(count), once)


def test_what_the_kernels_leave_to_numpy(compiled, monkeypatch):
    monkeypatch.setattr(native_kernels.attention, "attend", None)
    tn.backends.llvm.enabled = True
    q, k, v = map(tn.from_numpy, heads_of((16, 4, 64, 8)))
    F.scaled_dot_product_attention(q.double(), k.double(), v.double())
    F.scaled_dot_product_attention(q, k, v, tn.zeros(64, 64))
    F.scaled_dot_product_attention(q, k[:1], v[:1])
    F.scaled_dot_product_attention(q, k, v[..., :4])
    F.scaled_dot_product_attention(q.mT.contiguous().mT, k, v)
    F.scaled_dot_product_attention(q, k, v, tn.ones(16, 1, 64, 64, dtype=tn.bool))
    with pytest.raises(TypeError):
        F.scaled_dot_product_attention(q, k, v)
