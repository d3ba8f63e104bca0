"""``torch._C``, ``torch._jit_internal``: what libraries touch of PyTorch's insides at import."""

from __future__ import annotations

from typing import Any as Any
from typing import Final as Final
from typing import Optional as Optional
from typing import TypeVar as TypeVar
from typing import Union as Union

from tinynet import ops
from tinynet.core.tensors.tensor import Tensor
from tinynet.errors import LinAlgError
from tinynet.nn import functional
from tinynet.random import Generator as Generator

T = TypeVar("T")
Dict, List, Tuple = dict, list, tuple
_VariableFunctions, _nn = ops, functional
_LinAlgError, _TensorBase, TensorBase = LinAlgError, Tensor, Tensor


class Value:
    """A value of a traced graph; there are none."""


class Graph:
    """A traced graph; there are none."""


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
