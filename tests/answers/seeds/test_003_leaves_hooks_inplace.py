"""Seed 003: leaves and their derivatives, retain_grad and hooks, in-place operations.

The cells of this document ran in another order than they stand in (In [8], the backward, stands
after the cells that print its results), so each test runs the cells that its own cell had seen.
"""

import re

import pytest

import tinynet as torch


def test_cell_2_exp(printed):
    """In [2]"""
    a = torch.tensor(2.0, requires_grad=True)
    b = a.exp()
    print(b)
    assert printed() == "tensor(7.3891, grad_fn=<ExpBackward>)\n"


def cells_3_and_4():
    """In [3], In [4]; returns all but loss, which the cells that need it compute."""
    input = torch.ones([2, 2], requires_grad=False)
    w1 = torch.tensor(2.0, requires_grad=True)
    w2 = torch.tensor(3.0, requires_grad=True)
    w3 = torch.tensor(3.0, requires_grad=True)

    l1 = input * w1
    l2 = l1 + w2
    l3 = l1 * w3
    l4 = l2 * l3
    return input, w1, w2, w3, l1, l2, l3, l4


def test_cells_9_10_11_and_8_after_backward(printed, nonleaf_grad_warning):
    """In [9], In [10], In [11], which show the state after In [8], loss.backward()."""
    input, w1, w2, w3, l1, l2, l3, l4 = cells_3_and_4()
    loss = l4.mean()
    loss.backward()

    print(w1.data, w1.grad, w1.grad_fn)
    assert printed() == "tensor(2.) tensor(21.) None\n"

    with nonleaf_grad_warning():
        print(l1.data, l1.grad, l1.grad_fn)
    assert printed() == (
        "tensor([[2., 2.],\n        [2., 2.]]) None <MulBackward0 object at 0x...>\n"
    )

    with nonleaf_grad_warning():
        print(loss.data, loss.grad, loss.grad_fn)
    assert printed() == "tensor(30.) None <MeanBackward0 object at 0x...>\n"


# ---- leaf tensors ----


def test_backward_keeps_the_gradient_of_leaves_that_require_it(nonleaf_grad_warning):
    """Text: kept is only the derivative of tensors with requires_grad and is_leaf both true."""
    input, w1, w2, w3, l1, l2, l3, l4 = cells_3_and_4()
    l4.mean().backward()
    assert [w.grad.item() for w in (w1, w2, w3)] == [21.0, 6.0, 10.0]
    assert input.is_leaf and not input.requires_grad and input.grad is None
    for inner in (l1, l2, l3, l4):
        with nonleaf_grad_warning():
            assert inner.grad is None


def test_intermediate_derivatives_lead_to_those_of_the_leaves():
    """Text: with requires_grad true and is_leaf false, the derivative serves the leaves'."""
    input, w1, w2, w3, l1, l2, l3, l4 = cells_3_and_4()
    assert l1.requires_grad and not l1.is_leaf
    (inner,) = torch.autograd.grad(l4.mean(), l1, retain_graph=True)
    l4.mean().backward()
    assert w1.grad.item() == (inner * input).sum().item() == 21.0


def test_tensors_without_requires_grad_take_part():
    """Text: a tensor with requires_grad False and is_leaf False takes part in the derivation.

    Taken literally there is none: whatever does not require grad is a leaf. What is meant holds:
    its value counts in the derivatives of others.
    """
    w = torch.tensor(2.0, requires_grad=True)
    created = torch.tensor([3.0, 4.0])
    computed = created + 1
    assert not computed.requires_grad and computed.is_leaf
    (computed * w).sum().backward()
    assert w.grad.item() == 9.0
    assert computed.grad is None


def test_cells_14_and_15_is_leaf(printed):
    """In [14], In [15]. Text: b was not created by the user but by a computation."""
    a = torch.ones([2, 2], requires_grad=True)
    print(a.is_leaf)
    assert printed() == "True\n"

    b = a + 2
    print(b.is_leaf)
    assert printed() == "False\n"


def test_grad_fn_of_leaves_and_others():
    """Text: leaves have no grad_fn, all others have one."""
    input, w1, w2, w3, l1, l2, l3, l4 = cells_3_and_4()
    for leaf in (input, w1, w2, w3):
        assert leaf.is_leaf and leaf.grad_fn is None
    for inner in (l1, l2, l3, l4, l4.mean()):
        assert not inner.is_leaf and inner.grad_fn is not None


# ---- the derivatives of intermediate tensors ----


def test_cell_6_retain_grad(printed):
    """In [6]. Text: to keep the derivative of an intermediate tensor, use tensor.retain_grad()."""
    input, w1, w2, w3, l1, l2, l3, l4 = cells_3_and_4()
    loss = l4.mean()
    l1.retain_grad()
    l4.retain_grad()
    loss.retain_grad()
    loss.backward()
    print(loss.grad)
    print(l4.grad)
    print(l1.grad)
    assert printed() == (
        "tensor(1.)\n"
        "tensor([[0.2500, 0.2500],\n        [0.2500, 0.2500]])\n"
        "tensor([[5.2500, 5.2500],\n        [5.2500, 5.2500]])\n"
    )


def test_cell_5_hooks(printed, nonleaf_grad_warning):
    """In [5]. Text: loss's gradient is printed first, then l4's, then l1's.

    And print(loss2.grad) at the end prints None: it was released once it had been printed.
    """
    input, w1, w2, w3, l1, l2, l3, l4 = cells_3_and_4()
    loss2 = l4.mean()
    l1.register_hook(lambda grad: print("l1 grad:", grad))
    l4.register_hook(lambda grad: print("l4 grad", grad))
    loss2.register_hook(lambda grad: print("loss grad:", grad))
    loss2.backward()
    with nonleaf_grad_warning():
        print(loss2.grad)
    assert printed() == (
        "loss grad: tensor(1.)\n"
        "l4 grad tensor([[0.2500, 0.2500],\n        [0.2500, 0.2500]])\n"
        "l1 grad: tensor([[5.2500, 5.2500],\n        [5.2500, 5.2500]])\n"
        "None\n"
    )


