"""nn.utils: clipping, parameters as a vector."""

import math

import pytest

import tinynet as tn
from tests.tools.rounding import near
from tinynet import nn
from tinynet.nn import utils


def with_grads(*grads):
    made = []
    for grad in grads:
        p = nn.Parameter(tn.zeros(len(grad)))
        p.grad = tn.tensor(grad)
        made.append(p)
    return made


def test_clipping_by_norm():
    params = with_grads([3.0], [0.0, 4.0])
    total = utils.clip_grad_norm_(iter(params), 1.0)
    assert total.item() == 5.0 and type(total) is tn.Tensor and total.shape == ()
    assert params[0].grad.tolist() == near([0.6])
    assert params[1].grad.tolist() == near([0.0, 0.8])
    assert params[0].grad._version == 1


def test_small_gradients_stay():
    (p,) = with_grads([3.0, 4.0])
    grad = p.grad
    assert utils.clip_grad_norm_(p, 10.0).item() == 5.0
    assert p.grad is grad and grad.tolist() == [3.0, 4.0]


@pytest.mark.parametrize("p, norm", [(1.0, 7.0), (2.0, 5.0), (3.0, 91 ** (1 / 3)), (math.inf, 4)])
def test_kinds_of_norm(p, norm):
    params = with_grads([3.0], [0.0, -4.0])
    assert utils.get_total_norm([q.grad for q in params], p).item() == near(norm)
    utils.clip_grad_norm_(params, norm / 2, norm_type=p)
    assert params[1].grad.tolist() == near([0.0, -2.0])


def test_norm_and_scaling_in_two_steps():
    params = with_grads([3.0], [4.0])
    total = utils.get_total_norm([q.grad for q in params])
    utils.clip_grads_with_norm_(params, 2.5, total)
    assert params[1].grad.item() == near(2)


def test_no_gradients():
    assert utils.clip_grad_norm_(nn.Linear(1, 1).parameters(), 1.0).item() == 0
    with pytest.warns(UserWarning, match="is an empty generator, no gradient clipping") as caught:
        assert utils.clip_grad_norm_((p for p in []), 1.0).item() == 0
    assert caught[0].filename == __file__


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_gradients_that_are_not_finite(wrong):
    params = with_grads([wrong], [4.0])
    with pytest.raises(RuntimeError) as caught:
        utils.clip_grad_norm_(params, 1.0, error_if_nonfinite=True)
    assert str(caught.value).startswith(
        "The total norm of order 2.0 for gradients from `parameters` is non-finite, so it cannot "
        "be clipped."
    )
    assert params[1].grad.item() == 4.0
    utils.clip_grad_norm_(params, 1.0)
    assert math.isnan(params[0].grad.item())


def test_the_norm_has_the_dtype_of_the_gradients():
    p = nn.Parameter(tn.zeros(1, dtype=tn.float64))
    p.grad = tn.ones(1, dtype=tn.float64)
    assert utils.clip_grad_norm_(p, 1.0).dtype == tn.float64


def test_clipping_by_value():
    (p,) = with_grads([0.5, -4.0, 3.0])
    assert utils.clip_grad_value_([p], 1) is None
    assert p.grad.tolist() == [0.5, -1.0, 1.0] and p.grad._version == 1


def test_clipping_is_seen_by_a_graph_that_needs_the_gradient():
    p = nn.Parameter(tn.tensor([2.0]))
    (p * p).sum().backward()
    x = tn.ones(1, requires_grad=True)
    loss = (x * p.grad).sum()
    utils.clip_grad_norm_(p, 1.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
        loss.backward()
    assert "by clip_grad_norm_" in str(caught.value)


def test_parameters_as_a_vector_and_back():
    net = nn.Linear(2, 3)
    vector = utils.parameters_to_vector(net.parameters())
    assert vector.tolist() == net.weight.reshape(-1).tolist() + net.bias.tolist()
    vector.sum().backward()
    assert net.bias.grad.tolist() == [1.0] * 3
    utils.vector_to_parameters(tn.arange(9.0), net.parameters())
    assert net.weight.tolist() == [[0, 1], [2, 3], [4, 5]] and net.bias.tolist() == [6, 7, 8]
    assert net.weight.requires_grad and net.weight.is_leaf
    with pytest.raises(TypeError, match="expected tinynet.Tensor, but got: int"):
        utils.vector_to_parameters(3, net.parameters())
    with pytest.raises(RuntimeError, match=r"shape '\[3, 2\]' is invalid for input of size 5"):
        utils.vector_to_parameters(tn.zeros(5), net.parameters())


def test_skipped_initialisation_draws_nothing():
    state = tn.get_rng_state()
    net = utils.skip_init(nn.Linear, 3, 2, dtype=tn.float64)
    assert tn.equal(tn.get_rng_state(), state)
    assert net.weight.dtype == tn.float64 and net.weight._version == 0
    with pytest.raises(TypeError):
        utils.skip_init(nn.Linear, 3)
    nn.Linear(3, 2)
    assert not tn.equal(tn.get_rng_state(), state)


def test_a_functional_call_leaves_what_is_given_in_several_dictionaries():
    class Counts(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", tn.zeros(1))

        def forward(self):
            self.count = self.count + 1

    given = {"count": tn.tensor([5.0])}
    net = Counts()
    utils.stateless.functional_call(net, (given,))
    assert given["count"].tolist() == [5.0] and net.count.tolist() == [0.0]
    utils.stateless.functional_call(net, given)
    assert given["count"].tolist() == [6.0] and net.count.tolist() == [0.0]


def test_gradients_go_to_the_tensors_of_a_functional_call():
    net = nn.Linear(2, 1)
    weight = tn.ones(1, 2, requires_grad=True)
    out = utils.stateless.functional_call(net, {"weight": weight}, tn.ones(1, 2))
    out.sum().backward()
    assert weight.grad.tolist() == [[1.0, 1.0]] and net.weight.grad is None
    assert net.bias.grad.tolist() == [1.0]
