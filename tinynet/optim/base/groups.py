"""Parameter groups: reading and checking the parameters passed to an optimizer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.core.callsite import warn
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.optim.base.diagnosis import owner_of, why_empty

# ---- options ------------------------------------------------------------------------------------
# The options of optimizers: types, conversions, and checks of ranges.


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


# ---- groups -------------------------------------------------------------------------------------


def type_name(x: Any) -> str:
    """Return the name of an object's type as messages show it."""
    if type(x) is Tensor:
        return f"tinynet.{x.dtype.tensor_name}"
    module = type(x).__module__
    return type(x).__qualname__ if module == "builtins" else f"{module}.{type(x).__qualname__}"


def grouped(params: Params, defaults: Group) -> list[Group]:
    """Return the parameters passed to an optimizer as a list of groups.

    Raises:
        TypeError: ``params`` is a single tensor or not iterable, or a number among ``defaults``
            a text.
        ValueError: ``params`` is empty.
    """
    if isinstance(params, Tensor):
        raise TypeError(
            "params argument given to the optimizer should be an iterable of Tensors or dicts, "
            f"but got {type_name(params)}"
        )
    if callable(params) and not hasattr(type(params), "__iter__"):  # a ParameterList is both
        sentence = f"'{type(params).__name__}' object is not iterable"
        name = "parameters" if hasattr(params, "parameters") else params.__name__
        raise TypeError(errors.with_fix(sentence, f"call it: `.{name}()`"))
    owner = owner_of(params)
    groups: list[Any] = list(params)
    if not groups:
        sentence = "optimizer got an empty parameter list"
        fix = why_empty(owner)
        raise ValueError(errors.with_fix(sentence, fix) if fix else sentence)
    refuse_texts(defaults)
    return groups if isinstance(groups[0], dict) else [{"params": groups}]


def completed(group: Group, defaults: Group) -> Group:
    """Return a group with a list of tensors under ``"params"``, and missing options filled in.

    Raises:
        TypeError: the group is not a dict, or contains objects other than tensors.
        ValueError: only some parameters have names, or one is not a leaf.
    """
    if not isinstance(group, dict):
        raise TypeError(f"param_group must be a dict, but got {type(group)}")
    _read_params(group)
    for p in group["params"]:
        if not isinstance(p, Tensor):
            sentence = (
                f"optimizer can only optimize Tensors, but one of the params is {type_name(p)}"
            )
            fix = "pass `model.parameters()`"  # in place of `state_dict()`, whose keys are names
            known = isinstance(p, str) or hasattr(p, "parameters")  # or of nn.Sequential
            raise TypeError(errors.with_fix(sentence, fix) if known else sentence)
        if not (p.is_leaf or p.retains_grad):
            raise ValueError("can't optimize a non-leaf Tensor")
    for name, default in defaults.items():
        group.setdefault(name, default)
    refuse_texts(group)
    return group


def _read_params(group: Group) -> None:
    """Convert the entry ``"params"`` to a list of tensors, and split off names."""
    params = group["params"]
    if isinstance(params, Tensor):
        params = [params]
    if isinstance(params, (set, frozenset)):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering of "
            "tensors in sets will change between runs. Please use a list instead."
        )
    params = list(params)
    names = [p[0] for p in params if isinstance(p, tuple)]
    if names:
        if len(names) != len(params):
            raise ValueError(
                "all optimizer params should be with/without names. Some param names are missing"
            )
        params = [p[1] for p in params]
        group["param_names"] = names
    group["params"] = params


def refuse_mixed(group: Group, others: Sequence[Group]) -> None:
    """Raise ValueError if parameters repeat, or only some groups have names."""
    params = set(group["params"])
    if len(params) != len(group["params"]):
        warn(
            "optimizer contains a parameter group with duplicate parameters; in future, this "
            "will cause an error; each of them is updated as often as it appears"
        )
    for other in others:
        if ("param_names" in group) != ("param_names" in other):
            which = "with" if "param_names" in group else "without"
            raise ValueError(
                "all optimizer param groups should be with/without names. cannot add param "
                f"group {which} names to the optimizer"
            )
    for other in others:
        if not params.isdisjoint(other["params"]):
            raise ValueError("some parameters appear in more than one parameter group")
