"""Seed 001, "PyTorch computational graphs": attributes, backward(), autograd.grad(), detach()."""

import math

import pytest

import tinynet as torch
from tests.tools.rounding import near
from tinynet import nn

# ---- the computational graph ----


def test_the_graph_is_built_while_computing():
    """Text: building and computing go on at the same time; results can be output at any time."""
    x = torch.tensor(2.0, requires_grad=True)
    a = x + 1
    assert a.item() == 3.0 and a.grad_fn is not None
    y = a * a
    assert y.item() == 9.0 and y.grad_fn is not None


DIFFERENTIABLE = {
    "add": (lambda x: x + 3, lambda v: 1.0),
    "subtract": (lambda x: 3 - x, lambda v: -1.0),
    "multiply": (lambda x: x * x * 3, lambda v: 6 * v),
    "divide": (lambda x: 3 / x, lambda v: -3 / v**2),
    "root": (lambda x: x.sqrt(), lambda v: 0.5 / math.sqrt(v)),
    "power": (lambda x: x**3, lambda v: 3 * v**2),
    "exponential": (lambda x: x.exp(), math.exp),
    "exponential of 2": (lambda x: 2**x, lambda v: math.log(2) * 2**v),
    "logarithm": (lambda x: x.log(), lambda v: 1 / v),
    "sine": (lambda x: x.sin(), math.cos),
    "cosine": (lambda x: x.cos(), lambda v: -math.sin(v)),
    "tangent": (lambda x: x.tan(), lambda v: 1 / math.cos(v) ** 2),
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_operations_can_be_differentiated(name):
    """Text: + - x /, roots, powers, exponentials, logarithms, trigonometric functions, ..."""
    operation, derivative = DIFFERENTIABLE[name]
    x = torch.tensor(0.7, requires_grad=True)
    operation(x).backward()
    assert x.grad.item() == near(derivative(0.7))


def test_leaves_and_other_nodes(nonleaf_grad_warning):
    """Text: the user creates leaves, they depend on nothing; only they keep their gradients."""
    x = torch.tensor(3.0, requires_grad=True)
    y = x * 2
    (y * y).backward()
    assert x.is_leaf and x.grad_fn is None and x.grad.item() == 24.0
    assert not y.is_leaf and y.grad_fn is not None
    with nonleaf_grad_warning():
        assert y.grad is None


def test_retain_grad_keeps_the_gradient_of_a_nonleaf():
    """Text: to keep the gradient of a node that is no leaf, use retain_grad()."""
    x = torch.tensor(3.0, requires_grad=True)
    y = x * 2
    y.retain_grad()
    (y * y).backward()
    assert y.grad.item() == 12.0 and x.grad.item() == 24.0


def test_attributes():
    """Text: a tensor has requires_grad, grad_fn, is_leaf and grad."""
    x = torch.tensor(1.0)
    assert (x.requires_grad, x.grad_fn, x.is_leaf, x.grad) == (False, None, True, None)


def test_defaults_of_requires_grad():
    """Text: False for leaves of one's own, True for non-leaves, True for the network's weights."""
    own = torch.tensor(1.0)
    assert own.is_leaf and not own.requires_grad

    inner = own * torch.tensor(2.0, requires_grad=True)
    assert not inner.is_leaf and inner.requires_grad

    weights = list(nn.Linear(2, 3).parameters())
    assert [tuple(w.shape) for w in weights] == [(3, 2), (3,)]
    assert all(w.is_leaf and w.requires_grad for w in weights)


def test_requires_grad_marks_the_path_from_leaf_to_loss():
    """Text: from the leaf you want a derivative for to the loss, every node requires grad."""
    leaf = torch.tensor(2.0, requires_grad=True)
    data = torch.tensor(5.0)
    off_path = data * 3 + 1
    on_path = leaf * off_path
    loss = on_path - data
    assert [t.requires_grad for t in (leaf, on_path, loss)] == [True, True, True]
    assert [t.requires_grad for t in (data, off_path)] == [False, False]
    loss.backward()
    assert leaf.grad.item() == 16.0 and data.grad is None


def test_cell_2_two_ways_to_require_grad():
    """In [2]"""
    x = torch.tensor(1.0).requires_grad_()  # the first
    assert x.requires_grad and x.is_leaf

    x = torch.tensor(1.0, requires_grad=True)  # the second
    assert x.requires_grad and x.is_leaf


def test_backward_fills_grad_and_autograd_grad_returns_it():
    """Text: the first fills the leaves' .grad, the second returns the gradient directly."""
    x = torch.tensor(2.0, requires_grad=True)
    assert (x * x).backward() is None
    assert x.grad.item() == 4.0

    x = torch.tensor(2.0, requires_grad=True)
    (gradient,) = torch.autograd.grad(x * x, x)
    assert gradient.item() == 4.0
    assert x.grad is None


def test_backward_is_autograd_backward():
    """Text: y.backward() is the same as torch.autograd.backward(y)."""
    method = torch.tensor(2.0, requires_grad=True)
    (method * method).backward()
    function = torch.tensor(2.0, requires_grad=True)
    torch.autograd.backward(function * function)
    assert method.grad.item() == function.grad.item() == 4.0


# ---- case 1: y = (x + 1) * (x + 2) ----


def case_1():
    x = torch.tensor(2.0, requires_grad=True)

    a = torch.add(x, 1)
    b = torch.add(x, 2)
    y = torch.mul(a, b)
    return x, a, b, y


def test_case_1_by_hand():
    """Text: dy/dx = dy/da da/dx + dy/db db/dx = (x + 2) * 1 + (x + 1) * 1 = 7."""
    x, a, b, y = case_1()
    dy_da, dy_db = torch.autograd.grad(y, (a, b), retain_graph=True)
    (da_dx,) = torch.autograd.grad(a, x, retain_graph=True)
    (db_dx,) = torch.autograd.grad(b, x, retain_graph=True)
    assert (dy_da.item(), da_dx.item()) == (x.item() + 2, 1.0)
    assert (dy_db.item(), db_dx.item()) == (x.item() + 1, 1.0)
    y.backward()
    assert x.grad.item() == (dy_da * da_dx + dy_db * db_dx).item() == 7.0


def test_cells_3_and_4_backward(printed, nonleaf_grad_warning):
    """In [3], In [4]"""
    x, a, b, y = case_1()
    y.backward()
    print(x.grad)
    assert printed() == "tensor(7.)\n"

    print("requires_grad: ", x.requires_grad, a.requires_grad, b.requires_grad, y.requires_grad)
    print("is_leaf: ", x.is_leaf, a.is_leaf, b.is_leaf, y.is_leaf)
    with nonleaf_grad_warning():
        print("grad: ", x.grad, a.grad, b.grad, y.grad)
    assert printed() == (
        "requires_grad:  True True True True\n"
        "is_leaf:  True False False False\n"
        "grad:  tensor(7.) None None None\n"
    )


def test_which_tensors_backward_computes_the_gradient_of(nonleaf_grad_warning):
    """Text: leaves, with requires_grad=True, on which only tensors depend that require grad."""
    leaf = torch.tensor(2.0, requires_grad=True)
    not_required = torch.tensor(3.0)
    behind_a_cut = torch.tensor(4.0, requires_grad=True)
    inner = leaf * not_required
    cut = (behind_a_cut * 2).detach()
    (inner * cut).backward()
    assert leaf.grad.item() == 24.0
    assert not_required.grad is None
    assert behind_a_cut.grad is None and cut.grad is None
    with nonleaf_grad_warning():
        assert inner.grad is None


def test_cell_5_autograd_grad(printed):
    """In [5]. Text: what is returned is a tuple, dy/dx is its first element."""
    x, a, b, y = case_1()
    grad = torch.autograd.grad(outputs=y, inputs=x)
    print(grad[0])
    assert printed() == "tensor(7.)\n"
    assert isinstance(grad, tuple) and len(grad) == 1


# ---- case 2: z = x^2 y, and higher derivatives ----


def case_2():
    x = torch.tensor(2.0).requires_grad_()
    y = torch.tensor(3.0).requires_grad_()

    z = x * x * y
    return x, y, z


def test_cell_6_backward(printed):
    """In [6]. Text: dz/dx = 2xy = 12, dz/dy = x^2 = 4."""
    x = torch.tensor(2.0, requires_grad=True)
    y = torch.tensor(3.0, requires_grad=True)

    z = x * x * y

    z.backward()
    print(x.grad, y.grad)
    assert printed() == "tensor(12.) tensor(4.)\n"


def test_cell_7_autograd_grad(printed):
    """In [7]"""
    x, y, z = case_2()
    grad_x = torch.autograd.grad(outputs=z, inputs=x)
    print(grad_x[0])
    assert printed() == "tensor(12.)\n"


FREED = "Trying to backward through the graph a second time"


def test_one_gradient_releases_the_graph():
    """Text: why not dz/dy as well? backward and autograd.grad release the graph after one use."""
    x, y, z = case_2()
    torch.autograd.grad(outputs=z, inputs=x)
    with pytest.raises(RuntimeError, match=FREED):
        torch.autograd.grad(outputs=z, inputs=y)

    x, y, z = case_2()
    z.backward()
    with pytest.raises(RuntimeError, match=FREED):
        torch.autograd.grad(outputs=z, inputs=y)


def test_cell_8_retain_graph(printed):
    """In [8]"""
    x, y, z = case_2()
    grad_x = torch.autograd.grad(outputs=z, inputs=x, retain_graph=True)
    grad_y = torch.autograd.grad(outputs=z, inputs=y)

    print(grad_x[0], grad_y[0])
    assert printed() == "tensor(12.) tensor(4.)\n"


def test_cell_9_no_second_derivative_without_create_graph():
    """In [9]. Text: retain_graph keeps the graph and its values, not how grad_x was computed."""
    x, y, z = case_2()
    grad_x = torch.autograd.grad(outputs=z, inputs=x, retain_graph=True)
    assert not grad_x[0].requires_grad and grad_x[0].grad_fn is None
    with pytest.raises(RuntimeError) as caught:
        torch.autograd.grad(outputs=grad_x, inputs=x)
    assert str(caught.value).startswith(
        "element 0 of tensors does not require grad and does not have a grad_fn"
    )


def test_cell_10_grad_of_grad(printed):
    """In [10]. Text: d2z/dx2 = 2y = 6."""
    x, y, z = case_2()
    grad_x = torch.autograd.grad(outputs=z, inputs=x, create_graph=True)
    grad_xx = torch.autograd.grad(outputs=grad_x, inputs=x)

    print(grad_xx[0])
    assert printed() == "tensor(6.)\n"


def test_create_graph_keeps_the_graph_and_records_the_derivative():
    """Text: on top of keeping the original graph, a graph of the derivative is built."""
    x, y, z = case_2()
    (grad_x,) = torch.autograd.grad(outputs=z, inputs=x, create_graph=True)
    assert grad_x.requires_grad and grad_x.grad_fn is not None
    mixed = torch.autograd.grad(outputs=grad_x, inputs=y, retain_graph=True)
    assert mixed[0].item() == 4.0  # d(2xy)/dy = 2x
    z.backward()
    assert (x.grad.item(), y.grad.item()) == (12.0, 4.0)


def test_cell_11_grad_then_backward(printed):
    """In [11]: backward from dz/dx = 2xy."""
    x, y, z = case_2()
    grad = torch.autograd.grad(outputs=z, inputs=x, create_graph=True)
    grad[0].backward()

    print(x.grad)
    assert printed() == "tensor(6.)\n"


def test_cell_12_backward_then_grad(printed, create_graph_warning):
    """In [12]: backward(create_graph=True) warns, as the document shows on stderr."""
    x, y, z = case_2()
    with create_graph_warning():
        z.backward(create_graph=True)
    grad_xx = torch.autograd.grad(outputs=x.grad, inputs=x)

    print(grad_xx[0])
    assert printed() == "tensor(6.)\n"


@pytest.mark.filterwarnings("ignore:.*create_graph=True:UserWarning")
def test_cell_13_backward_twice_accumulates(printed):
    """In [13]. Text: not 6 but 18, because the 12 of the first pass is still in x.grad.

    (The document shows the warning of In [12] only once, so here it is allowed, not asked for.)
    """
    x, y, z = case_2()
    z.backward(create_graph=True)
    assert x.grad.item() == 12.0
    x.grad.backward()

    print(x.grad)
    assert printed() == "tensor(18., grad_fn=<CopyBackwards>)\n"


@pytest.mark.filterwarnings("ignore:.*create_graph=True:UserWarning")
def test_cell_14_backward_twice_with_zero_between(printed):
    """In [14]"""
    x, y, z = case_2()
    z.backward(create_graph=True)
    x.grad.data.zero_()
    x.grad.backward()

    print(x.grad)
    assert printed() == "tensor(6., grad_fn=<CopyBackwards>)\n"


# ---- case 3: what is not a scalar ----


def test_cell_15_only_scalars_have_an_implicit_gradient():
    """In [15]"""
    x = torch.tensor([1.0, 2.0]).requires_grad_()
    y = x + 1

    with pytest.raises(RuntimeError) as caught:
        y.backward()
    assert str(caught.value).startswith("grad can be implicitly created only for scalar outputs")
    assert x.grad is None


def test_cell_16_sum(printed):
    """In [16]. Text: z = x1^2 + x2^2, dz/dx1 = 2 x1 = 2, dz/dx2 = 2 x2 = 4."""
    x = torch.tensor([1.0, 2.0]).requires_grad_()
    y = x * x

    y.sum().backward()
    print(x.grad)
    assert printed() == "tensor([2., 4.])\n"


def test_the_jacobian():
    """Text: dy1/dx2 = dy2/dx1 = 0, and [1, 1] J is the gradient that we want."""
    x = torch.tensor([1.0, 2.0]).requires_grad_()
    y = x * x
    rows = [
        torch.autograd.grad(y, x, grad_outputs=unit, retain_graph=True)[0] for unit in torch.eye(2)
    ]
    jacobian = torch.stack(rows)
    assert jacobian.tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert (torch.ones(2) @ jacobian).tolist() == [2.0, 4.0]


def test_cell_17_gradient_argument(printed):
    """In [17]: the other way, without y.sum()."""
    x = torch.tensor([1.0, 2.0]).requires_grad_()
    y = x * x

    y.backward(torch.ones_like(y))
    print(x.grad)
    assert printed() == "tensor([2., 4.])\n"


def test_cell_18_grad_outputs(printed):
    """In [18]"""
    x = torch.tensor([1.0, 2.0]).requires_grad_()
    y = x * x

    grad_x = torch.autograd.grad(outputs=y, inputs=x, grad_outputs=torch.ones_like(y))
    print(grad_x[0])
    assert printed() == "tensor([2., 4.])\n"


def test_the_argument_is_the_vector_left_of_the_jacobian():
    """Text: where torch.ones_like(y) stands is the vector that multiplies the Jacobian."""
    v = torch.tensor([3.0, 5.0])
    x = torch.tensor([1.0, 2.0]).requires_grad_()
    (x * x).backward(v)
    (grad_x,) = torch.autograd.grad(outputs=x * x, inputs=x, grad_outputs=v)
    assert x.grad.tolist() == grad_x.tolist() == [6.0, 20.0]


def test_cell_19_grad_of_the_sum(printed):
    """In [19]"""
    x = torch.tensor([1.0, 2.0]).requires_grad_()
    y = x * x

    grad_x = torch.autograd.grad(outputs=y.sum(), inputs=x)
    print(grad_x[0])
    assert printed() == "tensor([2., 4.])\n"


# ---- the important points ----


def test_gradients_accumulate_until_zeroed_by_hand():
    """Text: gradients are not zeroed on their own, they accumulate; x.grad.zero_()."""
    x = torch.tensor(2.0, requires_grad=True)
    (x * x).backward()
    (x * x).backward()
    assert x.grad.item() == 8.0
    x.grad.zero_()
    assert x.grad.item() == 0.0
    (x * x).backward()
    assert x.grad.item() == 4.0


@pytest.mark.parametrize("set_to_none", [True, False])
def test_optimizer_zero_grad(set_to_none):
    """Text: in a neural network we only run optimizer.zero_grad()."""
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    x = torch.tensor([[1.0, 2.0]])
    net(x).sum().backward()
    net(x).sum().backward()
    assert net.weight.grad.tolist() == [[2.0, 4.0]]
    optimizer.zero_grad(set_to_none=set_to_none)
    assert net.weight.grad is None or net.weight.grad.tolist() == [[0.0, 0.0]]
    assert (net.weight.grad is None) is set_to_none
    net(x).sum().backward()
    assert net.weight.grad.tolist() == [[1.0, 2.0]]


def test_detach_trains_only_model_b():
    """Text: A's output is B's input, only B is to be trained: input_B = output_A.detach()."""
    a, b = nn.Linear(2, 3), nn.Linear(3, 1)
    before = [p.tolist() for p in a.parameters()]
    optimizer = torch.optim.SGD([*a.parameters(), *b.parameters()], lr=0.1)

    output_a = a(torch.ones(4, 2))
    input_b = output_a.detach()
    assert output_a.requires_grad and not input_b.requires_grad
    loss = b(input_b).sum()
    loss.backward()
    optimizer.step()
    assert all(p.grad is None for p in a.parameters())
    assert all(p.grad is not None for p in b.parameters())
    assert [p.tolist() for p in a.parameters()] == before
    assert b.bias.grad.tolist() == [4.0]


def test_detach_cuts_the_path_through_a(printed, nonleaf_grad_warning):
    """The example of the text: only the path through b is left, and a becomes a leaf."""
    x = torch.tensor([2.0], requires_grad=True)

    a = torch.add(x, 1).detach()
    b = torch.add(x, 2)
    y = torch.mul(a, b)

    y.backward()

    print("requires_grad: ", x.requires_grad, a.requires_grad, b.requires_grad, y.requires_grad)
    print("is_leaf: ", x.is_leaf, a.is_leaf, b.is_leaf, y.is_leaf)
    with nonleaf_grad_warning():
        print("grad: ", x.grad, a.grad, b.grad, y.grad)
    assert printed() == (
        "requires_grad:  True False True True\n"
        "is_leaf:  True True False False\n"
        "grad:  tensor([3.]) None None None\n"
    )


def test_inplace_changes_the_value_and_not_the_address():
    """Text: in-place: the value changes, the object's address does not."""
    x = torch.tensor([1.0, 2.0])
    address, alias = id(x), x.detach()
    result = x.mul_(3)
    assert result is x and id(x) == address
    assert x.tolist() == alias.tolist() == [3.0, 6.0]


def test_leaves_refuse_inplace_operations():
    """Text: no in-place operation on a leaf, because backward visits the object at its address."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    sentence = "a leaf Variable that requires grad is being used in an in-place operation."
    for write in (lambda: x.add_(1), lambda: x.mul_(2), lambda: x.zero_(), lambda: x.exp_()):
        with pytest.raises(RuntimeError) as caught:
            write()
        assert str(caught.value).startswith(sentence)
    assert x.tolist() == [1.0, 2.0]


def test_the_chain_rule():
    """Text: remember the chain rule? d/dx sin(exp(x^2)) = cos(exp(x^2)) exp(x^2) 2x."""
    x = torch.tensor(0.5, requires_grad=True)
    (x * x).exp().sin().backward()
    inner = math.exp(0.25)
    assert x.grad.item() == near(math.cos(inner) * inner * 1.0)
