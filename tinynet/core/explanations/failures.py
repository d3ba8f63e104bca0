"""The lines below an error's first sentence, and its traceback without the frames of tinynet.

Only errors that tinynet raises on purpose are folded. An error that Python raises inside tinynet
may be a bug of tinynet, and keeps all frames. So do all errors where the environment variable
``TINYNET_TRACEBACKS`` is ``full``.

All of it is read from the traceback after the error was raised, so calls that succeed do not pay
for it. The lines look like those of autograd's errors, see ``core/messages.py``.
"""

from __future__ import annotations

import contextlib
import inspect
import linecache
import os
import re
import weakref
from collections.abc import Iterator, Sequence
from opcode import opmap
from types import FrameType, TracebackType
from typing import Any

import numpy as np

from tinynet.core import seams
from tinynet.core.callsite import Location, is_outside, locate, outward
from tinynet.core.explanations.arguments import expected, meant
from tinynet.core.graph.node import Node
from tinynet.core.messages import row
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.trace import Scope, modules_of, path_of
from tinynet.errors import FIX

SWITCH = "TINYNET_TRACEBACKS"
_RAISE = opmap["RAISE_VARARGS"]
_ARGUMENTS = re.compile(r"[\w.<>]+\(\) (got (an unexpected|multiple|some)|missing|takes) ")
# Where the standard library and the packages are installed.
_INSTALLED = os.path.dirname(os.__file__), os.path.dirname(os.path.dirname(np.__file__))


def entries_of(error: BaseException) -> list[TracebackType]:
    """Return the entries of an error's traceback, the innermost last."""
    return [*_chain(error.__traceback__)]


def _chain(entry: TracebackType | None) -> Iterator[TracebackType]:
    while entry is not None:
        yield entry
        entry = entry.tb_next


def is_ours(entry: TracebackType) -> bool:
    """Return whether an entry is a frame of tinynet."""
    return not is_outside(entry.tb_frame.f_code.co_filename)


def users_of(entries: Sequence[TracebackType]) -> list[TracebackType]:
    """Return the entries outside tinynet; without those of packages that tinynet called."""
    kept, inside = [], False
    for entry in entries:
        if is_ours(entry):
            inside = True
        elif not (inside and _is_installed(entry)):
            inside = False
            kept.append(entry)
    return kept


def _is_installed(entry: TracebackType) -> bool:
    return entry.tb_frame.f_code.co_filename.startswith((*_INSTALLED, "<frozen "))


def is_intended(error: BaseException, entries: Sequence[TracebackType]) -> bool:
    """Return whether the user's code or a ``raise`` of tinynet raised the error.

    Files that are missing, and arguments that do not fit a function, are the user's too.
    """
    last = entries[-1]
    code = last.tb_frame.f_code
    if is_ours(last):
        raises = code.co_code[last.tb_lasti] == _RAISE
        return raises or isinstance(error, OSError) or is_about_arguments(error)
    return last in users_of(entries)


def is_about_arguments(error: BaseException) -> bool:
    """Return whether Python found that arguments do not fit a function."""
    return isinstance(error, TypeError) and _ARGUMENTS.match(str(error)) is not None


def is_full() -> bool:
    """Return whether the user wants the frames of tinynet in tracebacks."""
    return os.environ.get(SWITCH) == "full"


