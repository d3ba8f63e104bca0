"""Seed 004, "Details of building the graph": in-place operations, .data and .detach, Embedding."""

import re
import sys

import pytest

import tinynet as torch
from tests.tools.rounding import near
from tinynet import nn


def test_cell_9_versions(printed):
    """In [9]: the document's versions were 2.0.1 and 3.8; the form is what is asked for."""
    print(torch.__version__)
    print(sys.version_info)
    version, python = printed().splitlines()
    assert re.match(r"\d+\.\d+", version)
    assert python.startswith("sys.version_info(major=3, minor=")


def test_the_steps_of_training():
    """Text: 1. compute the loss, 2. loss.backward(), 3. optimizer.step(): x = x - lr * x.grad."""
    x = nn.Parameter(torch.tensor([1.0, -2.0]))
    optimizer = torch.optim.SGD([x], lr=0.25)
    loss = (x * x).sum()
    assert loss.item() == 5.0
    loss.backward()
    assert x.grad.tolist() == [2.0, -4.0]
    optimizer.step()
    assert x.tolist() == [1.0 - 0.25 * 2.0, -2.0 - 0.25 * -4.0]


def test_all_parameters_are_leaves_that_require_grad():
    """Text: all Parameters are leaves and require grad; is_leaf tells."""
    net = nn.Sequential(nn.Linear(2, 3), nn.Embedding(3, 5))
    parameters = [*net.parameters(), nn.Parameter(torch.ones(2))]
    assert len(parameters) == 4
    assert all(p.is_leaf and p.requires_grad for p in parameters)


# ---- 1. no in-place operation on a leaf that requires grad ----

LEAF_WRITTEN = "a leaf Variable that requires grad is being used in an in-place operation."


def test_cells_10_to_12_inplace_on_a_leaf():
    """In [10], In [11], In [12]. Text: operations with a trailing `_` are in-place."""
    w = torch.FloatTensor(10)
    w.requires_grad = True
    assert w.shape == (10,) and w.dtype is torch.float32

    assert w.is_leaf is True

    with pytest.raises(RuntimeError) as caught:
        w.normal_()
    assert str(caught.value).startswith(LEAF_WRITTEN)


NUMBER = r" *-?\d+\.\d*(e[+-]\d+)?"


def test_cells_13_and_14_data(printed):
    """In [13], In [14]. Text: to change a leaf, do the in-place operation on its .data."""
    torch.manual_seed(0)
    w = torch.FloatTensor(10)
    w.requires_grad = True

    print(w.data.requires_grad)
    print(w.data)
    shown, _, uninitialised = printed().partition("\n")
    assert shown == "False"
    assert re.match(r"tensor\(\[", uninitialised)

    returned = repr(w.data.normal_())
    assert re.fullmatch(rf"tensor\(\[{NUMBER}(,\s+{NUMBER}){{9}}\]\)", returned)
    assert repr(w.data) == returned
    assert w.is_leaf and w.requires_grad and w.grad_fn is None
    assert len(set(w.tolist())) == 10


def test_cells_13_and_14_printed_values():
    """In [13], In [14]: what the document printed, for its values."""
    w = torch.FloatTensor(10)
    w.requires_grad = True
    w.data.zero_()
    assert repr(w.data) == "tensor([0., 0., 0., 0., 0., 0., 0., 0., 0., 0.])"
    values = [-0.7905, -1.3713, 0.0745, -0.1921, 1.1473, 0.1278, 0.9638, 1.6434, -0.8331, 0.5344]
    w.data.copy_(torch.tensor(values))
    assert repr(w.data) == (
        "tensor([-0.7905, -1.3713,  0.0745, -0.1921,  1.1473,  0.1278,  0.9638,  1.6434,\n"
        "        -0.8331,  0.5344])"
    )


# ---- 2. no in-place operation on what the gradient needs ----


def cell_15():
    x = torch.FloatTensor([1.0, 2.0])
    w1 = torch.FloatTensor([[2], [1.0]])
    w2 = torch.FloatTensor([3.0])
    w1.requires_grad = True
    w2.requires_grad = True
    return x, w1, w2


def test_cells_15_and_16():
    """In [15], In [16]"""
    x, w1, w2 = cell_15()
    assert w2.is_leaf is True
    assert (x.tolist(), w1.tolist(), w2.tolist()) == ([1.0, 2.0], [[2.0], [1.0]], [3.0])
    assert (x.requires_grad, w1.requires_grad, w2.requires_grad) == (False, True, True)


