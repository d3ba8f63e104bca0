"""A call like the last one runs its program at once; any other is found by its key."""

import pytest

import tinynet as tn
from tinynet import nn
from tinynet.capture.compiled import Compiled


@pytest.fixture
def keyed(monkeypatch):
    """The arguments of the calls that were not recognized."""
    found = []
    original = Compiled._key

    def key(self, args, kwargs, tensors):
        found.append(args)
        return original(self, args, kwargs, tensors)

    monkeypatch.setattr(Compiled, "_key", key)
    return found


def prepared(function, *args):
    """A compiled function that recognizes such arguments."""
    compiled = tn.compile(function, verify=0)
    for _ in range(3):
        compiled(*args)
    return compiled


def double(x):
    return x * 2


MAKERS = {
    "tensor": lambda: tn.ones(2, 3),
    "view": lambda: tn.arange(8.0).reshape(4, 2)[1:3],
    "transposed": lambda: tn.ones(3, 2).T,
    "integers": lambda: tn.arange(4),
    "frozen parameter": lambda: nn.Parameter(tn.ones(2), requires_grad=False),
}


@pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS)
def test_the_next_call_needs_no_key(maker, keyed):
    compiled = prepared(double, maker())
    keyed.clear()
    x = maker()
    assert compiled(x).tolist() == (x * 2).tolist()
    assert not keyed and compiled.calls() == (2, 2, 0)


def test_a_model_under_no_grad(keyed):
    net = nn.Linear(3, 2)
    compiled = tn.compile(net, verify=0)
    x = tn.ones(4, 3)
    with tn.no_grad():
        for _ in range(4):
            compiled(x[:1])
        assert len(keyed) == 3 and not compiled(x[:1]).requires_grad
    assert compiled(x[:1]).requires_grad  # in another mode
    assert len(keyed) == 4


OTHERS = {
    "shape": (tn.ones(2, 3), tn.ones(3, 2)),
    "dtype": (tn.ones(2), tn.ones(2, dtype=tn.float64)),
    "strides": (tn.ones(2, 2), tn.ones(2, 2).T),
    "class": (tn.ones(2), nn.Parameter(tn.ones(2), requires_grad=False)),
    "requires_grad": (tn.ones(2), tn.ones(2, requires_grad=True)),
    "view that requires grad": (tn.ones(4)[:2], tn.ones(4, requires_grad=True)[:2]),
    "leaf for a view": (tn.ones(4)[:2], tn.ones(2)),
    "number": (tn.ones(2), 3.0),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_arguments_are_told_apart(name, keyed):
    usual, other = OTHERS[name]
    compiled = prepared(double, usual)
    keyed.clear()
    result = compiled(other)
    assert len(keyed) == 1
    assert tn.as_tensor(result).tolist() == tn.as_tensor(double(other)).tolist()
    assert getattr(result, "requires_grad", False) == getattr(other, "requires_grad", False)
    assert compiled(usual).tolist() == double(usual).tolist()


def test_the_number_of_arguments(keyed):
    compiled = prepared(lambda *xs: sum(xs[1:], xs[0]), tn.ones(2), tn.ones(2))
    keyed.clear()
    assert compiled(tn.ones(2), tn.ones(2), tn.ones(2)).tolist() == [3, 3]
    assert compiled(tn.ones(2)).tolist() == [1, 1]
    assert compiled(tn.ones(2), tn.ones(2)).tolist() == [2, 2]
    assert len(keyed) >= 2


def test_one_tensor_twice(keyed):
    def write(x, y):
        x.add_(1)
        return x + y

    compiled = prepared(write, tn.zeros(2), tn.zeros(2))
    keyed.clear()
    x = tn.zeros(2)
    assert compiled(x, x).tolist() == [2, 2]
    assert compiled(x, x.detach()).tolist() == [4, 4]
    assert len(keyed) == 2


def test_modes(keyed):
    compiled = prepared(lambda x: x.sum() + tn.ones(()), tn.ones(2))
    keyed.clear()
    with tn.inference_mode():
        assert compiled(tn.ones(2)).is_inference()
    tn.set_default_dtype(tn.float64)
    try:
        assert compiled(tn.ones(2, dtype=tn.float32)).dtype is tn.float64
    finally:
        tn.set_default_dtype(tn.float32)
    assert len(keyed) == 2 and compiled(tn.ones(2)).dtype is tn.float32


def test_verified_calls_are_not_skipped(keyed):
    factor = [2.0]
    compiled = tn.compile(lambda x: x * factor[0], verify=2)
    for _ in range(8):
        compiled(tn.ones(2))
    assert len(keyed) == 6  # two captures, the first replay, and every second one


def test_after_a_reset(keyed):
    compiled = prepared(double, tn.ones(2))
    compiled.reset()
    keyed.clear()
    compiled(tn.ones(2))
    assert len(keyed) == 1
