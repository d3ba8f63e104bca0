"""``torch.fx.wrap``: functions that are recorded as a whole."""

from __future__ import annotations

import builtins
import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

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
