"""Optimizers with elementwise updates, run in blocks that fit into the cache.

A plan is the fast path of a step: one update for all parameters of a group.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import chain
from operator import is_
from typing import Any, ClassVar

import numpy as np

from tinynet import dtypes
from tinynet.core.callsite import COMPILED, execute, here
from tinynet.core.tensors.overlap import refuse_overlap
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import Array
from tinynet.kernels.low_precision import SINGLE
from tinynet.optim.base.formula import SCRATCH, Formula
from tinynet.optim.base.groups import (
    Group,
    Kind,
    Numbers,
    Rule,
    Scratch,
    Slot,
    constants,
    counted,
    number,
    refuse_differentiable,
    refuse_fused_foreach,
    refuse_long_lr,
    refuse_out_of_range,
)
from tinynet.optim.optimizer import Optimizer, init_group, refuse_other_shape

Given = dict[str, Any]  # the numbers of a formula, by name
_formulas: dict[Any, Formula] = {}


class Elementwise(Optimizer):
    """Base class of optimizers with elementwise updates.

    A subclass names the options that must not be negative, in the order of PyTorch's checks
    (``nonnegative``; ``"betas"`` must also be below 1), and its state (``numbers``, ``shaped``). It
    gives the initial values of the state (``start``), the entries in use (``buffers``), the numbers
    of a step (``coefficients``) and the update of an element (``formula``).
    """

    nonnegative: ClassVar[tuple[str, ...]]
    together_from = 2  # minimum number of small parameters to copy and update together

    @property
    def listed(self) -> tuple[str, ...]:
        """The entries of the state in the order of PyTorch's ``_init_group``: the count is last."""
        return (*self.shaped, *reversed(self.numbers))

    def _init_group(self, group: Group, params: Any, grads: Any, *entries: Any, **more: Any) -> Any:
        """Fill lists with what a step of a group needs: see `init_group`."""
        return any(init_group(self, group, params, grads, *entries, *more.values()))

    def _set_up(self) -> None:
        super()._set_up()
        self._slots: dict[int, Slot] = {}
        self._plans: dict[int, Plan | None] = {}
        self._memory: dict[Kind, Scratch] = {}

    def _loaded(self) -> None:
        self._slots = {}
        self._plans = {}

    def check(self, group: Group) -> None:
        """Raise ValueError if an option of a group is out of range."""
        refuse_long_lr(group)
        refuse_out_of_range(group, self.nonnegative)
        refuse_differentiable(group)
        refuse_fused_foreach(group)

    def buffers(self, group: Group) -> tuple[str, ...]:
        """Return the entries of ``shaped`` that these options use."""
        return self.shaped

    def start(self, name: str, group: Group) -> float:
        """Return the initial value of a state entry."""
        return 0.0

    def coefficients(self, group: Group, numbers: Numbers, fresh: bool) -> tuple[Numbers, Given]:
        """Return the numbers of a step.

        Args:
            group: the options.
            numbers: the 0-d state, by name.
            fresh: whether the buffers have just been created.

        Returns:
            The 0-d state after the step, and the numbers of the formula by name; a bool or None
            decides what the formula computes.
        """
        raise NotImplementedError

    def counted(self, group: Group, numbers: Numbers) -> tuple[Numbers, Given]:
        """Return the step count after a step, if there is one, and the numbers of ``direction``."""
        after = {"step": numbers["step"] + 1} if "step" in numbers else {}
        given: Given = {"maximize": bool(group["maximize"]), "penalty": None, "kept": None}
        if "weight_decay" in self.defaults and (decay := number(group["weight_decay"])):
            if "decoupled_weight_decay" in self.defaults and group["decoupled_weight_decay"]:
                given["kept"] = 1 - number(group["lr"]) * decay
            else:
                given["penalty"] = decay
        return after, given

    @staticmethod
    def formula(c: Any, param: Any, grad: Any, *state: Any) -> tuple[Any, ...]:
        """Return the new values of a parameter and its state, see ``formula.py``.

        Args:
            c: the numbers of the step, as attributes.
            param, grad, state: the parameter, its gradient and its state.
        """
        raise NotImplementedError

    def rule(self, group: Group, numbers: Numbers, kind: Kind, fresh: bool) -> Rule:
        """Return the update of a block for one step; called once for parameters that agree.

        Args:
            group: the options.
            numbers: the 0-d state, by name; advanced to the coming step.
            kind: the dtype to compute in, the parameter's or float32.
            fresh: whether the buffers have just been created.

        Returns:
            ``block(param, grad, *scratch, *buffers)``, which changes all but ``grad`` in place.
        """
        formula, values, after = self.next_step(group, numbers, fresh)
        for name, value in after.items():
            numbers[name][...] = value
        return formula.bind(constants(kind, *values))

    def next_step(
        self, group: Group, numbers: Numbers, fresh: bool = False
    ) -> tuple[Formula, list[float], Numbers]:
        """Return the formula of a step, its numbers, and the 0-d state after it."""
        after, given = self.coefficients(group, numbers, fresh)
        values: list[float] = []
        key: list[Any] = [type(self), *self.buffers(group)]
        for x in given.values():
            if x is None or x.__class__ is bool:
                key.append(x)
            else:
                key.append(0)
                values.append(x if x.__class__ is float else number(x))
        formula = _formulas.get(found := tuple(key))
        if formula is None:
            formula = _formulas[found] = Formula(self.formula, given, self.buffers(group))
        return formula, values, after

    def update_row_gradients(
        self, param: Array, rows: Any, state: dict[str, Any], group: Group, fresh: bool
    ) -> None:
        """Update the rows of ``param`` and its state that a sparse gradient contains."""
        rows, names = rows.coalesce(), self.buffers(group)
        numbers = {name: state[name] for name in self.numbers}
        arrays = [param, *(state[name] for name in names)]
        moved, *buffers = [a[rows.index] for a in arrays]
        work = [np.empty_like(moved) for _ in range(SCRATCH)]
        block = self.block_rule(group, numbers, param.dtype, fresh)
        block(moved, rows.values, *work, *buffers)
        for array, part in zip(arrays, (moved, *buffers), strict=True):
            array[rows.index] = part

    def planned(self) -> list[tuple[Plan, tuple[Array, ...]]] | None:
        """Return the plan of each group, and the gradients; None if one does not fit."""
        found = []
        for group in self.param_groups:
            plan = self._plans.get(id(group))
            grads = plan and plan.gradients(self.state, self.buffers(group))
            if not (plan and grads):
                return None
            found.append((plan, grads))
        return found

    def _update_all(self) -> int:
        planned = self.planned()
        if planned is None:
            return super()._update_all()
        site = here()
        for plan, grads in planned:
            began = time.perf_counter_ns()
            plan.run(self.block_rule(plan.group, plan.numbers, plan.kind, False), grads)
            self._wrote(zip(plan.params, grads, strict=True), site, began)
        return sum(len(grads) for _, grads in planned)

    def _update_group(self, group: Group, ready: list[tuple[Tensor, Array]]) -> None:
        names = self.buffers(group)
        if not ready:
            return
        plan = self._plans.get(id(group))
        planned = plan and plan.gradients(self.state, names)
        if plan and planned:
            plan.run(self.block_rule(group, plan.numbers, plan.kind, False), planned)
            return
        rules: dict[Any, tuple[Rule, list[float]]] = {}
        for p, grad in ready:
            slot = self._slots.get(id(p))
            if slot is None or slot.stale(p, self.state.get(p), names):
                slot = self._slots[id(p)] = self._slot(p, group, names)
            if not isinstance(grad, np.ndarray):
                state = {**slot.numbers, **dict(zip(names, slot.buffers, strict=True))}
                self.update_row_gradients(slot.array, grad, state, group, slot.fresh)
                slot.fresh = False
                continue
            numbers = slot.numbers
            key = (slot.kind, slot.fresh, *map(float, numbers.values()))
            known = rules.get(key)
            if known is None:
                block = self.block_rule(group, numbers, slot.array.dtype, slot.fresh)
                rules[key] = block, [*map(float, numbers.values())]
            else:
                block, after = known
                for one, value in zip(numbers.values(), after, strict=True):
                    one[...] = value
            slot.run(block, grad)
        params = [p for p, _ in ready]
        slots = [self._slots[id(p)] for p in params]
        self._plans[id(group)] = Plan.of(group, params, slots, SCRATCH, self.together_from)

    def block_rule(self, group: Group, numbers: Numbers, kind: Kind, fresh: bool) -> Rule:
        """Return ``rule``; for 16-bit floats, in float32 with one rounding of each result.

        Parts of complex numbers are updated each for itself, as in PyTorch.
        """
        if kind.kind == "c":
            of_parts = self.rule(group, numbers, dtypes.real_of(kind), fresh)
            return lambda *arrays: of_parts(*map(dtypes.pairs_of, arrays))
        if kind.itemsize > 2:
            return self.rule(group, numbers, kind, fresh)
        block = self.rule(group, numbers, SINGLE, fresh)

        def in_single(param: Array, grad: Array, *rest: Array) -> None:
            work, buffers = rest[:SCRATCH], rest[SCRATCH:]
            wide, *state = [a.astype(SINGLE) for a in (param, *buffers)]
            block(wide, grad.astype(SINGLE), *[np.empty(a.shape, SINGLE) for a in work], *state)
            for narrow, result in zip((param, *buffers), (wide, *state), strict=True):
                narrow[...] = result

        return in_single

    def _slot(self, p: Tensor, group: Group, names: tuple[str, ...]) -> Slot:
        """Return the slot of a parameter; create missing state."""
        param = p._array
        refuse_overlap(param)
        fresh = False
        held = self.state[p] if names or self.numbers else self.state.get(p)
        if held is not None:
            for name in self.numbers:
                if name not in held:
                    held[name] = wrap(counted(self.start(name, group)))
            for name in names:
                if held.get(name) is None:
                    held[name] = wrap(filled_like(param, self.start(name, group)))
                    fresh = True
            refuse_other_shape(param, {n: held[n]._array for n in names})
        scratch = self._memory.get(param.dtype)
        if scratch is None:
            scratch = self._memory[param.dtype] = Scratch(param.dtype)
        return Slot(p, held, self.numbers, names, fresh, scratch)


