"""The state_dict of optimizers, with PyTorch's keys: creating, checking and loading it."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Callable, Collection
from operator import is_
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import Array
from tinynet.optim.base.groups import Group, counted

# ---- parameter state ----------------------------------------------------------------------------
# The state of a parameter between steps, and running an update on it.


BLOCK = 128 * 1024  # bytes of one array that are updated at a time
SMALL = 2048  # elements: above it, copying costs more than the saved calls
Rule = Callable[..., None]  # block(param, grad, *scratch, *buffers)
Numbers = dict[str, Array]  # the 0-d state of a parameter, by name
Kind = np.dtype[Any]


class Slot:
    """The data of one parameter between steps: views of its values, state and scratch memory.

    Attributes:
        array: the parameter's values; the slot is invalid once the parameter has other values.
        numbers: the 0-d state, by name.
        buffers: the state of the parameter's shape.
        fresh: whether the buffers were created for the coming step.
        order: the axes in memory order; None if values and state are not contiguous, or differ.
        lines: values and state, each in one dimension.
        is_small: whether it may be updated together with others.
    """

    __slots__ = (
        "array", "arrays", "blocks", "buffers", "fresh", "held", "is_small", "kind", "lines",
        "names", "numbers", "order", "rest",
    )  # fmt: skip

    def __init__(
        self,
        p: Tensor,
        held: dict[str, Any] | None,
        numbers: tuple[str, ...],
        names: tuple[str, ...],
        fresh: bool,
        scratch: list[Array],
    ):
        self.array = array = p._array
        self.kind = array.dtype.char  # hashes faster than a dtype
        self.held = held
        self.names = names
        self.fresh = fresh
        self.arrays = [] if held is None else [getattr(v, "_array", v) for v in held.values()]
        self.numbers = {} if held is None else {name: held[name]._array for name in numbers}
        self.buffers = [] if held is None else [held[name]._array for name in names]
        self.is_small = array.size <= SMALL and all(
            a.flags.c_contiguous for a in (array, *self.buffers)
        )
        self.order = in_memory_order([array, *self.buffers])
        self.lines, self.blocks = [], []
        if self.order is not None:
            self.lines = [a.transpose(self.order).reshape(-1) for a in (array, *self.buffers)]
        limit = BLOCK // array.itemsize
        if array.size <= limit:
            work = [a[: array.size].reshape(array.shape) for a in scratch]
            self.rest = (*work, *self.buffers)
            return
        if self.order is None:  # not contiguous: as a whole
            self.rest = (*[np.empty_like(array) for _ in scratch], *self.buffers)
            return
        self.blocks = [
            (start, start + limit, part, (*[a[: part.size] for a in scratch], *rest))
            for start in range(0, array.size, limit)
            for part, *rest in [[a[start : start + limit] for a in self.lines]]
        ]

    def stale(self, p: Tensor, held: dict[str, Any] | None, names: tuple[str, ...]) -> bool:
        """Return True if the values or the state have been replaced since the slot was created."""
        if self.array is not p._array or self.held is not held or self.names != names:
            return True
        if not held:
            return False
        now = [getattr(v, "_array", v) for v in held.values()]
        return len(now) != len(self.arrays) or not all(map(is_, now, self.arrays))

    def run(self, block: Rule, grad: Array) -> None:
        """Update the parameter."""
        self.fresh = False
        if self.order is None:
            block(self.array, grad, *self.rest)
        elif self.blocks:
            flat = grad.transpose(self.order).reshape(-1)
            for start, stop, part, rest in self.blocks:
                block(part, flat[start:stop], *rest)
        else:
            block(self.array, grad, *self.rest)


def in_memory_order(arrays: list[Array]) -> tuple[int, ...] | None:
    """Return the axis order in which all arrays are contiguous; None if there is none."""
    first = arrays[0]
    order = tuple(sorted(range(first.ndim), key=lambda d: -first.strides[d]))
    dense = all(a.transpose(order).flags.c_contiguous for a in arrays)
    return order if dense else None


# ---- state dicts --------------------------------------------------------------------------------


State = defaultdict[Any, Any]


def packed(param_groups: list[Group], state: State) -> dict[str, Any]:
    """Return groups and state with numbers in place of parameters."""
    numbers: dict[Tensor, int] = {}
    count = 0
    groups = []
    for group in param_groups:
        for position, p in enumerate(group["params"], count):
            numbers.setdefault(p, position)
        count += len(group["params"])
        plain = {k: v for k, v in group.items() if k != "params"}
        plain["params"] = [numbers[p] for p in group["params"]]
        groups.append(plain)
    by_number = {numbers[k] if isinstance(k, Tensor) else k: v for k, v in state.items()}
    return {"state": by_number, "param_groups": groups}


def refuse_other_groups(groups: list[Group], saved: list[Group]) -> None:
    """Raise ValueError if saved groups do not match the optimizer's."""
    if len(saved) != len(groups):
        raise ValueError("loaded state dict has a different number of parameter groups")
    for group, new in zip(groups, saved, strict=True):
        if len(group["params"]) != len(new["params"]):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )


