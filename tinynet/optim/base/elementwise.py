"""Optimizers with elementwise updates, run in blocks that fit into the cache.

An algorithm defines its update once, in place on arrays. This module runs it on a small parameter
as a whole and on a large one in blocks, so that the dozen operations of an Adam step find their
data in the cache. A ``Slot`` keeps views of each parameter and its state between steps; it is
rebuilt when the parameter's data or state are replaced. If all parameters of a group take the same
update, the next step uses a ``Plan`` (``plans.py``).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from tinynet import dtypes
from tinynet.core.callsite import here
from tinynet.core.tensors.overlap import refuse_overlap
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import Array
from tinynet.kernels.low_precision import SINGLE
from tinynet.optim.base import state_dicts
from tinynet.optim.base.groups import (
    Group,
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


class Elementwise(Optimizer):
    """Base class of optimizers with elementwise updates.

    A subclass names the options that must not be negative, in the order of PyTorch's checks
    (``nonnegative``; ``"betas"`` must also be below 1), and its state (``numbers``, ``shaped``). It
    gives the initial values of the state (``start``) and the entries in use (``buffers``), and
    returns the update of a block (``rule``).
    """

    nonnegative: ClassVar[tuple[str, ...]]
    scratch = 1  # number of arrays of the block's shape that the update may overwrite
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

    def fused_loop(self, group: Group, numbers: Numbers) -> tuple[str, tuple[float, ...]] | None:
        """Return the update as a loop of the numba backend of tn.compile.

        Returns:
            The name of the loop, and its numbers for the coming step; None if there is none for
            these options. After the step, the caller adds 1 to each of ``numbers``.
        """
        return None

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
        raise NotImplementedError

    def update_row_gradients(
        self, param: Array, rows: Any, state: dict[str, Any], group: Group, fresh: bool
    ) -> None:
        """Update ``param`` in place by a sparse gradient that ``refuse`` permits."""
        raise NotImplementedError

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
        self._plans[id(group)] = Plan.of(group, params, slots, self.scratch, self.together_from)

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
            work, buffers = rest[: self.scratch], rest[self.scratch :]
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
            memory = [np.empty(size, param.dtype) for _ in range(self.scratch)]
            self._memory[param.dtype] = memory
        return memory


def filled_like(param: Array, value: float) -> Array:
    """Return state for a parameter, filled with a number; of complex ones, both parts are."""
    made = np.empty_like(param)
    (dtypes.pairs_of(made) if param.dtype.kind == "c" else made).fill(value)
    return made


# ---- parts of updates ---------------------------------------------------------------------------


def direction(group: Group) -> Callable[[Array, Array, Array], Array]:
    """Return ``toward(param, grad, work)``, which computes the direction to step against.

    The result is the gradient, or ``work``: the gradient negated to maximize, plus the L2 penalty
    ``weight_decay * param``. Decoupled decay shrinks ``param`` directly.
    """
    maximize, decay = group["maximize"], number(group.get("weight_decay", 0))
    if decay and not group.get("decoupled_weight_decay"):

        def penalised(param, grad, work):
            np.multiply(param, decay, work)
            return np.subtract(work, grad, work) if maximize else np.add(work, grad, work)

        return penalised
    kept = 1 - number(group["lr"]) * decay

    def toward(param, grad, work):
        if decay:
            param *= kept
        return np.negative(grad, work) if maximize else grad

    return toward


def running(mean: Array, value: Array, kept: Array, new: Array, work: Array) -> None:
    """Set ``mean`` to ``kept * mean + new * value``; ``value`` may be ``work``."""
    mean *= kept
    np.multiply(value, new, work)
    mean += work
