"""Watching the Python code of a captured function: what it depends on, and what it changes.

A program repeats computations, not Python code. So everything that the code reads, such as the
attributes of a module or a global number, becomes a guard, and code that changes Python objects or
examines values cannot be captured.
"""

from __future__ import annotations

import dis
import functools
import gc
import os
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet.autograd.function_node import FunctionNode
from tinynet.capture.program import SIMPLE
from tinynet.capture.recorder import CaptureError, Recorder
from tinynet.core.callsite import is_outside, outward
from tinynet.core.modes import mode
from tinynet.core.module_scope import following
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.base.hooks import ModuleHooks

_EFFECTS = {
    dis.opmap[name]: what
    for name, what in {
        "STORE_ATTR": "sets the attribute",
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
        "__contains__", "__array__", "__repr__", "__format__", "data_ptr",
    )
}  # fmt: skip
_EXAMINES = frozenset("any all max min item tolist nonzero sum argmax argmin tobytes".split())
_BUILTINS = {print: "prints", input: "asks for input", open: "opens a file"}
_ABSENT = object()
_STAGES = ModuleHooks.__slots__
# Code of Python itself; notebooks, the prompt and `python -c` have names such as "<string>".
_LIBRARY = (os.path.dirname(os.__file__) + os.sep, "<frozen ")


class Watcher:
    """Watches the code that its thread runs in a ``with`` block, except what is recorded.

    Args:
        recorder: the recorder, which it tells of problems.
        function: the captured function.

    Attributes:
        dictionaries: by id, namespaces that the code read (the attributes of modules and objects,
            global variables), and the values of the names that it may have read.
        cells: outer variables and their values.
    """

    def __init__(self, recorder: Recorder, function: Callable[..., Any]):
        self._recorder: Recorder | None = recorder
        self.dictionaries: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
        self.cells: dict[int, tuple[Any, Any]] = {}
        self.modules: list[Any] = []
        self._codes: set[Any] = set()
        self._containers: dict[int, tuple[Any, list[int]]] = {}
        self._function = function
        self._following = following(self)

    def __enter__(self) -> Watcher:
        self._before = sys.gettrace(), sys.getprofile()
        self._following.__enter__()
        sys.setprofile(self._profile)
        sys.settrace(self._trace)
        return self

    def __exit__(self, *exc: object) -> None:
        sys.settrace(self._before[0])
        sys.setprofile(self._before[1])
        self._following.__exit__(None, None, None)
        for container, before in self._containers.values():
            if _contents(container) != before:
                self._refuse(
                    f"the function changes a {type(container).__name__} from outside",
                    "return the value, and change the container outside",
                )
        self._recorder = None  # a program outlives it, and it holds all arrays of the capture

    def entered(self, module: Any) -> None:
        """Note the attributes of a module that runs."""
        if mode.tracer is None:
            return
        self.modules.append(module)
        if module._hooks is not None and any(getattr(module._hooks, s) for s in _STAGES):
            self._refuse("a module has hooks", "remove the hooks, or do their work in forward")
        self._depend(module.__dict__, [*module.__dict__])

    def left(self, module: Any) -> None:
        """Do nothing at the end of a module's call."""

    # ---- Python's events --------------------------------------------------------------------

    def _trace(self, frame: Any, event: str, arg: Any) -> Any:
        if mode.tracer is None or event != "call":
            return None
        code = frame.f_code
        if not is_outside(code.co_filename):
            name = _READS.get(code)
            if name == "__bool__" or name and is_outside(frame.f_back.f_code.co_filename):
                self._refuse(
                    f"{name.strip('_')}() reads values of a tensor",
                    "return the tensor, and read it outside of the function",
                    outward(frame),
                )
            return None
        if code.co_filename.startswith(_LIBRARY) and "-packages" not in code.co_filename:
            return None
        self._enter_code(frame, code)
        if code.co_name in ("__init__", "__new__", "__post_init__"):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._opcode

    def _opcode(self, frame: Any, event: str, arg: Any) -> Any:
        if event == "opcode" and mode.tracer is not None:
            code, at = frame.f_code, frame.f_lasti
            what = _EFFECTS.get(code.co_code[at])
            if what is not None:
                number = code.co_code[at + 1]
                outer = what.endswith("outer variable")
                name = _variable(code, number) if outer else code.co_names[number]
                known = outer and name not in code.co_freevars
                if not known and not _is_recorded(name, _target(frame, code, at)):
                    self._refuse(
                        f"the function {what} {name!r}",
                        "return the value instead, and store it outside of the function",
                        (code, at),
                    )
        return self._opcode

    def _profile(self, frame: Any, event: str, arg: Any) -> None:
        if event != "c_call" or mode.tracer is None:
            return
        try:
            what = _BUILTINS.get(arg)
        except TypeError:
            return
        owner = getattr(arg, "__self__", None)
        if what is not None and is_outside(frame.f_code.co_filename):
            self._refuse(f"the function {what}", "do that outside of the function", outward(frame))
        elif isinstance(owner, np.ndarray) and arg.__name__ in _EXAMINES:
            self._refuse(
                f"{frame.f_code.co_name} examines the values of an array",
                "call it outside of the function",
                outward(frame),
            )

    def _refuse(self, reason: str, remedy: str, site: Any = None) -> None:
        if self._recorder is not None:
            self._recorder.refuse(CaptureError(reason, remedy, site))

    # ---- dependencies -----------------------------------------------------------------------

    def _enter_code(self, frame: Any, code: Any) -> None:
        if code.co_argcount and code.co_varnames[0] in frame.f_locals:
            first = frame.f_locals[code.co_varnames[0]]
            held = getattr(first, "__dict__", None)
            if type(held) is dict and not isinstance(first, (type, types.ModuleType, Tensor)):
                self._depend(held, [name for name in code.co_names if name in held])
        if code in self._codes:
            return
        self._codes.add(code)
        names = [n for n in code.co_names if n in frame.f_globals]
        self._depend(frame.f_globals, names)
        if code.co_freevars:
            for function in self._functions_of(code):
                for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
                    if name != "__class__":
                        self._depend_on_cell(cell)

    def _functions_of(self, code: Any) -> list[Any]:
        if getattr(self._function, "__code__", None) is code:
            return [self._function]
        return [f for f in gc.get_referrers(code) if isinstance(f, types.FunctionType)]

    def _depend(self, held: dict[str, Any], names: list[str]) -> None:
        _, known = self.dictionaries.setdefault(id(held), (held, {}))
        for name in names:
            value = held.get(name, _ABSENT)
            if name not in known and self._matters(value):
                known[name] = value

    def _depend_on_cell(self, cell: Any) -> None:
        try:
            value = cell.cell_contents
        except ValueError:
            return
        if self._matters(value):
            self.cells[id(cell)] = (cell, value)

    def _matters(self, value: Any) -> bool:
        """Return whether a guard is needed for a value; remember the contents of containers."""
        if isinstance(value, (list, dict, set)) and not hasattr(value, "_module"):
            self._containers.setdefault(id(value), (value, _contents(value)))
        if isinstance(value, (types.ModuleType, type, types.BuiltinFunctionType)):
            return False
        ours = str(getattr(value, "__module__", "")).startswith("tinynet.")
        return not (ours and isinstance(value, types.FunctionType))


