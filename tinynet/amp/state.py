"""The autocast state of a thread, and the casts."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.declaration import compiler
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import Tensor
from tinynet.ops.pointwise.conversion import converted

DEVICES = (
    "cpu cuda ipu xpu mkldnn opengl opencl ideep hip ve fpga maia xla lazy vulkan mps meta hpu "
    "mtia privateuseone"
)
SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


class _State(threading.local):
    def __init__(self) -> None:
        self.enabled: dict[str, bool] = {}
        self.dtype = {"cpu": dtypes.bfloat16}
        self.cache_enabled = True
        self.nesting = 0
        self.cache: dict[tuple[int, Any], tuple[Tensor, Tensor]] = {}


state = _State()


def known_device(device_type: str) -> str:
    """Return the name of a device that PyTorch knows.

    Raises:
        RuntimeError: PyTorch knows no such device.
    """
    if device_type not in DEVICES.split():
        raise RuntimeError(
            f"Expected one of {DEVICES.replace(' ', ', ')} device type at start of device string: "
            f"{device_type}"
        )
    return device_type


# ---- the casts ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Casts:
    """What ``mode.autocast`` is in a region: the casts to a lower precision."""

    dtype: dtypes.dtype

    def __call__(
        self,
        policy: str,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Run a function on arguments cast by its ``policy``, with autocast off inside."""
        mode.autocast = None
        try:
            if policy == "lower":
                kind = self.dtype.numpy
            else:
                kinds = {t._array.dtype for t in _floats((args, kwargs))}
                single = policy == "float32" or SINGLE in kinds or len(kinds) > 1
                kind = SINGLE if single else next(iter(kinds), SINGLE)
            return function(*_cast(args, kind), **_cast(kwargs, kind))
        finally:
            mode.autocast = self


def _is_eligible(x: Any) -> bool:
    return isinstance(x, Tensor) and x.is_floating_point() and x._array.dtype != DOUBLE


def _floats(value: Any) -> list[Tensor]:
    if isinstance(value, (list, tuple)):
        return [t for x in value for t in _floats(x)]
    if isinstance(value, dict):
        return _floats(list(value.values()))
    return [value] if _is_eligible(value) else []


def _cast(value: Any, kind: np.dtype[Any]) -> Any:
    if type(value) in (list, tuple):
        return type(value)(_cast(x, kind) for x in value)
    if type(value) is dict:
        return {name: _cast(x, kind) for name, x in value.items()}
    if not _is_eligible(value) or value.is_sparse or value._array.dtype == kind:
        return value
    return _cached(value, kind) if _is_cacheable(value, kind) else converted(value, kind)


def _is_cacheable(t: Tensor, kind: np.dtype[Any]) -> bool:
    """Return whether to cache the cast of a tensor for the whole region: a parameter's."""
    lowers = kind != SINGLE and t._array.dtype == SINGLE
    leaf = t._edge is None and t._view is None and t._requires_grad is True
    return lowers and leaf and state.cache_enabled and state.nesting > 0 and bool(mode.grad)


def _cached(t: Tensor, kind: np.dtype[Any]) -> Tensor:
    key = id(t), kind
    if key not in state.cache:
        state.cache[key] = t, converted(t, kind)
    return state.cache[key][1]


