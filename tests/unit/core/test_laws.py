"""The five laws of in-place operations: alias, bump, permit, rebase, regenerate."""

import numpy as np
import pytest

import tinynet as tn


def leaf(*values):
    return tn.tensor(values or (1.0, 2.0, 3.0), requires_grad=True)


# ---- 1. alias ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[0],
        lambda x: x[0:1],
        lambda x: x.t(),
        lambda x: x.view(4),
        lambda x: x.view(2, 2)[1].unsqueeze(0),
        lambda x: x.unbind()[1],
        lambda x: x.split(1)[0],
        lambda x: x.diagonal(),
        lambda x: x.expand(3, 2, 2)[0],
    ],
)
def test_views_share_version_and_memory(view):
    base = tn.zeros(2, 2)
    v = view(base)
    assert v._is_view() and v._base is base
    base.fill_(7)
    assert (v == 7).all() and v._version == base._version == 1


def test_detach_shares_the_version_and_data_does_not():
    x = leaf() * 1
    detached, data = x.detach(), x.data
    detached.zero_()
    assert x._version == 1 and data._version == 0
    data.zero_()
    assert x._version == 1 and (x == 0).all()


# ---- 2. bump -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.add_(1),
        lambda x: x.__setitem__(0, 5.0),
        lambda x: x.__setitem__(tn.tensor([0, 1]), 5.0),
        lambda x: x.normal_(),
        lambda x: x.copy_(tn.ones(3)),
        lambda x: x.zero_(),
        lambda x: x.clamp_(0, 1),
        lambda x: x[1:].mul_(2),
        lambda x: x.unsqueeze_(0),
    ],
)
@pytest.mark.parametrize("recording", [True, False])
def test_every_write_adds_exactly_one(write, recording):
    x = tn.zeros(3)
    with tn.set_grad_enabled(recording):
        write(x)
    assert x._version == 1


def test_accumulating_a_gradient_is_a_write():
    x = leaf()
    (x * 2).sum().backward()
    grad = x.grad
    (x * 2).sum().backward()
    assert x.grad is grad and grad._version == 1


def test_a_refused_write_changes_nothing():
    x = leaf()
    for write in (lambda: x.add_(1), lambda: x[:2].mul_(5), lambda: x.mul_(tn.ones(2, 3))):
        with pytest.raises(RuntimeError):
            write()
    assert x.tolist() == [1.0, 2.0, 3.0] and x._version == 0


def test_a_write_that_does_not_fit_changes_nothing():
    x = tn.zeros(3, dtype=tn.int64)
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired"):
        x.add_(0.5)
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        x.add_(tn.ones(2, 3, dtype=tn.int64))
    assert x.tolist() == [0, 0, 0] and x._version == 0


# ---- 3. permit ---------------------------------------------------------------------------------


def test_a_leaf_and_its_views_are_refused():
    x = leaf()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used"):
        x.add_(1)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        x[1:].add_(1)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        x[1:][0] = 5
    with tn.no_grad():
        x.add_(1)
        x[1:].add_(1)
    assert x.is_leaf and x.tolist() == [2.0, 4.0, 5.0]


def test_indexed_assignment_to_a_leaf_follows_the_seeds_or_the_switch():
    x = leaf()
    x[0] = 7
    assert not x.is_leaf and x.grad_fn.name() == "tinynet::autograd::CopySlices"
    tn.autograd.set_strict_leaf_writes(True)
    try:
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used"):
            leaf()[0] = 7
    finally:
        tn.autograd.set_strict_leaf_writes(False)


def test_one_of_several_views_is_refused_also_through_a_further_view():
    x = leaf() * 1
    parts = x.split(2)
    with pytest.raises(RuntimeError, match="Output 0 of Split is a view and is being modified"):
        parts[0].mul_(2)
    with pytest.raises(RuntimeError, match="Output 0 of Select is a view and is being modified"):
        parts[0][0].mul_(2)
    x.mul_(2)
    with pytest.raises(RuntimeError, match="its base or another view of its base has been mod"):
        assert parts[1].grad_fn


