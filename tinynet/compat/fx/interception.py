"""Calls of tinynet's functions with arguments that stand for values of a program.

PyTorch's functions ask ``__torch_function__`` of every argument. Here only tensors are asked, and
a check in each function would cost all programs what few of them use. So while a proxy lives,
each function's code is exchanged for one that looks for proxies among the arguments. References
that a program holds (``from torch import relu``) see it too. The same exchange serves modes, which
see all calls of their thread.
"""

from __future__ import annotations

import functools
import inspect
import threading
import types
from collections.abc import Callable
from typing import Any

from tinynet.capture.compiled import Compiled
from tinynet.compat.fx.targets import methods, paths, signatures
from tinynet.core.tensors.tensor import METHODS, Tensor


class Intercepting:
    """The base of proxies: as long as one lives, functions look for them."""

    _counted = False

    __torch_function__: Callable[..., Any]  # records a call

    def _count(self) -> None:
        object.__setattr__(self, "_counted", True)
        _change(1)

    def __del__(self) -> None:
        if self._counted:
            _change(-1)


class _Modes(threading.local):
    """The modes that see the calls of a thread; the last one is asked."""

    def __init__(self) -> None:
        self.stack: list[Any] = []


modes = _Modes()


def enter_mode(mode: Any) -> None:
    """Let ``mode.__torch_function__`` see all calls of this thread."""
    modes.stack.append(mode)
    _change(1)


def leave_mode() -> None:
    """End the last mode."""
    modes.stack.pop()
    _change(-1)


def _seen(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return what the last mode makes of a call. Meanwhile the mode before it is the last one."""
    mode = modes.stack.pop()
    try:
        found = [type(x) for x in (*args, *kwargs.values()) if isinstance(x, Tensor)]
        kinds = tuple(kind for kind in dict.fromkeys(found) if kind is not Tensor)
        return mode.__torch_function__(function, kinds, args, kwargs)
    finally:
        modes.stack.append(mode)


class _Entry:
    """A function, its own code, and the code that looks for proxies."""

    def __init__(self, function: types.FunctionType) -> None:
        self.function = function
        self.code = _looking(self, function.__code__)
        self.own = function.__code__

    def enter(self) -> None:
        """Exchange the function's code."""
        self.own = self.function.__code__
        self.function.__code__ = self.code

    def leave(self) -> None:
        """Give the function its own code back."""
        if self.function.__code__ is self.code:
            self.function.__code__ = self.own

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return what a mode or the first proxy makes of the call, or the function's result."""
        if modes.stack:
            return _seen(self.function, args, kwargs)
        found = first(args, kwargs)
        if found is not None:
            kinds = (type(found),)
            return type(found).__torch_function__(self.function, kinds, args, kwargs)
        f = self.function
        plain = types.FunctionType(
            self.own, f.__globals__, f.__name__, f.__defaults__, f.__closure__
        )
        plain.__kwdefaults__ = f.__kwdefaults__
        result = plain(*args, **kwargs)
        if f.__code__ is not self.code and _exchanged:  # it was compiled by its first call
            self.enter()
        return result


class _Method:
    """A Tensor method; it may be a public function, too, so a class attribute stands in for it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.own: Any = None

    def enter(self) -> None:
        """Put a function that looks for proxies into the class."""
        own = self.own = inspect.getattr_static(Tensor, self.name)

        @functools.wraps(own)
        def method(*args: Any, **kwargs: Any) -> Any:
            if modes.stack:
                return _seen(getattr(Tensor, _names()[self.name]), args, kwargs)
            found = first(args, kwargs)
            if found is None:
                return own(*args, **kwargs)
            return found.tracer.create_proxy("call_method", methods()[self.name], args, kwargs)

        method.__name__ = self.name
        setattr(Tensor, self.name, method)

    def leave(self) -> None:
        """Put the method back."""
        setattr(Tensor, self.name, self.own)


@functools.cache
def _names() -> dict[str, str]:
    """Return the methods that are exchanged, and the names under which modes see them."""
    return {**methods(), **{name: theirs for name, theirs in _SEEN.items() if name in METHODS}}


class _Captures:
    """Captured steps: they watch the functions' own code, so they run without proxies."""

    def __init__(self) -> None:
        self.own = Compiled.__call__

    def enter(self) -> None:
        """Let captured steps give all functions their own code while they run."""
        own = self.own

        def call(step: Compiled, *args: Any, **kwargs: Any) -> Any:
            if first(args, kwargs) is not None:
                raise RuntimeError(
                    "Detected that you are using FX to symbolically trace a dynamo-optimized "
                    "function. This is not supported at the moment."
                )
            _exchange(False)
            try:
                return own(step, *args, **kwargs)
            finally:
                _exchange(_living > 0)

        type.__setattr__(Compiled, "__call__", call)

    def leave(self) -> None:
        """Put the steps' own call back."""
        type.__setattr__(Compiled, "__call__", self.own)


def first(args: Any, kwargs: Any) -> Any:
    """Return the first proxy among arguments, also inside lists, tuples, dicts and slices."""
    for x in (*args, *kwargs.values()):
        if isinstance(x, Intercepting):
            return x
        if isinstance(x, (list, tuple)):
            found = first(x, {})
        elif isinstance(x, dict):
            found = first((), x)
        elif isinstance(x, slice):
            found = first((x.start, x.stop, x.step), {})
        else:
            continue
        if found is not None:
            return found
    return None


_TEMPLATE = """
def outer():
    {free} = None
    def looking(*args, **kwargs):
        entry = "the entry"
        return entry(args, kwargs)
        {free}
    return looking
"""


def _looking(entry: _Entry, own: types.CodeType) -> types.CodeType:
    """Return code for a function that calls its entry, with as many free names as its own code."""
    names: dict[str, Any] = {}
    free = " = ".join(own.co_freevars) or "_unused"
    text = _TEMPLATE.format(free=free)
    if not own.co_freevars:
        text = text.replace("        _unused\n", "")
    exec(text.replace(f"        {free}\n", f"        ({free.replace(' = ', ', ')},)\n"), names)
    code: types.CodeType = names["outer"]().__code__
    constants = tuple(entry if c == "the entry" else c for c in code.co_consts)
    return code.replace(co_consts=constants, co_name=own.co_name, co_filename=__file__)


# Python asks proxies first for these; modes see them too.
_SEEN = {
    **{f"__r{name}__": name for name in "add mul and or xor".split()},
    **{f"__r{name}__": f"__r{name}__" for name in "sub pow matmul mod truediv".split()},
    **{"__neg__": "neg", "__abs__": "abs", "__invert__": "bitwise_not"},
}
_lock = threading.RLock()
_entries: list[_Entry | _Method | _Captures] = []
_living = 0
_exchanged = False


def _change(by: int) -> None:
    """Count proxies; exchange the functions' code for the first, and back after the last."""
    global _living
    with _lock:
        _living += by
        _exchange(_living > 0)


def _exchange(looking: bool) -> None:
    """Let functions look for proxies, or not."""
    global _exchanged
    with _lock:
        if looking and not _entries:
            signatures()  # the exchanged code has another
            functions = (f for f in paths() if isinstance(f, types.FunctionType))
            _entries.extend([*map(_Entry, functions), *map(_Method, _names()), _Captures()])
        if looking != _exchanged:
            _exchanged = looking
            for entry in _entries:
                entry.enter() if looking else entry.leave()