def regrouped(groups: list[Group], saved: list[Group], defaults: Group) -> list[Group]:
    """Return copies of the saved groups with the optimizer's parameters and missing defaults."""
    made = []
    for group, new in zip(groups, saved, strict=True):
        taken = {k: v if k == "params" else copy.deepcopy(v) for k, v in new.items()}
        taken["params"] = group["params"]
        for name, default in defaults.items():
            taken.setdefault(name, default)
        if "param_names" in group:
            taken.setdefault("param_names", group["param_names"])
        made.append(taken)
    return made


def unpacked(
    groups: list[Group],
    saved: dict[str, Any],
    numbers: Collection[str],
    shaped: Collection[str],
) -> State:
    """Return a copy of the saved state, keyed by parameter.

    Args:
        groups: the optimizer's.
        saved: a state_dict.
        numbers: the entries that are 0-d tensors.
        shaped: the entries that have their parameter's shape.

    Raises:
        ValueError: an entry has a wrong shape.
    """
    of = {
        number: (p, bool(new.get("fused") or new.get("capturable")))
        for group, new in zip(groups, saved["param_groups"], strict=True)
        for number, p in zip(new["params"], group["params"], strict=True)
    }
    state: State = defaultdict(dict)
    for number, held in saved["state"].items():
        if number not in of:
            state[number] = held
            continue
        p, fused = of[number]
        for name, value in held.items():
            if name in shaped and isinstance(value, Tensor) and value.shape != p.shape:
                raise ValueError(
                    f"The state {name!r} of parameter {number} must have the parameter's shape "
                    f"{list(p.shape)}. Got {list(value.shape)} instead."
                )
        state[p] = {
            name: _number(name, value, fused)
            if name in numbers or (name == "step" and isinstance(value, Tensor))
            else _copied(p, value)
            for name, value in held.items()
        }
    return state


def _number(name: str, value: Any, fused: bool) -> Tensor:
    """Return a copy of a 0-d entry in its own dtype, so that resuming changes no result.

    PyTorch casts all but the step count to the parameter's dtype.
    """
    if not isinstance(value, Tensor):
        return wrap(counted(value))
    array = value._array
    return wrap(array.astype(np.float32) if fused and name == "step" else array.copy())


def _copied(p: Tensor, value: Any) -> Any:
    """Return a copy of one value, in the dtype of its parameter."""
    if isinstance(value, Tensor):
        array = value._array
        both_float = dtypes.is_floating(array.dtype) and dtypes.is_floating(p._array.dtype)
        return wrap(array.astype(p._array.dtype if both_float else array.dtype))
    if isinstance(value, dict):
        return {k: _copied(p, v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_copied(p, v) for v in value)
    return value
