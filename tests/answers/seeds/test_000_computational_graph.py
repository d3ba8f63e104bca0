"""Seed 000, "Computational graph": the graph, leaf tensors, in-place operations, dynamic graphs."""

import math
import re

import pytest

import tinynet as torch
from tests.tools.rounding import near


def name_of(node):
    """The class name in a node's printed form, `<MulBackward0 object at 0x7f0df037e650>`."""
    return re.fullmatch(r"<(\w+) object at 0x[0-9A-Fa-f]+>", repr(node)).group(1)


# ---- the computational graph ----


def test_graph_is_made_of_tensors_and_functions():
    """Text: a graph has two kinds of elements, tensors and Functions, and nodes join the pipes.

    A Function is the operation at a node; it has a forward() and a backward(), one for each
    direction of propagation.
    """
    calls = []

    class Triple(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            calls.append("forward")
            return x * 3

        @staticmethod
        def backward(ctx, grad_output):
            calls.append("backward")
            return grad_output * 3

    a = torch.tensor(2.0, requires_grad=True)
    b = Triple.apply(a)
    assert isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor)
    assert b.item() == 6.0 and calls == ["forward"]
    assert a.grad_fn is None and b.grad_fn is not None
    b.backward()
    assert a.grad.item() == 3.0 and calls == ["forward", "backward"]


def test_cell_7_exp(printed):
    """In [7]"""
    a = torch.tensor(2.0, requires_grad=True)
    b = a.exp()
    print(b)
    assert printed() == "tensor(7.3891, grad_fn=<ExpBackward>)\n"
    assert b.item() == near(math.exp(2.0))


# ---- a concrete example ----


def concrete_example():
    """The model of In [8]: l1 = input x w1, l2 = l1 + w2, l3 = l1 x w3, l4 = l2 x l3, mean."""
    input = torch.ones([2, 2], requires_grad=False)
    w1 = torch.tensor(2.0, requires_grad=True)
    w2 = torch.tensor(3.0, requires_grad=True)
    w3 = torch.tensor(4.0, requires_grad=True)
    l1 = input * w1
    l2 = l1 + w2
    l3 = l1 * w3
    l4 = l2 * l3
    loss = l4.mean()
    return w1, w2, w3, l1, l2, l3, l4, loss


def test_cell_8_forward(printed, nonleaf_grad_warning):
    """In [8]"""
    w1, _, _, l1, l2, l3, l4, loss = concrete_example()

    print(w1.data, w1.grad, w1.grad_fn)
    assert printed() == "tensor(2.) None None\n"

    with nonleaf_grad_warning():
        print(l1.data, l1.grad, l1.grad_fn)
    assert printed() == (
        "tensor([[2., 2.],\n        [2., 2.]]) None <MulBackward0 object at 0x...>\n"
    )

    with nonleaf_grad_warning():
        print(loss.data, loss.grad, loss.grad_fn)
    assert printed() == "tensor(40.) None <MeanBackward0 object at 0x...>\n"

    assert l2.tolist() == [[5.0, 5.0], [5.0, 5.0]]
    assert l3.tolist() == [[8.0, 8.0], [8.0, 8.0]]
    assert l4.tolist() == [[40.0, 40.0], [40.0, 40.0]]


def test_the_graph_of_cell_8():
    """Text: draw the forward and the backward graph of the model."""
    w1, w2, w3, l1, l2, l3, l4, loss = concrete_example()
    edges = {
        "loss": [node for node, _ in loss.grad_fn.next_functions],
        "l4": [node for node, _ in l4.grad_fn.next_functions],
        "l3": [node for node, _ in l3.grad_fn.next_functions],
        "l2": [node for node, _ in l2.grad_fn.next_functions],
        "l1": [node for node, _ in l1.grad_fn.next_functions],
    }
    assert edges["loss"] == [l4.grad_fn]
    assert edges["l4"] == [l2.grad_fn, l3.grad_fn]
    assert edges["l3"][0] is l1.grad_fn and edges["l3"][1].variable is w3
    assert edges["l2"][0] is l1.grad_fn and edges["l2"][1].variable is w2
    assert edges["l1"][0] is None and edges["l1"][1].variable is w1
    assert [name_of(t.grad_fn) for t in (l1, l2, l3, l4, loss)] == [
        "MulBackward0",
        "AddBackward0",
        "MulBackward0",
        "MulBackward0",
        "MeanBackward0",
    ]


