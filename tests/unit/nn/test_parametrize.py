"""Parametrizations: what PyTorch does not promise; the rest is in machinery/."""

import copy
import threading

import pytest

import tinynet as tn
from tinynet import nn
from tinynet.nn.utils import parametrize as P


class Double(nn.Module):
    def forward(self, x):
        return x * 2

    def right_inverse(self, x):
        return x / 2


class Sum(nn.Module):
    answer = None

    def forward(self, x, y):
        return x + y

    def right_inverse(self, x):
        return (x / 2, x / 2) if self.answer is None else self.answer


def test_a_refused_assignment_changes_nothing():
    net, functions = nn.Linear(2, 2), Sum()
    P.register_parametrization(net, "weight", functions)
    before = net.weight.tolist()
    functions.answer = (tn.ones(2, 2), 3)
    with pytest.raises(ValueError, match="Got element 1 of type int"):
        net.weight = tn.ones(2, 2)
    assert net.weight.tolist() == before


def test_a_refused_registration_changes_nothing():
    class Shrinks(Double):
        def forward(self, x):
            return x[0]

    net = nn.Linear(2, 2)
    before, weight = net.weight.tolist(), net.weight
    with pytest.raises(ValueError, match="may not change the shape of the tensor"):
        P.register_parametrization(net, "weight", Shrinks())
    assert type(net) is nn.Linear and net.weight is weight and weight.tolist() == before
    net.bias = None
    with pytest.raises(ValueError, match="does not have a parameter, a buffer"):
        P.register_parametrization(net, "bias", Double())


def test_removing_from_a_copy_leaves_the_original_parametrized():
    """In PyTorch both have one class, and the copy's removal breaks the original."""
    net = P.register_parametrization(nn.Linear(2, 2), "weight", Double())
    other = copy.deepcopy(net)
    P.remove_parametrizations(other, "weight")
    assert type(other) is nn.Linear and type(net).__name__ == "ParametrizedLinear"
    assert net.weight.tolist() == other.weight.tolist()
    assert net(tn.ones(1, 2)).tolist() == other(tn.ones(1, 2)).tolist()


def test_the_cache_is_the_threads_own():
    net = P.register_parametrization(nn.Linear(2, 2), "weight", Double())
    same = []
    with P.cached():
        thread = threading.Thread(target=lambda: same.append(net.weight is net.weight))
        thread.start()
        thread.join()
        assert net.weight is net.weight
    assert same == [False]


def test_classes_with_a_deepcopy_of_their_own_keep_it():
    class Own(nn.Linear):
        def __deepcopy__(self, memo):
            return "mine"

    net = P.register_parametrization(Own(2, 2), "weight", Double())
    assert copy.deepcopy(net) == "mine"


def test_an_error_in_a_parametrization_shows():
    """With PyTorch's `__getattr__` the message is that the module has no such attribute."""

    class Breaks(Double):
        broken = False

        def forward(self, x):
            return x.nothing if self.broken else x

    function = Breaks()
    net = P.register_parametrization(nn.Linear(2, 2), "weight", function)
    function.broken = True
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        net(tn.ones(1, 2))
