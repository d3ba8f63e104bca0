"""Parameter groups and the state_dict of optimizers, with PyTorch's keys."""

from __future__ import annotations

import copy
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from operator import is_
from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.core.callsite import warn
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import Array
from tinynet.kernels import threads
from tinynet.optim.base.diagnosis import owner_of, why_empty
from tinynet.optim.base.formula import SCRATCH

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


# ---- parameter state ----------------------------------------------------------------------------
# The state of a parameter between steps, and running an update on it.


BLOCK = 128 * 1024  # bytes of one array that are updated at a time
SMALL = 2048  # elements: above it, copying costs more than the saved calls
Rule = Callable[..., None]  # block(param, grad, *scratch, *buffers)
Numbers = dict[str, Array]  # the 0-d state of a parameter, by name
Kind = np.dtype[Any]


class Scratch:
    """Memory that updates of all parameters of a dtype overwrite.

    Attributes:
        block: that of a block; a slot takes the shape it needs.
    """

    __slots__ = ("_spare", "block", "kind")

    def __init__(self, kind: Kind):
        self.kind = kind
        self.block = self._of(BLOCK // kind.itemsize)
        self._spare: list[list[Array]] = []

    def share(self, block: Rule, grad: Array, lines: list[Array]) -> None:
        """Update a large parameter, given with its state in one dimension; threads share it."""

        def work(part: slice) -> None:
            try:
                memory = self._spare.pop()
            except IndexError:  # other threads have it
                memory = self._of(threads.WIDE)
            values, *state = [line[part] for line in lines]
            block(values, grad[part], *[a[: values.size] for a in memory], *state)
            self._spare.append(memory)

        threads.each_slice(work, grad.size, threads.WIDE)

    def _of(self, size: int) -> list[Array]:
        return [np.empty(size, self.kind) for _ in range(SCRATCH)]


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
        "names", "numbers", "order", "rest", "scratch",
    )  # fmt: skip

    def __init__(
        self,
        p: Tensor,
        held: dict[str, Any] | None,
        numbers: tuple[str, ...],
        names: tuple[str, ...],
        fresh: bool,
        scratch: Scratch,
    ):
        self.scratch = scratch
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
            work = [a[: array.size].reshape(array.shape) for a in scratch.block]
            self.rest = (*work, *self.buffers)
            return
        if self.order is None:  # not contiguous: as a whole
            self.rest = (*[np.empty_like(array) for _ in scratch.block], *self.buffers)
            return
        self.blocks = [
            (start, start + limit, part, (*[a[: part.size] for a in scratch.block], *rest))
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
            if flat.size >= 2 * threads.WIDE and threads.get_count() > 1:
                self.scratch.share(block, flat, self.lines)
                return
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
