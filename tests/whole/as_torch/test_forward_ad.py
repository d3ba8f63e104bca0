"""Dual tensors: products of Jacobians and directions in ordinary code."""

import pytest

import tinynet as tn
from tests.tools.rounding import near
from tinynet import nn
from tinynet.func import forward_ad, jvp
from tinynet.nn import functional as F


def test_tangents_are_those_of_jvp():
    def f(x, y):
        return (x.sin() * y).sum(0), x @ y.T

    x, y, u, v = (tn.randn(2, 3) for _ in range(4))
    values, tangents = jvp(f, (x, y), (u, v))
    with forward_ad.dual_level():
        outputs = f(forward_ad.make_dual(x, u), forward_ad.make_dual(y, v))
        for out, value, tangent in zip(outputs, values, tangents, strict=True):
            primal, found = forward_ad.unpack_dual(out)
            assert primal.equal(value) and found.equal(tangent)
            assert not primal.requires_grad and not found.requires_grad


def test_parameters_and_no_grad_around_the_level():
    net, x = nn.Linear(3, 2, bias=False), tn.randn(4, 3)
    before, zeros, ones = net.weight.detach().clone(), tn.zeros(4, 2), tn.ones(2, 3)
    tangents = {name: tn.ones_like(p) for name, p in net.named_parameters()}
    with tn.no_grad(), forward_ad.dual_level():
        duals = {n: forward_ad.make_dual(p, tangents[n]) for n, p in net.named_parameters()}
        loss = F.mse_loss(tn.func.functional_call(net, duals, x), zeros)
        tangent = forward_ad.unpack_dual(loss).tangent
        with tn.no_grad():
            net.weight.sub_(tangents["weight"] * tangent)
    (expected,) = jvp(lambda w: F.mse_loss(F.linear(x, w), zeros), (before,), (ones,))[1:]
    assert tangent.item() == near(expected.item(), roundings=60)
    assert net.weight.tolist() == (before - tangent).tolist()


def test_a_tangent_has_a_gradient_by_parameters_outside():
    w, v = tn.tensor([1.0, 2.0], requires_grad=True), tn.tensor([3.0, -1.0])
    with forward_ad.dual_level():
        tangent = forward_ad.unpack_dual((forward_ad.make_dual(w, v) ** 3).sum()).tangent
        (g,) = tn.autograd.grad(tangent, w)
    assert g.tolist() == near([18.0, -12.0], roundings=8)


def test_what_does_not_depend_on_a_dual_has_no_tangent():
    x = tn.ones(2, requires_grad=True)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(tn.ones(2), tn.ones(2))
        assert forward_ad.unpack_dual(x * 2).tangent is None
        assert forward_ad.unpack_dual(dual.detach()).tangent is None
        assert forward_ad.unpack_dual(dual > 0).tangent is None
    assert forward_ad.unpack_dual(dual).tangent is None


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda d: forward_ad.enter_dual_level(), RuntimeError, "Nested forward mode AD"),
        (lambda d: forward_ad.make_dual(d, d), RuntimeError, "Making a dual Tensor based on"),
        (lambda d: forward_ad.make_dual(tn.ones(2), tn.ones(3)), RuntimeError, "different size"),
        (lambda d: forward_ad.make_dual(tn.tensor([1]), d), ValueError, "Expected primal to be"),
        (lambda d: forward_ad.exit_dual_level(level=1), RuntimeError, "Trying to exit a forward"),
    ],
)
def test_refusals(call, error, text):
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(tn.ones(2), tn.ones(2))
        with pytest.raises(error, match=text):
            call(dual)


def test_duals_need_a_level():
    with pytest.raises(RuntimeError, match="no level exists"):
        forward_ad.make_dual(tn.ones(1), tn.ones(1))
