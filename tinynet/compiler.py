"""``tn.compiler``: what compiled code may ask, and the switches of ``tn.compile``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from tinynet.capture.api import compile as compile
from tinynet.capture.compiled import CompileError as CompileError
from tinynet.capture.compiled import CompileWarning as CompileWarning
from tinynet.capture.compiled import every, state
from tinynet.capture.record.recorder import CaptureError
from tinynet.core.modes import mode

_F = TypeVar("_F", bound=Callable[..., Any])


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """Return a function that always runs eagerly, with all that it calls.

    A compiled function that calls it runs eagerly, too.

    Args:
        fn: the function; None returns a decorator.
        recursive: False lets compiled functions that ``fn`` calls run their programs.
        reason: why, for the warning.

    Raises:
        CompileError: in a function that is compiled with ``fullgraph=True``.

    Example:
        >>> @tn.compiler.disable
        ... def log(x):
        ...     print(x.item())
        >>> log(tn.tensor(2.0))
        2.0
    """
    if fn is None:
        return lambda fn: disable(fn, recursive, reason=reason)

    @functools.wraps(fn)
    def run(*args: Any, **kwargs: Any) -> Any:
        if mode.tracer is not None:
            why = f": {reason}" if reason else ""
            mode.tracer.refuse(
                CaptureError(
                    f"it calls {run.__name__}, which tn.compiler.disable excludes{why}",
                    "call it outside of the compiled function",
                    passing=False,
                )
            )
        before = state.disabled
        state.disabled = before or recursive
        try:
            return fn(*args, **kwargs)
        finally:
            state.disabled = before

    return run


def allow_in_graph(fn: _F) -> _F:
    """Return the function unchanged: all functions of tensors are allowed.

    Args:
        fn: any function.

    Example:
        >>> tn.compiler.allow_in_graph(abs) is abs
        True
    """
    return fn


assume_constant_result = allow_in_graph


def is_compiling() -> bool:
    """Return whether the calling code is being captured.

    Example:
        >>> tn.compiler.is_compiling()
        False
    """
    return mode.tracer is not None


is_dynamo_compiling = is_compiling


def is_exporting() -> bool:
    """Return False: an export runs the code as it is.

    Example:
        >>> tn.compiler.is_exporting()
        False
    """
    return False


def list_backends(exclude_tags: Sequence[str] | None = None) -> list[str]:
    """Return the names that programs pass as ``backend=`` to ``torch.compile``.

    Args:
        exclude_tags: accepted for compatibility; there is one backend.

    Example:
        >>> tn.compiler.list_backends()
        ['inductor']
    """
    return ["inductor"]


def reset() -> None:
    """Discard the programs of all compiled functions.

    Example:
        >>> tn.compiler.reset()
    """
    for compiled in list(every):
        compiled.reset()


def cudagraph_mark_step_begin() -> None:
    """Do nothing: there are no CUDA graphs.

    Example:
        >>> tn.compiler.cudagraph_mark_step_begin()
    """
