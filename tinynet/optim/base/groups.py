"""Parameter groups: reading and checking the parameters passed to an optimizer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tinynet import errors
from tinynet.core.callsite import warn
from tinynet.core.tensors.tensor import Tensor
from tinynet.optim.base.diagnosis import owner_of, why_empty
from tinynet.optim.base.options import Group, Params, refuse_texts


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
