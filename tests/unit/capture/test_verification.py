"""Replays that a compiled function compares with eager calls, by itself or as ``verify`` says."""

import threading
import tracemalloc
import warnings

import numpy as np
import pytest

import tinynet as tn
import tinynet.nn.functional as F
from tests.unit.capture.pairs import same, visible
from tinynet import nn, optim
from tinynet.capture.verify import schedule, verification
from tinynet.capture.verify.schedule import OVER, SHARE, Schedule
from tinynet.compiler import CompileError, CompileWarning
from tinynet.core.trace import observable

BACKENDS = ["numpy", "llvm"]


@pytest.fixture
def unseen(monkeypatch):
    """Return a function that changes what ``x * y`` computes; no guard compares kernels."""

    def change(kernel=lambda a, b, **options: np.add(a, b)):
        monkeypatch.setitem(observable.namespace, "mul_kernel", kernel)

    return change


@pytest.fixture(autouse=True)
def unlimited(monkeypatch):
    """Verification waits for no time here: what it costs depends on the machine."""
    monkeypatch.setattr(schedule, "SHARE", float("inf"))


def verified(compiled):
    return [entry.schedule.count for _, entry in compiled.programs()]


def training(backend="numpy", *, dropout=0.5):
    tn.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(dropout))
    net.append(nn.Linear(8, 3))
    adamw = optim.AdamW(net.parameters(), lr=0.01)
    steps = optim.lr_scheduler.MultiStepLR(adamw, [3, 5, 5])

    def step(x, y):
        adamw.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        adamw.step()
        steps.step()
        return loss

    return step, (net, adamw, steps)


def batch(i):
    x = tn.arange(24.0).reshape(6, 4)
    return (x * (i + 1)).sin(), tn.arange(6) % 3


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("verify", [None, 1, 3])
def test_a_training_is_the_same_wherever_it_is_verified(backend, verify):
    sides = []
    for how in (verify, 0):
        step, state = training(backend)
        compiled = tn.compile(step, backend=backend, verify=how)
        sides.append((compiled, state, [compiled(*batch(i)) for i in range(14)]))
    (compiled, state, losses), (_, others, expected) = sides
    assert verified(compiled) == [{None: 2, 1: 12, 3: 4}[verify]]
    same([loss.detach() for loss in losses], [loss.detach() for loss in expected])
    same(visible(state), visible(others))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("at", [2, 9])
def test_what_no_guard_sees_is_found_and_runs_eagerly_from_then_on(backend, at, unseen):
    compiled = tn.compile(lambda x: (x * 3).exp(), backend=backend)
    x = tn.ones(2)
    for _ in range(2 + at):
        compiled(x)
    assert compiled.calls().replayed == at
    unseen()
    with pytest.warns(CompileWarning) as heard:
        found = compiled(x)
    same(found, (x + 3).exp())
    (warning,) = heard
    text = str(warning.message)
    assert "no longer does what its program does: the values" in text
    assert "at [0]" in text and "(x * 3).exp()" in text and "report this" in text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiled(x).tolist() == found.tolist()
    assert compiled.programs() == [] and compiled.calls().eager == 1
    compiled.reset()  # and once more from the beginning
    for _ in range(4):
        compiled(x)
    assert compiled.calls() == (2, 2, 0)


def test_a_gradient_that_differs_is_found(monkeypatch):
    """The result is the same, and what flows back is not."""
    net, linear = nn.Linear(2, 1), F.linear
    compiled = tn.compile(lambda x: net(x).sum())
    for _ in range(4):
        compiled(tn.ones(1, 2))
    monkeypatch.setattr(F, "linear", lambda x, w, b: linear(x, w.detach(), b))
    with pytest.warns(CompileWarning, match="the gradient behind a result"):
        compiled(tn.ones(1, 2))


def test_a_write_that_differs_is_found(unseen):
    count = tn.zeros(1)

    def f(x):
        count.add_(x * 2)
        return x + 1

    compiled = tn.compile(f)
    for _ in range(4):
        compiled(tn.ones(1))
    unseen()
    with pytest.warns(CompileWarning, match=r"(?s)the values of .*test_verification.*count.add_"):
        compiled(tn.ones(1))
    assert count.tolist() == [11] and count._version == 5  # 4 times 2, and 3


def test_an_error_that_a_replay_lacks_is_found(unseen):
    compiled = tn.compile(lambda x: x * 2)
    for _ in range(4):
        compiled(tn.ones(1))

    def fail(*args, **options):
        raise KeyError("no product")

    unseen(fail)
    with pytest.warns(CompileWarning, match="the error"), pytest.raises(KeyError, match="product"):
        compiled(tn.ones(1))


def test_an_error_of_both_is_no_difference():
    table = tn.arange(6.0).reshape(3, 2)
    compiled = tn.compile(lambda i: F.embedding(i, table))
    for i in (0, 1, 2, 1):
        compiled(tn.tensor([i]))
    with pytest.raises(IndexError):
        compiled(tn.tensor([7]))
    assert compiled(tn.tensor([1])).tolist() == [[2, 3]] and verified(compiled) == [1]


def test_verify_makes_a_difference_an_error(unseen):
    compiled = tn.compile(lambda x: x * 2, verify=3)
    for _ in range(8):
        compiled(tn.ones(1))
    assert verified(compiled) == [2]
    unseen()
    with pytest.raises(CompileError, match="no longer does what its program does"):
        for _ in range(4):
            compiled(tn.ones(1))


def test_verify_0_never_does(unseen):
    compiled = tn.compile(lambda x: x * 3, verify=0)
    for _ in range(4):
        compiled(tn.ones(1))
    unseen()
    assert [compiled(tn.ones(1)).item() for _ in range(10)] == [3] * 10


