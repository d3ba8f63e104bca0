"""Watching the Python code of a captured function: what it depends on, and what it changes.

A program repeats computations, not Python code. So everything that the code reads, such as the
attributes of a module or a global number, becomes a guard, and code that changes Python objects or
examines values cannot be captured.
"""

from __future__ import annotations

import collections
import contextlib
import dis
import functools
import os
import pickle
import random
import re
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tinynet import random as random_numbers
from tinynet.autograd.function_node import FunctionNode
from tinynet.base import lazy
from tinynet.capture.guard import builtin_calls, scheduling
from tinynet.capture.guard.builtin_calls import effect, plain
from tinynet.capture.guard.events import Events, unwatchable
from tinynet.capture.guard.facts import ASKED, MEMORY
from tinynet.capture.guard.handlers import INTERNAL, in_library
from tinynet.capture.guard.holdings import is_a, named, value_of
from tinynet.capture.guard.keys import modes
from tinynet.capture.guard.reads import MAKES, Reads
from tinynet.capture.guard.returned import Path, called_global, paths
from tinynet.capture.program import CaptureError
from tinynet.capture.record.outputs import READ_OUTSIDE
from tinynet.capture.record.recorder import Recorder
from tinynet.capture.record.stores import REMEDY, Store, can_be_set
from tinynet.core.callsite import is_outside, outward
from tinynet.core.graph.saved_hooks import Keeper
from tinynet.core.graph.views import set_data, version_of
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.trace import following
from tinynet.nn.base.hooks import ModuleHooks, everywhere
from tinynet.nn.base.module import Module
from tinynet.nn.base.registry import find, members
from tinynet.nn.utils.norm_hooks import SpectralNorm, WeightNorm
from tinynet.nn.utils.pruning import BasePruningMethod
from tinynet.nn.utils.stateless import functional_call
from tinynet.optim.optimizer import Optimizer

_SETS = "sets the attribute"
_EFFECTS = {
    dis.opmap[name]: what
    for name, what in {
        "STORE_ATTR": _SETS,
        "DELETE_ATTR": "deletes the attribute",
        "STORE_GLOBAL": "sets the global variable",
        "DELETE_GLOBAL": "deletes the global variable",
        "STORE_DEREF": "sets the outer variable",
    }.items()
    if name in dis.opmap
}
_READS = {
    getattr(Tensor, name).__code__: name
    for name in (
        "item", "tolist", "numpy", "__bool__", "__float__", "__int__", "__index__",
        "__contains__", "__array__", "__repr__", "__format__", "data_ptr", "is_set_to",
    )
}  # fmt: skip
_READS[version_of.__code__] = "_version"
# What may be returned, and the function in C, if any, that calls the method.
_RETURNED = {"item": "", "tolist": "", "__float__": "float", "__int__": "int", "__bool__": "bool"}
_SEEDS = {random_numbers.initial_seed.__code__, random_numbers.Generator.initial_seed.__code__}
_ROOT = os.path.dirname(random_numbers.__file__)
_RUNTIME = os.path.join(_ROOT, "compat", "runtime.py")
_SETTING = ("get_", "set_", "are_", "use_")  # how the names of its functions begin
_WRITING = tuple(
    os.path.join(_ROOT, name) for name in ("board", "exchange", "onnx", "serialization.py")
)
_EXAMINES = frozenset("any all max min item tolist nonzero sum argmax argmin tobytes".split())
_READ_ALL = {pickle.dumps, pickle.Pickler.dump}
# The methods that change a container: those that its unchangeable counterpart lacks.
_CHANGES = {
    name
    for kind, fixed in (
        (list, tuple),
        (collections.deque, tuple),
        (set, frozenset),
        (dict, types.MappingProxyType),
    )
    for name in vars(kind).keys() - vars(fixed).keys()
} - {"copy", "fromkeys", "__copy__", "__init__", "__reduce__", "__sizeof__", "__reversed__"}
_SETTERS = {setattr, delattr}
_ENVIRONMENT = {getattr(type(os.environ), f"__{n}item__").__code__ for n in ("get", "set", "del")}
_OF_GRADIENTS = "backward", "before_backward", "on_node"  # stages of a module's hooks
_MANY = 100  # parts of an argument, above which arrays are not looked for in it
_OF_VARIABLES = "LOAD_FAST", "LOAD_DEREF", "LOAD_GLOBAL"  # in the names of instructions
# Hooks of tinynet that set a parameter's name to what they compute from other tensors.
_REPARAMETRIZE = {
    WeightNorm.__call__.__code__: "name",
    SpectralNorm.__call__.__code__: "name",
    BasePruningMethod.__call__.__code__: "_tensor_name",
}


