"""Devices: tensors live on the CPU; other devices exist in name only."""

from __future__ import annotations

from typing import Any

from tinynet import errors

_TYPES = (
    "cpu cuda ipu xpu mkldnn opengl opencl ideep hip ve fpga maia xla lazy vulkan mps meta hpu "
    "mtia privateuseone"
).split()


class device:
    """The device of a tensor, always ``cpu``. Other devices can be named but hold no tensors.

    Args:
        type: ``"cpu"``, also with a number: ``"cuda:0"``; or a device.
        index: the number.

    Raises:
        RuntimeError: a name that PyTorch does not know.

    Example:
        >>> tn.device("cpu"), tn.device("cuda", 0)
        (device(type='cpu'), device(type='cuda', index=0))
    """

    def __init__(self, type: Any = "cpu", index: int | None = None):
        if isinstance(type, int) and not isinstance(type, bool):
            raise RuntimeError("Cannot access accelerator device when none is available.")
        kind, colon, number = str(type).partition(":")
        if kind not in _TYPES:
            raise RuntimeError(
                f"Expected one of {', '.join(_TYPES)} device type at start of device string: {kind}"
            )
        if colon and (not number.isdecimal() or index is not None):
            raise RuntimeError(f"Invalid device string: '{type}'")
        self.type = kind
        self.index = int(number) if colon else index

    def __repr__(self) -> str:
        number = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{number})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __enter__(self) -> device:
        require_cpu(self)
        return self

    def __exit__(self, *exc: object) -> None:
        """Change nothing."""


_FIX = (
    "leave out `.cuda()`, `.to(device)` and `device=`; or let the program choose: "
    '`device = "cuda" if tn.cuda.is_available() else "cpu"`'
)
CPU = device()
DeviceLike = device | str | None


def require_cpu(wanted: Any) -> None:
    """Raise an error for a device other than the CPU; None stands for the CPU.

    Raises:
        RuntimeError: the device is not the CPU.
    """
    if wanted is None:
        return
    kind, colon, number = str(wanted).partition(":")
    if kind != "cpu" or (colon and not number.isdecimal()):
        shown = str(wanted) if isinstance(wanted, device) else wanted
        sentence = f"tinynet runs on the cpu only. Got device {shown!r} instead."
        raise RuntimeError(errors.with_fix(sentence, _FIX) if kind in _TYPES else sentence)
