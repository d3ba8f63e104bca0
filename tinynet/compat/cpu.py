"""``torch.cpu``: the only device."""

from __future__ import annotations

from typing import Any

from tinynet.amp.cpu import autocast as autocast


def is_available() -> bool:
    """Return True.

    Example:
        >>> from tinynet.compat import cpu
        >>> cpu.is_available()
        True
    """
    return True


def device_count() -> int:
    """Return 1.

    Example:
        >>> from tinynet.compat import cpu
        >>> cpu.device_count()
        1
    """
    return 1


def current_device() -> str:
    """Return "cpu".

    Example:
        >>> from tinynet.compat import cpu
        >>> cpu.current_device()
        'cpu'
    """
    return "cpu"


def synchronize(device: Any = None) -> None:
    """Do nothing: all operations are synchronous.

    Args:
        device: ignored.

    Example:
        >>> from tinynet.compat import cpu
        >>> cpu.synchronize()
    """
