"""Arguments and functions of PyTorch in tinynet's terms, and results of both as plain data."""

from __future__ import annotations

import collections.abc
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import tinynet as tn


class AbsentError(Exception):
    """tinynet has no function of that name."""


def dtype(kind: torch.dtype) -> Any:
    """Return tinynet's dtype of the same name."""
    name = str(kind).removeprefix("torch.")
    if not hasattr(tn, name):
        raise AbsentError(f"dtype {name}")
    return getattr(tn, name)


def tensor(t: torch.Tensor) -> tn.Tensor:
    """Return a tinynet tensor of the same values, strides and requires_grad."""
    dtype(t.dtype)
    array = t.detach().numpy()
    if not t.is_contiguous():  # the same strides, in memory of its own
        array = np.lib.stride_tricks.as_strided(array.copy(order="K"), array.shape)
        array = t.detach().clone(memory_format=torch.preserve_format).numpy()
    made = tn.from_numpy(array.copy(order="K"))
    return made.requires_grad_() if t.requires_grad else made


def arguments(value: Any, memo: dict[int, Any]) -> Any:
    """Return an argument, or a structure of them, for tinynet; a tensor that recurs is one."""
    if isinstance(value, torch.Tensor):
        if id(value) not in memo:
            memo[id(value)] = tensor(value)
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


def function(original: Any, name: str = "") -> Callable[..., Any]:
    """Return tinynet's function of the same path.

    Args:
        original: a function or method of PyTorch.
        name: its path below torch, where that is known.

    Raises:
        AbsentError: there is none.
    """
    path = torch.overrides.resolve_name(original) or ""
    if name.startswith(("masked.", "signal.")):  # Python functions, unknown to PyTorch's overrides
        path = f"torch.{name}"
    if getattr(torch, name, None) is original:  # torch.mm is torch.spmm, too
        path = f"torch.{name}"
    path = path.removesuffix(".__get__")
    if not path.startswith("torch."):
        path = f"torch.{getattr(original, '__name__', '')}"
    found: Any = tn
    # torch.functional is where PyTorch keeps functions that it shows in torch.
    for name in path.replace("torch.functional.", "torch.").split(".")[1:]:
        found = getattr(found, name, None)
        if found is None:
            raise AbsentError(path)
    return found


def install() -> None:
    """Let PyTorch's functions, called with tinynet's tensors, run tinynet's functions."""

    def handle(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.__name__ == "__get__":  # an attribute of the tensor
            return getattr(args[0], func.__self__.__name__)
        memo: dict[int, Any] = {}
        return function(func)(*arguments(args, memo), **arguments(kwargs or {}, memo))

    tn.Tensor.__torch_function__ = classmethod(handle)


def plain(value: Any) -> Any:
    """Return a result as arrays, numbers and structures that both libraries share."""
    if isinstance(value, (torch.Tensor, tn.Tensor)):
        detached = value.detach()
        if isinstance(detached, torch.Tensor):
            if detached._is_zerotensor():
                detached = torch.zeros(detached.shape, dtype=detached.dtype)
            detached = detached.resolve_conj().resolve_neg()
        return detached.numpy()
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (torch.dtype, torch.Size, torch.device)):
        return str(value).replace("torch.", "")
    if type(value).__module__.startswith("tinynet"):
        return str(value).replace("tinynet.", "")
    return value


def tensors(value: Any) -> list[Any]:
    """Return the tensors of a structure, in order."""
    if isinstance(value, (torch.Tensor, tn.Tensor)):
        return [value]
    if isinstance(value, (tuple, list)):
        return [t for v in value for t in tensors(v)]
    if isinstance(value, dict):
        return [t for v in value.values() for t in tensors(v)]
    return []
