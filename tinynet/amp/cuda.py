"""``torch.cuda.amp``, PyTorch's older names. Without a GPU they warn and do nothing."""

from __future__ import annotations

from typing import Any

from tinynet import dtypes
from tinynet.amp import deprecated
from tinynet.amp.autocast_mode import custom_bwd as decorate_backward
from tinynet.amp.autocast_mode import custom_fwd as decorate_forward


class autocast(deprecated.Autocast):  # noqa: N801  # PyTorch's name
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


class GradScaler(deprecated.GradScaler):
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
    deprecated.warn_deprecated("cuda", "custom_fwd", "args..., device_type='cuda'")
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
    deprecated.warn_deprecated("cuda", "custom_bwd", "args..., device_type='cuda'")
    return decorate_backward(bwd, device_type="cuda")


def amp_definitely_not_available() -> bool:
    """Return True: there is no GPU.

    Example:
        >>> from tinynet.amp import cuda
        >>> cuda.amp_definitely_not_available()
        True
    """
    return True
