"""Captures under strict warnings, forks, and objects whose methods raise errors."""

import functools
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
import warnings

import pytest

import tinynet as tn
from tests.tools.patience import PATIENCE
from tinynet import nn, optim
from tinynet.compiler import CompileWarning
from tinynet.core.graph.engine import passes
from tinynet.core.modes import inference
from tinynet.core.trace import calls, observable, observers
from tinynet.kernels import threads

PROGRAM = """
import tinynet as tn
from tinynet import nn, optim

def run(function, *calls, backend="numpy"):
    compiled = tn.compile(function, backend=backend)
    for _ in range(4):
        for call in calls:
            compiled(*call())
    compiled.explain()
    return compiled

for name in tn.ops.__all__:
    getattr(tn.ops, name)
leaf = tn.ones(3, requires_grad=True)
view, plain_view, default = leaf[:2], tn.ones(3)[:2], [1.5, "a", None, (1, 2.0), b"b", 1j, ...]
with tn.no_grad():
    run(lambda x: x * view + plain_view, lambda: [tn.ones(2)])
run(lambda x: x * 2, lambda: [view], lambda: [plain_view], lambda: [leaf])
run(lambda x: (x * default[0], tuple(default), {"a": 1, 2.0: x}), lambda: [leaf.detach()])
run(lambda x, *rest: x[..., :2] + len(rest), lambda: [tn.ones(1, 3), *default[:4]])
table = tn.arange(6.0).reshape(3, 2)
run(lambda x: x @ table, lambda: [tn.ones(1, 3)], backend="llvm")
run(lambda x: (x * leaf[:1]).sum(), lambda: [tn.ones(3)], backend="llvm")
net = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.GELU(), nn.Dropout(0.5), nn.Linear(4, 2))
for optimizer in (optim.SGD(net.parameters(), lr=0.1), optim.Adam(net.parameters())):
    def step(x):
        optimizer.zero_grad()
        loss = net(x).square().mean(dim=(0, 1))
        loss.backward()
        optimizer.step()
        return loss
    assert run(step, lambda: [tn.ones(4, 3)]).calls().replayed
"""


def test_generated_code_compiles_without_a_warning():
    """Outside of pytest, which filters warnings of its own."""
    run = [sys.executable, "-W", "error", "-c", PROGRAM]
    ran = subprocess.run(run, capture_output=True, text=True, timeout=PATIENCE)
    assert ran.returncode == 0, ran.stderr


class Raising:
    """An object all of whose methods raise an error, but for one attribute."""

    def fail(self, *args):
        raise ValueError("called by a capture")

    __eq__ = __bool__ = __len__ = __iter__ = __repr__ = __dir__ = fail  # type: ignore[assignment]

    def __hash__(self):
        return 1

    def __getattribute__(self, name):
        if name == "scale":
            return 2.0
        raise KeyError(name)


class Names(dict):
    """A dictionary with its items as attributes; it raises KeyError for others."""

    def __getattr__(self, name):
        return self[name]


class Unusual(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 2)

    def __getattr__(self, name):
        raise KeyError(name)

    def forward(self, x):
        return self.inner(x)


def test_objects_whose_methods_raise_errors():
    thing, names = Raising(), Names(scale=2.0)
    for function in (lambda x: x * thing.scale, lambda x: x * names.scale):
        compiled = tn.compile(function)
        assert [compiled(tn.ones(1)).item() for _ in range(4)] == [2] * 4
        assert compiled.calls() == (2, 2, 0)
    names["scale"] = 3.0
    assert compiled(tn.ones(1)).item() == 3


def test_a_module_whose_getattr_raises_another_error():
    compiled = tn.compile(Unusual())
    for _ in range(4):
        assert compiled(tn.ones(1, 2)).shape == (1, 2)
    assert compiled.explain().calls == (2, 2, 0)


forking = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning"),
]


def all_of(marks):
    return lambda test: functools.reduce(lambda marked, mark: mark(marked), marks, test)


def state():
    """What captures set up for all threads."""
    patched = [f for f in (getattr, hasattr, __import__) if type(f) is not type(len)]
    listening = [*observers, *passes.listeners, *calls.listeners]
    return patched, listening, observable.tracers, inference.count, gc.get_threshold()


def trains():
    """Raise an error unless this process trains and captures as a new one does."""
    net = nn.Linear(2, 2)
    net(tn.ones(1, 2)).sum().backward()
    compiled = tn.compile(net)
    for _ in range(4):
        compiled(tn.ones(1, 2))
    optim.SGD(net.parameters(), lr=0.1).step()
    tn.rand(3)
    assert compiled.explain().calls == (2, 2, 0)


def in_child(check):
    """Fork, and run a check in the child, which ends after 20 s at the latest."""
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            check()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


@all_of(forking)
@pytest.mark.parametrize("count", [20, pytest.param(400, marks=pytest.mark.slow)])
def test_forks_while_another_thread_captures(count):
    """A child has neither the thread nor what it held: locks, tracers, patched functions."""
    over, net = threading.Event(), nn.Linear(4, 4)
    before = state()

    def capture():
        while not over.is_set():
            compiled = tn.compile(lambda x: net(x).relu())
            compiled(tn.ones(2, 4)).sum().backward()

    def check():
        assert state() == before
        trains()

    thread = threading.Thread(target=capture)
    thread.start()
    try:
        for _ in range(count):
            in_child(check)
    finally:
        over.set()
        thread.join()
    assert state() == before


@all_of(forking)
def test_a_fork_in_the_midst_of_a_capture_of_another_thread():
    inside, over = threading.Event(), threading.Event()
    before = state()

    @tn.compile
    def waiting(x):
        inside.set()
        over.wait(20)
        return x * 2

    def capture():
        with tn.inference_mode():
            waiting(tn.ones(1))

    def check():
        assert state() == before
        trains()

    thread = threading.Thread(target=capture)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        thread.start()
        try:
            assert inside.wait(20)
            assert state() != before
            in_child(check)
        finally:
            over.set()
            thread.join()
    assert state() == before


@all_of(forking)
@pytest.mark.parametrize("captured", [True, False])
def test_a_function_that_forks(captured):
    """The child goes on with the capture; the function asks the system, so it runs eagerly."""
    before = state()

    def function(x):
        y = x * 2 if captured else 2 * x.sum().item() * x  # nothing is captured any more
        return os.fork(), y * 2

    def check(child):
        assert state() == before
        trains()
        if child == 0:
            os._exit(0)

    compiled = tn.compile(function)
    child, result = compiled(tn.ones(1))
    if child == 0:
        signal.alarm(20)
        try:
            check(child)
        finally:
            os._exit(1)
    check(child)
    assert os.waitpid(child, 0)[1] == 0
    assert result.item() == 4


@all_of(forking)
def test_a_fork_in_a_thread_that_holds_a_lock():
    """As a handler of a signal may; and one that waits for locks in another order."""
    outer, inner = (threads.fork_safe_lock() for _ in range(2))
    over = threading.Event()

    def nest():
        while not over.is_set():
            with inner:
                time.sleep(1e-4)
                with outer:
                    pass

    def check():
        for lock in (outer, inner):
            assert lock.acquire(timeout=10)

    thread = threading.Thread(target=nest)
    thread.start()
    try:
        for _ in range(10):
            in_child(check)
    finally:
        over.set()
        thread.join()
    with outer, inner:
        in_child(check)