@functools.cache
def _loaded(code: Any) -> dict[int, Any]:
    """Return, for each instruction that sets an attribute, the variable that was loaded for it."""
    found, loaded = {}, None
    for instruction in dis.get_instructions(code):
        name = instruction.argval[-1] if type(instruction.argval) is tuple else instruction.argval
        if instruction.opname == "STORE_ATTR":
            found[instruction.offset] = loaded
        simple = instruction.opname.startswith(("LOAD_FAST", "LOAD_DEREF", "LOAD_GLOBAL"))
        loaded = name if simple else None
    return found


def _target(frame: Any, code: Any, at: int) -> Any:
    """Return the object whose attribute an instruction sets, if it is that of a variable."""
    name = _loaded(code).get(at)
    return frame.f_locals.get(name, frame.f_globals.get(name))


def _is_recorded(name: str, owner: Any) -> bool:
    """Return whether setting an attribute is recorded, or is undone with its owner."""
    return isinstance(owner, FunctionNode) or (name == "grad" and isinstance(owner, Tensor))


def _variable(code: Any, number: int) -> str:
    names = (*code.co_varnames, *(c for c in code.co_cellvars if c not in code.co_varnames))
    every = (*names, *code.co_freevars)
    return every[number] if number < len(every) else ""


def _contents(container: Any) -> list[int]:
    items = container.items() if isinstance(container, dict) else container
    return [id(x) for item in items for x in (item if isinstance(container, dict) else (item,))]


def is_simple(value: Any) -> bool:
    """Return whether a guard compares a value by ``==``; others are compared by identity."""
    kind = type(value)
    return kind in SIMPLE or (kind is tuple and all(map(is_simple, value)))
