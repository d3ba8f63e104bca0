"""Regions in which operations choose their own precision: ``torch.autocast``."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

import numpy as np

from tinynet import dtypes
from tinynet.amp import state
from tinynet.core.tensors.tensor import Tensor
from tinynet.ops.pointwise.conversion import converted

_SUPPORTED = dtypes.bfloat16, dtypes.float16


def is_autocast_available(device_type: str) -> bool:
    """Return whether PyTorch has autocast for a device.

    Args:
        device_type: the device.

    Raises:
        RuntimeError: PyTorch knows no such device.

    Example:
        >>> tn.amp.is_autocast_available("cpu")
        True
    """
    available = "cpu", "cuda", "mps", "xpu", "hpu", "mtia", "maia", "xla", "ipu"
    return state.known_device(device_type) in available


def _check_device_type(device_type: Any) -> None:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


class autocast:  # noqa: N801  # PyTorch's name
    """Choose the precision per operation, in a ``with`` block or a decorated function.

    Products (matrices, convolutions, attention, PReLU) use the lower precision; losses, 3-d
    pooling, reflection padding, quantiles and decompositions use float32; other operations keep the
    dtypes of their inputs. Gradients have the dtypes of the parameters.

    Args:
        device_type: ``"cpu"``; for a GPU it warns and does nothing.
        dtype: the lower precision, bfloat16 or float16; by default ``get_autocast_dtype()``.
        enabled: False switches autocast off, even inside a region where it is on.
        cache_enabled: whether to cache casts of parameters until the outermost region ends.

    Raises:
        ValueError: ``device_type`` is not a string.
        RuntimeError: the device is unknown in PyTorch.

    Example:
        >>> net = nn.Linear(3, 2)
        >>> with tn.autocast("cpu", dtype=tn.bfloat16):
        ...     y = net(tn.ones(1, 3))
        ...     loss = F.mse_loss(y, tn.zeros(1, 2))
        >>> loss.backward()
        >>> y.dtype, loss.dtype, net.weight.grad.dtype
        (tinynet.bfloat16, tinynet.float32, tinynet.float32)
    """

    def __init__(
        self,
        device_type: str,
        dtype: dtypes.dtype | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ):
        _check_device_type(device_type)
        self.device = device_type
        self.fast_dtype = state.get_autocast_dtype(device_type) if dtype is None else dtype
        if not is_autocast_available(device_type):
            raise RuntimeError(
                f"User specified an unsupported autocast device_type '{device_type}'"
            )
        if cache_enabled is None:
            cache_enabled = state.is_autocast_cache_enabled()
        self._cache_enabled = cache_enabled
        self._enabled = enabled and self._is_possible()
        self._before: list[tuple[bool, dtypes.dtype, bool]] = []

    def _is_possible(self) -> bool:
        """Return whether autocast supports the device and dtype; warn if not."""
        if self.device == "cuda":
            text = "CUDA is not available or torch_xla is imported. Disabling autocast."
        elif self.fast_dtype not in _SUPPORTED:
            name = self.device.upper()
            text = (
                f"In {name} autocast, but the target dtype is not supported. Disabling autocast.\n"
                f"{name} Autocast only supports dtypes of {', '.join(map(str, _SUPPORTED))} "
                "currently."
            )
        else:
            return True
        warnings.warn(text, UserWarning, stacklevel=3)
        return False

    def __enter__(self) -> autocast:
        self._before.append(
            (
                state.is_autocast_enabled(self.device),
                state.get_autocast_dtype(self.device),
                state.is_autocast_cache_enabled(),
            )
        )
        self._set(self._enabled, self.fast_dtype, self._cache_enabled)
        state.autocast_increment_nesting()
        return self

    def __exit__(self, *exc: object) -> Literal[False]:
        if state.autocast_decrement_nesting() == 0:
            state.clear_autocast_cache()
        self._set(*self._before.pop())
        return False

    def _set(self, enabled: bool, dtype: dtypes.dtype, cache_enabled: bool) -> None:
        state.set_autocast_dtype(self.device, dtype)
        state.set_autocast_enabled(self.device, enabled)
        state.set_autocast_cache_enabled(cache_enabled)

    def __call__(self, func: Any) -> Any:
        if not callable(func):
            raise TypeError(
                f"autocast()(func) requires a callable, but got {type(func).__name__}. Did you "
                "mean to use autocast as a context manager? For example:\n"
                "    with torch.autocast(device_type=...):\n        output = model(input)"
            )

        @functools.wraps(func)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            with self:
                return func(*args, **kwargs)

        return decorated


# ---- custom functions ---------------------------------------------------------------------------


def _cast(value: Any, kind: np.dtype[Any]) -> Any:
    """Return arguments with the floating-point tensors among them in another dtype."""
    if isinstance(value, Tensor):
        fits = value.is_floating_point() and value.dtype is not dtypes.float64
        return converted(value, kind) if fits else value
    if isinstance(value, (str, bytes, np.ndarray)):
        return value
    if isinstance(value, Mapping):
        return {_cast(k, kind): _cast(v, kind) for k, v in value.items()}
    if isinstance(value, Iterable):
        parts = (_cast(v, kind) for v in value)
        return type(value)(parts) if isinstance(value, (list, tuple)) else parts
    return value


def custom_fwd(
    fwd: Callable[..., Any] | None = None,
    *,
    device_type: str,
    cast_inputs: dtypes.dtype | None = None,
) -> Any:
    """Decorate ``forward`` of an ``autograd.Function`` that is used under autocast.

    Args:
        fwd: the method.
        device_type: the device.
        cast_inputs: if autocast is on, cast floating-point tensors to this dtype and run the method
            with autocast off; None: run it with autocast unchanged.

    Raises:
        ValueError: ``device_type`` is not a string.

    Example:
        >>> class Double(tn.autograd.Function):
        ...     @staticmethod
        ...     @tn.amp.custom_fwd(device_type="cpu", cast_inputs=tn.float32)
        ...     def forward(ctx, x):
        ...         return x * 2
        ...     @staticmethod
        ...     @tn.amp.custom_bwd(device_type="cpu")
        ...     def backward(ctx, g):
        ...         return g * 2
        >>> with tn.autocast("cpu"):
        ...     Double.apply(tn.ones(1, dtype=tn.float16)).dtype
        tinynet.float32
    """
    _check_device_type(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(*args: Any, **kwargs: Any) -> Any:
        enabled = state.is_autocast_enabled(device_type)
        args[0]._dtype = state.get_autocast_dtype(device_type)
        args[0]._fwd_used_autocast = enabled and cast_inputs is None
        if not enabled or cast_inputs is None:
            return fwd(*args, **kwargs)
        kind = cast_inputs.numpy
        with autocast(device_type, enabled=False):
            return fwd(*_cast(args, kind), **_cast(kwargs, kind))

    return forward


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Any:
    """Decorate ``backward`` of an ``autograd.Function`` to use the autocast state of ``forward``.

    Args:
        bwd: the method.
        device_type: the device.

    Raises:
        ValueError: ``device_type`` is not a string.

    Example:
        >>> tn.amp.custom_bwd(lambda ctx, g: g, device_type="cpu").__name__
        '<lambda>'
    """
    _check_device_type(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        with autocast(device_type, ctx._dtype, ctx._fwd_used_autocast):
            return bwd(*args, **kwargs)

    return backward