def test_cell_20_changed_between_forward_and_backward(inplace_story):
    """In [20]. Text: f's derivative for w2 depends on d, to which matmul saved a reference."""
    x, w1, w2 = cell_15()
    # x * w1 -> d; d * w2 -> f
    d = torch.matmul(x, w1)
    f = torch.matmul(d, w2)
    assert d.tolist() == [4.0] and f.item() == 12.0
    d[:] = 0
    with pytest.raises(RuntimeError) as caught:
        f.backward()
    inplace_story(
        caught.value,
        "one of the variables needed for gradient computation has been modified by an inplace "
        "operation: [tinynet.FloatTensor [1]], which is output 0 of "
        "tinynet::autograd::CopySlices, is at version 2; expected version 1 instead.",
        saved="f = torch.matmul(d, w2)",
        changed=["d[:] = 0"],
        needed="f.backward()",
    )
    assert w1.grad is None and w2.grad is None


def test_the_derivative_for_w2_is_d():
    """Text: f's derivative for w2 depends on the value of d (here it is left alone)."""
    x, w1, w2 = cell_15()
    d = torch.matmul(x, w1)
    f = torch.matmul(d, w2)
    f.backward()
    assert w2.grad.tolist() == d.tolist() == [4.0]
    assert w1.grad.tolist() == [[3.0], [6.0]]


def test_cell_21_changed_before_it_is_used():
    """In [21]. Text: where d is changed before f is computed, the problem does not arise."""
    x, w1, w2 = cell_15()
    # x * w1 -> d; d * w2 -> f
    d = torch.matmul(x, w1)
    d[:] = 0
    f = torch.matmul(d, w2)
    f.backward()
    assert f.item() == 0.0
    assert w2.grad.tolist() == [0.0]
    assert w1.grad.tolist() == [[0.0], [0.0]]


# ---- .data and .detach ----


@pytest.mark.parametrize("cut", [lambda t: t.data, lambda t: t.detach()], ids=["data", "detach"])
def test_what_data_and_detach_have_in_common(cut):
    """Text: both share x's data, have nothing to do with its history, do not require grad."""
    x = torch.tensor([1.0, 2.0], requires_grad=True) * 2
    c = cut(x)
    assert c is not x
    assert c.grad_fn is None and c.is_leaf
    assert c.requires_grad is False
    assert (c * 3).requires_grad is False
    c[0] = 7.0
    assert x.tolist() == [7.0, 4.0]
    assert x.requires_grad and x.grad_fn is not None


def test_where_data_and_detach_differ():
    """Text: writes through detach() are seen, writes through .data are not (a bug lies buried)."""
    x = torch.tensor([1.0, 2.0], requires_grad=True) * 2
    x.data.zero_()
    assert x._version == 0
    x.detach().zero_()
    assert x._version == 1


def test_cell_22_data(printed):
    """In [22]: no error, and a wrong gradient. The right one is printed beside it."""
    a = torch.tensor([1, 2, 3.0], requires_grad=True)

    out = a.sigmoid()

    c = out.data

    print(
        f"a.requires_grad: {a.requires_grad}, out.requires_grad: {out.requires_grad}, "
        f"c.requires_grad: {c.requires_grad}"
    )

    print(out)
    print(c)
    c.zero_()

    print(out)
    print(c)

    out.sum().backward()
    print(a.grad, a.sigmoid() * (1 - a.sigmoid()))
    assert printed() == (
        "a.requires_grad: True, out.requires_grad: True, c.requires_grad: False\n"
        "tensor([0.7311, 0.8808, 0.9526], grad_fn=<SigmoidBackward0>)\n"
        "tensor([0.7311, 0.8808, 0.9526])\n"
        "tensor([0., 0., 0.], grad_fn=<SigmoidBackward0>)\n"
        "tensor([0., 0., 0.])\n"
        "tensor([0., 0., 0.]) tensor([0.1966, 0.1050, 0.0452], grad_fn=<MulBackward0>)\n"
    )


