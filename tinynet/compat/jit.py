"""``torch.jit``: scripting and tracing give the function itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tinynet.nn.module import Module

ScriptModule = Module


def script(obj: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the function, class or module as it is: there is nothing to compile it to.

    Args:
        obj: what is scripted.
        *args, **kwargs: ignored.

    Example:
        >>> from tinynet.compat import jit
        >>> jit.script(len) is len
        True
    """
    return obj


def trace(func: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the function or module as it is.

    Args:
        func: what is traced.
        *args, **kwargs: the example inputs, and options; ignored.

    Example:
        >>> from tinynet.compat import jit
        >>> jit.trace(len, []) is len
        True
    """
    return func


ignore = unused = export = script_method = _overload_method = freeze = script
interface = optimize_for_inference = is_tracing_only = script


def script_if_tracing(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function as it is.

    Args:
        fn: the function.

    Example:
        >>> from tinynet.compat import jit
        >>> jit.script_if_tracing(len) is len
        True
    """
    return fn


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
__all__ = ["Final", "ScriptModule", "annotate", "script", "trace"]