def filled_like(param: Array, value: float) -> Array:
    """Return state for a parameter, filled with a number; of complex ones, both parts are."""
    made = np.empty_like(param)
    (dtypes.pairs_of(made) if param.dtype.kind == "c" else made).fill(value)
    return made


# ---- parts of updates ---------------------------------------------------------------------------


def direction(c: Any, param: Any, grad: Any) -> tuple[Any, Any]:
    """Return the parameter after decoupled weight decay, and the direction to step against.

    The direction is the gradient, negated to maximize, plus the L2 penalty.
    """
    if c.kept is not None:
        param = param * c.kept
    if c.penalty is None:
        return param, -grad if c.maximize else grad
    penalty = param * c.penalty
    return param, penalty - grad if c.maximize else penalty + grad


# ---- plan checks --------------------------------------------------------------------------------
# The checks of a plan as straight-line code, which takes a third of the time of loops.


Keep = Callable[[Any], str]  # returns a name for an object


def checks(plan: Plan, everyone: list[Tensor]) -> tuple[Any, Any]:
    """Return the checks of a plan.

    Args:
        plan: the plan.
        everyone: all parameters of the group; those that are not in the plan have no gradient.

    Returns:
        ``unchanged(params, state)``, whether values and state are still the plan's, and
        ``gradients()``, the arrays of all gradients, or None if one is missing, sparse or of
        another shape, or another parameter has one.
    """
    objects: dict[str, Any] = {"dense": np.ndarray}

    def keep(thing: Any) -> str:
        name = f"k{len(objects)}"
        objects[name] = thing
        return name

    shapes = {id(p): slot.array.shape for p, slot in zip(plan.params, plan.slots, strict=True)}
    lines, tests, found = [], [], []
    for i, p in enumerate(everyone):
        lines.append(f"    g{i} = {keep(p)}._grad")
        if id(p) not in shapes:
            tests.append(f"g{i} is None")
            continue
        tests.append(f"g{i} is not None and (a{i} := g{i}._array).__class__ is dense")
        tests.append(f"a{i}.shape == {shapes[id(p)]!r}")
        found.append(f"a{i}, ")
    source = [
        "def unchanged(params, state):",
        f"    try: return {' and '.join(tests_of(plan, everyone, keep))}",
        "    except KeyError: return False",
        "def gradients():",
        *lines,
        f"    return ({''.join(found)}) if {' and '.join(tests)} else None",
    ]
    made = execute(f"{COMPILED} plan of a step", "\n".join(source) + "\n", objects)
    return made["unchanged"], made["gradients"]


