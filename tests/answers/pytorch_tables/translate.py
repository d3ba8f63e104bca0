"""Arguments and functions of PyTorch in tinynet's terms, and results of both as plain data."""

from __future__ import annotations

import collections.abc
import dataclasses
import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import tinynet as tn

from .outcomes import AbsentError
from .store import looked_up


def dtype(kind: torch.dtype) -> Any:
    """Return tinynet's dtype of the same name."""
    name = str(kind).removeprefix("torch.")
    if not hasattr(tn, name):
        raise AbsentError(f"dtype {name}")
    return getattr(tn, name)


def tensor(t: torch.Tensor, memo: dict[Any, Any]) -> tn.Tensor:
    """Return a tinynet tensor of the same values, strides and requires_grad.

    What shares memory does so here, too, where it has the same ``memo``.
    """
    dtype(t.dtype)
    if t.is_conj():
        made = tensor(t.detach().resolve_conj(), {})
        return made.requires_grad_() if t.requires_grad else made
    if t.ndim > 64:
        raise AbsentError("more than 64 dimensions, numpy's limit")
    if t.layout is torch.sparse_coo:
        indices, values = t.detach()._indices().numpy(), t.detach()._values().numpy()
        made = tn.sparse_coo_tensor(indices, values, tuple(t.shape))
        return made.requires_grad_() if t.requires_grad else made
    if t.dtype is torch.bfloat16:
        made = tensor(t.detach().float(), {}).bfloat16()
        return made.requires_grad_() if t.requires_grad else made
    key = (t.untyped_storage().data_ptr(), t.dtype)
    if key not in memo:
        memo[key] = torch.empty(0, dtype=t.dtype).set_(t.untyped_storage()).numpy().copy()
    steps = [n * t.element_size() for n in t.stride()]
    made = tn.from_numpy(
        np.lib.stride_tricks.as_strided(memo[key][t.storage_offset() :], t.shape, steps)
    )
    return made.requires_grad_() if t.requires_grad else made


def arguments(value: Any, memo: dict[Any, Any]) -> Any:
    """Return an argument, or a structure of them, for tinynet; a tensor that recurs is one."""
    if isinstance(value, torch.Tensor):
        if id(value) not in memo:
            memo[id(value)] = tensor(value, memo)
        return memo[id(value)]
    if isinstance(value, torch.dtype):
        return dtype(value)
    if isinstance(value, torch.Size):
        return tuple(value)
    if isinstance(value, torch.device):
        return "cpu"
    if isinstance(value, (torch.layout, torch.memory_format)):
        name = str(value).removeprefix("torch.")
        if not hasattr(tn, name):
            raise AbsentError(name)
        return getattr(tn, name)
    if isinstance(value, torch.Generator):
        return tn.Generator().manual_seed(value.initial_seed())
    if isinstance(value, tuple):
        return tuple(arguments(v, memo) for v in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        given = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return getattr(tn.nn, type(value).__name__)(**arguments(given, memo))
    if isinstance(value, list):
        return [arguments(v, memo) for v in value]
    if isinstance(value, dict):
        return {k: arguments(v, memo) for k, v in value.items()}
    if isinstance(value, collections.abc.Callable) and hasattr(
        torch, getattr(value, "__name__", "")
    ):
        return function(value)
    return value


def path(original: Any, name: str = "") -> str:
    """Return where tinynet has the function: ``Tensor.add``, ``nn.functional.relu``.

    Args:
        original: a function or method of PyTorch.
        name: its path below torch, where that is known.
    """
    found = torch.overrides.resolve_name(original) or ""
    if name.startswith(("masked.", "signal.")):  # Python functions, unknown to PyTorch's overrides
        found = f"torch.{name}"
    if getattr(torch, name, None) is original:  # torch.mm is torch.spmm, too
        found = f"torch.{name}"
    if name.startswith("_") and hasattr(torch, name[1:]):  # the table's name of segment_reduce
        found = f"torch.{name[1:]}"
    found = found.removesuffix(".__get__")
    if not found and isinstance(original, types.MethodDescriptorType):  # unknown to them, too
        found = f"torch.Tensor.{original.__name__}"
    if not hasattr(torch, name) and hasattr(torch.Tensor, name):  # a lambda that calls a method
        found = f"torch.Tensor.{name}"
    if not found.startswith("torch."):
        found = f"torch.{getattr(original, '__name__', '')}"
    # torch.functional is where PyTorch keeps functions that it shows in torch.
    return found.removeprefix("torch.").removeprefix("functional.")


def function(original: Any, name: str = "") -> Callable[..., Any]:
    """Return tinynet's function of the same path.

    Raises:
        AbsentError: there is none.
    """
    if isinstance(original, functools.partial):  # mish(..., inplace=True)
        return functools.partial(function(original.func), *original.args, **original.keywords)
    return looked_up(path(original, name))


def install() -> None:
    """Let PyTorch's functions, called with tinynet's tensors, run tinynet's functions."""

    def handle(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.__name__ == "__get__":  # an attribute of the tensor
            return getattr(args[0], func.__self__.__name__)
        memo: dict[Any, Any] = {}
        return function(func)(*arguments(args, memo), **arguments(kwargs or {}, memo))

    tn.Tensor.__torch_function__ = classmethod(handle)
