"""Calls of tinynet's functions with arguments that stand for values of a program.

PyTorch's functions ask ``__torch_function__`` of every argument. Here only tensors are asked, and
a check in each function would cost all programs what few of them use. So while a proxy lives,
each function's code is exchanged for one that looks for proxies among the arguments. References
that a program holds (``from torch import relu``) see it too. The same exchange serves modes, which
see all calls of their thread, and libraries whose own classes stand for tensors: see `ask_all`.
``torch.fx.wrap`` lets a trace record a function as a whole.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import sys
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

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


# ---- functions that are recorded as a whole -----------------------------------------------------


T = TypeVar("T")
MISSING = object()
_wrapped: dict[tuple[int, str], dict[str, Any]] = {}  # (id of the globals, name) -> the globals


def wrap(fn_or_name: T) -> T:
    """Record calls of a function as a whole when their arguments are traced; return the function.

    Call it at the top level of the module whose code calls the function, or as a decorator.

    Args:
        fn_or_name: a function, or the name of a global or builtin one.

    Raises:
        RuntimeError: it is neither.
        NotImplementedError: the call is not at the top level of a module.

    Example:
        >>> from tinynet.compat import fx
        >>> @fx.wrap
        ... def count(x):
        ...     return len(x)
        >>> [n.name for n in fx.symbolic_trace(lambda x: x / count(x)).graph.nodes]
        ['x', 'count', 'truediv', 'output']
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError(
            "Unsupported type for global function! Must be either a callable or string name"
        )
    name = fn_or_name if isinstance(fn_or_name, str) else str(getattr(fn_or_name, "__name__", ""))
    frame = inspect.currentframe()
    outer = frame.f_back if frame is not None else None
    if outer is None or outer.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _wrapped[id(outer.f_globals), name] = outer.f_globals
    return fn_or_name


class Patches:
    """Values put in the place of others in namespaces, until they are taken back."""

    def __init__(self) -> None:
        self.former: list[Callable[[], None]] = []

    def entry(self, names: dict[str, Any], name: str, value: Any) -> None:
        """Replace a global."""
        former = names.get(name, MISSING)
        names[name] = value
        gone = functools.partial(names.pop, name)
        back = functools.partial(names.__setitem__, name, former)
        self.former.append(gone if former is MISSING else back)

    def method(self, cls: type, name: str, value: Any) -> None:
        """Replace a method of a class."""
        former = vars(cls).get(name, MISSING)
        setattr(cls, name, value)
        gone = functools.partial(delattr, cls, name)
        self.former.append(gone if former is MISSING else lambda: setattr(cls, name, former))


@contextmanager
def patches() -> Iterator[Patches]:
    """Take all replacements back at the end of a ``with``."""
    made = Patches()
    try:
        yield made
    finally:
        while made.former:
            made.former.pop()()


def recording(function: Any, find: Callable[[Any, Any], Any]) -> Any:
    """Return a function that records a call if one of its arguments is traced.

    Args:
        function: the function.
        find: returns a proxy among positional and keyword arguments, or None.
    """

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        proxy = find(args, kwargs)
        if proxy is None:
            return function(*args, **kwargs)
        made = proxy.tracer.create_proxy("call_function", function, args, kwargs)
        made.node.meta["is_wrapped"] = True
        return made

    return wrapped


def replace_wrapped(made: Patches, find: Callable[[Any, Any], Any]) -> None:
    """Let all functions given to ``wrap`` record their calls."""
    for (_, name), names in [*_wrapped.items()]:
        function = names.get(name, getattr(builtins, name, None))
        if function is not None:
            made.entry(names, name, recording(function, find))


def replace_listed(
    made: Patches, names: dict[str, Any], ids: set[int], find: Callable[[Any, Any], Any]
) -> None:
    """Let functions of a list record their calls where a namespace has them.

    Args:
        made: the replacements.
        names: the namespace.
        ids: the ids of the functions.
        find: see ``recording``.
    """
    for name, value in [*names.items()]:
        if not name.startswith("_") and callable(value) and id(value) in ids:
            made.entry(names, name, recording(value, find))