# ---- the switches -------------------------------------------------------------------------------


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Return whether autocast is on for a device in this thread.

    Args:
        device_type: the device.

    Raises:
        RuntimeError: PyTorch knows no such device.

    Example:
        >>> with tn.autocast("cpu"):
        ...     tn.is_autocast_enabled("cpu")
        True
    """
    if known_device(device_type) == "cpu":
        return mode.autocast is not None
    return state.enabled.get(device_type, False)


def set_autocast_enabled(device_type: Any, enabled: bool | None = None) -> None:
    """Switch autocast on or off for a device in this thread; ``tn.autocast`` does so for a block.

    Args:
        device_type: the device; or, of a GPU, whether it is on.
        enabled: whether it is on.

    Raises:
        RuntimeError: PyTorch knows no such device.

    Example:
        >>> tn.set_autocast_enabled("cpu", False)
    """
    if enabled is None:
        device_type, enabled = "cuda", device_type
    if known_device(device_type) != "cpu":
        state.enabled[device_type] = bool(enabled)
        return
    if enabled:
        compiler.look_for_autocast()
    mode.autocast = Casts(state.dtype["cpu"]) if enabled else None


def get_autocast_dtype(device_type: str) -> dtypes.dtype:
    """Return the lower precision that autocast casts to: bfloat16 on the cpu unless changed.

    Args:
        device_type: the device.

    Raises:
        RuntimeError: PyTorch knows no such device.

    Example:
        >>> tn.get_autocast_dtype("cpu")
        tinynet.bfloat16
    """
    if known_device(device_type) == "cpu" and mode.autocast is not None:
        found: dtypes.dtype = mode.autocast.dtype
        return found
    return state.dtype.get(device_type, dtypes.float16)


def set_autocast_dtype(device_type: str, dtype: dtypes.dtype) -> None:
    """Set the lower precision that autocast casts to.

    Args:
        device_type: the device.
        dtype: bfloat16 or float16.

    Raises:
        RuntimeError: PyTorch knows no such device.
        TypeError: ``dtype`` is not a dtype.

    Example:
        >>> tn.set_autocast_dtype("cpu", tn.bfloat16)
    """
    if not isinstance(dtype, dtypes.dtype):
        raise TypeError(
            "set_autocast_dtype(): argument 'dtype' (position 2) must be tinynet.dtype, "
            f"not {type(dtype).__name__}"
        )
    state.dtype[known_device(device_type)] = dtype
    if device_type == "cpu" and mode.autocast is not None:
        mode.autocast = Casts(dtype)


def is_autocast_cache_enabled() -> bool:
    """Return whether the casts of parameters are cached until the outermost region ends.

    Example:
        >>> tn.is_autocast_cache_enabled()
        True
    """
    return state.cache_enabled


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Set whether the casts of parameters are cached until the outermost region ends.

    Args:
        enabled: whether they are.

    Raises:
        TypeError: ``enabled`` is not a bool.

    Example:
        >>> tn.set_autocast_cache_enabled(True)
    """
    if not isinstance(enabled, bool):
        raise TypeError(f"enabled must be a bool (got {type(enabled).__name__})")
    state.cache_enabled = enabled


def clear_autocast_cache() -> None:
    """Clear the cached casts of parameters.

    Example:
        >>> tn.clear_autocast_cache()
    """
    state.cache.clear()


def autocast_increment_nesting() -> int:
    """Enter a region of autocast, and return the number of nested regions.

    Example:
        >>> tn.autocast_increment_nesting(), tn.autocast_decrement_nesting()
        (1, 0)
    """
    state.nesting += 1
    return state.nesting


def autocast_decrement_nesting() -> int:
    """Leave a region of autocast, and return the number of nested regions.

    Example:
        >>> tn.autocast_increment_nesting(), tn.autocast_decrement_nesting()
        (1, 0)
    """
    state.nesting -= 1
    return state.nesting


def _older(name: str, device: str, newer: Callable[..., Any], arguments: str) -> Any:
    """Return a function above under an older name, for a device."""
    given = ", ".join(filter(None, (f"'{device}'", arguments)))

    def older(*args: Any) -> Any:
        warnings.warn(
            f"torch.{name}({arguments}) is deprecated. Please use "
            f"torch.{newer.__name__}({given}) instead.",
            DeprecationWarning,
            stacklevel=2,
        )
        return newer(device, *args)

    older.__name__ = older.__qualname__ = name
    older.__doc__ = f"""Call ``{newer.__name__}`` for the device {device!r}; it warns.

    Args:
        *args: the other arguments.

    Raises:
        RuntimeError, TypeError: as ``{newer.__name__}``.

    Example:
        >>> import pytest
        >>> with pytest.deprecated_call():
        ...     _ = tn.get_autocast_cpu_dtype()
    """
    return older


is_autocast_cpu_enabled = _older("is_autocast_cpu_enabled", "cpu", is_autocast_enabled, "")
set_autocast_cpu_enabled = _older(
    "set_autocast_cpu_enabled", "cpu", set_autocast_enabled, "enabled"
)
get_autocast_cpu_dtype = _older("get_autocast_cpu_dtype", "cpu", get_autocast_dtype, "")
set_autocast_cpu_dtype = _older("set_autocast_cpu_dtype", "cpu", set_autocast_dtype, "dtype")
get_autocast_gpu_dtype = _older("get_autocast_gpu_dtype", "cuda", get_autocast_dtype, "")
set_autocast_gpu_dtype = _older("set_autocast_gpu_dtype", "cuda", set_autocast_dtype, "dtype")
