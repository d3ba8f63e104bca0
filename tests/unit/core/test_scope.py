"""Followers of module calls and observers of backward passes: events, and cleanup."""

import threading

import pytest

import tinynet as tn
from tinynet import nn
from tinynet.core import trace as scope
from tinynet.core.graph.engine import BackwardObserver, observing_backward, passes
from tinynet.core.modes import mode
from tinynet.core.trace import following


class Follower:
    def __init__(self):
        self.events = []

    def entered(self, module):
        self.events.append(("in", type(module).__name__))

    def left(self, module):
        self.events.append(("out", type(module).__name__))


class Observer(BackwardObserver):
    def __init__(self):
        self.events = []

    def began(self, backward_pass):
        self.events.append("began")

    def visit(self, backward_pass, node, go):
        self.events.append(node.name())
        go(node)

    def ended(self, backward_pass):
        self.events.append("ended")


class Fails(nn.Module):
    def forward(self, x):
        raise KeyError("no")


def swapped():
    return [*passes.listeners], [*scope.calls.listeners]


@pytest.fixture(autouse=True)
def everything_is_put_back():
    before = swapped()
    yield
    assert swapped() == before


def test_calls_are_reported_from_inside_out():
    follower, model = Follower(), nn.Sequential(nn.ReLU(), nn.Tanh())
    with following(follower):
        model(tn.ones(1))
    model(tn.ones(1))
    inner = [("in", "ReLU"), ("out", "ReLU"), ("in", "Tanh"), ("out", "Tanh")]
    assert follower.events == [("in", "Sequential"), *inner, ("out", "Sequential")]


def test_a_call_that_fails_is_left():
    follower = Follower()
    with following(follower), pytest.raises(KeyError):
        nn.Sequential(Fails())(tn.ones(1))
    assert [what for what, _ in follower.events] == ["in", "in", "out", "out"]
    assert mode.scope is None


def test_two_followers_and_another_thread():
    first, second, model = Follower(), Follower(), nn.ReLU()
    with following(first):
        with following(second):
            thread = threading.Thread(target=model, args=(tn.ones(1),))
            thread.start()
            thread.join()
            model(tn.ones(1))
        model(tn.ones(1))
    assert (len(first.events), len(second.events)) == (4, 2)


def test_passes_are_reported_node_by_node():
    observer, x = Observer(), tn.ones(2, requires_grad=True)
    y = (x * 2).sum()
    with observing_backward(observer):
        y.backward()
    (x * 2).sum().backward()
    assert observer.events == ["began", "SumBackward0", "MulBackward0", "ended"]
    assert x.grad.numpy().tolist() == [4.0, 4.0]


def test_a_pass_that_fails_has_ended():
    observer, x = Observer(), tn.ones(2, requires_grad=True)
    y = x.exp()
    z = y.sum()
    y.add_(1)
    with observing_backward(observer), pytest.raises(RuntimeError, match="inplace operation"):
        z.backward()
    assert observer.events[-1] == "ended"


def test_a_pass_within_a_pass():
    class Inner(tn.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            with tn.enable_grad():
                y = tn.ones(2, requires_grad=True)
                (y * 3).sum().backward()
            return g * y.grad

    observer, x = Observer(), tn.ones(2, requires_grad=True)
    y = Inner.apply(x).sum()
    with observing_backward(observer):
        y.backward()
    inner = ["began", "SumBackward0", "MulBackward0", "ended"]
    assert observer.events == ["began", "SumBackward0", "InnerBackward", *inner, "ended"]


def test_two_observers_anomaly_mode_and_another_thread():
    first, second = Observer(), Observer()

    def work():
        x = tn.ones(2, requires_grad=True)
        (x * 2).sum().backward()

    with observing_backward(first), observing_backward(second):
        with tn.autograd.set_detect_anomaly(True):
            work()
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert first.events == second.events == ["began", "SumBackward0", "MulBackward0", "ended"]


def test_an_observer_may_look_at_what_arrives():
    x = tn.ones(2, requires_grad=True)
    y = x * 2
    z = y.sum()
    seen = []

    class Looks(Observer):
        def visit(self, backward_pass, node, go):
            seen.append(backward_pass.pending[node].shape)
            go(node)
            seen.append([edge[0] is x for edge in node.edges if edge])

    with observing_backward(Looks()):
        z.backward()
    assert seen == [(), [False], (2,), [True]]


def test_anomaly_mode_is_an_observer_of_its_thread():
    before = [*passes.listeners]
    with tn.autograd.set_detect_anomaly(True), tn.autograd.set_detect_anomaly(True):
        assert len(passes.listeners) == len(before) + 1
    assert passes.listeners == before
