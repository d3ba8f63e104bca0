"""Calls of tinynet's functions with arguments that stand for values of a program.

PyTorch's functions ask ``__torch_function__`` of every argument. Here only tensors are asked, and
a check in each function would cost all programs what few of them use. So while a proxy lives,
each function's code is exchanged for one that looks for proxies among the arguments. References
that a program holds (``from torch import relu``) see it too. The same exchange serves modes, which
see all calls of their thread, and libraries whose own classes stand for tensors: see `ask_all`.
"""

from __future__ import annotations

import functools
import inspect
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

from tinynet.capture.compiled import Compiled
from tinynet.compat.fx.targets import methods, paths, signatures
from tinynet.core import seams
from tinynet.core.modes import mode
from tinynet.core.tensors.subclasses import SUBCLASSES, handled
from tinynet.core.tensors.tensor import FUNCTIONS, METHODS, Tensor


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
    last = modes.stack.pop()
    try:
        found = [type(x) for x in (*args, *kwargs.values()) if isinstance(x, Tensor)]
        kinds = tuple(kind for kind in dict.fromkeys(found) if kind is not Tensor)
        return last.__torch_function__(function, kinds, args, kwargs)
    finally:
        modes.stack.append(last)


class _Entry:
    """A function, its own code, and the code that looks for proxies.

    Args:
        function: the function.
        name: that which ``__torch_function__`` gets: that of ``+`` is ``Tensor.add``.
    """

    for_proxies = False

    def __init__(self, function: types.FunctionType, name: Any) -> None:
        self.function, self.name = function, name
        self.code = _looking(self, function.__code__)
        self.plain = function

    def enter(self) -> None:
        """Exchange the function's code."""
        f = self.function
        if f.__code__ is not self.code:
            self.own = f.__code__
            self.plain = types.FunctionType(
                self.own, f.__globals__, f.__name__, f.__defaults__, f.__closure__
            )
            self.plain.__kwdefaults__ = f.__kwdefaults__
            f.__code__ = self.code

    def leave(self) -> None:
        """Give the function its own code back."""
        if self.function.__code__ is self.code:
            self.function.__code__ = self.own

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return what a mode, an argument or the function makes of the call."""
        if modes.stack:
            return _seen(self.name, args, kwargs)
        if (found := first(args, kwargs, asking)) is not None:
            inside = [y for x in (*args, *kwargs.values()) for y in (x if _many(x) else (x,))]
            kinds = [type(found), *(type(x) for x in inside if asking(x))]
            if not isinstance(found, Intercepting):
                return handled(self.name, kinds, args, kwargs)
            if self.function in paths():  # methods have a stand-in
                return handled(self.function, kinds, args, kwargs)
        result = self.plain(*args, **kwargs)
        if self.function.__code__ is not self.code and _exchanged[0]:  # its first call compiled it
            self.enter()
        return result


class _Method:
    """A Tensor method; it may be a public function, too, so a class attribute stands in for it."""

    for_proxies = True

    def __init__(self, name: str) -> None:
        self.name = name
        self.own: Any = None

    def enter(self) -> None:
        """Put a function that looks for proxies into the class."""
        if self.own is not None:
            return
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
        if self.own is not None:
            setattr(Tensor, self.name, self.own)
            self.own = None


@functools.cache
def _names() -> dict[str, str]:
    """Return the methods that are exchanged, and the names under which modes see them."""
    return {**methods(), **{name: theirs for name, theirs in _SEEN.items() if name in METHODS}}


class _Captures:
    """Captured steps: they watch the functions' own code, so they run without proxies."""

    for_proxies = False

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
                _exchange(_wanted())

        type.__setattr__(Compiled, "__call__", call)

    def leave(self) -> None:
        """Put the steps' own call back."""
        type.__setattr__(Compiled, "__call__", self.own)


def proxy(x: Any) -> bool:
    """Return whether an object is a proxy."""
    return isinstance(x, Intercepting)


def asking(x: Any) -> bool:
    """Return whether an object's class has a ``__torch_function__`` that sees public functions."""
    if not isinstance(x, Tensor):
        return hasattr(type(x), "__torch_function__")
    return type(x) in SUBCLASSES and not mode.plain


def first(args: Any, kwargs: Any, wanted: Callable[[Any], bool] = proxy) -> Any:
    """Return the first proxy among arguments, also inside lists, tuples, dicts and slices."""
    for x in (*args, *kwargs.values()):
        if wanted(x):
            return x
        if _many(x):
            found = first(x, {}, wanted)
        elif isinstance(x, dict):
            found = first((), x, wanted)
        elif isinstance(x, slice):
            found = first((x.start, x.stop, x.step), {}, wanted)
        else:
            continue
        if found is not None:
            return found
    return None


def _many(x: Any) -> bool:
    return isinstance(x, (list, tuple))


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
_asking_all = False
_exchanged = False, False  # functions, and methods of the class


def ask_all() -> None:
    """From now on, let functions and methods ask ``__torch_function__`` of all arguments."""
    global _asking_all
    with _lock:
        if not _asking_all:
            _asking_all = True
            _exchange(True)
            seams.subclassed.append(_exchange_again)  # after operations were compiled again


def _exchange_again() -> None:
    _exchange(False)
    _exchange(_wanted())


def _change(by: int) -> None:
    """Count proxies; exchange the functions' code for the first, and back after the last."""
    global _living
    with _lock:
        _living += by
        _exchange(_wanted())


def _wanted() -> bool:
    return _living > 0 or _asking_all


def _exchange(looking: bool) -> None:
    """Let functions look for proxies, or not."""
    global _exchanged
    with _lock:
        if looking and not _entries:
            signatures()  # the exchanged code has another
            _entries.extend([*_functions(), *map(_Method, _names()), _Captures()])
        state = looking, looking and _living > 0
        if state != _exchanged:
            _exchanged = state
            for entry in _entries:
                entry.enter() if state[entry.for_proxies] else entry.leave()


def _functions() -> list[_Entry]:
    """Return the entries of public functions, and of methods that no function shares."""
    found: dict[Any, Any] = {f: f for f in paths() if isinstance(f, types.FunctionType)}
    for name, function in FUNCTIONS.items():
        # The public function may be another one, which takes further keywords.
        public = getattr(sys.modules["tinynet"], name, function)
        if getattr(public, "__wrapped__", None) is function:
            found[function] = public
    for name, public in _names().items():
        found.setdefault(METHODS[name], METHODS.get(public, METHODS[name]))
    return list(map(_Entry, found, found.values()))
