"""Classes derived from Tensor: results are of their class, as by PyTorch's __torch_function__."""

import copy
import pickle

import pytest

import tinynet as tn
from tinynet import nn
from tinynet.compat.fx import overrides
from tinynet.nn import functional as F


class Marked(tn.Tensor):
    @staticmethod
    def __new__(cls, values, mark=None):
        return super().__new__(cls, values)

    def __init__(self, values, mark=None):
        self.mark = mark


class Further(Marked):
    pass


class Other(tn.Tensor):
    pass


class Calls(tn.Tensor):
    names = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.names.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs)


RESULTS = {
    "operator": lambda t: [t + 1, 1 - t, t * t, tn.ones(3) + t, -t, t > 1, 2**t],
    "reduction": lambda t: [t.sum(), t.mean(), t.std(), *t.max(0), t.norm()],
    "view": lambda t: [t[0], t[:2], t.view(3, 1), t.view(1, 3).T, *t, *t.chunk(2), t.expand(2, 3)],
    "in place": lambda t: [t.add_(1), t.zero_()],
    "conversion": lambda t: [t.long(), t.to(tn.float64), t.detach(), t.data, t.clone()],
    "function": lambda t: [
        tn.relu(t),
        F.softmax(t, 0),
        tn.cat([tn.ones(1), t]),
        nn.Linear(3, 2)(t),
    ],
    "likeness": lambda t: [tn.zeros_like(t), t.new_zeros(2)],
    "copy": lambda t: [copy.deepcopy(t), pickle.loads(pickle.dumps(t))],
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_of_the_class(name):
    for result in RESULTS[name](Marked([1.0, 2.0, 3.0], "a")):
        assert type(result) is Marked


def test_attributes_belong_to_the_object():
    t = Marked([1.0], "a")
    assert t.mark == "a" and copy.deepcopy(t).mark == "a" and not hasattr(t + 1, "mark")


def test_the_derived_class_wins_and_strangers_are_refused():
    a, b, c = Marked([1.0]), Further([1.0]), tn.ones(1).as_subclass(Other)
    assert type(a + b) is type(b + a) is Further
    with pytest.raises(TypeError, match="^no implementation found for 'add'"):
        a + c
    with pytest.raises(TypeError):
        a + "x"


def test_parameters_stay_plain():
    p = nn.Parameter(tn.ones(2))
    assert type(p + 1) is type(p.detach()) is tn.Tensor
    assert type(p + Marked([1.0, 2.0])) is Marked


def test_gradients_go_through():
    x = tn.tensor([1.0, 2.0], requires_grad=True)
    y = x.as_subclass(Other)
    assert type(y) is Other and not y.is_leaf
    (y * y)[1:].exp().sum().backward()
    assert type(x.grad) is tn.Tensor and x.grad[0] == 0 and x.grad[1] > 200
    leaf = tn.Tensor._make_subclass(Other, tn.ones(2), True)
    (leaf * leaf).sum().backward()
    assert leaf.is_leaf and leaf.grad.tolist() == [2.0, 2.0] and type(leaf.grad) is tn.Tensor
    with tn.no_grad():
        assert type(leaf + 1) is Other


def test_a_torch_function_of_ones_own():
    t = tn.ones(3).as_subclass(Calls)
    Calls.names.clear()
    result = (t.exp() * 2).detach()
    assert Calls.names == ["exp", "mul", "detach"] and type(result) is Calls
    Calls.names.clear()
    t.mul_(2).relu_().lerp_(t, 0.5)
    assert Calls.names == ["mul_", "relu_", "lerp_"]


def test_the_name_is_printed():
    assert repr(tn.ones(2, 2).as_subclass(Other)) == "Other([[1., 1.],\n       [1., 1.]])"


def test_what_is_no_class():
    with pytest.raises(TypeError, match="cls must be a class derived from Tensor"):
        tn.ones(2).as_subclass(int)


class Counted:
    """No tensor, but with a __torch_function__ of its own."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func.__name__, len(args), kwargs


def test_libraries_ask_who_overrides_a_function():
    assert overrides.has_torch_function((tn.ones(1), Marked([1.0])))
    assert overrides.has_torch_function_unary(Counted())
    assert overrides.has_torch_function_variadic(1, Counted())
    assert not overrides.has_torch_function((tn.ones(1), nn.Parameter(tn.ones(1)), 3, None))
    seen = overrides.handle_torch_function(abs, (1, Counted()), 1, Counted(), dim=2)
    assert seen == ("abs", 2, {"dim": 2})


def test_functions_of_libraries_dispatch():
    @overrides.wrap_torch_function(lambda x, scale=1.0: (x,))
    def scaled(x, scale=1.0):
        return x * scale

    assert scaled(Counted(), scale=3) == ("scaled", 1, {"scale": 3})
    assert scaled(tn.ones(2), 3).tolist() == [3.0, 3.0]
    assert overrides.is_tensor_like(Counted()) and not overrides.is_tensor_like(3)