def tests_of(plan: Plan, everyone: list[Tensor], keep: Keep) -> list[str]:
    """Return expressions in ``params`` and ``state``: all hold if nothing has been replaced."""
    tests = [f"len(params) == {len(everyone)}"]
    tests += [f"params[{i}] is {keep(p)}" for i, p in enumerate(everyone)]
    for p, slot in zip(plan.params, plan.slots, strict=True):
        tests += _tests_of_slot(keep(p), slot, keep)
    first, *others = [[keep(n) for n in slot.numbers.values()] for slot in plan.slots]
    tests += [
        f"{a}.item() == {b}.item()" for other in others for a, b in zip(first, other, strict=True)
    ]
    return tests


def _tests_of_slot(p: str, slot: Slot, keep: Keep) -> list[str]:
    held = keep(slot.held)
    tests = [f"{p}._array is {keep(slot.array)}", f"state.get({p}) is {held}"]
    if slot.held is None:
        return tests
    tests.append(f"len({held}) == {len(slot.held)}")
    for key, value in slot.held.items():
        tensor = keep(value)
        tests.append(f"{held}[{key!r}] is {tensor}")
        tests.append(f"{tensor}._array is {keep(value._array)}")
    return tests


# ---- plans --------------------------------------------------------------------------------------


TOGETHER = 32 * 1024  # maximum number of elements updated together


