"""``torch.cpu.amp`` and ``torch.cuda.amp``: PyTorch's older names, each for one device.

Each use warns. ``cpu.py`` and ``cuda.py`` have the classes of their device.
"""

from __future__ import annotations

import warnings

from tinynet import dtypes
from tinynet.amp import autocast_mode, grad_scaler


def warn_deprecated(device: str, name: str, arguments: str) -> None:
    """Warn the caller's caller of an older name.

    Args:
        device: the device.
        name: the name, which ``torch.amp`` has, too.
        arguments: of the name in ``torch.amp``.
    """
    warnings.warn(
        f"`torch.{device}.amp.{name}(args...)` is deprecated. "
        f"Please use `torch.amp.{name}({arguments})` instead.",
        FutureWarning,
        stacklevel=3,
    )


class Autocast(autocast_mode.autocast):
    """``tn.autocast`` for the device of a subclass.

    Args:
        enabled, dtype, cache_enabled: see ``tn.autocast``.
    """

    DEVICE: str
    DTYPE: dtypes.dtype  # unless one is given

    def __init__(
        self, enabled: bool = True, dtype: dtypes.dtype | None = None, cache_enabled: bool = True
    ):
        warn_deprecated(self.DEVICE, "autocast", f"'{self.DEVICE}', args...")
        lower = self.DTYPE if dtype is None else dtype
        super().__init__(self.DEVICE, lower, enabled, cache_enabled)


class GradScaler(grad_scaler.GradScaler):
    """``tn.amp.GradScaler`` for the device of a subclass.

    Args:
        init_scale, growth_factor, backoff_factor, growth_interval, enabled: those of
            ``tn.amp.GradScaler``.
    """

    DEVICE: str

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ):
        warn_deprecated(self.DEVICE, "GradScaler", f"'{self.DEVICE}', args...")
        options = init_scale, growth_factor, backoff_factor, growth_interval, enabled
        super().__init__(self.DEVICE, *options)