class Watcher:
    """Watches the code that its thread runs in a ``with`` block, except what is recorded.

    Args:
        recorder: the recorder, which it tells of problems.
        function: the captured function.
        arguments: what is passed to it.
        later: the backward pass is watched, after the function.

    Attributes:
        reads: what the code reads.
        modules: the modules that ran.
        stores: the attributes of modules that the code sets.
        returned: what the function returned, if it reads numbers to return them.
    """

    def __init__(
        self, recorder: Recorder, function: Callable[..., Any], arguments: Any, later: bool = False
    ):
        self._recorder: Recorder | None = recorder
        self._function, self.reads = function, Reads(function, later)
        self.reads.of_arguments(arguments)
        self.modules: list[Any] = []
        self.stores: list[Store] = []
        self._runs = False
        self.returned = self._outermost = None
        self._sets_data: Any = None  # the line of ``thing.data = x``, until tinynet sets it
        self._following = following(self)
        self._lookups = builtin_calls.heard_by(self._reached)

    def __enter__(self) -> Watcher:
        self._random, self._modes = _random_states(), modes()
        self._following.__enter__()
        self._lookups.__enter__()
        return self

    def run(self, call: Callable[[], Any]) -> Any:
        """Return what a function returns, and watch its code."""
        assert self._recorder is not None
        if not self.reads.later:
            for thing in _bound_to(self._function):
                self._called(thing)
        problem, events = unwatchable(), Events(self._trace, self._profile)
        if problem is not None:
            self._recorder.refuse(problem)
            return call()
        self._recorder.watch, self._runs = events.switch, True
        try:
            return events.during(call)
        finally:
            self._runs = False
            self._recorder.watch = lambda on: None
            if not events.heard:
                self._refuse("a trace or profile function calls it", "call it from other code")

    def __exit__(self, *exc: object) -> None:
        assert self._recorder is not None
        self._lookups.__exit__(None, None, None)
        self._following.__exit__(None, None, None)
        performed = self._performed()
        problem = self._recorder.scheduling.problem()
        if problem is not None:
            self._recorder.refuse(problem)
        for call in () if self.reads.later else self._recorder.program.calls:
            if call.kind == "perform" and call.args and is_a(call.args[0], Optimizer):
                self.reads.of_optimizer(call.args[0])
        self.reads.finish()
        for store in self.stores:
            self.reads.forget(store.module, store.name, tensor=not store.is_idle())
        self.reads.of_called(performed)
        for what, kind in self.reads.changed(performed):
            remedy = f"return the value, and change the {kind} outside"
            self._refuse(f"the function changes {what}", remedy, disturbed=True)
        if modes() != self._modes:
            self._refuse(
                "the function changes the default dtype, grad mode or autocast",
                "use a `with` block, or do that outside",
            )
        for _, words, remedy in self.reads.hidden:
            self._refuse(f"the function {words}", remedy)
        if _random_states() != self._random:
            self._refuse(
                "the function draws random numbers of Python or numpy",
                "use tn.rand or pass them as an argument of the function",
                disturbed=True,
            )
        self._recorder = None  # a program outlives it, and it holds all arrays of the capture

    def _performed(self) -> set[int]:
        """Return the ids of objects that a replay changes, too."""
        calls = () if self._recorder is None else self._recorder.program.calls
        return {id(a) for call in calls if call.kind == "perform" for a in call.args}

    def entered(self, module: Any) -> None:
        """Note the attributes of a module that runs."""
        if mode.tracer is None:
            return
        self.modules.append(module)
        for hooks in () if module._hooks is None else (module._hooks, everywhere):
            if any(getattr(hooks, stage) for stage in _OF_GRADIENTS):
                remedy = "remove the hooks, or do their work in forward"
                self._refuse("a module has hooks on its gradients", remedy)
            self.reads.of_hooks([getattr(hooks, stage) for stage in ModuleHooks.__slots__])
        self.reads.of_module(module)

    def _called(self, thing: Any) -> None:
        """Note what an object of tinynet holds, whose method is called: ``super().forward(x)``."""
        if not is_a(thing, Module):
            self.reads.of_tool(thing)
        elif not any(module is thing for module in self.modules):
            self.modules.append(thing)
            self.reads.of_module(thing)

    def left(self, module: Any) -> None:
        """Do nothing at the end of a module's call."""

    # ---- Python's events --------------------------------------------------------------------

    def _trace(self, frame: Any, event: str, arg: Any) -> Any:
        recorder = self._recorder
        if mode.tracer is None or recorder is None or event != "call":
            return None
        code = frame.f_code
        if code.co_name == "__enter__":
            recorder.handlers.entered(frame)
        if code in _ENVIRONMENT:
            self.reads.of_environment()
        if not is_outside(code.co_filename):
            return self._in_tinynet(frame, code, recorder)
        library = in_library(code.co_filename)
        if code is builtin_calls.IMPORT and is_outside(_caller(frame)):
            self.reads.of_import(frame.f_locals["name"])
        if library and (code.co_filename.startswith(INTERNAL) or _user_of(frame) is None):
            return None
        self.reads.of_frame(frame, code, library)
        if library:
            return None
        if code.co_name in MAKES:
            return None
        frame.f_trace = self._opcode  # Python 3.13 ignores f_trace_opcodes before
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._opcode

    def _in_tinynet(self, frame: Any, code: Any, recorder: Recorder) -> None:
        """Note a call of a function of tinynet."""
        if code is lazy.load.__code__:  # a trace function runs without events: it loads faster
            with contextlib.suppress(Exception):
                lazy.load(**frame.f_locals)
        elif code is Module.train.__code__:
            self.reads.of_training(frame.f_locals["self"])
        elif code is members.__code__:
            self.reads.of_members(frame.f_locals["module"], frame.f_locals["tables"])
        elif code is find.__code__:
            self.reads.of_lookup(frame.f_locals["module"], frame.f_locals["name"])
        elif code is functional_call.__code__:  # it replaces parameters for a while
            for module in frame.f_locals["module"].modules():
                self.reads.of_module(module)
        elif code in _REPARAMETRIZE:
            name = getattr(frame.f_locals["self"], _REPARAMETRIZE[code])
            self._stores(frame.f_locals["module"], name, outward(frame), looks=False)
        elif code is set_data.__code__:
            self._sets_data = None
        if code is Keeper.enter.__code__:
            recorder.keeps = True
        if code in ASKED:
            t = frame.f_locals[code.co_varnames[0]]
            recorder.facts.asked(t, ASKED[code], recorder.outside_form(t))
        elif code is MEMORY:
            recorder.facts.asked_of_memory(frame.f_locals["array"])
        name = _READS.get(code)
        if name is not None:
            self._reads(frame, name, recorder)
        elif is_outside(_caller(frame)):
            self._entered_tinynet(frame, code)

    def _reads(self, frame: Any, name: str, recorder: Recorder) -> None:
        """Note that the function only returns what it reads, or refuse to read."""
        places = None if self.reads.later else self._places(frame.f_back, name)
        if places is not None:
            recorder.reads_to_return(frame.f_locals["self"], name, places)
            return
        self._refuse(f"{name.strip('_')}() reads values of a tensor", READ_OUTSIDE, outward(frame))

    def _places(self, frame: Any, name: str) -> list[Path] | None:
        """Return where the function returns what it reads; None if it may use that otherwise.

        Args:
            frame: the frame that reads.
            name: the method that it calls, or that a function in C calls for it.
        """
        if name not in _RETURNED or called_global(frame.f_code, frame.f_lasti) != _RETURNED[name]:
            return None
        places: list[Path] = [()]
        while is_outside(frame.f_code.co_filename):
            own = paths(frame.f_code, frame.f_lasti)
            if own is None:
                return None
            places = [(*outer, *inner) for outer in own for inner in places]
            self._outermost, frame = frame, frame.f_back
        while frame.f_code is not Events.during.__code__:
            if is_outside(frame.f_code.co_filename):  # called by code of tinynet in between
                return None
            frame = frame.f_back
        return places

    def _entered_tinynet(self, frame: Any, code: Any) -> None:
        """Note a call of a function of tinynet by other code."""
        self._passed([*frame.f_locals.values()])
        of_runtime = code.co_filename == _RUNTIME and code.co_name[:4] in _SETTING
        if of_runtime or code in _SEEDS:
            self._refuse(
                f"{code.co_name}() reads or changes a setting of tinynet",
                "call it outside of the function, and pass what it returns",
                outward(frame),
            )
        elif code.co_filename.startswith(_WRITING) and code.co_name[:3] != "is_":
            self._refuse(
                f"{code.co_name}() uses files", "do that outside of the function", outward(frame)
            )
        elif code.co_argcount:
            thing = frame.f_locals.get(code.co_varnames[0])
            self._called(thing)
            if self._recorder is not None:
                self._recorder.scheduling.called(thing, code.co_name, outward(frame))

    def _passed(self, values: Any, depth: int = 3) -> None:
        """Note arrays and objects of tinynet's classes among the arguments of one of its functions.

        Keys of indexing are such arguments, too.
        """
        for value in values:
            if is_a(value, np.ndarray) and self._recorder is not None:
                self._recorder.passes(value)
            elif type(value) in (tuple, list, dict) and depth and len(value) <= _MANY:
                parts = value.values() if type(value) is dict else value
                self._passed(parts, depth - 1)
            else:
                self.reads.of_tool(value)

    def _opcode(self, frame: Any, event: str, arg: Any) -> Any:
        if mode.tracer is not None and self._sets_data is not None:
            self._refuse("the function sets the attribute 'data'", REMEDY, self._sets_data)
        if event == "opcode" and mode.tracer is not None:
            code, at = frame.f_code, frame.f_lasti
            if self._recorder is not None and self._recorder.scheduling.changed:
                self._check_schedules(code, at)
            what = _EFFECTS.get(code.co_code[at])
            if what is not None:
                number = code.co_code[at + 1]
                outer = what.endswith("outer variable")
                name = _variable(code, number) if outer else code.co_names[number]
                known = outer and name not in code.co_freevars
                owner = None if known else _target(frame, code, at)
                if what == _SETS:
                    self._sets(owner, name, (code, at))
                elif not known and not _is_recorded(name, owner):
                    self._refuse(f"the function {what} {name!r}", REMEDY, (code, at))
        elif event == "return" and mode.tracer is not None:
            self.reads.of_result(arg)
            if frame is self._outermost:
                self._outermost, self.returned = None, arg
        return self._opcode

    def _sets(self, owner: Any, name: str, site: Any) -> None:
        """Note that the code sets an attribute."""
        if can_be_set(owner, name) and not self.reads.later:
            self._stores(owner, name, site)
        elif name == "data":
            self._sets_data = site
        elif not _is_recorded(name, owner):
            self._refuse(f"the function {_SETS} {name!r}", REMEDY, site)

    def _stores(self, owner: Any, name: str, site: Any, looks: bool = True) -> None:
        """Note the first time that the code sets an attribute of a module."""
        if not any(store.module is owner and store.name == name for store in self.stores):
            self.stores.append(Store(owner, name, site, looks))

    def _check_schedules(self, code: Any, at: int) -> None:
        """Refuse to read what the step of a scheduler has changed."""
        assert self._recorder is not None
        name = self._recorder.scheduling.reads(code, at)
        if name is not None:
            reason = f"the function reads {name!r}, which the step of a scheduler changes"
            self._refuse(reason, scheduling.REMEDY, (code, at))

    def _profile(self, frame: Any, event: str, arg: Any) -> None:
        if event != "c_call" or mode.tracer is None:
            return
        library = in_library(frame.f_code.co_filename)
        what = effect(arg, not (library and in_library(_caller(frame))))
        owner: Any = getattr(arg, "__self__", None)
        if not library and arg in _SETTERS and frame.f_code.co_name not in MAKES:
            what = "sets an attribute"
        if is_a(owner, str) and arg.__name__ in ("format", "format_map"):
            self.reads.mention(re.findall(r"\w+", owner))
        outside = self.reads.later and id(owner) in self.reads.containers
        if outside and arg.__name__ in _CHANGES:
            what = f"changes {named(owner)} from outside"
        user = None if what is None else _user_of(frame)
        if user is not None:
            remedy = "do that outside of the function"
            self._refuse(f"the function {what}", remedy, outward(user))
        elif arg in _READ_ALL or (
            arg in plain and not library and is_outside(frame.f_code.co_filename)
        ):
            self.reads.mention_all()
        elif (
            is_a(owner, np.ndarray)
            and arg.__name__ in _EXAMINES
            and frame.f_code not in _READS  # which was refused, or is returned
        ):
            self._refuse(
                f"{frame.f_code.co_name} examines the values of an array",
                "call it outside of the function",
                outward(frame),
            )

    def _reached(self, frame: Any, function: Any, thing: Any, name: Any) -> None:
        """Note what ``getattr``, ``hasattr``, ``setattr`` or ``__import__`` gets."""
        if _user_of(frame) is None:
            return
        if function in _SETTERS:
            if not (in_library(frame.f_code.co_filename) or frame.f_code.co_name in MAKES):
                self._sets(thing, name, outward(frame))
        elif thing is sys.modules:
            self.reads.of_import(name)
        else:
            self.reads.of_lookup(thing, name)

    def _refuse(self, reason: str, remedy: str, site: Any = None, disturbed: bool = False) -> None:
        """Note a problem; stop the backward pass of a capture before it has an effect."""
        if self._recorder is not None:
            problem = CaptureError(reason, remedy, site, passing=not self.reads.later)
            problem.disturbed = disturbed
            self._recorder.refuse(problem)
            if self.reads.later and self._runs:
                raise problem


