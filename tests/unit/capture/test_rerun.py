"""Backward passes of compiled functions that are differentiated again."""

import pytest

import tinynet as tn
from tests.unit.capture.pairs import same
from tinynet import nn, optim
from tinynet.autograd import functional
from tinynet.compiler import CompileError, CompileWarning

AGAIN = r"its backward pass is differentiated again \(create_graph=True\)"


def penalized(net):
    """Return a training step with a gradient penalty on what ``net`` gives."""
    sgd = optim.SGD(net.parameters(), lr=0.1)

    def after(result, args):
        (x,) = args
        (slope,) = tn.autograd.grad(result.sum(), x, create_graph=True)
        (slope.norm(dim=1) - 1).square().mean().backward()
        grads = [p.grad.clone() for p in net.parameters() if p.grad is not None]
        sgd.step()
        sgd.zero_grad()
        return slope.detach(), grads

    return after


def net(*layers):
    return nn.Sequential(nn.Linear(4, 8), *layers, nn.Linear(8, 1))


@pytest.mark.parametrize(
    "layers",
    [(nn.Tanh,), (nn.Softplus, nn.Dropout), (lambda: nn.BatchNorm1d(8), nn.Sigmoid)],
    ids=["plain", "dropout", "batch norm"],
)
@pytest.mark.parametrize("backend", ["numpy", "llvm"])
def test_a_gradient_penalty(layers, backend):
    sides, losses = [], []
    for compiling in (False, True):
        tn.manual_seed(0)
        model = net(*(layer() for layer in layers))
        after = penalized(model)
        used = tn.compile(model, backend=backend) if compiling else model
        found = []
        for i in range(6):
            x = (tn.arange(20.0).reshape(5, 4) + i).sin().requires_grad_()
            if compiling and i == 2:
                with pytest.warns(CompileWarning, match=AGAIN):
                    found.append(after(used(x), (x,)))
            else:
                found.append(after(used(x), (x,)))
        sides.append(used)
        losses.append(found)
    for (a, grads), (b, others) in zip(*losses, strict=True):
        for x, y in zip((a, *grads), (b, *others), strict=True):
            assert tn.equal(x, y) if backend == "numpy" else tn.allclose(x, y, 1e-4, 1e-6)
    assert sides[1].explain().calls.eager == 3  # from then on


def test_a_hessian():
    compiled = tn.compile(lambda x: (x**3).sum() + x[0] * x[1])
    x = tn.tensor([1.0, 2.0])
    with pytest.warns(CompileWarning, match=AGAIN):
        found = [functional.hessian(compiled, x).tolist() for _ in range(4)]
    assert found == [[[6, 1], [1, 12]]] * 4


def test_an_argument_with_a_history_and_several_outputs():
    w = tn.tensor([1.0, 2.0], requires_grad=True)

    def grads_of(function):
        found = []
        for i in range(4):
            leaf = (tn.arange(2.0) + i).requires_grad_()
            a, b = function(leaf * 2)
            (slope,) = tn.autograd.grad(a.sum() * b, leaf, create_graph=True)
            found.append([slope.detach(), *tn.autograd.grad(slope.sum(), [leaf, w])])
        return found

    def function(x):
        return x.exp() * w, (x * x).sum()

    with pytest.warns(CompileWarning, match=AGAIN):
        same(grads_of(tn.compile(function)), grads_of(function))


def test_hooks_run_once_and_leaves_get_their_gradients():
    heard = []
    w = tn.tensor([1.0, 2.0], requires_grad=True)
    w.register_hook(lambda g: heard.append(1))
    compiled = tn.compile(lambda x: (x * w).sin().sum())
    x = tn.ones(2)
    for _ in range(2):
        compiled(x).backward()
    w.grad = None
    with pytest.warns(UserWarning) as warned:
        compiled(x).backward(create_graph=True)
    assert [w.category for w in warned if "again" in str(w.message)] == [CompileWarning]
    assert len(heard) == 3 and w.grad.grad_fn is not None
    assert tn.equal(w.grad, (x * w).cos() * x)
    w.grad = None  # it refers to the graph, and the graph to w


def test_a_value_that_was_changed_since():
    b = tn.zeros(2)
    compiled = tn.compile(lambda x: ((x + b) ** 2).sum())
    x = tn.ones(2, requires_grad=True)
    for _ in range(3):
        out = compiled(x)
    b += 1  # not saved for the first derivative
    with pytest.warns(CompileWarning), pytest.raises(RuntimeError, match="have changed since"):
        tn.autograd.grad(out, x, create_graph=True)


def test_fullgraph_is_an_error():
    compiled = tn.compile(lambda x: x.exp().sum(), fullgraph=True)
    x = tn.ones(2, requires_grad=True)
    for _ in range(3):
        out = compiled(x)
    with pytest.raises(CompileError, match=AGAIN):
        tn.autograd.grad(out, x, create_graph=True)


class Pyramid(nn.Module):
    """Five feature maps, each computed from the sum of all weights before it."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(4, 4)
        self.heads = nn.ModuleList(nn.Linear(4, 3) for _ in range(5))

    def forward(self, x):
        x = self.stem(x).tanh()
        return [head(x * (i + 1)).sin() for i, head in enumerate(self.heads)]


@pytest.mark.parametrize("used", [[0, 1, 2, 3, 4], [2], [1, 3]], ids=["all", "one", "two"])
def test_many_outputs_whose_backward_passes_meet(used):
    sides = []
    for compiling in (False, True):
        tn.manual_seed(0)
        model = Pyramid()
        called = tn.compile(model) if compiling else model
        found = []
        for i in range(5):
            outputs = called((tn.arange(8.0).reshape(2, 4) + i).cos())
            loss = sum(outputs[place].square().sum() for place in used)
            if compiling and i == 2 and len(used) == 2:
                with pytest.warns(CompileWarning, match="starts from some of many outputs"):
                    loss.backward()
            else:
                loss.backward()
            found.append([None if p.grad is None else p.grad.clone() for p in model.parameters()])
            model.zero_grad()
        sides.append(found)
    same(*sides)
    assert called.explain().calls.eager == (2 if len(used) == 2 else 0)
