"""Attention of many scores is computed part by part: that changes nothing."""

import numpy as np
import pytest

import tinynet as tn
from tinynet.nn import functional as F
from tinynet.nn.functional import scaled_dot_product

BATCH, HEADS, LENGTH, KEYS, SIZE = 5, 5, 7, 6, 3
MASKS = [(LENGTH, KEYS), (HEADS, LENGTH, KEYS), (1, 1, LENGTH, KEYS), (BATCH, HEADS, LENGTH, KEYS)]


def tensors(*shapes, seed=0):
    rng = np.random.default_rng(seed)
    return [tn.tensor(rng.standard_normal(shape), requires_grad=True) for shape in shapes]


def results(monkeypatch, block, inputs, mask, **options):
    """The output and all gradients, with parts of about ``block`` scores."""
    monkeypatch.setattr(scaled_dot_product, "_BLOCK", block)
    tn.manual_seed(0)
    for x in inputs:
        x.grad = None
    output = F.scaled_dot_product_attention(*inputs[:3], attn_mask=mask, **options)
    (output * tn.arange(float(output.numel())).reshape(output.shape)).sum().backward()
    return [output.detach(), *(x.grad for x in inputs)]


@pytest.mark.parametrize("shape", [None, *MASKS])
@pytest.mark.parametrize("kind", ["float", "bool", "dropout"])
def test_parts(monkeypatch, shape, kind):
    batch = BATCH, HEADS
    inputs = tensors((*batch, LENGTH, SIZE), (*batch, KEYS, SIZE), (*batch, KEYS, SIZE))
    mask, options = None, {"dropout_p": 0.3} if kind == "dropout" else {}
    if shape is not None:
        (mask,) = tensors(shape, seed=1)
        mask = mask.detach() > -1 if kind == "bool" else mask
        inputs += [] if kind == "bool" else [mask]
    whole, parts = (results(monkeypatch, n, inputs, mask, **options) for n in (1 << 30, 100))
    for found, wanted in zip(parts, whole, strict=True):
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-12, atol=1e-12)


def test_shapes_that_broadcast_are_not_cut(monkeypatch):
    inputs = tensors((BATCH, HEADS, LENGTH, SIZE), (1, HEADS, KEYS, SIZE), (HEADS, KEYS, SIZE))
    whole, parts = (results(monkeypatch, n, inputs, None) for n in (1 << 30, 100))
    for found, wanted in zip(parts, whole, strict=True):
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-12, atol=1e-12)


def test_threads_do_not_change_a_number(monkeypatch):
    inputs, before = tensors(*[(64, 4, 40, 8)] * 3), tn.get_num_threads()
    found = []
    try:
        for count in (1, 2):
            tn.set_num_threads(count)
            found.append(results(monkeypatch, 1 << 16, inputs, None, is_causal=True))
    finally:
        tn.set_num_threads(before)
    for one, two in zip(*found, strict=True):
        assert np.array_equal(one.numpy(), two.numpy())
