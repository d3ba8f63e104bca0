"""``torch.cuda.amp``, PyTorch's older names. Without a GPU they warn and do nothing."""

from __future__ import annotations

import warnings
from typing import Any

from tinynet import dtypes
from tinynet.amp import autocast_mode, grad_scaler


class autocast(autocast_mode.autocast):  # noqa: N801  # PyTorch's name
    """``tn.autocast("cuda")``: warns and does nothing.

    Args:
        enabled, dtype, cache_enabled: those of ``tn.autocast``.

    Example:
        >>> import pytest
        >>> from tinynet.amp.cuda import autocast
        >>> with pytest.warns(FutureWarning, match="deprecated"):
        ...     region = autocast(enabled=False)
    """

    def __init__(
        self,
        enabled: bool = True,
        dtype: dtypes.dtype = dtypes.float16,
        cache_enabled: bool = True,
    ):
        warnings.warn(
            "`torch.cuda.amp.autocast(args...)` is deprecated. "
            "Please use `torch.amp.autocast('cuda', args...)` instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(grad_scaler.GradScaler):
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

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ):
        warnings.warn(
            "`torch.cuda.amp.GradScaler(args...)` is deprecated. "
            "Please use `torch.amp.GradScaler('cuda', args...)` instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__(
            "cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )


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
    _warn_of_decorator("custom_fwd")
    return autocast_mode.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


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
    _warn_of_decorator("custom_bwd")
    return autocast_mode.custom_bwd(bwd, device_type="cuda")


def _warn_of_decorator(name: str) -> None:
    warnings.warn(
        f"`torch.cuda.amp.{name}(args...)` is deprecated. "
        f"Please use `torch.amp.{name}(args..., device_type='cuda')` instead.",
        FutureWarning,
        stacklevel=3,
    )


def amp_definitely_not_available() -> bool:
    """Return True: there is no GPU.

    Example:
        >>> from tinynet.amp import cuda
        >>> cuda.amp_definitely_not_available()
        True
    """
    return True
