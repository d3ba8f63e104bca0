"""The options of optimizers: their types, reading them, and refusing what is out of range."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array

Group = dict[str, Any]
Params = Iterable[Tensor] | Iterable[Group] | Iterable[tuple[str, Tensor]]


def number(value: Any) -> float:
    """Return an option as a Python number; a tensor of one element counts as one."""
    return float(value._array.item() if isinstance(value, Tensor) else value)


def constants(kind: np.dtype[Any], *values: float) -> list[Array]:
    """Return numbers as arrays without dimensions of one dtype.

    A ufunc takes them faster than Python numbers (0.3 against 0.6 us), and neither promotes.
    """
    made = np.array(values, kind)
    return [made[i, ...] for i in range(len(values))]


def counted(value: float = 0.0) -> Array:
    """Return a 0-d array for a number in the state, such as the count of steps.

    It is float32, or float64 where that is the default dtype, whatever the parameter is.
    """
    return np.array(value, np.float64 if dtypes.default_float() == np.float64 else np.float32)


# ---- refusals -----------------------------------------------------------------------------------


def refuse_long_lr(group: Group) -> None:
    """Raise ValueError for a learning rate that is a tensor of several elements."""
    if isinstance(group["lr"], Tensor) and group["lr"].numel() != 1:
        raise ValueError("Tensor lr must be 1-element")


def refuse_negative(group: Group, **shown: str) -> None:
    """Raise ValueError for an option below zero (or NaN); ``shown`` says what messages call it."""
    for name, what in shown.items():
        if not group[name] >= 0:
            raise ValueError(f"Invalid {what}: {group[name]}")


def refuse_betas(betas: Sequence[Any]) -> None:
    """Raise ValueError for a decay rate outside [0, 1)."""
    for index in (0, 1):
        if not 0 <= betas[index] < 1:
            raise ValueError(f"Invalid beta parameter at index {index}: {betas[index]}")


def refuse_differentiable(group: Group) -> None:
    """Raise ValueError where steps are asked to be recorded."""
    if group.get("differentiable"):
        raise ValueError(
            "The 'differentiable' parameter of an optimizer must be False. Got True instead. "
            "Steps are not recorded; to differentiate through one, write it with operations."
        )


def refuse_fused_foreach(group: Group) -> None:
    """Raise RuntimeError where two ways of computing a step are asked for at once."""
    if group.get("fused") and group.get("foreach"):
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
