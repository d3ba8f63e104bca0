"""Private modules of PyTorch that libraries import.

These are ``torch._C``, ``torch._jit_internal``, ``torch._utils`` and ``torch.nn._reduction``.
"""

from __future__ import annotations

import contextlib
import functools as functools
import io
from collections.abc import Callable, Sequence
from types import MethodType
from typing import Any as Any
from typing import Final as Final
from typing import Optional as Optional
from typing import TypeVar as TypeVar
from typing import Union as Union

from tinynet import ops
from tinynet.compat.fx import interception
from tinynet.compiler import is_compiling as is_compiling
from tinynet.core import printing
from tinynet.core.callsite import warn
from tinynet.core.modes import mode
from tinynet.core.tensors.subclasses import plain
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import dtype
from tinynet.dtypes import get_default_dtype as get_default_dtype
from tinynet.errors import LinAlgError
from tinynet.exchange.pickle_names import _parameter, _tensor
from tinynet.exchange.pytorch import load_pytorch
from tinynet.nn import functional
from tinynet.nn.functional.checks import REDUCTIONS, legacy_reduction
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
