"""``torch.overrides``: objects whose classes decide what a function does with them.

A class with a ``__torch_function__`` of its own gets the call in place of the function.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from tinynet.core.modes import mode
from tinynet.core.tensors.subclasses import handled, plain
from tinynet.core.tensors.tensor import Tensor

__all__ = [
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "wrap_torch_function",
]


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Return whether one of the arguments has a ``__torch_function__`` of its own.

    Example:
        >>> has_torch_function((tn.ones(2), nn.Parameter(tn.ones(2))))
        False
    """
    return not mode.plain and any(map(_overrides, relevant_args))


def has_torch_function_unary(argument: Any) -> bool:
    """Return `has_torch_function` of one argument."""
    return has_torch_function((argument,))


def has_torch_function_variadic(*arguments: Any) -> bool:
    """Return `has_torch_function` of the arguments."""
    return has_torch_function(arguments)


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """Return what ``__torch_function__`` of the arguments' classes returns, subclasses first.

    Args:
        public_api: the function that was called.
        relevant_args: its arguments that may have a ``__torch_function__``.
        args, kwargs: all of its arguments.

    Raises:
        TypeError: all of them return NotImplemented.
    """
    return handled(public_api, map(type, filter(_overrides, relevant_args)), args, kwargs)


def is_tensor_like(inp: Any) -> bool:
    """Return whether operations take an object for a tensor."""
    return hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Return whether a function is a method of ``Tensor``, or reads an attribute of it.

    Args:
        func: a function that a ``__torch_function__`` was given.

    Example:
        >>> from tinynet.autograd.overrides import is_tensor_method_or_property
        >>> is_tensor_method_or_property(tn.Tensor.add), is_tensor_method_or_property(tn.cat)
        (True, False)
    """
    name = getattr(func, "__name__", "")
    return name == "__get__" or func is vars(Tensor).get(name)


def wrap_torch_function(dispatcher: Callable[..., Any]) -> Callable[[Any], Any]:
    """Return a decorator that makes a function ask ``__torch_function__`` of its arguments.

    Args:
        dispatcher: takes the function's arguments, and returns those that may have one.
    """

    def decorator(func: Any) -> Any:
        @functools.wraps(func)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant_args = dispatcher(*args, **kwargs)
            if has_torch_function(relevant_args):
                return handle_torch_function(wrapped, relevant_args, *args, **kwargs)
            return func(*args, **kwargs)

        return wrapped

    return decorator


def _overrides(x: Any) -> bool:
    function = getattr(type(x), "__torch_function__", None)
    return not (function is None or type(x) is Tensor or getattr(function, "__func__", 0) is plain)
