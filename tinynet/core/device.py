"""The device: there is only the cpu."""

from __future__ import annotations

from typing import Any


class device:
    """Where a tensor lives: always ``cpu``.

    Args:
        type: ``"cpu"``, also with a number: ``"cpu:0"``; or a device.
        index: the number; it changes nothing.

    Raises:
        RuntimeError: another type.

    Example:
        >>> tn.device("cpu")
        device(type='cpu')
    """

    def __init__(self, type: Any = "cpu", index: int | None = None):
        kind, colon, number = str(type).partition(":")
        if kind != "cpu" or (colon and not number.isdecimal()):
            raise RuntimeError(f"tinynet runs on the cpu only. Got device {type!r} instead.")
        self.type = "cpu"
        self.index = index

    def __repr__(self) -> str:
        return "device(type='cpu')"

    def __str__(self) -> str:
        return "cpu"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device)

    def __hash__(self) -> int:
        return hash("cpu")


CPU = device()
DeviceLike = device | str | None
