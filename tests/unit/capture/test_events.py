"""Captures beside profilers, debuggers and tracers: each goes on after the call as before it."""

import contextlib
import cProfile
import ctypes
import profile
import pstats
import sys
import threading
import trace

import pytest

import tinynet as tn
from tinynet.compiler import CompileWarning

from .test_guards import WARM

X = tn.ones(3)


def scaled(x):
    return x * 2


def after(x):
    return x


def calls(function):
    """Call a function as often as it takes to replay it, and another one."""
    for _ in range(WARM):
        with contextlib.suppress(ZeroDivisionError):
            function(X)
        after(X)


def by_function(names):
    def tool(frame, event, arg):
        if event == "call":
            names.append(frame.f_code.co_name)
        return tool

    return tool


def with_cprofile(run):
    with cProfile.Profile() as tool:
        run()
        assert sys.getprofile() in (tool, None)  # None: it uses sys.monitoring
    return counted(tool)


def with_profile(run):
    tool = profile.Profile()
    tool.runcall(run)
    return counted(tool)


def counted(tool):
    """Return the number of calls of each function that a profiler saw."""
    return {key[2]: number for key, (number, *_) in pstats.Stats(tool).stats.items()}


def with_trace(run):
    tool = trace.Trace(count=False, trace=False, countfuncs=True)
    tool.runfunc(run)
    names = [name for _, _, name in tool.results().calledfuncs]
    return {name: WARM for name in names}


def with_both(run):
    """Under a tracer, under a profiler in C."""
    traced = {}
    seen = with_cprofile(lambda: traced.update(with_trace(run)))
    assert seen.items() >= {"after": traced["after"]}.items()
    return seen


def with_function(set_it, get_it):
    def run_with(run):
        names, before = [], get_it()
        tool = by_function(names)
        set_it(tool)
        try:
            run()
            assert get_it() is tool
        finally:
            set_it(before)
        return {name: names.count(name) for name in names}

    return run_with


def with_threads_profiled(run):
    """Under a profile function that ``threading`` sets in each new thread."""
    names = []
    before = threading.getprofile()
    threading.setprofile(by_function(names))
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        threading.setprofile(before)
    return {name: names.count(name) for name in names}


TOOLS = {
    "cProfile": with_cprofile,
    "profile": with_profile,
    "trace": with_trace,
    "trace in cProfile": with_both,
    "sys.setprofile": with_function(sys.setprofile, sys.getprofile),
    "sys.settrace": with_function(sys.settrace, sys.gettrace),
    "threading.setprofile": with_threads_profiled,
}


def failing(x):
    raise ZeroDivisionError(scaled(x))


@pytest.mark.parametrize("use", TOOLS.values(), ids=[*TOOLS])
@pytest.mark.parametrize("fails", [False, True])
def test_a_tool_goes_on_after_a_capture(use, fails):
    compiled = tn.compile(failing if fails else scaled)
    seen = use(lambda: calls(compiled))
    assert seen["after"] == WARM
    if not fails:
        assert compiled.calls() == (WARM - 2, 2, 0)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="tools in C use sys.monitoring")
def test_a_tool_that_python_cannot_set_aside():
    """Such as those of pyinstrument and VizTracer: an object that is not a function."""
    events = []
    hook = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 2, ctypes.c_int, ctypes.c_void_p)
    callback, tool = hook(lambda *event: events.append(event) or 0), object()
    compiled = tn.compile(scaled)
    before = sys.getprofile()
    ctypes.pythonapi.PyEval_SetProfile(callback, ctypes.py_object(tool))
    try:
        with pytest.warns(CompileWarning, match="a object follows the code, which Python cannot"):
            calls(compiled)
        assert sys.getprofile() is tool
    finally:
        sys.setprofile(before)
    assert events
    assert compiled.calls() == (0, 0, WARM)
    calls(compiled)  # nothing is in the way any more
    assert compiled.calls() == (WARM - 2, 2, WARM)


def test_a_compiled_function_that_a_profile_function_calls():
    """No event of its code comes, so nothing would be known about what it reads."""
    scale, results = [2.0], []
    compiled = tn.compile(lambda x: x * scale[0])

    def tool(frame, event, arg):
        if event == "call" and frame.f_code is after.__code__:
            results.append(compiled(X).tolist())

    before = sys.getprofile()
    with pytest.warns(CompileWarning, match="a trace or profile function calls it"):
        sys.setprofile(tool)
        try:
            for scale[0] in range(2 * WARM):
                after(X)
        finally:
            sys.setprofile(before)
    assert results == [[n] * 3 for n in range(2 * WARM)]


def profiled(x):
    with cProfile.Profile() as tool:
        result = scaled(x)
    return result, "scaled" in counted(tool)


def tracing_function(x):
    names = []
    before = sys.gettrace()
    sys.settrace(by_function(names))
    result = scaled(x)
    sys.settrace(before)
    return result, "scaled" in names


@pytest.mark.parametrize("function", [profiled, tracing_function])
def test_a_function_that_uses_a_tool(function):
    compiled = tn.compile(function)
    with pytest.warns(CompileWarning, match="uses a profiler|sets a trace function|asks for the"):
        for _ in range(2 * WARM):
            result, seen = compiled(X)
            assert result.tolist() == [2, 2, 2]
            assert seen
    assert compiled.calls().replayed == 0


def test_a_tool_that_a_function_leaves_on():
    names = []
    tool = by_function(names)
    compiled = tn.compile(lambda x: (scaled(x), sys.setprofile(tool))[0])
    before = sys.getprofile()
    try:
        compiled(X)
        assert sys.getprofile() is tool
        after(X)
    finally:
        sys.setprofile(before)
    assert "after" in names
