"""What autocast casts: each function declares it, with the dtype that its arguments get.

``"lower"`` stands for the lower precision of autocast, ``"widest"`` for the widest that is given.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from tinynet.core.modes import mode

F = TypeVar("F", bound=Callable[..., Any])


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
