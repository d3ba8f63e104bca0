"""Optimizers whose update treats each element alone: run in blocks that fit into the cache.

An algorithm writes its update once, on arrays and in place. Here it is run: on a small parameter
as a whole, on a large one in blocks, so that the dozen passes of an Adam go over memory that is
near. What a parameter needs for that (views of itself and of its state) is kept from step to step
in a ``Slot``, which is made anew when somebody replaces the parameter's data or its state. When all
of a group's parameters take the same update, the next step goes by a ``Plan`` (``plans.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet.core.tensors.overlap import refuse_overlap
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import Array
from tinynet.optim.base import parameter_state
from tinynet.optim.base.options import Group, counted, number
from tinynet.optim.base.parameter_state import Rule, Slot
from tinynet.optim.base.plans import Plan
from tinynet.optim.optimizer import Optimizer, refuse_other_shape


class Elementwise(Optimizer):
    """Base of the optimizers whose update treats each element alone.

    An algorithm names its state (``numbers``, ``shaped``), says what it starts from (``start``)
    and which of it is in use (``buffers``), and gives the update of a block (``rule``).
    """

    scratch = 1  # arrays of the block's shape that the update may overwrite
    together_from = 2  # small parameters that are worth copying side by side for one update

    def _set_up(self) -> None:
        super()._set_up()
        self._slots: dict[int, Slot] = {}
        self._plans: dict[int, Plan | None] = {}
        self._memory: dict[Any, list[Array]] = {}

    def _loaded(self) -> None:
        self._slots = {}
        self._plans = {}

    def buffers(self, group: Group) -> tuple[str, ...]:
        """Return which of ``shaped`` are used under these options."""
        return self.shaped

    def start(self, name: str, group: Group) -> float:
        """Return what an entry of the state starts from."""
        return 0.0

    def rule(
        self, group: Group, numbers: dict[str, Array], kind: np.dtype[Any], fresh: bool
    ) -> Rule:
        """Return the update of a block, for one step; called once for parameters that agree in all.

        Args:
            group: the options.
            numbers: the 0-d state, by name; it is moved to the step that comes.
            kind: the parameter's dtype.
            fresh: the buffers were made just now.

        Returns:
            ``block(param, grad, *scratch, *buffers)``, which changes all but ``grad`` in place.
        """
        raise NotImplementedError

    def update_rows(
        self, param: Array, rows: Any, state: dict[str, Any], group: Group, fresh: bool
    ) -> None:
        """Change ``param`` in place by a sparse gradient, where ``refuse`` lets one through."""
        raise NotImplementedError

    def _update_group(self, group: Group, ready: list[tuple[Tensor, Array]]) -> None:
        names = self.buffers(group)
        if not ready:
            return
        params, grads = zip(*ready, strict=True)
        plan = self._plans.get(id(group))
        if plan is not None and plan.fits(params, grads, self.state, names):
            plan.run(self.rule(group, plan.numbers, plan.kind, False), grads)
            return
        rules: dict[Any, tuple[Rule, list[float]]] = {}
        for p, grad in ready:
            slot = self._slots.get(id(p))
            if slot is None or slot.stale(p, self.state.get(p), names):
                slot = self._slots[id(p)] = self._slot(p, group, names)
            if not isinstance(grad, np.ndarray):
                state = {**slot.numbers, **dict(zip(names, slot.buffers, strict=True))}
                self.update_rows(slot.array, grad, state, group, slot.fresh)
                slot.fresh = False
                continue
            numbers = slot.numbers
            key = (slot.kind, slot.fresh, *map(float, numbers.values()))
            known = rules.get(key)
            if known is None:
                block = self.rule(group, numbers, slot.array.dtype, slot.fresh)
                rules[key] = block, [*map(float, numbers.values())]
            else:
                block, after = known
                for one, value in zip(numbers.values(), after, strict=True):
                    one[...] = value
            slot.run(block, grad)
        slots = [self._slots[id(p)] for p in params]
        self._plans[id(group)] = Plan.of(params, slots, self.scratch, self.together_from)

    def _slot(self, p: Tensor, group: Group, names: tuple[str, ...]) -> Slot:
        """Return the slot of a parameter; what its state lacks is made."""
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
                    held[name] = wrap(np.full_like(param, self.start(name, group)))
                    fresh = True
            refuse_other_shape(param, {n: held[n]._array for n in names})
        return Slot(p, held, self.numbers, names, fresh, self._scratch(param))

    def _scratch(self, param: Array) -> list[Array]:
        """Return memory that all parameters of a dtype share (a slot takes the shape it needs)."""
        memory = self._memory.get(param.dtype)
        if memory is None:
            size = parameter_state.BLOCK // param.itemsize
            memory = [np.empty(size, param.dtype) for _ in range(self.scratch)]
            self._memory[param.dtype] = memory
        return memory


# ---- parts of updates ---------------------------------------------------------------------------


def direction(group: Group) -> Callable[[Array, Array, Array], Array]:
    """Return ``toward(param, grad, work)``, which gives what a step goes against.

    That is the gradient, or ``work``: negated to go up; with the L2 penalty ``weight_decay *
    param``. A decoupled decay shrinks ``param`` at once.
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