class Plan:
    """Parameters of a group that differ only in their values.

    Attributes:
        group: the group.
        params, slots: those of its parameters that take part, and the slot of each.
        names: the state of the parameter's shape.
        numbers: the 0-d state of the first, by name; equal for the others.
        kind: their dtype.
        collect: returns their gradients, or None if they are not as the plan expects.
    """

    __slots__ = (
        "_unchanged", "alone", "collect", "copies", "group", "kind", "names", "numbers", "packs",
        "params", "slots",
    )  # fmt: skip

    def __init__(
        self,
        group: Group,
        slots: list[Slot],
        params: Sequence[Tensor],
        scratch: int,
        together_from: int,
    ):
        self.group, self.params, self.slots = group, params, slots
        self._unchanged: Any = None  # written when first needed
        self.collect: Any = None
        self.names = slots[0].names
        self.kind = slots[0].array.dtype
        self.numbers = slots[0].numbers
        self.copies = [
            (mine, [s.numbers[n] for s in slots[1:]]) for n, mine in self.numbers.items()
        ]
        together = [i for i, slot in enumerate(slots) if slot.is_small]
        cuts = _cut([slots[i].array.size for i in together], together_from)
        self.packs = [
            Pack([slots[i] for i in together[cut]], together[cut], scratch) for cut in cuts
        ]
        packed = set(chain.from_iterable(pack.places for pack in self.packs))
        self.alone = [(i, slot) for i, slot in enumerate(slots) if i not in packed]

    @classmethod
    def of(
        cls,
        group: Group,
        params: Sequence[Tensor],
        slots: list[Slot],
        scratch: int,
        together_from: int,
    ) -> Plan | None:
        """Return a plan for the next step; None if parameters must be checked individually.

        Args:
            group: the group.
            params: all parameters that take part in a step.
            slots: the slot of each.
            scratch: number of arrays the update may overwrite.
            together_from: minimum number of small parameters to update together.
        """
        state = chain.from_iterable((slot.held or {}).values() for slot in slots)
        alike = {slot.kind for slot in slots}
        if len(alike) > 1 or not all(isinstance(value, Tensor) for value in state):
            return None
        return cls(group, slots, params, scratch, together_from)

    def gradients(self, state: Any, names: tuple[str, ...]) -> tuple[Array, ...] | None:
        """Return the gradients of the parameters; None if the plan no longer fits the group.

        Args:
            state: the state of the optimizer.
            names: the entries of the parameter's shape that the options use.
        """
        return self.collect() if self.is_valid(state, names) else None

    def is_valid(self, state: Any, names: tuple[str, ...]) -> bool:
        """Return whether no values and no state were replaced since the plan was made."""
        if self._unchanged is None:
            if not self._is_repeated(state):
                return False
            self._unchanged, self.collect = checks(self, [*self.group["params"]])
        return names == self.names and self._unchanged(self.group["params"], state)

    def copy_numbers(self) -> None:
        """Copy the 0-d state of the first parameter to the others."""
        for mine, others in self.copies:
            value = mine.item()
            for one in others:
                one.fill(value)

    def _is_repeated(self, state: Any) -> bool:
        """Return whether the same parameters, and state, have dense gradients again."""
        ready = [p for p in self.group["params"] if p._grad is not None]
        if len(ready) != len(self.params) or not all(map(is_, ready, self.params)):
            return False
        dense = all(isinstance(p._grad._array, np.ndarray) for p in ready)
        # the checks are written for what the slots hold: state may have been replaced since
        both = zip(ready, self.slots, strict=True)
        return dense and not any(slot.stale(p, state.get(p), self.names) for p, slot in both)

    def advance(self, after: dict[str, Any]) -> None:
        """Set the 0-d state to its values after a step."""
        for name, value in after.items():
            self.numbers[name][...] = value
        self.copy_numbers()

    def run(self, block: Rule, grads: Any) -> None:
        """Update the parameters; ``numbers`` have already been advanced."""
        self.copy_numbers()
        for pack in self.packs:
            pack.run(block, grads)
        for i, slot in self.alone:
            slot.run(block, grads[i])