def test_cell_9_backward(printed, nonleaf_grad_warning):
    """In [9]"""
    w1, w2, w3, l1, l2, l3, l4, loss = concrete_example()
    loss.backward()

    print(w1.grad, w2.grad, w3.grad)
    with nonleaf_grad_warning():
        print(l1.grad, l2.grad, l3.grad, l4.grad, loss.grad)
    assert printed() == "tensor(28.) tensor(8.) tensor(10.)\nNone None None None None\n"


# ---- leaf tensors ----


def test_only_leaves_keep_their_gradient(nonleaf_grad_warning):
    """Text: only where is_leaf is True is the derivative of a tensor that needs one kept."""
    w1, w2, w3, l1, l2, l3, l4, loss = concrete_example()
    loss.backward()
    for leaf in (w1, w2, w3):
        assert leaf.is_leaf and leaf.grad is not None
    for inner in (l1, l2, l3, l4, loss):
        assert not inner.is_leaf and inner.requires_grad
        with nonleaf_grad_warning():
            assert inner.grad is None


def test_tensors_without_requires_grad_are_leaves_by_convention():
    """Text: tensors with requires_grad=False count as leaves, computed ones too."""
    created = torch.ones([2, 2])
    computed = created * 2 + 1
    for t in (created, computed):
        assert t.is_leaf and not t.requires_grad and t.grad_fn is None and t.grad is None


def test_cell_10_is_leaf(printed):
    """In [10]: b is not created by the user but by a computation, so it is not a leaf."""
    a = torch.ones([2, 2], requires_grad=True)
    print(a.is_leaf)
    b = a + 2
    print(b.is_leaf)
    assert printed() == "True\nFalse\n"


# ---- in-place operations ----


def test_cell_11_two_situations():
    """In [11], with the `a` of In [10]. The text: the first is not in-place, the second is."""
    a = torch.ones([2, 2], requires_grad=True)
    original, alias = a, a.detach()
    # situation 1
    a = a.exp()
    assert a is not original
    assert alias.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert original._version == 0 and a._version == 0

    # situation 2
    result, alias = a, a.detach()
    a[0] = 10
    assert a is result
    assert alias[0].tolist() == [10.0, 10.0]
    assert alias[1].tolist() == near([math.e, math.e])
    assert a._version == 1
    assert name_of(a.grad_fn) == "CopySlices"


def test_like_i_equals_i_plus_1_and_i_plus_equals_1():
    """Text: in-place changes the value where it lies in memory, `i += 1`; `i = i + 1` does not."""
    i = torch.tensor([3.0, 1.0])
    before, alias = i, i.detach()
    i = i + 1
    assert i is not before and alias.tolist() == [3.0, 1.0] and i.tolist() == [4.0, 2.0]

    before, alias = i, i.detach()
    i += 1
    assert i is before and alias.tolist() == [5.0, 3.0] and i.tolist() == [5.0, 3.0]


def test_cell_12_id(printed):
    """In [12]: the addresses themselves differ from run to run; equal and unequal do not."""
    # situation 1
    a = torch.tensor([3.0, 1.0])
    print(id(a))
    a = a.exp()
    print(id(a))
    first, second = printed().split()
    assert first.isdigit() and second.isdigit() and first != second

    # situation 2
    a = torch.tensor([3.0, 1.0])
    print(id(a))
    a[0] = 10
    print(id(a), a)
    before, after = printed().splitlines()
    assert after == f"{before} tensor([10.,  1.])"


def test_version_starts_at_0_and_counts_every_inplace_operation():
    """Text: _version starts at 0 and each in-place operation adds 1."""
    b = torch.tensor([1.0, 3.0], requires_grad=True) + 2
    seen = [b._version]
    b[0] = 1000.0
    seen.append(b._version)
    b.add_(1)
    seen.append(b._version)
    b *= 2
    seen.append(b._version)
    b.zero_()
    seen.append(b._version)
    assert seen == [0, 1, 2, 3, 4]


def test_cell_13_changed_after_it_was_saved(printed, inplace_story):
    """In [13]. Text: 0 was the version of b in the forward pass, 1 is what backward finds."""
    a = torch.tensor([1.0, 3.0], requires_grad=True)
    b = a + 2
    print(b._version)  # 0

    loss = (b * b).mean()
    b[0] = 1000.0
    print(b._version)  # 1
    assert printed() == "0\n1\n"

    with pytest.raises(RuntimeError) as caught:
        loss.backward()
    inplace_story(
        caught.value,
        "one of the variables needed for gradient computation has been modified by an inplace "
        "operation: [tinynet.FloatTensor [2]], which is output 0 of AddBackward0, is at version 1; "
        "expected version 0 instead.",
        saved="loss = (b * b).mean()",
        changed=["b[0] = 1000.0"],
        needed="loss.backward()",
    )
    assert a.grad is None


