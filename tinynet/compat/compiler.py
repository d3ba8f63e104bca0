"""``torch.compiler``: programs run eagerly."""

from __future__ import annotations

from typing import Any

from tinynet.runtime import compile as compile


def disable(fn: Any = None, recursive: bool = True, **options: Any) -> Any:
    """Return the function unchanged.

    Args:
        fn: the function; None returns a decorator.
        recursive, **options: ignored.

    Example:
        >>> from tinynet.compat import compiler
        >>> compiler.disable(len) is len
        True
    """
    return (lambda function: function) if fn is None else fn


allow_in_graph = disable


def is_compiling() -> bool:
    """Return False.

    Example:
        >>> from tinynet.compat import compiler
        >>> compiler.is_compiling()
        False
    """
    return False


is_dynamo_compiling = is_exporting = is_compiling


def reset() -> None:
    """Do nothing: there is no cache of compiled code.

    Example:
        >>> from tinynet.compat import compiler
        >>> compiler.reset()
    """


def cudagraph_mark_step_begin() -> None:
    """Do nothing: there are no CUDA graphs.

    Example:
        >>> from tinynet.compat import compiler
        >>> compiler.cudagraph_mark_step_begin()
    """
