"""Numbers that a function reads from tensors only to return them."""

import math

import pytest

import tinynet as tn
import tinynet.nn.functional as F
from tinynet import nn, optim
from tinynet.compiler import CompileWarning


class Task:
    """A small classifier; a batch for each step."""

    def __init__(self):
        tn.manual_seed(0)
        self.net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
        self.optimizer = optim.SGD(self.net.parameters(), lr=0.1)
        self.seen = []


def step(task):
    def step(x):
        task.optimizer.zero_grad()
        loss = F.cross_entropy(task.net(x), tn.tensor([0, 1, 1, 0]))
        loss.backward()
        task.optimizer.step()
        return loss.item()

    return step


def many(task):
    def step(x):
        before = task.net[0].weight[0, 0].item()
        out = task.net(x)
        loss = F.cross_entropy(out, tn.tensor([0, 1, 1, 0]))
        loss.backward()
        task.optimizer.step()
        correct = (out.argmax(1) == 1).sum().item()
        return {"loss": loss.item(), "correct": correct, "before": [before, (before, 5)], "n": 4}

    return step


def by_functions(task):
    def evaluate(x):
        out = task.net(x)
        return float(out.sum()), int((out > 0).sum()), bool((out > 0).all()), out.argmax(1).tolist()

    return tn.no_grad()(evaluate)


def of_a_helper(task):
    def helper(x):
        return [task.net(x).sum().item(), 1]

    def step(x):
        found = helper(x)
        return "loss", found

    return step


def with_a_decorator(task):
    def decorated(function):
        def call(*args):
            return function(*args)

        return call

    return decorated(lambda x: (task.net(x).mean().item(), x * 2))


def in_a_block(task):
    def evaluate(x):
        with tn.no_grad():
            out = task.net(x)
            return out.sum().item(), out.amax().item()

    return evaluate


def dropped(task):
    def step(x):
        task.net(x).sum().item()
        return task.net(x).detach()

    return step


def compared(task):
    def step(x):
        value = task.net(x).sum().item()
        return value if value > 0 else 0.0

    return step


def stored(task):
    def step(x):
        value = task.net(x).sum().item()
        task.seen.append(value)
        return value

    return step


def computed_with(task):
    return lambda x: task.net(x).sum().item() * 2


def of_math(task):
    return lambda x: math.exp(task.net(x).mean().detach())


def in_a_loop(task):
    def step(x):
        value = 0
        for _ in range(2):
            before = value
            value = task.net(x).sum().item()
        return before, value

    return step


def printed(task):
    return lambda x: f"{task.net(x).sum().item():.3f}"


def yielded(task):
    def numbers(x):
        yield task.net(x).sum().item()

    return lambda x: [*numbers(x)]


def unpacked(task):
    def helper(x):
        return task.net(x).sum().item(), 1

    def step(x):
        value, count = helper(x)
        return value

    return step


def inspected(task):
    def step(x):
        value = task.net(x).sum().item()  # locals() reads it
        return locals()["value"]

    return step


def run(make, compiling, backend="numpy"):
    task = Task()
    function = make(task)
    called = tn.compile(function, backend=backend) if compiling else function
    xs = [(tn.arange(12.0).view(4, 3) + i).sin() for i in range(6)]
    found = []
    for x in xs:
        result = called(x)
        found.append(repr(result))
    return found, called


RETURNED = [step, many, by_functions, of_a_helper, with_a_decorator, in_a_block, dropped]
USED = [compared, stored, computed_with, of_math, in_a_loop, printed, yielded, unpacked, inspected]


@pytest.mark.parametrize("make", RETURNED)
def test_numbers_that_are_only_returned(make):
    found, called = run(make, True)
    assert found == run(make, False)[0]
    calls = called.explain().calls
    assert (calls.replayed, calls.eager) == (4, 0)


@pytest.mark.parametrize("make", USED)
def test_numbers_that_are_used(make):
    with pytest.warns(CompileWarning, match="reads values of a tensor"):
        found, _ = run(make, True)
    assert found == run(make, False)[0]


def test_natively_they_are_close():
    _, called = run(step, True, "llvm")
    assert called.explain().calls.eager == 0


def test_nan_is_returned():
    compiled = tn.compile(lambda x: x.sum().item())
    assert all(math.isnan(compiled(tn.tensor([1.0, math.nan]))) for _ in range(4))
    assert compiled(tn.tensor([1.0, 2.0])) == 3.0


def test_several_elements_are_no_number():
    compiled = tn.compile(lambda x: x.item())
    assert [compiled(tn.tensor([float(i)])) for i in range(4)] == [0.0, 1.0, 2.0, 3.0]
    with pytest.raises(RuntimeError, match="a Tensor with 2 elements cannot be converted"):
        compiled(tn.ones(2))
