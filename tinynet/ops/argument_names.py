"""Alternative argument names of PyTorch: numpy's names, sizes by keyword, ignored options.

``sum(axis=0, keepdims=True)``, ``randn(size=(2, 3))``, ``permute(dims=(1, 0))``,
``zeros(2, layout=torch.strided, pin_memory=False)``.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

from tinynet import errors
from tinynet.core import layouts

F = TypeVar("F", bound=Callable[..., Any])
_NAMES = {"axis": "dim", "keepdims": "keepdim"}
_STARRED = ("size", "shape", "dims", "repeats", "sizes")


def _dense(layout: Any) -> None:
    if layout not in (None, layouts.strided):
        raise RuntimeError(f"tinynet makes dense tensors only. Got layout {layout!r} instead.")


_WITHOUT_EFFECT: dict[str, Callable[[Any], None]] = {
    "layout": _dense,
    "pin_memory": lambda wanted: None,
}


def as_declared(function: Any, declared: Any) -> Any:
    """Return one function of a family with the name, docstring and result of its declaration."""
    function.__name__ = function.__qualname__ = declared.__name__
    function.__doc__ = declared.__doc__
    function.__annotations__ |= {"return": declared.__annotations__["return"]}
    return function


def hot(method: F) -> F:
    """Spare a method that is called everywhere, and never with these names, the check for them."""
    method.is_hot = True  # type: ignore[attr-defined]
    return method


def by_name(function: str, name: str, named: dict[str, Any], sizes: Any) -> tuple[Any, ...]:
    """Return the sizes passed to a hot method as ``name``; TypeError for others, or for both."""
    for key in named:
        if key != name or sizes:
            raise TypeError(f"{function}() got an unexpected keyword argument '{key}'")
    return (named[name],)


def also_named(**names: str) -> Callable[[F], F]:
    """Declare the names that further signatures of PyTorch give to a function's parameters."""

    def declare(function: F) -> F:
        function.other_names = names  # type: ignore[attr-defined]
        return function

    return declare


def keywords(function: F) -> F:
    """Make a function on tensors accept these names; return it unchanged if it needs none."""
    if isinstance(function, type):
        return function
    declared: Any = function  # unwrapped in half the time of inspect.unwrap
    while hasattr(declared, "__wrapped__"):
        declared = declared.__wrapped__
    code = declared.__code__  # building each signature would slow down the import
    count = code.co_argcount + code.co_kwonlyargcount
    own = {*code.co_varnames[:count]}
    starred = code.co_varnames[count] if code.co_flags & inspect.CO_VARARGS else ""
    makes = "device" in own  # creates tensors, with the arguments that all such functions take
    others: dict[str, str] = getattr(declared, "other_names", {})
    if not (makes or others or {"dim", "keepdim"} & own or starred in _STARRED):
        return function
    names = _NAMES | others
    size = "size" if starred == "sizes" else starred

    @functools.wraps(function)
    def respelled(*args: Any, **kwargs: Any) -> Any:
        try:
            if not kwargs:
                return function(*args)  # the fast path of most calls
            for theirs, ours in names.items():
                if theirs in kwargs and ours not in kwargs:
                    kwargs[ours] = kwargs.pop(theirs)
            if makes:
                for name in _WITHOUT_EFFECT.keys() & kwargs.keys() - own:
                    _WITHOUT_EFFECT[name](kwargs.pop(name))
            if "input" in kwargs:
                args = (kwargs.pop("input"), *args)
            if size in kwargs:
                args = (*args, kwargs.pop(size))
            return function(*args, **kwargs)
        except (MemoryError, ValueError) as error:
            errors.refuse_unallocated(error)
            raise

    return cast(F, respelled)
