"""The options of optimizers: types, conversions, and checks of ranges."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array

Group = dict[str, Any]
Params = Iterable[Tensor] | Iterable[Group] | Iterable[tuple[str, Tensor]]


def options_of(arguments: Group) -> Group:
    """Return the options among the arguments (``locals()``) of an optimizer's ``__init__``."""
    others = ("self", "params", "__class__")
    return {name: value for name, value in arguments.items() if name not in others}


def number(value: Any) -> float:
    """Return an option as a Python number; a one-element tensor counts as one."""
    return float(value._array.item() if isinstance(value, Tensor) else value)


def constants(kind: np.dtype[Any], *values: float) -> list[Array]:
    """Return numbers as 0-d arrays of one dtype.

    Ufuncs accept them faster than Python numbers (0.3 against 0.6 us), and neither promotes.
    """
    made = np.array(values, kind)
    return [made[i, ...] for i in range(len(values))]


def counted(value: float = 0.0) -> Array:
    """Return a 0-d array for a number in the state, such as the step count.

    Its dtype is float32, or float64 if that is the default dtype, whatever the parameter's dtype.
    """
    return np.array(value, np.float64 if dtypes.default_float() == np.float64 else np.float32)


SHOWN = {"lr": "learning rate", "eps": "epsilon value"}  # in messages


# ---- refusals -----------------------------------------------------------------------------------


def refuse_long_lr(group: Group) -> None:
    """Raise ValueError if the learning rate is a tensor with several elements."""
    if isinstance(group["lr"], Tensor) and group["lr"].numel() != 1:
        raise ValueError("Tensor lr must be 1-element")


def refuse_out_of_range(group: Group, nonnegative: Iterable[str]) -> None:
    """Raise ValueError for an option below zero (or NaN), or a beta outside [0, 1)."""
    for name in nonnegative:
        if name == "betas":
            for index, beta in enumerate(_pair(group["betas"])[:2]):
                if not 0 <= beta < 1:
                    raise ValueError(f"Invalid beta parameter at index {index}: {beta}")
        elif not group[name] >= 0:
            raise ValueError(f"Invalid {SHOWN.get(name, f'{name} value')}: {group[name]}")


def refuse_texts(group: Group) -> None:
    """Raise TypeError for a number that is a text, as it comes from a file or a command line."""
    for name, value in group.items():
        for part in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(part, str) and re.fullmatch(r"[-+]?[\d.]+(e[-+]?\d+)?", part):
                fix = f"numbers have no quotes: `{name}={value}`".replace(repr(part), part)
                fix += "; of a text that is read from a file take `float(text)`"
                sentence = "'<=' not supported between instances of 'float' and 'str'"
                raise TypeError(errors.with_fix(sentence, fix))


def _pair(betas: Any) -> Any:
    if isinstance(betas, (int, float)):
        sentence = f"'{type(betas).__name__}' object is not subscriptable"
        fix = f"there are two: `betas=({betas}, 0.999)`"
        raise TypeError(errors.with_fix(sentence, fix))
    return betas


def refuse_differentiable(group: Group) -> None:
    """Raise ValueError for ``differentiable=True``."""
    if group.get("differentiable"):
        raise ValueError(
            "The 'differentiable' parameter of an optimizer must be False. Got True instead. "
            "Steps are not recorded; to differentiate through one, write it with operations."
        )


def refuse_fused_foreach(group: Group) -> None:
    """Raise RuntimeError if both ``fused`` and ``foreach`` are requested."""
    if group.get("fused") and group.get("foreach"):
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
