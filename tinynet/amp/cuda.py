"""``torch.cuda.amp``, PyTorch's older names. Without a GPU they warn and do nothing.

``torch.cpu.amp`` (``cpu.py``) has the same names.
"""

from __future__ import annotations

import warnings
from typing import Any

from tinynet import dtypes
from tinynet.amp.autocast_mode import autocast as any_autocast
from tinynet.amp.autocast_mode import custom_bwd as decorate_backward
from tinynet.amp.autocast_mode import custom_fwd as decorate_forward
from tinynet.amp.grad_scaler import GradScaler as AnyGradScaler


def _warn(device: str, name: str, arguments: str) -> None:
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


class _Autocast(any_autocast):
    """``tn.autocast`` for the device of a subclass.

    Args:
        enabled, dtype, cache_enabled: see ``tn.autocast``.
    """

    DEVICE: str
    DTYPE: dtypes.dtype  # unless one is given

    def __init__(
        self, enabled: bool = True, dtype: dtypes.dtype | None = None, cache_enabled: bool = True
    ):
        _warn(self.DEVICE, "autocast", f"'{self.DEVICE}', args...")
        lower = self.DTYPE if dtype is None else dtype
        super().__init__(self.DEVICE, lower, enabled, cache_enabled)


class _GradScaler(AnyGradScaler):
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
        _warn(self.DEVICE, "GradScaler", f"'{self.DEVICE}', args...")
        options = init_scale, growth_factor, backoff_factor, growth_interval, enabled
        super().__init__(self.DEVICE, *options)


class autocast(_Autocast):  # noqa: N801  # PyTorch's name
    """``tn.autocast("cuda")``: warns and does nothing.

    Args:
        enabled, dtype, cache_enabled: see ``tn.autocast``.

    Example:
        >>> import pytest
        >>> from tinynet.amp.cuda import autocast
        >>> with pytest.warns(FutureWarning, match="deprecated"):
        ...     region = autocast(enabled=False)
    """

    DEVICE, DTYPE = "cuda", dtypes.float16


class GradScaler(_GradScaler):
    """``tn.amp.GradScaler("cuda")``: warns and does nothing.

    Args:
        init_scale, growth_factor, backoff_factor, growth_interval, enabled: those of
            ``tn.amp.GradScaler``.

    Example:
        >>> import pytest
        >>> from tinynet.amp.cuda import GradScaler
        >>> with pytest.warns(FutureWarning, match="deprecated"):
        ...     GradScaler(enabled=False).is_enabled()
        False
    """

    DEVICE = "cuda"


def custom_fwd(fwd: Any = None, *, cast_inputs: dtypes.dtype | None = None) -> Any:
    """Decorate ``forward`` of an ``autograd.Function``, see ``tn.amp.custom_fwd``; it warns.

    Args:
        fwd: the method.
        cast_inputs: see ``tn.amp.custom_fwd``.

    Example:
        >>> import pytest
        >>> from tinynet.amp.cuda import custom_fwd
        >>> with pytest.warns(FutureWarning, match="deprecated"):
        ...     _ = custom_fwd(lambda ctx, x: x)
    """
    _warn("cuda", "custom_fwd", "args..., device_type='cuda'")
    return decorate_forward(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Any) -> Any:
    """Decorate ``backward`` of an ``autograd.Function``, see ``tn.amp.custom_bwd``; it warns.

    Args:
        bwd: the method.

    Example:
        >>> import pytest
        >>> from tinynet.amp.cuda import custom_bwd
        >>> with pytest.warns(FutureWarning, match="deprecated"):
        ...     _ = custom_bwd(lambda ctx, g: g)
    """
    _warn("cuda", "custom_bwd", "args..., device_type='cuda'")
    return decorate_backward(bwd, device_type="cuda")


def amp_definitely_not_available() -> bool:
    """Return True: there is no GPU.

    Example:
        >>> from tinynet.amp import cuda
        >>> cuda.amp_definitely_not_available()
        True
    """
    return True
