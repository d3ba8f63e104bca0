"""Functions whose code is written by hand, where LLVM does not find it in loops by itself.

A function that is declared as ``written`` is plain Python. In what numba compiles, a call of it is
replaced by code that an emitter makes, from LLVM's instructions for vectors.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
Emitter = Callable[..., Any]  # of numba's context, builder, signature and arguments
Result = str | Callable[..., Any]  # name of numba's type, or makes it of those of the arguments

_emitters: dict[Any, tuple[Emitter, Result]] = {}
_known: set[FunctionType] = set()  # to numba


def written(emitter: Emitter, result: Result = "void") -> Callable[[F], F]:
    """Return a decorator for functions whose code an emitter makes.

    Args:
        emitter: makes the code.
        result: numba's type of what the functions return.
    """

    def mark(function: F) -> F:
        _emitters[function] = emitter, result
        return function

    return mark


def register(function: FunctionType) -> bool:
    """Let numba know the code of a function; return whether it has an emitter."""
    if function not in _emitters:
        return False
    if function in _known:
        return True
    _known.add(function)
    emitter, result = _emitters[function]
    from numba import extending, types

    @extending.type_callable(function)
    def typer(context: Any) -> Any:
        def call(*arguments: Any) -> Any:
            return (
                getattr(types, result) if isinstance(result, str) else result(context, *arguments)
            )

        call.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
        return call

    extending.lower_builtin(function, types.VarArg(types.Any))(emitter)
    return True
