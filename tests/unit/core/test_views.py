"""Flags, `.data`, detaching and overlapping memory, where the laws have corners."""

import numpy as np
import pytest

import tinynet as tn
from tinynet.autograd import graph


def leaf(*values):
    return tn.tensor(values or (1.0, 2.0, 3.0), requires_grad=True)


# ---- requires_grad, is_leaf, _base ---------------------------------------------------------------


def test_what_may_require_grad():
    for value in (tn.tensor([1]), tn.tensor([True])):
        with pytest.raises(RuntimeError, match="^only Tensors of floating point and complex dtype"):
            value.requires_grad = True
        with pytest.raises(RuntimeError, match="only Tensors of floating point"):
            value.requires_grad_()
        value.requires_grad = False
        assert value.requires_grad_(False) is value and not value.requires_grad
    y = leaf() * 2
    with pytest.raises(RuntimeError, match="^you can only change requires_grad flags of leaf var"):
        y.requires_grad = True
    assert y.requires_grad_() is y
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf var"):
        y.requires_grad_(False)


def test_a_view_of_a_constant_can_become_a_leaf_of_its_own():
    base = tn.zeros(3)
    view = base[1:]
    view.requires_grad_()
    assert view.is_leaf and not base.requires_grad and view._base is base
    (view * 2).sum().backward()
    assert view.grad.tolist() == [2.0, 2.0] and base.grad is None
    view.requires_grad_(False)
    assert not view.requires_grad
    base.requires_grad_()
    assert view.requires_grad  # it follows its base again


def test_integer_views_never_require_grad():
    base = tn.arange(4)
    view = base[1:]
    assert view._is_view() and not view.requires_grad and view.grad_fn is None and view.is_leaf
    view += 1
    assert base.tolist() == [0, 2, 3, 4] and base._version == 1


def test_views_of_views_have_one_base():
    x = leaf() * 1
    inner = x[1:][:1][0]
    assert inner._base is x and x._base is None and not x._is_view()
    assert x.detach()._base is None and x.data._base is None
    parts = x.unbind()
    assert [p.output_nr for p in parts] == [0, 1, 2] and x.output_nr == 0
    assert all(p._base is x for p in parts)


def test_views_of_one_of_several_views_keep_the_refusal():
    x = leaf() * 1
    part = x.split(2)[1]
    with pytest.raises(RuntimeError, match="^Output 0 of Select is a view and is being mod"):
        part.view(1)[0].zero_()
    with tn.no_grad():
        part.zero_()
    assert x.tolist() == [1.0, 2.0, 0.0]


def test_a_view_made_without_recording_has_no_history():
    x = leaf() * 1
    with tn.no_grad():
        view = x[:2]
    assert view.requires_grad and view.grad_fn is None
    y = view * 2
    assert y.requires_grad
    y.sum().backward()
    x.sum().backward()
    x.mul_(2)
    with pytest.raises(
        RuntimeError, match="its base or another view of its base has been modified"
    ):
        assert view.grad_fn


def test_views_of_a_base_that_is_cut_off():
    x = leaf() * 1
    view = x[:2]
    with pytest.raises(RuntimeError, match="Can't detach views in-place"):
        view.detach_()
    x.detach_()
    assert not x.requires_grad and x.is_leaf and x._version == 0


# ---- .data and detach ----------------------------------------------------------------------------


def test_data_takes_floating_tensors_only_where_grad_is_required():
    x = leaf()
    with pytest.raises(TypeError, match="^Variable data has to be a tensor, but got list$"):
        x.data = [1.0]
    with pytest.raises(RuntimeError, match="^data set to a tensor that requires gradients must be"):
        x.data = tn.tensor([1, 2, 3])
    x.data = tn.tensor([4.0, 5.0, 6.0])
    assert x.tolist() == [4.0, 5.0, 6.0] and x.requires_grad and x._version == 0
    y = tn.ones(2)
    y.data = tn.tensor([1, 2])
    assert y.dtype is tn.int64


def test_detached_tensors_share_what_they_should():
    x = leaf() * 1
    cut, data = x.detach(), x.data
    assert not cut.requires_grad and cut.is_leaf and not data.requires_grad
    assert np.shares_memory(cut.numpy(), x.detach().numpy())
    with tn.no_grad():
        x.add_(1)
    assert (cut._version, data._version, x._version) == (1, 0, 1)


# ---- t_, squeeze_ and the like -------------------------------------------------------------------


def test_a_tensor_that_becomes_its_own_view():
    x = tn.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 1
    row = y[0]
    y.t_()
    assert y.shape == (3, 2) and y._version == 1 and not y._is_view() and y._base is None
    y[0].mul_(10)
    (y * tn.ones(3, 2)).sum().backward()
    assert x.grad.tolist() == [[10.0, 1.0, 1.0], [10.0, 1.0, 1.0]]
    assert row.tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        x.t_()
    assert x.shape == (2, 3) and x._version == 0


