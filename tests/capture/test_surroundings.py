"""Captures under profilers, strict warnings, forks, and objects whose methods raise errors."""

import cProfile
import os
import profile
import pstats
import subprocess
import sys
import threading
import trace

import pytest

import tinynet as tn
from tinynet import nn, optim


def captured():
    """Capture a model and replay it; return what was done and a name that profilers may see."""
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    compiled = tn.compile(net)
    for _ in range(5):
        compiled(tn.ones(2, 4)).sum().backward()
    return compiled.explain().calls


def afterwards():
    """A function whose call a profiler sees."""


@pytest.mark.parametrize("profiler", [cProfile.Profile, profile.Profile])
def test_under_a_profiler(profiler):
    one = profiler()

    def run():
        calls = captured()
        afterwards()
        return calls

    assert one.runcall(run) == (3, 2, 0)
    one.create_stats()
    seen = [name for _, _, name in pstats.Stats(one).stats]
    assert "afterwards" in seen and "captured" in seen
    assert sys.getprofile() is None


def test_under_a_profiler_when_the_function_fails():
    def fail(x):
        raise ValueError("no result")

    one = cProfile.Profile()
    one.enable()
    try:
        for _ in range(3):
            with pytest.raises(ValueError, match="no result"):
                tn.compile(fail)(tn.ones(1))
        afterwards()
    finally:
        one.disable()
    assert any(name == "afterwards" for _, _, name in pstats.Stats(one).stats)


def test_under_trace_functions():
    tracer = trace.Trace(count=1, trace=0)
    assert tracer.runfunc(captured) == (3, 2, 0)
    assert any("afterwards" not in str(place) for place in tracer.results().counts)

    heard = []
    sys.settrace(lambda frame, event, arg: heard.append(frame.f_code.co_name))
    try:
        captured()
        afterwards()
    finally:
        sys.settrace(None)
    assert heard[-1] == "afterwards"


PROGRAM = """
import tinynet as tn
from tinynet import nn, optim
table = tn.arange(6.0).reshape(3, 2)
weight = tn.ones(2, requires_grad=True)
for backend in ("numpy", "numba"):
    functions = [
        tn.compile(lambda x: x @ table, backend=backend),
        tn.compile(lambda x: (x * weight[:1]).sum(), backend=backend),
    ]
    for function in functions:
        for _ in range(4):
            function(tn.ones(1, 3))
        assert function.explain().calls == (2, 2, 0)
"""


def test_generated_code_compiles_without_a_warning():
    """Outside of pytest, which filters warnings of its own."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


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