def test_the_first_replay_of_a_further_program_is_verified():
    compiled = tn.compile(lambda x: x * 2)
    for n in (1, 2, 3):
        for _ in range(3):
            compiled(tn.ones(n))
    assert verified(compiled) == [0, 1, 1]


def test_hooks_of_the_user_run_once():
    w, heard = tn.ones(2, requires_grad=True), []
    w.register_hook(lambda g: heard.append(1))

    def step(x):
        (w * x).sum().backward()

    compiled = tn.compile(step, verify=1)
    for _ in range(6):
        compiled(tn.ones(2))
    assert len(heard) == 6


@pytest.mark.parametrize("registered", ["on the optimizer", "for all optimizers"])
@pytest.mark.parametrize("when", ["pre", "post"])
def test_hooks_of_steps_run_once(registered, when):
    w, heard = tn.ones(2, requires_grad=True), []
    sgd = optim.SGD([w], lr=0.1)
    own = registered == "on the optimizer"
    register = (
        getattr(sgd, f"register_step_{when}_hook")
        if own
        else getattr(optim.optimizer, f"register_optimizer_step_{when}_hook")
    )

    def step(x):
        sgd.zero_grad()
        (w * x).sum().backward()
        sgd.step()

    handle = register(lambda *_: heard.append(1))
    try:
        compiled = tn.compile(step, verify=1)
        for _ in range(6):
            compiled(tn.ones(2))
    finally:
        handle.remove()
    assert len(heard) == 6


def test_python_code_of_a_verified_call_runs_once():
    """What the recorder cannot see happens once, such as in functions that only tinynet calls."""
    seen = []

    class Counted(nn.Module):
        def __call__(self, x):
            return super().__call__(x)

        def forward(self, x):
            return x * 2

    net = Counted()
    compiled = tn.compile(net, verify=1)
    for _ in range(5):
        seen.append(compiled(tn.ones(1)).item())
    assert seen == [2] * 5


def test_a_busy_capture_elsewhere_postpones_it():
    from tinynet.capture.compiled import capturing

    compiled = tn.compile(lambda x: x * 2)
    for _ in range(4):
        compiled(tn.ones(1))
    assert capturing.take()
    assert compiled(tn.ones(1)).item() == 2
    capturing.give_back()
    assert verified(compiled) == [0]
    compiled(tn.ones(1))
    assert verified(compiled) == [1]


def test_two_threads_verify_their_own():
    functions = [tn.compile(training()[0], verify=2) for _ in range(2)]
    errors = []

    def run(compiled):
        try:
            for i in range(30):
                compiled(*batch(i))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(f,)) for f in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


@pytest.mark.parametrize("cost", [0.1, 5, 20, 60])
def test_what_verification_may_cost(cost, monkeypatch):
    """After the first one, the cost stays below its share of 10,000 calls."""
    now = 0.0
    monkeypatch.setattr(schedule, "SHARE", SHARE)
    monkeypatch.setattr(schedule.time, "perf_counter", lambda: now)
    times, done = Schedule(None), []
    for replay in range(1, OVER):
        now += 1.0
        if replay >= times.due and not times.is_affordable():
            times.postpone()
        elif replay >= times.due:
            done.append(replay)
            now += cost
            times.verified(cost)
    assert done[0] == 3 and cost * len(done) <= max(cost, SHARE * OVER)
    assert done == [3, 10, 100, 1000][: len(done)]
    assert len(done) == {0.1: 4, 5: 4, 20: 2, 60: 1}[cost]


def test_values_that_are_rounding_only_are_no_difference():
    """The gradient of a key's bias is zero, but for rounding; Adam makes full steps of it."""
    tn.manual_seed(1)
    attention = nn.MultiheadAttention(8, 2, batch_first=True)
    adam = optim.Adam(attention.parameters(), lr=0.1)

    def step(x):
        adam.zero_grad()
        out, _ = attention(x, x, x)
        loss = (out - x).square().mean()
        loss.backward()
        adam.step()
        return loss

    compiled = tn.compile(step, backend="llvm", verify=1)
    for i in range(6):
        compiled(tn.from_numpy(np.sin(np.arange(80.0) + i).astype("f")).reshape(2, 5, 8))
    assert verified(compiled) == [4]


def test_a_program_that_does_not_fit_is_not_verified(monkeypatch):
    """Nor is the state copied for it: a model may be evaluated often while it trains."""
    net = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
    compiled = tn.compile(net)
    for training in (True, True, True, False, False):
        net.train(training)
        compiled(tn.ones(1, 2))
    copied = []
    monkeypatch.setattr(verification, "Snapshot", lambda roots: copied.append(roots))
    trained, evaluated = (entry for _, entry in compiled.__dict__["forward"].programs())
    trained.schedule.due, evaluated.schedule.due = 1, 99
    assert compiled(tn.ones(1, 2)).shape == (1, 2) and copied == []


def test_verification_copies_the_state_once():
    weight = nn.Parameter(tn.zeros(1_000_000))
    optimizer = tn.optim.SGD([weight], lr=0.1, momentum=0.9)

    def step(x):
        optimizer.zero_grad()
        loss = (weight * x).sum()
        loss.backward()
        optimizer.step()
        return loss

    compiled, x = tn.compile(step), tn.ones(1_000_000)
    for _ in range(4):
        compiled(x)
    tracemalloc.start()
    try:
        compiled(x)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    ((_, entry),) = compiled.programs()
    # Copies of weight, momentum and gradient; the old gradient and two new ones; an operation's.
    assert entry.schedule.count == 1 and peak < 29_000_000
