"""Private modules of PyTorch that libraries import.

These are ``torch._C``, ``torch._jit_internal``, ``torch._utils`` and ``torch.nn._reduction``, and
the helpers in ``torch.optim.optimizer``.
"""

from __future__ import annotations

import contextlib
import functools
import io
from collections.abc import Callable, Sequence
from types import MethodType
from typing import Any as Any
from typing import Final as Final
from typing import Optional as Optional
from typing import TypeAlias
from typing import TypeVar as TypeVar
from typing import Union as Union

from tinynet import ops
from tinynet.compat.fx import interception
from tinynet.compiler import is_compiling as is_compiling
from tinynet.core import printing
from tinynet.core.callsite import warn
from tinynet.core.modes import mode, set_grad_enabled
from tinynet.core.tensors.subclasses import plain
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import dtype, float32, float64, get_default_dtype
from tinynet.errors import LinAlgError
from tinynet.exchange.pickle_names import _parameter, _tensor
from tinynet.exchange.pytorch import load_pytorch
from tinynet.nn import functional
from tinynet.nn.functional.checks import REDUCTIONS, legacy_reduction
from tinynet.nn.parameter import Parameter
from tinynet.optim.base.groups import Params
from tinynet.random import Generator as Generator

# ---- torch._C, torch._jit_internal --------------------------------------------------------------

T = TypeVar("T")
Dict, List, Tuple = dict, list, tuple
_VariableFunctions, _nn = ops, functional
_LinAlgError, _TensorBase, TensorBase, _TensorMeta = LinAlgError, Tensor, Tensor, type(Tensor)


class Value:
    """The class of values of a traced graph. It has no instances: tinynet does not trace."""


class Graph:
    """The class of traced graphs. It has no instances: tinynet does not trace."""


def _get_tracing_state() -> None:
    """Return None: nothing is being traced."""


def _log_api_usage_once(event: str) -> None:
    """Do nothing: no use is logged."""


def _get_default_device() -> str:
    """Return the default device's name."""
    return "cpu"


def _copy_to_script_wrapper(fn: T) -> T:
    """Return the function unchanged."""
    return fn


def _jit_setting(*args: Any) -> None:
    """Accept a setting of PyTorch's compiler, which is not there."""


_jit_set_profiling_executor = _jit_set_profiling_mode = _jit_setting
_jit_override_can_fuse_on_cpu = _jit_override_can_fuse_on_gpu = _jit_setting
_jit_set_texpr_fuser_enabled = _jit_set_nvfuser_enabled = _jit_setting

_disabled_torch_function_impl = MethodType(plain, Tensor)


class DisableTorchFunctionSubclass:
    """A context in which subclasses of Tensor are plain tensors: no ``__torch_function__`` runs.

    Example:
        >>> from tinynet.compat import internals
        >>> class Marked(tn.Tensor):
        ...     pass
        >>> with internals.DisableTorchFunctionSubclass():
        ...     type(tn.ones(2).as_subclass(Marked) * 2).__name__
        'Tensor'
    """

    def __enter__(self) -> None:
        self._before, mode.plain = mode.plain, True

    def __exit__(self, *error: object) -> None:
        mode.plain = self._before


class DisableTorchFunction(DisableTorchFunctionSubclass):
    """A context in which neither subclasses nor modes see a call."""

    def __enter__(self) -> None:
        super().__enter__()
        self._modes, interception.modes.stack = interception.modes.stack, []

    def __exit__(self, *error: object) -> None:
        interception.modes.stack = self._modes
        super().__exit__(*error)


def boolean_dispatch(
    arg_name: str,
    arg_index: int,
    default: bool,
    if_true: Callable[..., Any],
    if_false: Callable[..., Any],
    module_name: str | None = None,
    func_name: str | None = None,
) -> Callable[..., Any]:
    """Return a function that calls one of two, as one of its arguments says.

    Args:
        arg_name, arg_index: the name and position of the argument, a bool.
        default: its default.
        if_true, if_false: the two functions.
        module_name, func_name: of the result.

    Example:
        >>> from tinynet.compat import internals
        >>> internals.boolean_dispatch("largest", 1, False, max, min)([1, 2])
        1
    """

    def fn(*args: Any, **kwargs: Any) -> Any:
        flag = args[arg_index] if arg_index < len(args) else kwargs.get(arg_name, default)
        return (if_true if flag else if_false)(*args, **kwargs)

    if if_true.__doc__ is None or if_false.__doc__ is None:
        fn.__doc__ = if_true.__doc__ or if_false.__doc__
    fn.__module__, fn.__name__ = module_name or fn.__module__, func_name or fn.__name__
    return fn


