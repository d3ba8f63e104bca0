"""The number of threads and other settings of PyTorch's runtime."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from tinynet.core.devices import CPU, device, require_cpu
from tinynet.core.tensors.tensor import Tensor
from tinynet.kernels import threads

T = TypeVar("T")


def set_num_threads(count: int) -> None:
    """Set the number of threads for large matrix products and kernels (convolutions, ...).

    Results do not depend on it. Without this call, tinynet uses the processors that are idle.

    Raises:
        RuntimeError: the count is not positive.

    Example:
        >>> tn.set_num_threads(tn.get_num_threads())
    """
    if not isinstance(count, (int, np.integer)) or isinstance(count, bool):
        raise TypeError(f"set_num_threads expects an int, but got {type(count).__name__}")
    if count <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    threads.set_count(int(count))


def get_num_threads() -> int:
    """Return the number of threads.

    By default, it is the number of processors that nothing else uses now, or the number set in the
    environment.

    Example:
        >>> tn.get_num_threads() >= 1
        True
    """
    return threads.get_count()


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Do nothing: tinynet's algorithms are deterministic.

    Args:
        mode: ignored: with False they are deterministic, too.
        warn_only: ignored.

    Example:
        >>> tn.use_deterministic_algorithms(True)
    """


def are_deterministic_algorithms_enabled() -> bool:
    """Return True.

    Example:
        >>> tn.are_deterministic_algorithms_enabled()
        True
    """
    return True


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Return False: there is nothing to warn of.

    Example:
        >>> tn.is_deterministic_algorithms_warn_only_enabled()
        False
    """
    return False


_MODES = ("default", "warn", "error")


class _Deterministic:
    mode = 0


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Set what ``get_deterministic_debug_mode`` returns: tinynet's algorithms are deterministic.

    Args:
        debug_mode: 0 or "default", 1 or "warn", 2 or "error".

    Raises:
        TypeError: it is neither a number nor a name.
        RuntimeError: there is no such mode.

    Example:
        >>> tn.set_deterministic_debug_mode("warn")
        >>> tn.get_deterministic_debug_mode()
        1
        >>> tn.set_deterministic_debug_mode(0)
    """
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if isinstance(debug_mode, str):
        if debug_mode not in _MODES:
            raise RuntimeError(
                "invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got "
                f"{debug_mode}"
            )
        debug_mode = _MODES.index(debug_mode)
    if debug_mode not in (0, 1, 2):
        raise RuntimeError(
            f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}"
        )
    _Deterministic.mode = debug_mode


def get_deterministic_debug_mode() -> int:
    """Return the mode that was set: 0, 1 or 2.

    Example:
        >>> tn.get_deterministic_debug_mode()
        0
    """
    return _Deterministic.mode


class _Warnings:
    always = False


def set_warn_always(b: bool) -> None:
    """Store the setting for ``is_warn_always_enabled``.

    tinynet always issues its warnings; Python's filters decide how often each one is shown.

    Raises:
        RuntimeError: ``b`` is not a bool.

    Example:
        >>> tn.set_warn_always(True)
        >>> tn.is_warn_always_enabled()
        True
        >>> tn.set_warn_always(False)
    """
    if not isinstance(b, bool):
        raise RuntimeError(f"setWarnOnlyOnce expects a bool, but got {type(b).__name__}")
    _Warnings.always = b


def is_warn_always_enabled() -> bool:
    """Return the setting of ``set_warn_always``, initially False.

    Example:
        >>> tn.is_warn_always_enabled()
        False
    """
    return _Warnings.always


class BackcompatWarning:
    """A switch for a warning about code written before PyTorch 0.2. No operation warns any more.

    Example:
        >>> from tinynet.utils import backcompat
        >>> backcompat.keepdim_warning.get_enabled()
        False
    """

    enabled = False

    def set_enabled(self, value: bool) -> None:
        """Set the switch."""
        self.enabled = value

    def get_enabled(self) -> bool:
        """Return the switch."""
        return self.enabled


broadcast_warning, keepdim_warning = BackcompatWarning(), BackcompatWarning()


def set_num_interop_threads(count: int) -> None:
    """Do nothing: operations run one after the other.

    Args:
        count: ignored.

    Example:
        >>> tn.set_num_interop_threads(2)
        >>> tn.get_num_interop_threads()
        1
    """


def get_num_interop_threads() -> int:
    """Return 1: operations run one after the other.

    Example:
        >>> tn.get_num_interop_threads()
        1
    """
    return 1


def set_float32_matmul_precision(precision: str) -> None:
    """Do nothing: products of float32 are computed in float32.

    Args:
        precision: "highest", "high" or "medium".

    Raises:
        RuntimeError: another name.

    Example:
        >>> tn.set_float32_matmul_precision("high")
        >>> tn.get_float32_matmul_precision()
        'highest'
    """
    if precision not in ("highest", "high", "medium"):
        raise RuntimeError(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the precision of float32 "
            "products"
        )


def get_float32_matmul_precision() -> str:
    """Return "highest".

    Example:
        >>> tn.get_float32_matmul_precision()
        'highest'
    """
    return "highest"


def set_flush_denormal(mode: bool) -> bool:
    """Return False: numpy keeps numbers below the smallest normal one.

    Args:
        mode: ignored.

    Example:
        >>> tn.set_flush_denormal(True)
        False
    """
    return False


def get_default_device() -> device:
    """Return the cpu.

    Example:
        >>> tn.get_default_device()
        device(type='cpu')
    """
    return CPU


def set_default_device(device: device | str | None) -> None:
    """Do nothing for the cpu.

    Args:
        device: the cpu, or None.

    Raises:
        RuntimeError: another device.

    Example:
        >>> tn.set_default_device("cpu")
    """
    if device is not None:
        require_cpu(device)


def typename(obj: object) -> str:
    """Return the name of a tensor's type, or of an object's class with its module.

    Args:
        obj: anything.

    Example:
        >>> tn.typename(tn.ones(2)), tn.typename(nn.ReLU)
        ('tinynet.FloatTensor', 'tinynet.nn.layers.piecewise_activation.ReLU')
    """
    if isinstance(obj, Tensor):
        return str(obj.type())
    kind = obj if isinstance(obj, type) or callable(obj) else type(obj)
    module = getattr(kind, "__module__", "")
    name = getattr(kind, "__qualname__", "")
    return name if module in ("", "builtins") else f"{module}.{name}"


def _assert(condition: object, message: str) -> None:
    """Raise AssertionError unless the condition holds.

    Args:
        condition: anything with a truth value.
        message: the text of the error.
    """
    assert condition, message
