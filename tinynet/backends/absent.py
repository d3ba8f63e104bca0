"""The functions of an unavailable backend."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


def is_available() -> bool:
    """Return False.

    Example:
        >>> tn.backends.cudnn.is_available()
        False
    """
    return False


def is_built() -> bool:
    """Return False.

    Example:
        >>> tn.backends.mps.is_built()
        False
    """
    return False


def version() -> None:
    """Return None.

    Example:
        >>> tn.backends.cudnn.version()
    """


@contextlib.contextmanager
def flags(**switches: Any) -> Iterator[None]:
    """Run a block unchanged.

    Args:
        **switches: ignored.

    Example:
        >>> with tn.backends.cudnn.flags(enabled=False):
        ...     tn.ones(1)
        tensor([1.])
    """
    yield
