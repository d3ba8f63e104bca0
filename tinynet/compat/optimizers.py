"""Private names of ``torch.optim.optimizer``.

Copies of PyTorch's optimizers import these helpers, which choose between implementations for
other devices and compilers. Each takes the branch of PyTorch's eager mode on a CPU.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias
from typing import TypeVar as TypeVar

from tinynet import ops
from tinynet.core.modes import set_grad_enabled
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import dtype, float32, float64, get_default_dtype
from tinynet.nn.parameter import Parameter
from tinynet.optim.base.groups import Params

T = TypeVar("T")
ParamsT: TypeAlias = Params
StateDict: TypeAlias = dict[str, Any]
DeviceDict = dict[Any, Tensor]
DeviceDtypeDict = dict[tuple[Any, dtype], Tensor]
_foreach_supported_types = [Tensor, Parameter]

_params_doc = "params (iterable): the parameters to optimize, or dicts that define groups."
_foreach_doc = "foreach (bool, optional): accepted; tinynet has one implementation."
_fused_doc = "fused (bool, optional): accepted; tinynet has one implementation."
_capturable_doc = "capturable (bool, optional): accepted; tinynet has no CUDA graphs."
_differentiable_doc = "differentiable (bool, optional): record the step for autograd."
_maximize_doc = "maximize (bool, optional): maximize the objective instead of minimizing it."


def _use_grad_for_differentiable(func: Callable[..., Any]) -> Callable[..., Any]:
    """Return a ``step`` that is recorded if the optimizer's default ``differentiable`` is true."""

    @functools.wraps(func)
    def step(self: Any, *args: Any, **options: Any) -> Any:
        with set_grad_enabled(self.defaults["differentiable"]):
            return func(self, *args, **options)

    return step


def _disable_dynamo_if_unsupported(
    single_tensor_fn: Callable[..., Any] | None = None,
) -> Callable[[Any], Any]:
    """Return a decorator that changes nothing."""
    return lambda func: func


def _get_value(x: Any) -> Any:
    """Return the number in a tensor; any other value unchanged."""
    return x.item() if isinstance(x, Tensor) else x


def _stack_if_compiling(x: Any) -> Any:
    """Return the argument: nothing is being compiled."""
    return x


def _to_scalar(x: Any) -> Any:
    """Return a tensor of one element without its dimensions; any other value unchanged."""
    return x.squeeze() if isinstance(x, Tensor) and x.ndim else x


def _get_scalar_dtype(is_fused: bool | None = None) -> dtype:
    """Return the dtype of step counts: float64 if that is the default dtype, else float32."""
    return float64 if get_default_dtype() is float64 and not is_fused else float32


def _default_to_fused_or_foreach(
    params: Sequence[Any], differentiable: bool, use_fused: bool = False
) -> tuple[bool, bool]:
    """Return whether to use the fused and the ``foreach`` implementation.

    Args:
        params: the parameters; entries can be None.
        differentiable: whether the step is recorded, so that neither can be used.
        use_fused: whether the fused implementation may be chosen.
    """
    floating = all(p is None or p.is_floating_point() for p in params)
    return use_fused and floating and not differentiable, False


def _device_dtype_check_for_fused(p: Tensor, cuda_unsupported: bool = False) -> None:
    """Raise RuntimeError if a parameter is not of a floating-point dtype."""
    if not p.is_floating_point():
        raise RuntimeError(
            "`fused=True` requires all the params to be floating point Tensors of supported "
            f"devices: {_get_fused_kernels_supported_devices()} but {p.dtype} and {p.device.type}"
        )


def _get_foreach_kernels_supported_devices() -> list[str]:
    """Return the device types for which PyTorch has ``foreach`` kernels of its own."""
    return ["cuda", "xpu", "mtia", "privateuseone"]


def _get_fused_kernels_supported_devices() -> list[str]:
    """Return the device types for which PyTorch has fused optimizers."""
    return ["mps", "cuda", "xpu", "hpu", "cpu", "mtia", "privateuseone"]


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    """Return the device types on which PyTorch captures optimizers."""
    return ["cuda", "xpu", "hpu", "privateuseone"] + ["xla"] * supports_xla


def _view_as_real(params: list[Tensor], *state_and_grads: list[Tensor]) -> None:
    """Replace complex parameters, and what belongs to them, by real views, in the lists."""
    for i, p in enumerate(params):
        if p.is_complex():
            for tensors in (params, *state_and_grads):
                tensors[i] = ops.view_as_real(tensors[i])