def test_a_view_made_under_no_grad_is_refused_later():
    x = leaf() * 1
    with tn.no_grad():
        view = x[:2]
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and is being"):
        view.mul_(2)
    with tn.no_grad():
        view.mul_(2)
    assert x.tolist() == [2.0, 4.0, 3.0]


def test_expanded_memory_is_refused():
    x = tn.zeros(1, 3).expand(2, 3)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        x.add_(1)


# ---- 4. rebase ---------------------------------------------------------------------------------


def test_in_place_gives_the_tensor_a_new_history():
    a = leaf()
    x = a * 2
    x.mul_(3)
    assert x.grad_fn.name() == "MulBackward0"
    x.sum().backward()
    assert a.grad.tolist() == [6.0, 6.0, 6.0]


def test_writing_to_a_view_rebases_the_base():
    a, w = leaf(), tn.tensor([10.0, 20.0], requires_grad=True)
    x = a * 1
    x[1:].mul_(w)
    assert x.grad_fn.name() == "tinynet::autograd::CopySlices"
    (x * tn.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert a.grad.tolist() == [1.0, 20.0, 60.0]
    assert w.grad.tolist() == [4.0, 9.0]


def test_writing_a_recorded_value_to_a_constant_base():
    w = leaf()
    x = tn.zeros(2, 3)
    x[1].copy_(w * 2)
    assert x.requires_grad
    (x * x).sum().backward()
    assert w.grad.tolist() == [8.0, 16.0, 24.0]


@pytest.mark.parametrize("index", [0, slice(1, 3), tn.tensor([0, 2]), [True, False, True], ...])
def test_assigned_parts_lose_their_old_gradient(index):
    a, v = leaf(), tn.tensor(5.0, requires_grad=True)
    x = a * 1
    x[index] = v
    (x * tn.tensor([1.0, 10.0, 100.0])).sum().backward()
    weights, kept = np.array([1.0, 10.0, 100.0]), np.ones(3)
    key = index.numpy() if isinstance(index, tn.Tensor) else index
    kept[key] = 0
    assert a.grad.tolist() == (weights * kept).tolist()
    assert v.grad.item() == (weights * (1 - kept)).sum()


def test_an_in_place_product_with_itself_saves_the_old_value():
    a, w = leaf(), tn.tensor([4.0, 5.0, 6.0], requires_grad=True)
    x = a * 1
    x.mul_(w)
    x.sum().backward()
    assert w.grad.tolist() == [1.0, 2.0, 3.0] and a.grad.tolist() == [4.0, 5.0, 6.0]


# ---- 5. regenerate -----------------------------------------------------------------------------


def test_views_follow_their_base():
    a = leaf()
    x = a * 1
    before = x[:2]
    inner = before[1]
    x.mul_(10)
    assert inner.grad_fn is not None
    (before.sum() + inner).backward()
    assert a.grad.tolist() == [10.0, 20.0, 0.0]


def test_views_of_a_base_that_begins_to_require_grad():
    w = leaf()
    x = tn.zeros(3)
    view = x[1:]
    assert not view.requires_grad
    x.copy_(w)
    assert view.requires_grad and view.grad_fn is not None
    view.sum().backward()
    assert w.grad.tolist() == [0.0, 1.0, 1.0]


def test_a_chain_of_views_is_replayed_in_order():
    a = tn.arange(6.0).requires_grad_()
    x = a * 1
    view = x.view(2, 3).t()[1:]
    view.mul_(2)
    x.sum().backward()
    assert a.grad.tolist() == [1.0, 2.0, 2.0, 1.0, 2.0, 2.0]
    assert view.tolist() == [[2.0, 8.0], [4.0, 10.0]]


def test_second_derivatives_through_writes_to_views():
    a = tn.tensor([1.0, 2.0, 3.0], dtype=tn.float64, requires_grad=True)
    w = tn.tensor([2.0, 5.0], dtype=tn.float64, requires_grad=True)

    def function(a, w):
        x = a * a
        x[1:].mul_(w * w)
        x[0] = x[2].clone() * w[0]
        return x * x

    assert tn.autograd.gradcheck(function, (a, w))
    assert tn.autograd.gradgradcheck(function, (a, w))
