"""Declaring the functions of ``tinynet.special``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from tinynet.core.declaration.operation import Operation, pointwise

F = TypeVar("F")
SPECIAL: dict[str, Any] = {}  # public name -> function


def special(*names: str) -> Callable[[F], F]:
    """Add a function to ``tinynet.special``, under its own name or under others.

    Args:
        names: the names; its own unless given.
    """

    def declare(declared: F) -> F:
        function: Any = declared.function if isinstance(declared, Operation) else declared
        SPECIAL.update(dict.fromkeys(names or (function.__name__,), function))
        return declared

    return declare


def only_special(declared: Any) -> Operation:
    """Declare an elementwise operation that is public as a function of ``tinynet.special`` only."""
    node = f"Special{declared.__name__.title().replace('_', '')}Backward0"
    declare = pointwise(ints="float", out=True, node=node)
    return special()(declare(declared))
