"""Top-level names of ``torch`` that ``tinynet`` itself does not export."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from tinynet import cuda
from tinynet import ops as functions
from tinynet.compat import cpu
from tinynet.compat.library import ops as ops
from tinynet.compat.native.functions import REDUCTIONS as REDUCTIONS
from tinynet.compat.native.functions import _log_softmax as _log_softmax
from tinynet.compat.native.functions import _log_softmax_backward_data as _log_softmax_backward_data
from tinynet.compat.native.functions import _softmax as _softmax
from tinynet.compat.native.functions import _softmax_backward_data as _softmax_backward_data
from tinynet.compat.native.functions import _weight_norm as _weight_norm
from tinynet.compat.native.functions import batch_norm as batch_norm
from tinynet.compat.native.functions import (
    binary_cross_entropy_with_logits as binary_cross_entropy_with_logits,
)
from tinynet.compat.native.functions import cosine_embedding_loss as cosine_embedding_loss
from tinynet.compat.native.functions import ctc_loss as ctc_loss
from tinynet.compat.native.functions import dropout_ as dropout_
from tinynet.compat.native.functions import embedding as embedding
from tinynet.compat.native.functions import hinge_embedding_loss as hinge_embedding_loss
from tinynet.compat.native.functions import instance_norm as instance_norm
from tinynet.compat.native.functions import kl_div as kl_div
from tinynet.compat.native.functions import lobpcg as lobpcg
from tinynet.compat.native.functions import margin_ranking_loss as margin_ranking_loss
from tinynet.compat.native.functions import norm_except_dim as norm_except_dim
from tinynet.compat.native.functions import poisson_nll_loss as poisson_nll_loss
from tinynet.compat.native.functions import triplet_margin_loss as triplet_margin_loss
from tinynet.compat.native.layers import adaptive_max_pool1d as adaptive_max_pool1d
from tinynet.compat.native.layers import affine_grid_generator as affine_grid_generator
from tinynet.compat.native.layers import alpha_dropout_ as alpha_dropout_
from tinynet.compat.native.layers import conv_tbc as conv_tbc
from tinynet.compat.native.layers import convolution as convolution
from tinynet.compat.native.layers import embedding_bag as embedding_bag
from tinynet.compat.native.layers import embedding_renorm_ as embedding_renorm_
from tinynet.compat.native.layers import feature_alpha_dropout as feature_alpha_dropout
from tinynet.compat.native.layers import feature_alpha_dropout_ as feature_alpha_dropout_
from tinynet.compat.native.layers import feature_dropout as feature_dropout
from tinynet.compat.native.layers import feature_dropout_ as feature_dropout_
from tinynet.compat.native.layers import frobenius_norm as frobenius_norm
from tinynet.compat.native.layers import gru as gru
from tinynet.compat.native.layers import gru_cell as gru_cell
from tinynet.compat.native.layers import lstm as lstm
from tinynet.compat.native.layers import lstm_cell as lstm_cell
from tinynet.compat.native.layers import max_pool1d_with_indices as max_pool1d_with_indices
from tinynet.compat.native.layers import nuclear_norm as nuclear_norm
from tinynet.compat.native.layers import rnn_relu as rnn_relu
from tinynet.compat.native.layers import rnn_relu_cell as rnn_relu_cell
from tinynet.compat.native.layers import rnn_tanh as rnn_tanh
from tinynet.compat.native.layers import rnn_tanh_cell as rnn_tanh_cell
from tinynet.compat.parallel.processes import Future as Future
from tinynet.compat.refusal import Event as Event
from tinynet.compat.refusal import PyTorchFileReader as PyTorchFileReader
from tinynet.compat.refusal import PyTorchFileWriter as PyTorchFileWriter
from tinynet.compat.refusal import Stream as Stream
from tinynet.compat.refusal import SymBool as SymBool
from tinynet.compat.refusal import SymFloat as SymFloat
from tinynet.compat.refusal import SymInt as SymInt
from tinynet.compat.runtime import _assert as _assert
from tinynet.compat.runtime import get_deterministic_debug_mode as get_deterministic_debug_mode
from tinynet.compat.runtime import set_deterministic_debug_mode as set_deterministic_debug_mode
from tinynet.compat.types import chalf as chalf
from tinynet.compat.types import complex32 as complex32
from tinynet.compat.types import finfo as finfo
from tinynet.compat.types import float8_e4m3fn as float8_e4m3fn
from tinynet.compat.types import float8_e4m3fnuz as float8_e4m3fnuz
from tinynet.compat.types import float8_e5m2 as float8_e5m2
from tinynet.compat.types import float8_e5m2fnuz as float8_e5m2fnuz
from tinynet.compat.types import int1 as int1
from tinynet.compat.types import int2 as int2
from tinynet.compat.types import int3 as int3
from tinynet.compat.types import int4 as int4
from tinynet.compat.types import int5 as int5
from tinynet.compat.types import int6 as int6
from tinynet.compat.types import int7 as int7
from tinynet.compat.types import uint1 as uint1
from tinynet.compat.types import uint2 as uint2
from tinynet.compat.types import uint3 as uint3
from tinynet.compat.types import uint4 as uint4
from tinynet.compat.types import uint5 as uint5
from tinynet.compat.types import uint6 as uint6
from tinynet.compat.types import uint7 as uint7
from tinynet.compat.utilities.dlpack import from_dlpack as from_dlpack
from tinynet.compat.utilities.dlpack import to_dlpack as to_dlpack
from tinynet.compat.version import __version__ as __version__
from tinynet.core.devices import device as _device
from tinynet.core.tensors.tensor import Tensor
from tinynet.cuda import OutOfMemoryError as OutOfMemoryError
from tinynet.optim.base.hooks import (
    _group_tensors_by_device_and_dtype as _group_tensors_by_device_and_dtype,
)
from tinynet.sparse.functions import smm as smm
from tinynet.sparse.functions import sspaddmm as sspaddmm

_BOTH = (
    "abs acos add addcdiv addcmul asin atan ceil clamp_max clamp_min cos cosh div erf erfc exp "
    "expm1 floor frac lerp lgamma log log10 log1p log2 mul neg pow reciprocal round "
    "rsqrt sigmoid sign sin sinh sqrt sub tan tanh trunc"
).split()  # the functions of ``torch._foreach_*`` that have a form that writes to the tensors
# What PyTorch's signatures call the operands, which the methods here take by position.
_OPERANDS = "src tensor1 tensor2 tensors1 other scalar scalars weight weights exponent".split()
_METHODS: dict[str, Callable[..., Any]] = {
    **{name: getattr(functions, name) for name in [*_BOTH, "mm", "max", "clone"]},
    "maximum": functions.clamp_min,
    "maximum_": Tensor.clamp_min_,
    "minimum": functions.clamp_max,
    "minimum_": Tensor.clamp_max_,
    "norm": lambda x, ord=2, dtype=None: functions.linalg.vector_norm(x, ord, dtype=dtype),
    "powsum": lambda x, ord, dtype=None: functions.sum(x.abs() ** ord, dtype=dtype),
    "copy_": Tensor.copy_,
    "zero_": Tensor.zero_,
}


def for_each(name: str) -> Callable[..., Any]:
    """Return ``torch._foreach_NAME``, which applies an operation to each tensor of a list.

    It takes a list for any argument, with an element for each tensor, and returns a tuple of the
    results. A name that ends in ``_`` writes to the tensors and returns the list.

    Raises:
        RuntimeError: two lists have different lengths, or no tensor.

    Example:
        >>> from tinynet.compat import root
        >>> root.for_each("add")([tn.ones(1), tn.zeros(2)], [1.0, 2.0])
        (tensor([2.]), tensor([2., 2.]))
    """
    method = _METHODS.get(name) or _written(_METHODS[name.removesuffix("_")])

    def function(self: Any, *args: Any, **options: Any) -> Any:
        args = (*args, *(options.pop(operand) for operand in _OPERANDS if operand in options))
        if name.startswith(("addcdiv", "addcmul")) and len(args) == 3:
            value = args[2]
            options["value"] = value.tolist() if isinstance(value, Tensor) else value
            args = args[:2]
        lists = [a for a in (self, *args, *options.values()) if isinstance(a, (list, tuple))]
        if not all(lists):
            raise RuntimeError("Tensor list must have at least one tensor.")
        sizes = {len(a): None for a in lists}
        if len(sizes) > 1:
            shown = " and ".join(map(str, sizes))
            raise RuntimeError(f"Tensor lists must have the same number of tensors, got {shown}")
        made = [
            method(
                *(_at(a, i) for a in (self, *args)), **{k: _at(a, i) for k, a in options.items()}
            )
            for i in range(len(lists[0]))
        ]
        return self if name.endswith("_") else tuple(made)

    function.__name__ = function.__qualname__ = f"_foreach_{name}"
    function.__doc__ = f"Apply ``{name}`` to each tensor of a list, see ``for_each``."
    return function


def _at(argument: Any, i: int) -> Any:
    """Return the i-th of a list of arguments, or the argument of all tensors."""
    return argument[i] if isinstance(argument, (list, tuple)) else argument


def _written(method: Callable[..., Any]) -> Callable[..., Tensor]:
    """Return the form of a function that writes its result to its first argument."""

    def write(x: Tensor, *args: Any, **options: Any) -> Tensor:
        return getattr(x, f"{method.__name__}_")(*args, **options)

    return write


globals().update(
    (f"_foreach_{name}", for_each(name)) for name in [*_METHODS, *(f"{n}_" for n in _BOTH)]
)


def get_device_module(device: Any = None) -> ModuleType:
    """Return the module of a device type: ``torch.cpu`` or ``torch.cuda``.

    Args:
        device: a device or its type; the CPU unless given.

    Raises:
        RuntimeError: there is no such device, or no module for it.

    Example:
        >>> tn.get_device_module().is_available()
        True
    """
    name = _device(device or "cpu").type
    modules = {"cpu": cpu, "cuda": cuda, "mps": cuda, "xpu": cuda}
    if name not in modules:
        raise RuntimeError(
            f"Device '{name}' does not have a corresponding module registered as 'torch.{name}'."
        )
    return modules[name]


def _disable_dynamo(fn: Any = None, recursive: bool = True) -> Any:
    """Return the function unchanged, or a decorator that does: there is no dynamo."""
    return fn if fn is not None else lambda fn: fn
