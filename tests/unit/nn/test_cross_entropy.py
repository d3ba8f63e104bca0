"""Cross-entropy with class indices: the fused operation against its parts, and its accuracy."""

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import assert_near, near
from tinynet.nn import functional as F

RNG = np.random.default_rng(0)
TARGET = tn.tensor([2, 0, 1, 2])


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("ignored", [-100, 2])
@pytest.mark.parametrize("center", [0.0, 30.0, -35.0, 90.0, -1e4])
def test_agrees_with_its_parts(center, ignored, reduction):
    values = (RNG.standard_normal((4, 3)) * 2 + center).astype(np.float32)
    results = []
    for parts in (False, True):
        x = tn.tensor(values, dtype=tn.float64 if parts else tn.float32, requires_grad=True)
        options = {"ignore_index": ignored, "reduction": reduction}
        if parts:
            loss = F.nll_loss(x.log_softmax(1), TARGET, **options)
        else:
            loss = F.cross_entropy(x, TARGET, **options)
        (loss * tn.tensor([1.0, 2.0, 3.0, 4.0])).sum().backward()
        results.append((loss.detach().numpy(), x.grad.numpy()))
    for found, wanted in zip(*results, strict=True):
        assert_near(found, wanted, scale=1 + np.abs(wanted))


def test_sure_predictions_are_exact_and_never_below_zero():
    x = np.full((1000, 10), -5.0, np.float32)
    x[:, 3] = np.linspace(0, 39, 1000)
    target = tn.full((1000,), 3, dtype=tn.int64)
    found = F.cross_entropy(tn.tensor(x), target, reduction="none").numpy()
    wanted = np.log1p(9 * np.exp(-5 - x[:, 3].astype(np.float64)))
    assert (found >= 0).all()
    assert_near(found, wanted, scale=1 + wanted)  # the logarithm of a sum of 1 and more


def test_masked_classes():
    x = tn.tensor([[0.0, -np.inf, 0.0]], requires_grad=True)
    loss = F.cross_entropy(x, tn.tensor([0]))
    loss.backward()
    assert loss.item() == near(np.log(2))
    assert x.grad.tolist() == [[-0.5, 0.0, 0.5]]
    assert F.cross_entropy(x, tn.tensor([1])).item() == np.inf


def test_a_target_that_is_written_before_backward():
    x, target = tn.zeros(2, 3, requires_grad=True), tn.tensor([0, 1])
    loss = F.cross_entropy(x, target)
    target[0] = 2
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
