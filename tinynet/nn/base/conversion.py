"""Methods that convert all parameters and buffers of a module.

Functions with a ``self`` are methods of ``Module``, grouped here by topic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tinynet import dtypes
from tinynet.core.callsite import warn
from tinynet.core.devices import require_cpu
from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.nn.base.registry import BUFFERS, PARAMETERS, members
from tinynet.ops.pointwise.conversion import target_of

if TYPE_CHECKING:
    from tinynet.nn.base.module import Module

M = TypeVar("M", bound="Module")

_COMPLEX_MODULES = (
    "Complex modules are a new feature: some modules might not work as expected when using complex "
    "tensors as parameters or buffers."
)


def apply_to_tensors(self: M, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> M:
    """Apply ``fn`` to all parameters, their gradients and buffers, replacing their values.

    Parameters keep their identity, so an optimizer need not be recreated.
    """
    if recurse:
        for child in self.children():
            child._apply(fn)
    for _, parameter in members(self, PARAMETERS):
        with no_grad():
            parameter.data = fn(parameter)
            if parameter._grad is not None:
                parameter.grad.data = fn(parameter.grad)
    for name, buffer in members(self, BUFFERS):
        self._buffers[name] = fn(buffer)
    return self


def replicate(self: M) -> M:
    """Return a copy for another device: it has the submodules and buffers, and no parameters."""
    replica = self.__new__(type(self))
    replica.__dict__ = {**vars(self), "_is_replica": True, "_parameters": {}}
    replica._buffers, replica._modules = {**self._buffers}, {**self._modules}
    return replica


# ---- dtypes -------------------------------------------------------------------------------------


def converting(name: str, kind: dtypes.dtype) -> Callable[[M], M]:
    """Return the method of this name, which converts to a dtype."""

    def convert(self: M) -> M:
        return self.to(kind)

    convert.__doc__ = f"Convert floating-point parameters and buffers to {kind.name}, return self."
    convert.__name__, convert.__qualname__ = name, f"Module.{name}"
    return convert


def to(self: M, *args: Any, **kwargs: Any) -> M:
    """Convert floating-point parameters and buffers to a dtype, in place, and return self.

    Accepts the arguments of ``Tensor.to``: a dtype, a device (only the CPU), both, or a tensor
    whose dtype to use; also ``non_blocking``, which is ignored, and ``memory_format``, for
    parameters and buffers with four or five dimensions.

    Raises:
        TypeError: the dtype is not floating-point, or an argument is none of these.
        RuntimeError: the device is not the CPU.

    Example:
        >>> nn.Linear(2, 1).to(tn.float64).bias.dtype
        tinynet.float64
    """
    kind, wanted = _wanted_dtype(args, kwargs), kwargs.get("memory_format")
    if wanted is not None:
        self._apply(lambda t: t.to(memory_format=wanted) if t.ndim in (4, 5) else t)
    if kind is None:
        return self
    if kind.is_complex:
        warn(_COMPLEX_MODULES)
        return self._apply(lambda t: t.to(kind) if t.is_floating_point() or t.is_complex() else t)
    if not kind.is_floating_point:
        raise TypeError(
            "nn.Module.to only accepts floating point or complex dtypes, but got desired "
            f"dtype={kind}"
        )
    return self._apply(lambda t: t.to(kind) if t.is_floating_point() else t)


def _wanted_dtype(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dtypes.dtype | None:
    """Return the dtype that ``to`` was called with, if any."""
    if "copy" in kwargs:
        raise RuntimeError(".to() does not accept copy argument")
    unknown = kwargs.keys() - {"device", "dtype", "tensor", "non_blocking", "memory_format"}
    if unknown:
        raise TypeError(f"Module.to() got an unexpected keyword argument {min(unknown)!r}")
    given = [args or (None,), (kwargs.get("device"), kwargs.get("dtype")), (kwargs.get("tensor"),)]
    kinds = [kind for kind, _ in map(target_of, given) if kind is not None]
    return dtypes.from_numpy(dtypes.as_numpy(kinds[-1])) if kinds else None


# ---- memory -------------------------------------------------------------------------------------


def to_empty(self: M, *, device: Any, recurse: bool = True) -> M:
    """Reallocate all parameters and buffers without initialising them and return self.

    Args:
        device: must be the CPU.
        recurse: include the modules inside.

    Example:
        >>> nn.Linear(2, 1).to_empty(device="cpu").weight.shape
        tinynet.Size([1, 2])
    """
    if device is not None:
        require_cpu(device)
    return self._apply(lambda t: wrap(np.empty_like(t._array)), recurse=recurse)


def share_memory(self: M) -> M:
    """Move all parameters and buffers to shared memory and return self.

    See ``Tensor.share_memory_``.

    Example:
        >>> nn.Linear(2, 1).share_memory().bias.is_shared()
        True
    """
    return self._apply(lambda t: t.share_memory_())


def elsewhere(name: str) -> Callable[..., Any]:
    """Return the method that moves a module to another device; it always raises."""

    def refuse(self: Module, device: Any = None) -> None:
        """Raise: tinynet runs on the CPU only.

        Raises:
            RuntimeError: always.
        """
        require_cpu(name)

    return refuse
