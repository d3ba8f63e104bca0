"""``torch.jit``: scripting and tracing return the function itself."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, TypeVar

from tinynet.compat.parallel.processes import Future as Future
from tinynet.compat.refusal import refusal
from tinynet.nn.base.module import Module

ScriptModule = Module
T = TypeVar("T")


class Attribute(NamedTuple):
    """A value with its type; here just the value.

    Attributes:
        value: the value.
        type: its type.

    Example:
        >>> from tinynet.compat import jit
        >>> jit.Attribute(3, int).value
        3
    """

    value: Any
    type: Any


class Error(Exception):
    """What compiled code raises; functions that run as they are raise their own errors."""


def _deprecated(name: str, does: str = "returns its argument") -> None:
    """Give PyTorch's deprecation warning, and say that nothing is compiled.

    Python shows it in scripts, not in libraries. If warnings are errors, PyTorch's is one, too.
    """
    warnings.warn(
        f"`torch.jit.{name}` is deprecated. tinynet compiles nothing and {does}. "
        "To save a module, call torch.save(module, f); torch.load(f, weights_only=False) loads it.",
        DeprecationWarning,
        stacklevel=3,
    )


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Future:
    """Return a Future for the result of a call, which is made at once.

    Args:
        func: the function.
        *args, **kwargs: its arguments.

    Raises:
        Exception: what the function raises, as in PyTorch where nothing is compiled.

    Example:
        >>> import warnings
        >>> from tinynet.compat import jit
        >>> with warnings.catch_warnings(action="ignore"):
        ...     jit.wait(jit.fork(max, 2, 3))
        3
    """
    _deprecated("fork", "calls the function at once")
    future = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future: Future) -> Any:
    """Return the result of a call that ``fork`` made.

    Args:
        future: what ``fork`` returned.
    """
    _deprecated("wait", "returns the result")
    return future.wait()


def script(obj: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the function, class or module unchanged, with PyTorch's DeprecationWarning.

    Args:
        obj: the object to script.
        *args, **kwargs: ignored.

    Example:
        >>> import warnings
        >>> from tinynet.compat import jit
        >>> with warnings.catch_warnings(action="ignore"):
        ...     jit.script(len) is len
        True
    """
    _deprecated("script")
    return obj


def script_method(fn: T) -> T:
    """Return the method unchanged, with PyTorch's DeprecationWarning.

    Args:
        fn: the method.

    Example:
        >>> import warnings
        >>> from tinynet.compat import jit
        >>> with warnings.catch_warnings(action="ignore"):
        ...     jit.script_method(len) is len
        True
    """
    _deprecated("script_method")
    return fn


def trace(func: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the function or module unchanged, with PyTorch's DeprecationWarning.

    Args:
        func: the function or module to trace.
        *args, **kwargs: example inputs and options; ignored.

    Example:
        >>> import warnings
        >>> from tinynet.compat import jit
        >>> with warnings.catch_warnings(action="ignore"):
        ...     jit.trace(len, []) is len
        True
    """
    _deprecated("trace")
    return func


def trace_module(mod: T, inputs: Any, *args: Any, **kwargs: Any) -> T:
    """Return the module unchanged, with PyTorch's DeprecationWarning.

    Args:
        mod: the module to trace.
        inputs: example inputs of its methods, by their names; ignored.
        *args, **kwargs: options; ignored.

    Example:
        >>> import warnings
        >>> from tinynet.compat import jit
        >>> net = nn.Linear(1, 1)
        >>> with warnings.catch_warnings(action="ignore"):
        ...     jit.trace_module(net, {"forward": tn.ones(1)}) is net
        True
    """
    _deprecated("trace_module")
    return mod


class TracerWarning(Warning):
    """PyTorch's warning about a trace. Scripts silence it; tinynet does not give it."""


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """Return a function unchanged; if called with options, a decorator that does so.

    Args:
        drop: the function, or an option.
        **kwargs: ignored.

    Example:
        >>> from tinynet.compat import jit
        >>> jit.ignore(len) is jit.ignore(drop=True)(len) is len
        True
    """
    return drop if callable(drop) else unused


def unused(fn: T) -> T:
    """Return the function unchanged.

    Args:
        fn: the function.

    Example:
        >>> from tinynet.compat import jit
        >>> jit.unused(len) is len
        True
    """
    return fn


def freeze(mod: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the module unchanged.

    Args:
        mod: the module.
        *args, **kwargs: ignored.

    Example:
        >>> from tinynet.compat import jit
        >>> net = nn.Linear(1, 1)
        >>> jit.freeze(net) is net
        True
    """
    return mod


export = interface = script_if_tracing = _overload = _overload_method = unused
optimize_for_inference = freeze


@contextlib.contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """Run a block unchanged.

    Args:
        should_optimize: ignored.

    Example:
        >>> from tinynet.compat import jit
        >>> with jit.optimized_execution(True):
        ...     tn.ones(1) + 1
        tensor([2.])
    """
    yield


_INSTEAD = (
    "there are no compiled programs; save the module itself with torch.save(module, f), and load "
    "it with torch.load(f, weights_only=False)"
)
save = refusal("jit.save", _INSTEAD)
load = refusal("jit.load", _INSTEAD)


def is_scripting() -> bool:
    """Return False.

    Example:
        >>> from tinynet.compat import jit
        >>> jit.is_scripting(), jit.is_tracing()
        (False, False)
    """
    return False


is_tracing = is_scripting


def annotate(the_type: Any, the_value: Any) -> Any:
    """Return the value.

    Args:
        the_type: ignored.
        the_value: the value.

    Example:
        >>> from tinynet.compat import jit
        >>> jit.annotate(int, 3)
        3
    """
    return the_value


isinstance = isinstance
__all__ = ["Final", "ScriptModule", "annotate", "script", "trace", "trace_module"]
