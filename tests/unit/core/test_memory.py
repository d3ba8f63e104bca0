"""Nothing keeps a graph alive, and no graph is too deep; the garbage collector is switched off."""

import gc

import pytest

import tinynet as tn
from tinynet.core.graph.node import Node

DEPTH = 100_000


@pytest.fixture(autouse=True)
def without_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def nodes():
    # isinstance would ask each object, and some answer with a warning.
    return sum(issubclass(type(o), Node) for o in gc.get_objects())


def chain(x):
    for _ in range(DEPTH):
        x = x * 1.0
    return x


def test_a_deep_chain_runs_backward():
    x = tn.tensor(1.0, requires_grad=True)
    chain(x).backward()
    assert x.grad.item() == 1.0


def test_a_deep_chain_is_differentiated_twice():
    x = tn.tensor(2.0, requires_grad=True)
    y = x * x
    for _ in range(DEPTH // 10):
        y = y * 1.0
    (g,) = tn.autograd.grad(y, x, create_graph=True)
    g.backward()
    assert x.grad.item() == 2.0


def test_a_deep_chain_is_freed_without_recursion():
    x = tn.tensor(1.0, requires_grad=True)
    before = nodes()
    y = chain(x)
    assert nodes() == before + DEPTH
    del y
    assert nodes() == before


class Doubled(tn.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x * 2
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g * 2


def never_run(a):
    (a.exp().sigmoid() * a).sum()


def run(a):
    (a.exp().sigmoid() * a).sum().backward()


def run_and_kept(a):
    loss = (a.exp() * a).sum()
    loss.backward(retain_graph=True)


def written_by_what_it_fed(a):
    h = a * 1
    y = h * h
    h += y


def written_part(a):
    b = a * 1
    part = b[:2]
    b[:2] = part * part


def view_written(a):
    b = a * 1
    view = b[:2]
    view.mul_(2)
    assert view.grad_fn is not None
    b.sum().backward()


def leaf_moved(a):
    a[:] = 0


def saved_output_written(a):
    b = a.exp()
    b.exp_()


def hooked(a):
    b = a * 2
    b.retain_grad()
    b.register_hook(lambda g: g * 2)
    b.sum().backward()


def differentiated_twice(a):
    (g,) = tn.autograd.grad((a * a * a).sum(), a, create_graph=True)
    g.sum().backward()


def custom_function(a):
    Doubled.apply(a).sum()


def several_outputs(a):
    x, y, z = a * 1
    x * y * z


def failed(a):
    b = a.exp()
    b.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        b.sum().backward()


CASES = [
    never_run,
    run,
    run_and_kept,
    written_by_what_it_fed,
    written_part,
    view_written,
    leaf_moved,
    saved_output_written,
    hooked,
    differentiated_twice,
    custom_function,
    several_outputs,
    failed,
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_no_cycle_keeps_nodes_alive(case):
    before = nodes()
    case(tn.tensor([1.0, 2.0, 3.0], requires_grad=True))
    assert nodes() == before


def test_locals_of_the_saving_function_are_not_kept():
    class Large:
        pass

    def forward(x):
        large = Large()
        result = x.exp()
        return result, id(large)

    y, _ = forward(tn.tensor(1.0, requires_grad=True))
    assert not any(type(o) is Large for o in gc.get_objects())
    y.backward()


def test_backward_frees_what_only_formulas_see():
    x = tn.randn(6).requires_grad_()
    y = tn.nn.functional.gelu(x)
    y.sum().backward()
    assert [getattr(y.grad_fn, f"saved_{name}") for name in y.grad_fn.saved] == [None, None]
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.sum().backward()
