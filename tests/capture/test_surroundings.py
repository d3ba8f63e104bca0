"""Captures under strict warnings, forks, and objects whose methods raise errors."""

import os
import subprocess
import sys
import threading

import pytest

import tinynet as tn
from tinynet import nn, optim

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
run(lambda x: x @ table, lambda: [tn.ones(1, 3)], backend="numba")
run(lambda x: (x * leaf[:1]).sum(), lambda: [tn.ones(3)], backend="numba")
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
    ran = subprocess.run(run, capture_output=True, text=True, timeout=120)
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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.parametrize("count", [20, pytest.param(400, marks=pytest.mark.slow)])
def test_forks_while_another_thread_captures(count):
    """A child has neither the thread nor what it held: locks, tracers, patched functions."""
    over, net = threading.Event(), nn.Linear(4, 4)

    def capture():
        while not over.is_set():
            compiled = tn.compile(lambda x: net(x).relu())
            compiled(tn.ones(2, 4)).sum().backward()

    thread = threading.Thread(target=capture)
    thread.start()
    try:
        for _ in range(count):
            child = os.fork()
            if child == 0:
                os._exit(_trains())
            assert os.waitpid(child, 0)[1] == 0
    finally:
        over.set()
        thread.join()


def _trains():
    """Return 0 if this process trains and captures as a new one does."""
    threading.Thread(target=lambda: threading.Timer(20, os._exit, [3]).start()).start()
    net = nn.Linear(2, 2)
    net(tn.ones(1, 2)).sum().backward()
    compiled = tn.compile(net)
    for _ in range(4):
        compiled(tn.ones(1, 2))
    optim.SGD(net.parameters(), lr=0.1).step()
    tn.rand(3)
    usual = getattr.__class__ is len.__class__  # none that a capture has put in its place
    return 0 if compiled.explain().calls == (2, 2, 0) and usual else 4
