"""Margin losses where PyTorch cannot tell: second derivatives, and far out."""

import numpy as np
import pytest

import tinynet as tn
import tinynet.nn.functional as F
from tinynet.autograd import gradcheck, gradgradcheck


def scores(*shape):
    return tn.tensor(np.random.RandomState(1).standard_normal(shape), requires_grad=True)


@pytest.mark.parametrize("p", [1, 2])
def test_multi_margin_to_the_second_order(p):
    target, weight = tn.tensor([0, 3, 1]), tn.tensor([0.5, 1.0, 2.0, 0.1], dtype=tn.float64)

    def loss(x):
        return F.multi_margin_loss(x, target, p, 0.7, weight, reduction="none")

    assert gradcheck(loss, [scores(3, 4)]) and gradgradcheck(loss, [scores(3, 4)])


def test_multilabel_margin_to_the_second_order():
    target = tn.tensor([[1, 0, -1, 2], [-1, 0, 0, 0], [3, 2, 1, 0]])

    def loss(x):
        return F.multilabel_margin_loss(x, target, reduction="none")

    assert gradcheck(loss, [scores(3, 4)]) and gradgradcheck(loss, [scores(3, 4)])
    assert loss(scores(3, 4))[1:].tolist() == [0.0, 0.0]  # no right class, no wrong class


def test_soft_margin_does_not_overflow():
    x = tn.tensor([-2000.0, 2000.0], requires_grad=True)
    loss = F.soft_margin_loss(x, tn.ones(2), reduction="none")
    loss.sum().backward()
    assert loss.tolist() == [2000.0, 0.0] and x.grad.tolist() == [-1.0, 0.0]
