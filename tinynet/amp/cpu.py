"""``torch.cpu.amp``, PyTorch's older names of ``tn.autocast("cpu")`` and its scaler."""

from __future__ import annotations

import warnings

from tinynet import dtypes
from tinynet.amp import autocast_mode, grad_scaler


class autocast(autocast_mode.autocast):  # noqa: N801  # PyTorch's name
    """``tn.autocast("cpu")``.

    Args:
        enabled, dtype, cache_enabled: those of ``tn.autocast``.

    Example:
        >>> import pytest
        >>> from tinynet.amp.cpu import autocast
        >>> with pytest.warns(FutureWarning, match="deprecated"), autocast(dtype=tn.float16):
        ...     tn.mm(tn.ones(1, 1), tn.ones(1, 1)).dtype
        tinynet.float16
    """

    def __init__(
        self,
        enabled: bool = True,
        dtype: dtypes.dtype = dtypes.bfloat16,
        cache_enabled: bool = True,
    ):
        warnings.warn(
            "`torch.cpu.amp.autocast(args...)` is deprecated. "
            "Please use `torch.amp.autocast('cpu', args...)` instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__("cpu", dtype, enabled, cache_enabled)


class GradScaler(grad_scaler.GradScaler):
    """``tn.amp.GradScaler("cpu")``.

    Args:
        init_scale, growth_factor, backoff_factor, growth_interval, enabled: those of
            ``tn.amp.GradScaler``.

    Example:
        >>> import pytest
        >>> from tinynet.amp.cpu import GradScaler
        >>> with pytest.warns(FutureWarning, match="deprecated"):
        ...     GradScaler().get_scale()
        65536.0
    """

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ):
        warnings.warn(
            "`torch.cpu.amp.GradScaler(args...)` is deprecated. "
            "Please use `torch.amp.GradScaler('cpu', args...)` instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
