"""Updating small parameters together gives the same numbers, and notices changes in between."""

import numpy as np
import pytest

import tinynet as tn
from tinynet import nn, optim
from tinynet.optim.base import elementwise
from tinynet.optim.base import groups as slots

from .algorithms import ELEMENTWISE, RUN

OPTIONS = {
    "plain": ("SGD", {}),
    "momentum": ("SGD", {"momentum": 0.9, "dampening": 0.1, "weight_decay": 0.01}),
    "nesterov": ("SGD", {"momentum": 0.9, "nesterov": True, "maximize": True}),
    "Adam without amsgrad": ("Adam", {"weight_decay": 0.01}),
    **{name: (name, RUN[name].full) for name in ELEMENTWISE},
}
MAKERS = {
    label: lambda p, name=name, options=options: getattr(optim, name)(p, lr=0.1, **options)
    for label, (name, options) in OPTIONS.items()
}
SHAPES = [(3,), (4, 5), (), (70, 70), (2, 3, 4), (1,)]  # one is too large to be packed


def trained(make, steps=5, between=lambda optimizer, parameters, i: None, dtype=np.float32):
    draw = np.random.default_rng(0)
    parameters = [
        tn.from_numpy(draw.standard_normal(s).astype(dtype)).requires_grad_() for s in SHAPES
    ]
    optimizer = make(parameters)
    for i in range(steps):
        for p in parameters:
            p.grad = tn.from_numpy(np.asarray(draw.standard_normal(p.shape), dtype))
        between(optimizer, parameters, i)
        optimizer.step()
    return parameters, optimizer


def content(parameters, optimizer):
    state = [
        {k: v.numpy().copy() for k, v in optimizer.state.get(p, {}).items()} for p in parameters
    ]
    return [p.detach().numpy().copy() for p in parameters], state


def assert_same(a, b):
    for x, y in zip(a[0], b[0], strict=True):
        np.testing.assert_array_equal(x, y)
    for x, y in zip(a[1], b[1], strict=True):
        assert x.keys() == y.keys()
        for k in x:
            np.testing.assert_array_equal(x[k], y[k])


def compared(monkeypatch, make, **options):
    """Train with packs and one by one; compare, and return the optimizer with packs."""
    parameters, optimizer = trained(make, **options)
    with monkeypatch.context() as alone:
        alone.setattr(elementwise.Plan, "of", lambda *args: None)
        expected = content(*trained(make, **options))
    assert_same(content(parameters, optimizer), expected)
    return optimizer


def plan_of(optimizer):
    return optimizer._plans[id(optimizer.param_groups[0])]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_bit_by_bit_as_one_by_one(make, dtype, monkeypatch):
    optimizer = compared(monkeypatch, make, dtype=dtype)
    (pack,) = plan_of(optimizer).packs
    assert pack.places == [0, 1, 2, 4, 5]
    assert [i for i, _ in plan_of(optimizer).alone] == [3]


def without_a_gradient(optimizer, parameters, i):
    if i == 2:
        parameters[1].grad = None


def other_data(optimizer, parameters, i):
    if i == 3:
        parameters[1].data = tn.ones(4, 5, dtype=parameters[1].dtype)


def other_state(optimizer, parameters, i):
    if i == 3:
        state = optimizer.state[parameters[0]]
        for name in state:
            state[name] = state[name] * 2


def cleared_state(optimizer, parameters, i):
    if i == 2:
        optimizer.state[parameters[0]] = {}


def other_options(optimizer, parameters, i):
    optimizer.param_groups[0]["lr"] = 0.1 / (i + 1)


def written_state(optimizer, parameters, i):
    if i == 2:
        for value in optimizer.state[parameters[4]].values():
            value.mul_(2)


def transposed_gradient(optimizer, parameters, i):
    g = parameters[1].grad
    parameters[1].grad = g.t().contiguous().t()


def loaded(optimizer, parameters, i):
    if i == 2:
        optimizer.load_state_dict(optimizer.state_dict())


BETWEEN = [without_a_gradient, other_data, other_state, cleared_state, other_options,
           written_state, transposed_gradient, loaded]  # fmt: skip


@pytest.mark.parametrize("earlier", [0, 1, 2])  # before the first plan, its checks, and later
@pytest.mark.parametrize("make", [MAKERS["momentum"], MAKERS["AdamW"]], ids=["SGD", "AdamW"])
@pytest.mark.parametrize("between", BETWEEN, ids=lambda f: f.__name__)
def test_what_is_changed_in_between_counts(make, between, earlier, monkeypatch):
    compared(
        monkeypatch,
        make,
        between=lambda optimizer, parameters, i: between(optimizer, parameters, i + earlier),
    )


def test_two_groups_have_their_own_plans(monkeypatch):
    def make(parameters):
        groups = [{"params": parameters[:3], "lr": 0.5}, {"params": parameters[3:]}]
        return optim.Adam(groups)

    optimizer = compared(monkeypatch, make)
    assert [len(optimizer._plans[id(g)].packs) for g in optimizer.param_groups] == [1, 1]


def test_many_are_cut_into_packs_that_fit_the_cache(monkeypatch):
    monkeypatch.setattr(elementwise, "TOGETHER", 25)
    optimizer = compared(monkeypatch, MAKERS["Adam"])
    assert [pack.places for pack in plan_of(optimizer).packs] == [[0, 1, 2], [4, 5]]


@pytest.mark.parametrize("more", [-1, 0, 1])
@pytest.mark.parametrize("blocks", [1, 3, 4])
def test_sizes_around_whole_blocks(blocks, more):
    size = blocks * slots.BLOCK // 4 + more
    p = tn.ones(size, requires_grad=True)
    p.grad = tn.ones(size)
    optim.SGD([p], lr=0.5, momentum=0.9).step()
    assert (p == 0.5).all()


@pytest.mark.parametrize("sparse", [True, False])
def test_checks_are_made_for_what_repeats_only(sparse, monkeypatch):
    made = []
    original = elementwise.checks
    monkeypatch.setattr(elementwise, "checks", lambda *args: made.append(args) or original(*args))
    table, other = nn.Embedding(5, 2, sparse=sparse), nn.Linear(2, 2)
    optimizer = optim.SGD([*table.parameters(), *other.parameters()], lr=0.1)
    for i in range(6):
        optimizer.zero_grad()
        x = table(tn.tensor([1, 2]))
        (x if sparse or i % 2 else other(x)).sum().backward()  # other parameters each time
        optimizer.step()
    assert not made