def test_no_error_where_backward_does_not_use_the_value():
    """Text: y = x + 1 has derivative 1 whatever x is, so changing x afterwards is no error."""
    a = torch.tensor([1.0, 3.0], requires_grad=True)
    x = a + 2
    y = x + 1
    x[0] = 1000.0
    assert x._version == 1
    y.sum().backward()
    assert a.grad.tolist() == [1.0, 1.0]


def test_cell_14_leaf_moved_into_the_graph(printed, line_of):
    """In [14]: the assignment is recorded, `a` is no leaf any more, and backward says so."""
    a = torch.tensor([10.0, 5.0, 2.0, 3.0], requires_grad=True)
    print(a, a.is_leaf)
    assert printed() == "tensor([10.,  5.,  2.,  3.], requires_grad=True) True\n"

    a[:] = 0
    print(a, a.is_leaf)
    assert printed() == "tensor([0., 0., 0., 0.], grad_fn=<CopySlices>) False\n"

    loss = (a * a).mean()
    with pytest.raises(RuntimeError) as caught:
        loss.backward()
    assert str(caught.value).startswith("leaf variable has been moved into the graph interior")
    assert line_of("a[:] = 0") in str(caught.value)


def test_the_moved_leaf_has_no_gradient_any_more(nonleaf_grad_warning):
    """Text: what should have kept a derivative is now an intermediate result, which keeps none."""
    a = torch.tensor([10.0, 5.0, 2.0, 3.0], requires_grad=True)
    a[:] = 0
    assert a.requires_grad and a.grad_fn is not None
    with pytest.raises(RuntimeError, match="leaf variable has been moved into the graph interior"):
        (a * a).mean().backward()
    with nonleaf_grad_warning():
        assert a.grad is None


# The document gives the sentence of In [15] twice: "has been used" in a comment, "is being used" in
# the output. The output is what was raised.
LEAF_WRITTEN = "a leaf Variable that requires grad is being used in an in-place operation."


def test_cell_15_inplace_on_a_leaf():
    """In [15]. Text: the error comes at once, not only at backward; nothing has been touched."""
    a = torch.tensor([10.0, 5.0, 2.0, 3.0], requires_grad=True)
    with pytest.raises(RuntimeError) as caught:
        a.add_(10.0)
    assert str(caught.value).startswith(LEAF_WRITTEN)
    with pytest.raises(RuntimeError) as caught:
        a += 10.0
    assert str(caught.value).startswith(LEAF_WRITTEN)
    assert a.tolist() == [10.0, 5.0, 2.0, 3.0]
    assert a._version == 0 and a.is_leaf


def test_cell_16_no_grad(printed):
    """In [16]: how to give a leaf new values after all."""
    a = torch.tensor([10.0, 5.0, 2.0, 3.0], requires_grad=True)
    print(a, a.is_leaf)
    assert printed() == "tensor([10.,  5.,  2.,  3.], requires_grad=True) True\n"

    with torch.no_grad():
        a[:] = 10.0
    print(a, a.is_leaf)
    assert printed() == "tensor([10., 10., 10., 10.], requires_grad=True) True\n"

    loss = (a * a).mean()
    loss.backward()
    print(a.grad)
    assert printed() == "tensor([5., 5., 5., 5.])\n"


# ---- dynamic graphs ----


def test_cell_17_the_graph_is_released_by_backward():
    """In [17]. Text: after backward the whole graph is released; to go on, build it again."""
    a = torch.tensor([3.0, 1.0], requires_grad=True)
    b = a * a
    loss = b.mean()

    loss.backward()  # fine
    with pytest.raises(RuntimeError) as caught:
        loss.backward()
    assert str(caught.value).startswith(
        "Trying to backward through the graph a second time, but the saved intermediate results "
        "have already been freed. Specify retain_graph=True when calling backward the first time."
    )
    assert a.grad.tolist() == [3.0, 1.0]

    # the second time: everything from the start
    a = torch.tensor([3.0, 1.0], requires_grad=True)
    b = a * a
    loss = b.mean()
    loss.backward()  # fine
    assert a.grad.tolist() == [3.0, 1.0]
