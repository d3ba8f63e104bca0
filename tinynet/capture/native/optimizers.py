"""Steps of optimizers: one native call for all parameters of a group."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tinynet.capture.native.cache import NUMBER, Native, Takes
from tinynet.capture.native.forms import enabled
from tinynet.capture.program import Call
from tinynet.core.callsite import here
from tinynet.optim.base.elementwise import Elementwise
from tinynet.optim.base.hooks import has_step_hooks
from tinynet.optim.base.plans import Plan

GRADS = 1  # the column of the gradients in a table


def stepping(call: Call) -> Call:
    """Return the call that runs the step of an optimizer natively; other calls as they are."""
    if call.kind != "perform" or len(call.args) != 1 or call.kwargs:
        return call
    if not isinstance(call.args[0], Elementwise) or call.title != "step":
        return call
    return Call("perform", NativeStep(call.function, call.args[0]), call.args, {}, call.site)


class NativeStep:
    """Runs steps of an optimizer.

    Args:
        slowly: the optimizer's own step, for whatever is not plain, such as hooks or new state.
        optimizer: the optimizer.
    """

    def __init__(self, slowly: Any, optimizer: Elementwise):
        self.__name__, self._optimizer = slowly.__name__, optimizer
        self.slowly = enabled(slowly)
        self._groups: dict[int, GroupStep] = {}

    def natives(self) -> list[Native]:
        """Return the native functions of the groups that took a step."""
        plans = [plan for plan in self._optimizer._plans.values() if plan is not None]
        loops = [GroupStep(self._optimizer, plan).loop(self._optimizer) for plan in plans]
        return [_update(loop[0]) for loop in loops if loop is not None]

    def __call__(self, optimizer: Elementwise) -> None:
        """Run a step."""
        planned = None if has_step_hooks(optimizer) else optimizer.planned()
        if planned is None:
            self.slowly(optimizer)
            return
        site = here()
        for plan, grads in planned:
            step = self._groups.get(id(plan.group))
            if step is None or step.plan is not plan:
                step = self._groups[id(plan.group)] = GroupStep(optimizer, plan)
            step.run(optimizer, grads)
            optimizer._wrote(zip(plan.params, grads, strict=True), site, 0)
        optimizer.stepped = True


class GroupStep:
    """The step of a group of parameters.

    Attributes:
        plan: their values and state.
        table: the size of each, and the addresses of its gradient, its values and its state,
            ``[count, columns]``; None if no loop takes them.
    """

    def __init__(self, optimizer: Elementwise, plan: Plan):
        self.plan = plan
        self.table = _table(plan) if _has_own_loop(type(optimizer)) else None
        self._loops: dict[str, Any] = {}

    def loop(self, optimizer: Elementwise) -> tuple[str, tuple[float, ...]] | None:
        """Return the name of the loop, and its numbers for the coming step, if there is one."""
        has_table = self.table is not None
        return optimizer.fused_loop(self.plan.group, self.plan.numbers) if has_table else None

    def run(self, optimizer: Elementwise, grads: tuple[Any, ...]) -> None:
        """Update the parameters."""
        plan, loop = self.plan, self.loop(optimizer)
        if loop is None or not all(g.flags.c_contiguous for g in grads):
            plan.run(optimizer.block_rule(plan.group, plan.numbers, plan.kind, False), grads)
            return
        name, numbers = loop
        if name not in self._loops:
            _update(name).put(self._loops, name)
        assert self.table is not None
        self.table[:, GRADS] = [g.ctypes.data for g in grads]
        self._loops[name](self.table, *numbers)
        plan.advance()


def _has_own_loop(kind: type[Elementwise]) -> bool:
    """Return whether the loop of an optimizer is that of its rule: users' classes may change it."""
    owners = [
        next(base for base in kind.__mro__ if name in vars(base)) for name in ("fused_loop", "rule")
    ]
    return issubclass(*owners)


def _table(plan: Plan) -> Any:
    """Return the table of the parameters; None if no loop takes them."""
    each = [(slot.array, *slot.buffers) for slot in plan.slots]
    if any(a.dtype != np.float32 or not a.flags.c_contiguous for some in each for a in some):
        return None
    rows = [(some[0].size, 0, *(a.ctypes.data for a in some)) for some in each]
    return np.array(rows, np.int64)


def update_of(name: str, grads: list[str], prefix: str = "") -> tuple[Takes, list[str]]:
    """Return a loop over all parameters of a group, as a part of a native function.

    Args:
        name: that of the loop.
        grads: the names of the gradients, by parameter; none: they are in the table already.
        prefix: of all names.

    Returns:
        Its arguments, ``GroupStep.table`` and the numbers of the loop, with their types; its lines.
    """
    state, numbers = _UPDATES[name]
    table, numbers = f"{prefix}table", [prefix + n for n in numbers]
    lines = [f"{n} = float32({n})" for n in numbers]
    lines += [f"{table}[{k}, {GRADS}] = {grad}.ctypes.data" for k, grad in enumerate(grads)]
    columns = [*range(GRADS + 1, GRADS + 1 + len(state)), GRADS]
    arrays = [f"line({table}[k, {column}], {table}[k, 0])" for column in columns]
    lines.append(f"for k in range({table}.shape[0]):")
    lines.append(f"    {name}({', '.join([*arrays, *numbers])})")
    return {table: ("int64", 2)} | dict.fromkeys(numbers, NUMBER), lines


@functools.cache
def _update(name: str) -> Native:
    """Return the update of all parameters in a table."""
    takes, lines = update_of(name, [])
    return Native(f"{name} of all parameters", takes, lines)


# By the name of the loop: its arrays and numbers.
_UPDATES = {
    "adam": (
        ["param", "mean", "square"],
        ["kept", "penalty", "beta1", "new1", "beta2", "new2", "eps", "rate"],
    ),
    "momentum": (["param", "buffer"], ["penalty", "kept", "lr"]),
    "descent": (["param"], ["penalty", "lr"]),
}
