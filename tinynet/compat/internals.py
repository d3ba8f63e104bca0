"""Private modules of PyTorch that libraries import.

These are ``torch._C``, ``torch._jit_internal``, ``torch._utils`` and ``torch.nn._reduction``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from types import MethodType
from typing import Any as Any
from typing import Final as Final
from typing import Optional as Optional
from typing import TypeVar as TypeVar
from typing import Union as Union

from tinynet import ops
from tinynet.compiler import is_compiling as is_compiling
from tinynet.core import printing
from tinynet.core.tensors.subclasses import plain
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import dtype
from tinynet.errors import LinAlgError
from tinynet.exchange.pytorch_names import _parameter, _tensor
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