def fold(error: BaseException, entries: Sequence[TracebackType]) -> None:
    """Remove tinynet's frames from the traceback of an error."""
    if is_full():
        return
    folded = None
    for entry in reversed(users_of(entries)):
        folded = TracebackType(folded, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    error.__traceback__ = folded


# No subclasses: they may steer the program, and autograd's errors have lines of their own.
_CLASSES = {IndexError, NotImplementedError, RuntimeError, TypeError, ValueError}
_LONGEST = 120  # characters of the repr of a layer
CALLS = "calls of the program"  # a global of compiled programs: what their lines run


def explain(error: Exception, is_last: bool = False) -> None:
    """Add the lines below the first sentence of an error, and fold its traceback.

    Called where an error leaves tinynet: by the outermost module, a compiled function, a backward
    pass, the step of an optimizer, and what shows uncaught errors.

    Args:
        error: what was raised.
        is_last: no frames will be added to the traceback; the innermost stays if all are tinynet's.
    """
    entries = entries_of(error)
    described = hasattr(error, "explained")
    if not entries or not (described or is_intended(error, entries)):
        return
    if not described and type(error) in _CLASSES and [*map(type, error.args)] == [str]:
        with contextlib.suppress(Exception):  # the repr of a user's module may raise any
            _describe(error, entries)
    with contextlib.suppress(AttributeError):  # a user's class may have no such attribute
        error.explained = True  # type: ignore[attr-defined]
    fold(error, entries)
    if is_last and error.__traceback__ is None:
        error.__traceback__ = entries[-1]


def _describe(error: Exception, entries: Sequence[TracebackType]) -> None:
    first, *rest = error.args[0].split("\n")
    if is_about_arguments(error) and not rest:
        first = meant(first, _parameters_of_called(entries))
    place = _Place(entries)
    if is_ours(entries[-1]) and not hasattr(error, "worker_origin"):
        lines, fix = _lines(place)
        fixes = [line for line in rest if line.startswith(FIX)] or fix
        details = [line for line in rest if not line.startswith(FIX)]
        if any(line.startswith("  expects ") for line in lines):  # says it better
            details.clear()
        rest = [*details, *lines, *fixes]
    error.args = ("\n".join([first, *rest]),)


def _lines(place: _Place) -> tuple[list[str], list[str]]:
    """Return the lines about the layer, and the line about the fix, if there is one."""
    lines, fix = [], ""
    if place.layer is not None:
        path, text = place.path(), _short(place.layer)
        lines += row("layer", None, text if text.startswith(f"{path}(") else f"{path} {text}")
    if place.node is not None:
        lines += row("forward", place.line, f"for {place.node.name()}")
        if not place.is_in_users_backward:
            return lines, []
    elif place.layer is not None or place.is_captured:
        lines += row("line", place.line, "")
    given = place.arguments()
    if given:
        text = ", ".join(f"{name} {_described(x)}" for name, x in given)
        lines += row("got", None, text.replace("numpy ", "") if place.is_captured else text)
    if given and place.is_layers_own:
        wanted, fix = expected(place.layer, given[0][1])
        lines += row("expects", None, wanted)
    return lines, [FIX + fix] if fix else []


class _Place:
    """Where an error was raised.

    Attributes:
        layer: the innermost module that was running, if any.
        line: the innermost line of the user; that of the forward, in a backward pass.
        node: the node that a backward pass was visiting, if any.
        is_in_users_backward: the user's own derivative of that node raised the error.
        is_layers_own: the layer raised the error, and not the ``forward`` of a user's module.
        is_captured: a compiled program raised it. The line is that of the capture.
    """

    def __init__(self, entries: Sequence[TracebackType]):
        frames = [entry.tb_frame for entry in entries]
        users = users_of(entries)
        self._inside = frames[entries.index(users[-1]) + 1 if users else 0 :]
        self._calls = [frame for frame in frames if frame.f_code in seams.module_calls]
        self._scope: Scope | None = None
        for frame in self._calls:
            self._scope = (self._scope, weakref.ref(frame.f_locals["self"]))
        site = outward(frames[0].f_back)
        if users:
            site = users[-1].tb_frame.f_code, users[-1].tb_lasti
        found = (frame.f_locals.get("node") for frame in reversed(frames))
        self.node = next((node for node in found if isinstance(node, Node)), None)
        if self.node is not None:
            site, self._scope = self.node.site, getattr(self.node, "scope", None)
        programs = [entry for entry in entries if CALLS in entry.tb_frame.f_globals]
        self.is_in_users_backward = self.node is not None and not any(
            isinstance(frame.f_locals.get("node"), Node) for frame in self._inside
        )
        call = _captured(programs[-1]) if programs else None
        if call is not None:
            self._inside = frames[entries.index(programs[-1]) + 1 :]
            site, self._scope = call.site or site, self._scope or call.scope
        self.line: Location | None = locate(site)
        self.layer = next(iter(modules_of(self._scope)[::-1]), None)
        self.is_layers_own = bool(self._calls) and self._calls[-1] in self._inside
        self.is_captured = call is not None

    def path(self) -> str:
        """Return ``net.layers.2``: the user's name of the outermost module, then attributes."""
        path = path_of(self._scope)
        outermost = modules_of(self._scope)[0]
        name = _name_in(self._calls[0].f_back, outermost) if self._calls else ""
        return path.replace(type(outermost).__name__, name, 1) if name else path

    def arguments(self) -> list[tuple[str, Any]]:
        """Return the names and values of the tensors that the layer or function got."""
        for frame in self._calls[-1:] if self.is_layers_own else self._inside:
            found = [(name, x) for name, x in _values(frame) if _described(x)]
            if any(isinstance(x, (Tensor, np.ndarray)) for _, x in found):
                return found
        return []


def _values(frame: FrameType) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of a frame's parameters."""
    code, values = frame.f_code, frame.f_locals
    if code in seams.module_calls:
        forward = getattr(values["self"].forward, "__code__", None)
        names = forward.co_varnames[1 : forward.co_argcount] if forward else ("input",)
        yield from zip(names, values["args"], strict=False)
        yield from values["kwargs"].items()
        return
    for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        if name in values:  # it may have been deleted
            yield name, values[name]


def _described(value: Any) -> str:
    """Return ``float32 [8, 3]`` for a tensor or array, and for a tuple of them; "" for others."""
    if isinstance(value, Tensor):
        return f"{str(value.dtype).rpartition('.')[2]} {[*value.shape]}"
    if isinstance(value, np.ndarray):
        return f"numpy {value.dtype} {[*value.shape]}"
    if type(value) in (tuple, list) and value and all(map(_described, value)):
        return f"({', '.join(map(_described, value))})"
    return ""


def _short(module: Any) -> str:
    """Return the repr of a module in one line."""
    text = repr(module)
    return text if len(text) <= _LONGEST and "\n" not in text else f"{type(module).__name__}(...)"


def _name_in(frame: FrameType | None, module: Any) -> str:
    """Return the name by which the nearest line of the user calls a module: ``self.net``."""
    while frame is not None and not is_outside(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return ""
    name, value = _called(frame, frame.f_lasti)
    own = getattr(value, "__dict__", {})
    found = (
        value,
        own.get("__wrapped__"),
        own.get("_modules", {}).get("_orig_mod"),
    )  # a compiled module wraps it
    return name if any(x is module for x in found) else ""


def _called(frame: FrameType, offset: int) -> tuple[str, Any]:
    """Return the name of what an instruction calls, as its line has it, and its value."""
    where = locate((frame.f_code, offset))
    match = where and re.match(r"[A-Za-z_][\w.]*(?=\()", where.expression)
    if not match:
        return "", None
    first, *rest = match[0].split(".")
    value = frame.f_locals.get(first, frame.f_globals.get(first))
    for name in rest:
        own = getattr(value, "__dict__", {})
        value = own.get("_modules", {}).get(name, own.get(name))
    return match[0], value


def _parameters_of_called(entries: Sequence[TracebackType]) -> list[str]:
    """Return the parameters of the function of tinynet that the user's innermost line calls."""
    users = users_of(entries)
    function: Any = _called(users[-1].tb_frame, users[-1].tb_lasti)[1] if users else None
    ours = callable(function) and str(function.__module__).startswith("tinynet.")
    return [*inspect.signature(function).parameters] if ours else []


def _captured(entry: TracebackType) -> Any:
    """Return the call of a compiled program that its line ran, or None."""
    names = entry.tb_frame.f_globals
    lines = linecache.getlines(entry.tb_frame.f_code.co_filename)[: entry.tb_lineno]
    called = re.search(r"\bk\d+(?=\()", lines[-1]) if lines else None
    if called is None:
        return None
    same = [call for call in names[CALLS] if call.function is names[called[0]]]
    number = sum(re.search(rf"\b{called[0]}\(", line) is not None for line in lines)
    call = same[number - 1] if 0 < number <= len(same) else None
    return call.members[0] if call is not None and call.members else call


seams.explain.append(explain)