class Pack:
    """Several small parameters, with contiguous memory for all of them.

    Args:
        slots: the parameters.
        places: the number of each in its group.
        scratch: number of arrays the update may overwrite.
    """

    __slots__ = ("own", "parts", "places", "rest", "theirs")

    def __init__(self, slots: list[Slot], places: list[int], scratch: int):
        self.places = places
        each = [(slot.array, *slot.buffers) for slot in slots]
        self.theirs = [[a.reshape(-1) for a in arrays] for arrays in zip(*each, strict=True)]
        size, kind = sum(slot.array.size for slot in slots), slots[0].array.dtype
        self.own = [np.empty(size, kind) for _ in self.theirs]
        ends = np.cumsum([slot.array.size for slot in slots]).tolist()
        cuts = [slice(a, b) for a, b in zip([0, *ends], ends, strict=False)]
        self.parts = [
            (their, own[cut])
            for theirs, own in zip(self.theirs, self.own, strict=True)
            for their, cut in zip(theirs, cuts, strict=True)
        ]
        grad, *work = [np.empty(size, kind) for _ in range(scratch + 1)]
        self.rest = (grad, *work, *self.own[1:])

    def run(self, block: Rule, grads: Any) -> None:
        """Update the parameters."""
        for theirs, own in zip(self.theirs, self.own, strict=True):
            np.concatenate(theirs, out=own)
        np.concatenate([grads[i].reshape(-1) for i in self.places], out=self.rest[0])
        block(self.own[0], *self.rest)
        for their, part in self.parts:
            their[...] = part


def _cut(sizes: list[int], together_from: int) -> list[slice]:
    """Return slices that split small parameters into packs; too few form none."""
    cuts, start, room = [], 0, TOGETHER
    for i, size in enumerate(sizes):
        if size > room:
            cuts.append(slice(start, i))
            start, room = i, TOGETHER
        room -= size
    cuts.append(slice(start, len(sizes)))
    return [cut for cut in cuts if cut.stop - cut.start >= together_from]
