"""Autocast policies: each function declares the dtype that autocast converts its arguments to.

``"lower"`` is the lower precision of autocast, ``"widest"`` the widest dtype of the arguments.
"""

from __future__ import annotations

from typing import Any


class _State:
    used = False  # whether autocast has ever been on


state = _State()


def lines(op: Any, rest: str) -> list[str]:
    """Return the lines of a compiled operation that check for autocast, once it is used.

    Args:
        op: the operation.
        rest: the source text of its attributes.
    """
    if not state.used or op.autocast is None:
        return []
    call = f"{op.autocast!r}, {op.name}_op.function, ({', '.join(op.tensors)},), {rest}"
    return ["    if mode.autocast is not None:", f"        return mode.autocast({call})"]