def test_cell_23_detach(printed, inplace_story):
    """In [23]: safer, the in-place operation makes backward raise."""
    a = torch.tensor([1, 2, 3.0], requires_grad=True)

    out = a.sigmoid()

    c = out.detach()

    print(
        f"a.requires_grad: {a.requires_grad}, out.requires_grad: {out.requires_grad}, "
        f"c.requires_grad: {c.requires_grad}"
    )

    print(out)
    print(c)
    c.zero_()

    print(out)
    print(c)
    assert printed() == (
        "a.requires_grad: True, out.requires_grad: True, c.requires_grad: False\n"
        "tensor([0.7311, 0.8808, 0.9526], grad_fn=<SigmoidBackward0>)\n"
        "tensor([0.7311, 0.8808, 0.9526])\n"
        "tensor([0., 0., 0.], grad_fn=<SigmoidBackward0>)\n"
        "tensor([0., 0., 0.])\n"
    )

    with pytest.raises(RuntimeError) as caught:
        out.sum().backward()
    inplace_story(
        caught.value,
        "one of the variables needed for gradient computation has been modified by an inplace "
        "operation: [tinynet.FloatTensor [3]], which is output 0 of SigmoidBackward0, is at "
        "version 1; expected version 0 instead.",
        saved="out = a.sigmoid()",
        changed=["c.zero_()"],
        needed="out.sum().backward()",
    )
    assert a.grad is None


# ---- Embedding ----


def test_max_norm_changes_the_weight():
    """Text: while b is computed, max_norm changes embedding.weight."""
    torch.manual_seed(0)
    embedding = nn.Embedding(3, 5, max_norm=1)
    with torch.no_grad():
        embedding.weight.fill_(2.0)
    found = embedding(torch.tensor([1, 2]))
    length = 5**0.5
    assert embedding.weight[0].tolist() == [2.0] * 5
    for row in (1, 2):
        assert embedding.weight[row].tolist() == near([1 / length] * 5)
    assert found.tolist() == embedding.weight[1:].tolist()


# `max_norm=True` is a line that the document has commented out: it means 1.
@pytest.mark.parametrize("max_norm", [1, True])
def test_cell_25_weight_changed_by_max_norm(max_norm, inplace_story):
    """In [25]. Text: the change conflicts with the weight that the computation of a used."""
    torch.manual_seed(0)
    n, d, m = 3, 5, 7
    embedding = nn.Embedding(n, d, max_norm=max_norm)
    w = torch.randn((m, d), requires_grad=True)
    idx = torch.tensor([1, 2])
    a = embedding.weight @ w.t()  # weight must be cloned for this to be differentiable
    b = embedding(idx) @ w.t()  # modifies weight in-place
    out = a.unsqueeze(0) + b.unsqueeze(1)
    loss = out.sigmoid().prod()
    with pytest.raises(RuntimeError) as caught:
        loss.backward()
    inplace_story(
        caught.value,
        "one of the variables needed for gradient computation has been modified by an inplace "
        "operation: [tinynet.FloatTensor [3, 5]] is at version 2; expected version 1 instead.",
        saved="a = embedding.weight @ w.t()",
        changed=["b = embedding(idx) @ w.t()"],
        needed="loss.backward()",
    )
    assert "clone" in caught.value.hint


def test_cell_26_a_clone_of_the_weight():
    """In [26]. Text: after clone, later changes of weight do not touch the graph of a."""
    torch.manual_seed(0)
    n, d, m = 3, 5, 7
    embedding = nn.Embedding(n, d, max_norm=1)
    w = torch.randn((m, d), requires_grad=True)
    idx = torch.tensor([1, 2])
    before = embedding.weight.clone() @ w.t()
    a = embedding.weight.clone() @ w.t()
    b = embedding(idx) @ w.t()  # modifies weight in-place
    out = a.unsqueeze(0) + b.unsqueeze(1)
    loss = out.sigmoid().prod()
    loss.backward()
    assert a.tolist() == before.tolist()
    assert out.shape == (2, 3, 7) and loss.shape == ()
    assert embedding.weight.grad.shape == (3, 5) and w.grad.shape == (7, 5)


def test_the_order_of_building_the_graph_matters():
    """Text: mind the order in which the graph is built! With b before a, no clone is needed."""
    torch.manual_seed(0)
    embedding = nn.Embedding(3, 5, max_norm=1)
    w = torch.randn((7, 5), requires_grad=True)
    b = embedding(torch.tensor([1, 2])) @ w.t()
    a = embedding.weight @ w.t()
    (a.unsqueeze(0) + b.unsqueeze(1)).sigmoid().prod().backward()
    assert embedding.weight.grad.shape == (3, 5)
