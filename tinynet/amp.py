"""Mixed precision, which pays on GPUs only: ``torch.amp``'s names, switched off."""

from __future__ import annotations

import contextlib
import warnings
from typing import Any

from tinynet.core.tensor import Tensor


class autocast(contextlib.ContextDecorator):  # noqa: N801  # PyTorch's name
    """Compute as ever: lower precision is slower on numpy.

    Args:
        device_type, dtype, cache_enabled: accepted, as scripts pass them.
        enabled: True warns once per line that nothing happens.

    Example:
        >>> with tn.amp.autocast("cpu", enabled=False):
        ...     (tn.ones(2) * 2).dtype
        tinynet.float32
    """

    def __init__(
        self,
        device_type: str = "cpu",
        dtype: Any = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ):
        if enabled:
            warnings.warn(
                "autocast does nothing in tinynet: numpy computes float16 more slowly than float32",
                UserWarning,
                stacklevel=2,
            )

    def __enter__(self) -> None:
        """Change nothing."""

    def __exit__(self, *exc: object) -> None:
        """Change nothing."""


class GradScaler:
    """Scales losses by 1: gradients of float32 need no help.

    Args:
        device, init_scale, growth_factor, backoff_factor, growth_interval, enabled: accepted.

    Example:
        >>> w = tn.ones(1, requires_grad=True)
        >>> optimizer, scaler = optim.SGD([w], lr=0.5), tn.amp.GradScaler()
        >>> scaler.scale((w * w).sum()).backward()
        >>> scaler.step(optimizer)
        >>> scaler.update()
        >>> w
        tensor([0.], requires_grad=True)
    """

    def __init__(
        self,
        device: str = "cpu",
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ):
        pass

    def scale(self, outputs: Any) -> Any:
        """Return the loss as it is."""
        return outputs

    def unscale_(self, optimizer: Any) -> None:
        """Do nothing."""

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Return what ``optimizer.step`` returns."""
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Do nothing."""

    def get_scale(self) -> float:
        """Return 1."""
        return 1.0

    def is_enabled(self) -> bool:
        """Return False."""
        return False

    def state_dict(self) -> dict[str, Any]:
        """Return an empty dictionary."""
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over nothing."""
