"""``torch.overrides``: objects whose classes decide what a function does with them, and modes.

A class with a ``__torch_function__`` of its own gets the call in place of the function.
``TorchFunctionMode`` is a context that sees all calls of tinynet's functions; the lists name the
functions.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Self

from tinynet import fft, nn, ops
from tinynet.compat.fx import interception
from tinynet.compat.fx.interception import _names
from tinynet.core.modes import mode
from tinynet.core.tensors.subclasses import handled, plain
from tinynet.core.tensors.tensor import METHODS, Tensor
from tinynet.nn import functional
from tinynet.ops import linalg, special

__all__ = [
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "wrap_torch_function",
    "BaseTorchFunctionMode",
    "TorchFunctionMode",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "resolve_name",
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
        >>> from tinynet.compat.fx.overrides import is_tensor_method_or_property
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


class TorchFunctionMode:
    """A context in which ``__torch_function__`` gets the calls of functions and methods.

    It sees the calls of its thread. While it handles one, it does not see those that it makes: the
    mode around it does. Attributes of tensors, such as ``x.shape``, are read without it.

    Example:
        >>> from tinynet.compat.fx.overrides import TorchFunctionMode
        >>> class Named(TorchFunctionMode):
        ...     def __torch_function__(self, func, types, args=(), kwargs=None):
        ...         print(func.__name__)
        ...         return func(*args, **(kwargs or {}))
        >>> with Named():
        ...     x = tn.relu(tn.ones(2))
        ones
        relu
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return the result of a call; subclasses implement it.

        Args:
            func: the function or method.
            types: the classes of the tensors among its arguments, but for Tensor.
            args, kwargs: its arguments.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError

    def __enter__(self) -> Self:
        interception.enter_mode(self)
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        interception.leave_mode()


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that calls the function.

    Example:
        >>> from tinynet.compat.fx.overrides import BaseTorchFunctionMode
        >>> with BaseTorchFunctionMode():
        ...     tn.ones(2) + 1
        tensor([2., 2.])
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return ``func(*args, **kwargs)``."""
        return func(*args, **(kwargs or {}))


def _get_current_function_mode() -> TorchFunctionMode | None:
    """Return the mode that sees the next call of this thread, if any."""
    stack = interception.modes.stack
    return stack[-1] if stack else None


def _get_current_function_mode_stack() -> list[TorchFunctionMode]:
    """Return the modes of this thread, the last one last."""
    return list(interception.modes.stack)


# ---- lists of functions -------------------------------------------------------------------------

_HOMES = {"torch": ops, "torch.nn.functional": functional, "torch.linalg": linalg}
_HOMES |= {"torch.fft": fft, "torch.special": special}
# They read data that are no tensors, so no argument can ask for the call.
_IGNORED = (ops.as_tensor, ops.asarray, ops.from_numpy, ops.frombuffer, ops.tensor, nn.Module)


@functools.cache
def _overridable() -> dict[Any, dict[str, Callable[..., Any]]]:
    """Return the functions by their names in each module, and in Tensor."""
    found: dict[Any, dict[str, Callable[..., Any]]] = {}
    for path, module in _HOMES.items():
        members = {name: getattr(module, name) for name in dir(module) if name[0] != "_"}
        found[path] = {
            name: f
            for name, f in members.items()
            if isinstance(f, types.FunctionType) and f not in _IGNORED
        }
    found["torch.Tensor"] = {name: METHODS[name] for name in _names()}
    return found


def get_overridable_functions() -> dict[Any, list[Callable[..., Any]]]:
    """Return the functions that ``__torch_function__`` sees, by the name of their module.

    Methods are listed under the class Tensor.

    Example:
        >>> from tinynet.compat.fx.overrides import get_overridable_functions
        >>> tn.add in get_overridable_functions()["torch"]
        True
    """
    names = {"torch.Tensor": Tensor}
    return {names.get(path, path): [*f.values()] for path, f in _overridable().items()}


def get_testing_overrides() -> dict[Callable[..., Any], Callable[..., Any]]:
    """Return for each function one of the same signature that returns -1.

    Example:
        >>> from tinynet.compat.fx.overrides import get_testing_overrides
        >>> get_testing_overrides()[tn.add](tn.ones(1), 2)
        -1
    """
    return {f: _dummy(f) for members in _overridable().values() for f in members.values()}


def _dummy(function: Callable[..., Any]) -> Callable[..., Any]:
    def dummy(*args: Any, **kwargs: Any) -> int:
        return -1

    dummy.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]  # inspect's
    return dummy


def get_ignored_functions() -> set[Callable[..., Any]]:
    """Return functions that ``__torch_function__`` never sees.

    Example:
        >>> from tinynet.compat.fx.overrides import get_ignored_functions
        >>> tn.tensor in get_ignored_functions()
        True
    """
    return set(_IGNORED)


def resolve_name(f: Any) -> str | None:
    """Return PyTorch's path of a function that ``__torch_function__`` sees; None for others.

    A function that is a method, too, has the path of the function.

    Example:
        >>> from tinynet.compat.fx.overrides import resolve_name
        >>> resolve_name(tn.linalg.inv), resolve_name(tn.Tensor.view), resolve_name(len)
        ('torch.linalg.inv', 'torch.Tensor.view', None)
    """
    for path, members in _overridable().items():
        for name, function in members.items():
            if function is f:
                return f"{path}.{name}"
    return None
