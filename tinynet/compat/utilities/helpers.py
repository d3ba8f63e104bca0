"""Private helpers of PyTorch's modules, which copies of their classes import.

Those of ``torch.optim.optimizer`` choose between implementations for other devices and compilers;
each takes the branch of PyTorch's eager mode on a CPU. Others are of ``torch.nn.init``,
``nn.functional``, ``utils.checkpoint`` and ``_utils``, for copies of PyTorch's attention, of its
checkpoints and of its distributed training.
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias
from typing import TypeVar as TypeVar

from tinynet import dtypes, ops
from tinynet.core.modes import set_grad_enabled
from tinynet.core.tensors.tensor import Tensor
from tinynet.data.loading.worker import with_origin
from tinynet.dtypes import dtype, float32, float64, get_default_dtype
from tinynet.nn import init
from tinynet.nn.functional import multi_head_attention
from tinynet.nn.functional.affine import linear
from tinynet.nn.functional.normalization import check_per_channel
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


# ---- torch.nn.init -------------------------------------------------------------------------------

_no_grad_uniform_, _no_grad_normal_ = init.uniform_, init.normal_
_no_grad_trunc_normal_ = init.trunc_normal_
_no_grad_fill_, _no_grad_zero_ = init.constant_, init.zeros_

# ---- torch.nn.functional -------------------------------------------------------------------------

_verify_batch_size = check_per_channel


def _none_or_dtype(input: Tensor | None) -> dtypes.dtype | None:
    """Return the dtype of a tensor; None for None."""
    if input is not None and not isinstance(input, Tensor):
        raise RuntimeError("input to _none_or_dtype() must be None or torch.Tensor")
    return None if input is None else input.dtype


def _canonical_mask(
    mask: Tensor | None,
    mask_name: str,
    other_type: dtypes.dtype | None,
    other_name: str,
    target_type: dtypes.dtype,
    check_other: bool = True,
) -> Tensor | None:
    """Return a mask as what is added to scores: -inf where a boolean mask is True.

    Args:
        mask: the mask, or None.
        mask_name, other_name: for messages.
        other_type: the dtype of another mask, or None.
        target_type: the dtype of the result.
        check_other: whether to warn of two dtypes.

    Raises:
        AssertionError: a mask of integers.
    """
    if mask is None:
        return None
    if mask.dtype != dtypes.bool and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type not in (None, mask.dtype):
        warnings.warn(
            f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type "
            "for both instead.",
            stacklevel=2,
        )
    return multi_head_attention.added(mask, target_type)


def _in_projection_packed(
    q: Tensor, k: Tensor, v: Tensor, w: Tensor, b: Tensor | None = None
) -> list[Tensor]:
    """Return projections by the three parts of one weight and of one bias."""
    biases = (None,) * 3 if b is None else b.chunk(3)
    return [linear(*parts) for parts in zip((q, k, v), w.chunk(3), biases, strict=True)]


def _in_projection(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    b_q: Tensor | None = None,
    b_k: Tensor | None = None,
    b_v: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return projections by three weights and biases."""
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def _mha_shape_check(query: Tensor, *others: Any) -> bool:
    """Return whether the inputs of attention have a batch; AssertionError if only some do."""
    multi_head_attention.dims(query, *others)
    return query.ndim == 3


# ---- torch.utils.checkpoint ----------------------------------------------------------------------


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return detached tensors that require grad as before, and other values as they are.

    Args:
        inputs: tensors and other values.

    Raises:
        RuntimeError: it is not a tuple.

    Example:
        >>> from tinynet.compat.utilities import helpers
        >>> helpers.detach_variable((tn.ones(1, requires_grad=True), 3))
        (tensor([1.], requires_grad=True), 3)
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            "Only tuple of tensors is supported. Got Unsupported input type: ",
            type(inputs).__name__,
        )
    return tuple(
        x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in inputs
    )


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn if no tensor requires grad.

    Args:
        inputs: tensors and other values.
    """
    if not any(x.requires_grad for x in inputs if isinstance(x, Tensor)):
        warnings.warn(
            "None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2
        )


# ---- torch._utils --------------------------------------------------------------------------------


def _take_tensors(tensors: Iterable[Tensor], size_limit: int) -> Iterator[list[Tensor]]:
    """Yield groups of tensors of one dtype, of at most ``size_limit`` bytes or a single tensor."""
    groups: dict[dtypes.dtype, list[Tensor]] = {}
    for t in tensors:
        group = groups.setdefault(t.dtype, [])
        if group and sum(x.nbytes for x in group) + t.nbytes > size_limit:
            yield group
            group = groups[t.dtype] = []
        group.append(t)
    yield from groups.values()


class ExceptionWrapper:
    """An exception of another thread, to raise here.

    Args:
        exc_info: as of ``sys.exc_info()``; by default, that.
        where: for the message.
    """

    def __init__(self, exc_info: Any = None, where: str = "in background"):
        self._error: Any = (exc_info or sys.exc_info())[1]
        self.exc_type = type(self._error)
        self.where = where

    def reraise(self) -> None:
        """Raise the exception; its message has its origin and its traceback."""
        raise with_origin(self._error, self.where)
