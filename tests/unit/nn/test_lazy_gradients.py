"""The gradient of a large table is kept as rows until somebody looks: nobody can tell."""

import numpy as np
import pytest

import tinynet as tn
from tinynet import nn, optim
from tinynet.core.graph.accumulate_grad import Rows
from tinynet.nn.functional import lookup as lookup

F = nn.functional
COUNT, WIDTH = 60, 3
INDEX = tn.tensor([[7, 3, 7], [59, 7, 0], [3, 7, 7], [7, 21, 7]])


def table(**options):
    tn.manual_seed(0)
    return nn.Embedding(COUNT, WIDTH, **options)


def loss(layer):
    factors = tn.arange(INDEX.numel() * WIDTH, dtype=layer.weight.dtype).reshape(
        *INDEX.shape, WIDTH
    )
    return (layer(INDEX) * factors.sin()).sum()


def is_lazy(p):
    return isinstance(p._grad._array, Rows)


@pytest.fixture
def dense(monkeypatch):
    """Run a function with tables whose gradients are dense from the start."""

    def run(function, *args):
        with monkeypatch.context() as patched:
            patched.setattr(lookup, "_MANY", 10**9)
            return function(*args)

    return run


def numbers(*tensors):
    return [t.detach().numpy().copy() for t in tensors]


def assert_same(a, b):
    for x, y in zip(a, b, strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("options", [{}, {"padding_idx": 7}, {"scale_grad_by_freq": True}])
def test_who_looks_sees_the_dense_gradient(options, dense):
    def gradient():
        layer = table(**options)
        loss(layer).backward()
        return layer

    layer, expected = gradient(), dense(gradient)
    assert is_lazy(layer.weight) == ("scale_grad_by_freq" not in options)
    assert not is_lazy(expected.weight)
    grad = layer.weight.grad
    assert not is_lazy(layer.weight) and grad is layer.weight.grad
    assert not grad.is_sparse and grad.shape == (COUNT, WIDTH) and grad.is_contiguous()
    assert_same(numbers(grad), numbers(expected.weight.grad))


def test_a_small_table_is_not_kept_as_rows():
    layer = nn.Embedding(4 * INDEX.numel() - 1, WIDTH)
    F.embedding(tn.clamp(INDEX, 0, 9), layer.weight).sum().backward()
    assert not is_lazy(layer.weight)


def twice(layer):
    loss(layer).backward()
    loss(layer).backward()


def looked_at_between(layer):
    loss(layer).backward()
    assert layer.weight.grad is not None
    loss(layer).backward()


def used_twice(layer):
    (loss(layer) + 2 * loss(layer)).backward()


def tied(layer):
    (loss(layer) + F.linear(layer(INDEX), layer.weight).cos().sum()).backward()


def behind_an_operation(layer):
    F.embedding(INDEX, layer.weight * 2).exp().sum().backward()


def hooked(layer):
    layer.weight.register_hook(lambda g: g * 2)
    loss(layer).backward()


def hooked_after(layer):
    def triple(p):
        p.grad.mul_(3)

    layer.weight.register_post_accumulate_grad_hook(triple)
    loss(layer).backward()


def by_grad(layer):
    (layer.weight.grad,) = tn.autograd.grad(loss(layer), [layer.weight])


def recorded(layer):
    loss(layer).square().backward(create_graph=True)


def clipped(layer):
    loss(layer).backward()
    nn.utils.clip_grad_norm_(layer.parameters(), 0.5)


def zeroed(layer):
    loss(layer).backward()
    layer.zero_grad(set_to_none=False)
    loss(layer).backward()


def converted(layer):
    loss(layer).backward()
    layer.double()


WAYS = [twice, looked_at_between, used_twice, tied, behind_an_operation, hooked, hooked_after,
        by_grad, recorded, clipped, zeroed, converted]  # fmt: skip


@pytest.mark.filterwarnings("ignore:Using backward\\(\\) with create_graph")
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_whatever_is_done_with_it(way, dense):
    def gradient():
        layer = table()
        way(layer)
        return numbers(layer.weight.grad)

    assert_same(gradient(), dense(gradient))


MAKERS = {
    "SGD": lambda p: optim.SGD(p, lr=0.3),
    "up": lambda p: optim.SGD(p, lr=0.3, maximize=True),
    "momentum": lambda p: optim.SGD(p, lr=0.3, momentum=0.9),
    "decay": lambda p: optim.SGD(p, lr=0.3, weight_decay=0.1),
    "Adam": lambda p: optim.Adam(p, lr=0.3),
    "Adagrad": lambda p: optim.Adagrad(p, lr=0.3),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_steps_are_the_same_bit_by_bit(make, dense):
    def trained():
        layer = table(max_norm=1.5)
        head = nn.Linear(WIDTH, 2)
        optimizer = make([*layer.parameters(), *head.parameters()])
        for _ in range(4):
            optimizer.zero_grad()
            head(layer(INDEX)).square().sum().backward()
            optimizer.step()
        return numbers(*layer.parameters(), *head.parameters())

    assert_same(trained(), dense(trained))


def test_sgd_writes_the_rows_only():
    layer = table()
    sgd = optim.SGD(layer.parameters(), lr=0.1)
    loss(layer).backward()
    sgd.step()
    assert is_lazy(layer.weight)  # the step did not need the rest


def test_the_gradient_given_to_backward_is_not_kept():
    layer = table()
    given = tn.ones(*INDEX.shape, WIDTH)
    layer(INDEX).backward(given)
    given.zero_()
    assert layer.weight.grad.sum() == INDEX.numel() * WIDTH


def test_an_index_changed_after_backward_does_not_matter():
    layer, index = table(), tn.tensor([1, 2])
    layer(index).sum().backward()
    index.fill_(5)
    assert layer.weight.grad[1].tolist() == [1.0] * WIDTH and layer.weight.grad[5].sum() == 0