def test_reshapes_that_undo_each_other_leave_nothing():
    x = tn.arange(6.0).reshape(2, 3).clone()
    part = x.view(6).view(2, 3)
    sizes = set()
    for _ in range(10):
        x.t_().t_()
        x.transpose_(0, 1).transpose_(0, 1)
        x.unsqueeze_(0).squeeze_(0)
        x.unsqueeze_(-1).squeeze_()
        x.squeeze_().unsqueeze_(0).squeeze_()
        x.detach().t_()
        part.t_().t_()
        part.unsqueeze_(1).squeeze_(1)
        sizes.add((len(x._counter.reshaped), len(part._view.chain)))
    assert max(sizes) <= (4, 4) and x._version == 160


def test_views_made_between_reshapes_keep_their_gradient():
    leaf = tn.arange(6.0).reshape(2, 3).requires_grad_()
    x = leaf * 1
    x.unsqueeze_(0)
    first = x[0, 1]
    x.squeeze_(0)
    second = x[1]
    x.t_().t_()
    x.unsqueeze_(0)
    third = x[0, 1]
    x.mul_(3)
    x.squeeze_(0)
    (first + 10 * second + 100 * third).sum().backward()
    assert leaf.grad.tolist() == [[0.0] * 3, [333.0] * 3]


# ---- memory that overlaps ------------------------------------------------------------------------

PARTLY = "some elements of the input tensor and the written-to tensor refer to a single memory"
SEVERAL = "more than one element of the written-to tensor refers to a single memory location"


def test_an_operand_may_not_overlap_partly():
    x = tn.arange(6.0)
    for target, other in ((x[:4], x[1:5]), (x[1:5], x[:4]), (x[:4], x[3:4]), (x[:4], x[:1])):
        with pytest.raises(RuntimeError, match=PARTLY):
            target.sub_(other)
    square = tn.ones(2, 2)
    with pytest.raises(RuntimeError, match=PARTLY):
        square.add_(square.t())
    assert x.tolist() == [0, 1, 2, 3, 4, 5] and x._version == square._version == 0


def test_an_operand_may_be_the_same_or_lie_beside():
    x = tn.arange(6.0)
    x[:3].add_(x[3:])
    x[3:].add_(x[:3])
    x.add_(x)
    x.add_(x.view(6))
    assert x.tolist() == [12.0, 20.0, 28.0, 24.0, 36.0, 48.0] and x._version == 4
    x[:0].add_(x[:1])
    x.mul_(tn.ones(6))


def test_expanded_memory_may_be_filled_but_not_written():
    x = tn.zeros(1, 3).expand(2, 3)
    for write in (lambda: x.mul_(2), lambda: x.copy_(tn.ones(2, 3)), lambda: x.add_(x)):
        with pytest.raises(RuntimeError, match=SEVERAL):
            write()
    x.zero_()
    x.fill_(2)
    assert x.tolist() == [[2.0] * 3] * 2
    tn.zeros(1, 3).expand(1, 3).add_(1)  # one row only: nothing is shared


# ---- a transposed base ---------------------------------------------------------------------------


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_part_of_a_base_whose_memory_is_in_another_order(create_graph):
    a = tn.arange(6.0).reshape(2, 3).requires_grad_()
    base = a.t() * 1
    assert not base.is_contiguous()
    base[1:].mul_(3)
    weights = tn.arange(6.0).reshape(3, 2)
    (g,) = tn.autograd.grad((base * weights).sum(), a, create_graph=create_graph)
    expected = weights.clone()
    expected[1:] *= 3
    assert g.tolist() == expected.t().tolist()


# ---- nodes ---------------------------------------------------------------------------------------


def test_accumulators_stand_for_their_leaf():
    x, y = leaf(), leaf()
    first, second = graph.get_gradient_edge(x).node, (x * 2).grad_fn.next_functions[0][0]
    other = graph.get_gradient_edge(y).node
    assert first == second and hash(first) == hash(second) and first != other and first != 3
    assert first.variable is x and first.next_functions == () and first.name() == "AccumulateGrad"


def test_edges_that_lead_nowhere():
    x = leaf() * 1
    with tn.no_grad():
        view = x[:2]
    assert (view * 2).grad_fn.next_functions == ((None, 0), (None, 0))
    assert (tn.ones(3) * x).grad_fn.next_functions == ((None, 0), (x.grad_fn, 0))
    _, second = (x * 1).split([1, 2])
    assert (second * 2).grad_fn.next_functions[0] == (second.grad_fn, 1)


def test_handles():
    seen = []
    x = leaf()
    with x.register_hook(lambda g: seen.append("first")) as first:
        second = x.register_hook(lambda g: seen.append("second"))
        x.sum().backward()
        assert first.id < second.id
    x.sum().backward()
    second.remove()
    x.sum().backward()
    assert seen == ["first", "second", "second"]
    node = (x * 2).grad_fn
    assert repr(node) == f"<MulBackward0 object at {id(node):#x}>"


def test_retain_grad_follows_writes_in_place():
    a = leaf()
    b = a * 1
    b.retain_grad()
    b.mul_(3)
    assert b.retains_grad
    b.sum().backward()
    assert b.grad.tolist() == [1.0] * 3 and a.grad.tolist() == [3.0] * 3
    view = (a * 1)[:2]
    assert not view.retains_grad and not a.retains_grad
    a.retain_grad()
    assert not a.retains_grad