class _BroadcastingList:
    """The annotation of one number or a list of some: ``BroadcastingList2[int]``."""

    def __getitem__(self, types: Any) -> None:
        return


BroadcastingList = _BroadcastingList()


# ---- torch.nn.modules.rnn ------------------------------------------------------------------------


def _apply_permutation(tensor: Tensor, permutation: Tensor, dim: int = 1) -> Tensor:
    """Return the tensor with one dimension in another order.

    Args:
        tensor: any shape.
        permutation: ``[tensor.shape[dim]]``.
        dim: the dimension.
    """
    return tensor.index_select(dim, permutation)


def apply_permutation(tensor: Tensor, permutation: Tensor, dim: int = 1) -> Tensor:
    """Return ``tensor.index_select(dim, permutation)``, with PyTorch's FutureWarning."""
    warn(
        "`apply_permutation` is deprecated, please use `tensor.index_select(dim, permutation)` "
        "instead",
        FutureWarning,
    )
    return _apply_permutation(tensor, permutation, dim)


class TransformGetItemToIndex(contextlib.nullcontext[None]):
    """A context in which ``vmap`` takes indices with a batch. It always does."""


# ---- torch._tensor_str --------------------------------------------------------------------------


def _tensor_str(self: Tensor, indent: int) -> str:
    """Return the text of the numbers of a tensor.

    Args:
        self: the tensor.
        indent: the columns by which its lines after the first are indented.

    Example:
        >>> from tinynet.compat import internals
        >>> internals._tensor_str(tn.ones(2), 0)
        '[1., 1.]'
    """
    return printing._format_values(self._array).replace("\n", "\n" + " " * indent)


class _PrintOptions:
    """The options of ``set_printoptions`` as they are."""


def _option(name: str) -> property:
    return property(lambda self: getattr(printing._options, name))


for _name in printing._Options._fields:
    setattr(_PrintOptions, _name, _option(_name))
PRINT_OPTS = _PrintOptions()

# ---- torch._utils --------------------------------------------------------------------------------

_rebuild_parameter = _parameter
_rebuild_tensor = _rebuild_tensor_v2 = _tensor


def _load_from_bytes(b: bytes) -> Any:
    """Return the memory of tensors that a pickle of PyTorch holds."""
    return load_pytorch(io.BytesIO(b), weights_only=False)  # as trusted as the pickle itself


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """Return one vector with the elements of all tensors.

    Args:
        tensors: tensors of one dtype.

    Example:
        >>> from tinynet.compat import internals
        >>> internals._flatten_dense_tensors([tn.ones(1, 2), tn.zeros(1)])
        tensor([1., 1., 0.])
    """
    return ops.cat([t.contiguous().view(-1) for t in tensors])


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Return views of a vector with the shapes of the tensors.

    Args:
        flat: what ``_flatten_dense_tensors`` returned.
        tensors: tensors of these shapes.
    """
    parts = flat.split([t.numel() for t in tensors])
    return tuple(part.view(t.shape) for part, t in zip(parts, tensors, strict=True))


def _element_size(dtype: dtype) -> int:
    """Return the number of bytes of an element."""
    return dtype.itemsize


# ---- torch.nn._reduction -------------------------------------------------------------------------


def get_enum(reduction: str) -> int:
    """Return the number of a reduction: 0 for none, 1 for mean, 2 for sum.

    Raises:
        ValueError: there is no such reduction.

    Example:
        >>> from tinynet.compat import internals
        >>> internals.get_enum("mean")
        1
    """
    return ("none", "mean", "sum").index(legacy_reduction(None, None, reduction, REDUCTIONS))


def legacy_get_string(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> str:
    """Return the reduction that the deprecated arguments stand for, with PyTorch's warning.

    Args:
        size_average: the mean instead of the sum; True by default.
        reduce: a number instead of an element each; True by default.
        emit_warning: whether to warn.
    """
    average, one = size_average is not False, reduce is not False
    if emit_warning:
        return legacy_reduction(average, one, "mean")
    return "none" if not one else "mean" if average else "sum"


def legacy_get_enum(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> int:
    """Return the number of the reduction; arguments as of ``legacy_get_string``."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))


# ---- torch.optim.optimizer ----------------------------------------------------------------------
# Copies of PyTorch's optimizers import these helpers, which choose between implementations for
# other devices and compilers. Each takes the branch of PyTorch's eager mode on a CPU.

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
