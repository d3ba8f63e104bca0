"""Functions whose code is written by hand, where LLVM does not find it in loops by itself.

A function that is declared as ``written`` is plain Python. In what numba compiles, a call of it is
replaced by code that an emitter makes, from LLVM's instructions for vectors.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., None])
Emitter = Callable[..., Any]  # of numba's context, builder, signature and arguments

_emitters: dict[FunctionType, Emitter] = {}
_known: set[FunctionType] = set()  # to numba


def written(emitter: Emitter) -> Callable[[F], F]:
    """Return a decorator for functions that return nothing and whose code an emitter makes."""

    def mark(function: F) -> F:
        _emitters[function] = emitter  # type: ignore[index]
        return function

    return mark


def register(function: FunctionType) -> bool:
    """Let numba know the code of a function; return whether it has an emitter."""
    if function not in _emitters:
        return False
    if function in _known:
        return True
    _known.add(function)
    from numba import extending, types

    @extending.type_callable(function)
    def typer(context: Any) -> Any:
        def call(*arguments: Any) -> Any:
            return types.void

        call.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
        return call

    extending.lower_builtin(function, types.VarArg(types.Any))(_emitters[function])
    return True