def _bound_to(function: Any) -> Iterator[Any]:
    """Yield the modules that a function is bound to, as a method or by ``partial``."""
    while is_a(function, functools.partial):
        yield from filter(_is_module, (*function.args, *function.keywords.values()))
        function = function.func
    yield from filter(_is_module, [value_of(function, "__self__")])


def _is_module(thing: Any) -> bool:
    return is_a(thing, Module)


def _caller(frame: Any) -> str:
    """Return the file whose code called a frame's."""
    return "<frozen start>" if frame.f_back is None else str(frame.f_back.f_code.co_filename)


def _user_of(frame: Any) -> Any:
    """Return the frame of the user's code that a frame of Python's own runs for, or None."""
    while frame is not None and in_library(frame.f_code.co_filename):
        frame = frame.f_back
    return frame if frame is not None and is_outside(frame.f_code.co_filename) else None


def _loaded(code: Any, at: int) -> list[str]:
    """Return the variable, and the attributes from there, that lead to an object.

    It is the one whose attribute an instruction sets: ``thing.part.name = x``, or ``+= x``.
    """
    every = [*dis.get_instructions(code)]
    before = [i for i in every if i.offset < at]
    if before and before[-1].opname == "SWAP":  # a copy of the object gave the attribute
        name = next(i.argval for i in every if i.offset == at)
        while len(before) > 1 and _pair(before) != ("COPY", "LOAD_ATTR", name):
            before.pop()
        del before[-2:]
    path: list[str] = []
    while before and before[-1].opname == "LOAD_ATTR":
        path.insert(0, before.pop().argval)
    loads = bool(before) and any(name in before[-1].opname for name in _OF_VARIABLES)
    name = before[-1].argval if loads else ""
    return [name[-1] if type(name) is tuple else name, *path]


def _pair(instructions: Any) -> tuple[str, str, Any]:
    """Return the names of the last two instructions, and the argument of the last."""
    first, last = instructions[-2:]
    return first.opname, last.opname, last.argval


def _target(frame: Any, code: Any, at: int) -> Any:
    """Return the object whose attribute an instruction sets, if a variable leads to it."""
    name, *path = _loaded(code, at)
    thing = frame.f_locals.get(name, frame.f_globals.get(name))
    for name in path:
        thing = value_of(thing, name)
    return thing


def _is_recorded(name: str, owner: Any) -> bool:
    """Return whether setting an attribute is recorded, or is undone with its owner."""
    return is_a(owner, FunctionNode) or (name == "grad" and is_a(owner, Tensor))


def _variable(code: Any, number: int) -> str:
    names = (*code.co_varnames, *(c for c in code.co_cellvars if c not in code.co_varnames))
    every = (*names, *code.co_freevars)
    return every[number] if number < len(every) else ""


def _random_states() -> Any:
    """Return what changes when Python or numpy draw a random number."""
    legacy = np.random.get_state(legacy=False)["state"]
    return random.getstate(), legacy["pos"], legacy["key"].tobytes()