def test_hooks_can_do_more_than_look():
    """Text: hooks are of great use: what a hook returns is the gradient from there on."""
    input, w1, w2, w3, l1, l2, l3, l4 = cells_3_and_4()
    handle = l1.register_hook(lambda grad: grad * 2)
    l4.mean().backward(retain_graph=True)
    assert w1.grad.item() == 42.0
    handle.remove()
    l4.mean().backward()
    assert w1.grad.item() == 42.0 + 21.0


# ---- in-place operations ----


def test_cell_16_id(printed):
    """In [16]. Text: where the id changes it is no in-place operation, where it stays it is."""
    a = torch.tensor([3.0, 1.0])
    print(id(a))
    a = a.exp()  # not in-place
    print(id(a))
    first, second = printed().split()
    assert first.isdigit() and second.isdigit() and first != second

    b = [1, 2]
    print(id(b))
    b[0] = 10  # in-place
    print(id(b))
    first, second = printed().split()
    assert first == second

    a = torch.tensor([3.0, 1.0])
    print(id(a))
    a[0] = 10  # the same with a tensor
    print(id(a))
    first, second = printed().split()
    assert first == second


def test_inplace_changes_the_value_at_its_address():
    """Text: to change a variable's value without changing its address is an in-place operation."""
    a = torch.tensor([3.0, 1.0])
    alias = a.detach()
    a.exp_()
    assert alias.tolist() == a.tolist() == torch.tensor([3.0, 1.0]).exp().tolist()
    assert a._version == 1
    a = a.exp()
    assert alias.tolist() != a.tolist()
    assert a._version == 0


def test_cell_20_changed_after_it_was_saved(printed, inplace_story):
    """In [20]. Text: _version grows by 1; recorded was 0, and backward finds another."""
    a = torch.tensor([1.0, 3.0], requires_grad=True)
    b = a + 2
    print(b._version)

    loss = (b * b).mean()
    b[0] = 1000.0
    print(b._version)
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


def test_leaves_must_not_be_changed_before_their_gradient():
    """Text: the value of a leaf with requires_grad=True must not be changed beforehand."""
    a = torch.tensor([1.0, 3.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in"):
        a.add_(1)
    a[0] = 5.0
    with pytest.raises(RuntimeError, match="leaf variable has been moved into the graph interior"):
        (a * a).sum().backward()


def test_cells_30_and_31_leaf_assigned(printed):
    """In [30], In [31]

    In [31] has `a.add_(10.)` below `a[:] = 0` and still prints zeros with grad_fn=<CopySlices>: the
    output is that of the assignment alone (added to what is now a non-leaf, 10. would show, and
    grad_fn would be the addition's). So the first half runs what gives the output, and the second
    half says what the cell as it stands gives.
    """
    a = torch.tensor([10.0, 5.0, 2.0, 3.0], requires_grad=True)
    print(a, a.is_leaf)
    print(a, id(a))
    first, second = printed().splitlines()
    assert first == "tensor([10.,  5.,  2.,  3.], requires_grad=True) True"
    address = re.fullmatch(
        r"tensor\(\[10\.,  5\.,  2\.,  3\.\], requires_grad=True\) (\d+)", second
    ).group(1)

    a[:] = 0
    print(a, a.is_leaf)
    print(a, id(a))
    assert printed() == (
        "tensor([0., 0., 0., 0.], grad_fn=<CopySlices>) False\n"
        f"tensor([0., 0., 0., 0.], grad_fn=<CopySlices>) {address}\n"
    )

    a.add_(10.0)
    print(a, a.is_leaf)
    print(a, id(a))
    assert printed() == (
        "tensor([10., 10., 10., 10.], grad_fn=<AddBackward0>) False\n"
        f"tensor([10., 10., 10., 10.], grad_fn=<AddBackward0>) {address}\n"
    )


def test_cell_29_backward_through_the_assigned_leaf(line_of):
    """In [29]: run once it raises the sentence of the heading, run again the one of its output.

    The second time, (a*a).mean() is new, but the assignment that it leads to has been used up.
    """
    a = torch.tensor([10.0, 5.0, 2.0, 3.0], requires_grad=True)
    a[:] = 0

    loss3 = (a * a).mean()
    with pytest.raises(RuntimeError) as caught:
        loss3.backward()
    assert str(caught.value).startswith("leaf variable has been moved into the graph interior")
    assert line_of("a[:] = 0") in str(caught.value)

    loss3 = (a * a).mean()
    with pytest.raises(RuntimeError) as caught:
        loss3.backward()
    assert str(caught.value).startswith(
        "Trying to backward through the graph a second time, but the buffers have already been "
        "freed. Specify retain_graph=True when calling backward the first time."
    )


def test_a_leaf_turned_into_a_nonleaf_keeps_no_derivative(nonleaf_grad_warning):
    """Text: a[:] = 0 makes a non-leaf of a leaf; its derivative is not kept, it is None."""
    a = torch.tensor([10.0, 5.0, 2.0, 3.0], requires_grad=True)
    assert a.is_leaf
    a[:] = 0
    assert not a.is_leaf
    with pytest.raises(RuntimeError, match="leaf variable has been moved into the graph interior"):
        (a * a).mean().backward()
    with nonleaf_grad_warning():
        assert a.grad is None
