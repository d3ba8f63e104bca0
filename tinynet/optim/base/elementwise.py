"""Optimizers with elementwise updates, run in blocks that fit into the cache.

An algorithm defines its update once, in place on arrays. This module runs it on a small parameter
as a whole and on a large one in blocks, so that the dozen operations of an Adam step find their
data in the cache. A ``Slot`` keeps views of each parameter and its state between steps; it is
rebuilt when the parameter's data or state are replaced. If all parameters of a group take the same
update, the next step uses a ``Plan`` (``plans.py``).
"""

from __future__ import annotations

import time
from typing import Any, ClassVar

import numpy as np

from tinynet import dtypes
from tinynet.core.callsite import here
from tinynet.core.tensors.overlap import refuse_overlap
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import Array
from tinynet.kernels.low_precision import SINGLE
from tinynet.optim.base import state_dicts
from tinynet.optim.base.formula import SCRATCH, Formula
from tinynet.optim.base.groups import (
    Group,
    constants,
    counted,
    number,
    refuse_differentiable,
    refuse_fused_foreach,
    refuse_long_lr,
    refuse_out_of_range,
)
from tinynet.optim.base.plans import Plan
from tinynet.optim.base.state_dicts import Kind, Numbers, Rule, Slot
from tinynet.optim.optimizer import Optimizer, refuse_other_shape

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

    def _set_up(self) -> None:
        super()._set_up()
        self._slots: dict[int, Slot] = {}
        self._plans: dict[int, Plan | None] = {}
        self._memory: dict[Any, list[Array]] = {}

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
            kind: the dtype to compute in, that of the parameter or float32.
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
        return Slot(p, held, self.numbers, names, fresh, self._scratch(param))

    def _scratch(self, param: Array) -> list[Array]:
        """Return memory shared by all parameters of a dtype; a slot takes the shape it needs."""
        memory = self._memory.get(param.dtype)
        if memory is None:
            size = state_dicts.BLOCK // param.itemsize
            memory = [np.empty(size, param.dtype) for _ in range(SCRATCH)]
            self._memory[param.dtype] = memory
        return memory


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
