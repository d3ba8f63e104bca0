"""What autocast casts: each function declares it, with the dtype that its arguments get.

``"lower"`` stands for the lower precision of autocast, ``"widest"`` for the widest that is given.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from tinynet.core.modes import mode

F = TypeVar("F", bound=Callable[..., Any])


class _State:
    used = False  # whether autocast ever was on


state = _State()


def lines(op: Any, rest: str) -> list[str]:
    """Return the lines with which a compiled operation looks for autocast, once that is used.

    Args:
        op: the operation.
        rest: the text of its attributes.
    """
    if not state.used or op.autocast is None:
        return []
    call = f"{op.autocast!r}, {op.name}_op.function, ({', '.join(op.tensors)},), {rest}"
    return ["    if mode.autocast is not None:", f"        return mode.autocast({call})"]


def autocast(policy: str) -> Callable[[F], F]:
    """Let a composite get its arguments cast; an operation says so in its declaration.

    Args:
        policy: ``"lower"``, ``"float32"`` or ``"widest"``.
    """

    def declare(function: F) -> F:
        @functools.wraps(function)
        def casting(*args: Any, **kwargs: Any) -> Any:
            if mode.autocast is None:
                return function(*args, **kwargs)
            return mode.autocast(policy, function, args, kwargs)

        return casting  # type: ignore[return-value]

    return declare
