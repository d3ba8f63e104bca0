"""``torch.accelerator``: no accelerator is available."""

from __future__ import annotations

from typing import Any

from tinynet.core.devices import device


def is_available() -> bool:
    """Return False: tinynet runs on the CPU.

    Example:
        >>> tn.accelerator.is_available()
        False
    """
    return False


def device_count() -> int:
    """Return 0.

    Example:
        >>> tn.accelerator.device_count()
        0
    """
    return 0


def current_accelerator(check_available: bool = False) -> device | None:
    """Return None: there is no accelerator.

    Args:
        check_available: ignored.

    Example:
        >>> tn.accelerator.current_accelerator()
    """
    return None


def synchronize(device: Any = None) -> None:
    """Do nothing: all operations are synchronous.

    Args:
        device: ignored.

    Example:
        >>> tn.accelerator.synchronize()
    """


def empty_cache() -> None:
    """Do nothing: there is no device memory to free.

    Example:
        >>> tn.accelerator.empty_cache()
    """


def current_device_index() -> int:
    """Raise: there is no device with an index.

    Raises:
        RuntimeError: always.

    Example:
        >>> tn.accelerator.current_device_index()
        Traceback (most recent call last):
        RuntimeError: Cannot access accelerator device when none is available.
    """
    raise RuntimeError("Cannot access accelerator device when none is available.")


def set_device_index(device: Any) -> None:
    """Raise: there is no device with an index.

    Args:
        device: ignored.

    Raises:
        RuntimeError: always.

    Example:
        >>> tn.accelerator.set_device_index(0)
        Traceback (most recent call last):
        RuntimeError: Cannot access accelerator device when none is available.
    """
    raise RuntimeError("Cannot access accelerator device when none is available.")


current_device_idx, set_device_idx = current_device_index, set_device_index
