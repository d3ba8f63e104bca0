"""``x.data = y``: what saved x as an input computes with y, as in PyTorch."""

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import assert_near
from tinynet import nn
from tinynet.nn import functional as F
from tinynet.utils.checkpoint import checkpoint


class Product(tn.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b, g * a


OPERATIONS = {
    "operation": lambda x, w: x * w,
    "function": Product.apply,
    "checkpoint": lambda x, w: checkpoint(lambda x: x * w, x, use_reentrant=False),
    "compiled": tn.compile(lambda x, w: x * w),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_input_that_was_saved(name):
    for _ in range(3):
        x, w = tn.ones(2, requires_grad=True), tn.tensor([2.0, 3.0])
        y = OPERATIONS[name](x, w)
        w.data = tn.tensor([5.0, 6.0])
        w.data = tn.tensor([7.0, 8.0])
        y.sum().backward()
        assert x.grad.tolist() == [7.0, 8.0]
        assert w._version == 0


def test_a_result_inside_the_graph():
    x, w = tn.ones(2, requires_grad=True), tn.tensor([1.0, 2.0])
    h = x * 3
    y = h * h * w
    h.data = tn.tensor([10.0, 20.0])
    y.sum().backward()
    assert x.grad.tolist() == [60.0, 240.0]


def test_a_second_derivative():
    p = tn.tensor([1.0, 2.0], requires_grad=True)
    (g,) = tn.autograd.grad((p * p * p).sum(), p, create_graph=True)
    p.data = tn.tensor([3.0, 4.0])
    g.sum().backward()
    assert p.grad.tolist() == [14.0, 20.0]  # PyTorch's: it saved p and p * p


def test_outputs_views_and_the_weight_of_a_linear_map_keep_theirs():
    x = tn.ones(2, requires_grad=True)
    y = x * 2
    squared = y.square()
    root = squared.sqrt()
    root.data = tn.zeros(2)
    root.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]

    x, w = tn.ones(2, requires_grad=True), tn.tensor([2.0, 3.0])
    product = x * w.view(2)
    w.data = tn.zeros(2)
    product.sum().backward()
    assert x.grad.tolist() == [2.0, 3.0]

    x, w = tn.ones(1, 2, requires_grad=True), tn.tensor([[2.0, 3.0]])
    line = F.linear(x, w, tn.ones(1))
    w.data = tn.zeros(1, 2)
    line.sum().backward()
    assert x.grad.tolist() == [[2.0, 3.0]]


def test_a_write_after_it_is_an_error_and_views_do_not_change():
    x, w = tn.ones(2, requires_grad=True), tn.tensor([2.0, 3.0])
    y = x * w
    w.data = tn.tensor([5.0, 6.0])
    w.add_(1)
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0 instead"):
        y.sum().backward()

    x = tn.ones(2, requires_grad=True)
    with tn.no_grad():
        unrecorded = x.view(2)
    x.data = tn.tensor([5.0, 7.0])
    assert unrecorded.tolist() == [1.0, 1.0]
    assert (unrecorded * 2).requires_grad


def test_spectral_norms_of_two_calls_before_one_backward():
    # The discriminators of many GANs assign u.data in each forward and call it twice.
    weight = tn.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    u = nn.Parameter(tn.tensor([1.0, 0.0]), requires_grad=False)
    right = []

    def sigma():
        v = F.normalize(weight.data.t().mv(u.data), dim=0)
        u.data = F.normalize(weight.data.mv(v), dim=0)
        right.append(v.numpy())
        return u.dot(weight.mv(v))

    (sigma() + sigma()).backward()
    assert_near(weight.grad.numpy(), np.outer(u.detach().numpy(), sum(right)))  # u after both calls


@pytest.mark.parametrize("number", [1, 2, 3])
def test_arrays_that_take_turns_leave_no_list_behind(number):
    """As a model with averaged weights that are put in and taken out again."""
    w, x = tn.ones(2, requires_grad=True), tn.ones(2, requires_grad=True)
    kept = [tn.full((2,), float(n)) for n in range(number)]
    for values in kept * 3:
        y = x * w
        w.data = values
        w.data = values
        y.sum().backward()
        assert x.grad.tolist() == values.tolist()
        x.grad = None
    assert len(w._counter.replaced) <= number
