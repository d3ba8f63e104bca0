"""``torch.cpu.amp``, PyTorch's older names of ``tn.autocast("cpu")`` and its scaler."""

from __future__ import annotations

from tinynet import dtypes
from tinynet.amp.cuda import _Autocast, _GradScaler


class autocast(_Autocast):  # noqa: N801  # PyTorch's name
    """``tn.autocast("cpu")``.

    Args:
        enabled, dtype, cache_enabled: see ``tn.autocast``.

    Example:
        >>> import pytest
        >>> from tinynet.amp.cpu import autocast
        >>> with pytest.warns(FutureWarning, match="deprecated"), autocast(dtype=tn.float16):
        ...     tn.mm(tn.ones(1, 1), tn.ones(1, 1)).dtype
        tinynet.float16
    """

    DEVICE, DTYPE = "cpu", dtypes.bfloat16


class GradScaler(_GradScaler):
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

    DEVICE = "cpu"
