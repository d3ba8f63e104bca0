"""Steps of optimizers: one native call for all parameters of a group."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tinynet.capture.native.cache import NUMBER, Native, Takes
from tinynet.capture.native.forms import enabled
from tinynet.capture.program import Call
from tinynet.core.callsite import here
from tinynet.optim.base.elementwise import Elementwise, Plan
from tinynet.optim.base.formula import Formula
from tinynet.optim.base.hooks import has_step_hooks

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
        formulas = [GroupStep(self._optimizer, plan).formula(self._optimizer) for plan in plans]
        return [_update(formula) for formula in formulas if formula is not None]

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
            ``[count, columns]``; None if native code does not take them.
    """

    def __init__(self, optimizer: Elementwise, plan: Plan):
        self.plan = plan
        plain = type(optimizer).rule is Elementwise.rule  # users' classes may change it
        self.table = _table(plan) if plain else None
        self._functions: dict[str, Any] = {}

    def formula(self, optimizer: Elementwise) -> Formula | None:
        """Return the formula of the coming step, if native code takes the parameters."""
        if self.table is None:
            return None
        return optimizer.next_step(self.plan.group, self.plan.numbers)[0]

    def run(self, optimizer: Elementwise, grads: tuple[Any, ...]) -> None:
        """Update the parameters."""
        plan = self.plan
        if self.table is None or not all(g.flags.c_contiguous for g in grads):
            plan.run(optimizer.block_rule(plan.group, plan.numbers, plan.kind, False), grads)
            return
        formula, numbers, after = optimizer.next_step(plan.group, plan.numbers)
        name = str(id(formula))
        if name not in self._functions:
            _update(formula).put(self._functions, name)
        self.table[:, GRADS] = [g.ctypes.data for g in grads]
        self._functions[name](self.table, *numbers)
        plan.advance(after)


def _table(plan: Plan) -> Any:
    """Return the table of the parameters; None if native code does not take them."""
    each = [(slot.array, *slot.buffers) for slot in plan.slots]
    if any(a.dtype != np.float32 or not a.flags.c_contiguous for some in each for a in some):
        return None
    rows = [(some[0].size, 0, *(a.ctypes.data for a in some)) for some in each]
    return np.array(rows, np.int64)


def update_of(formula: Formula, grads: list[str], prefix: str = "") -> tuple[Takes, list[str]]:
    """Return a loop over all parameters of a group, as a part of a native function.

    Args:
        formula: the step's.
        grads: the names of the gradients, by parameter; none: they are in the table already.
        prefix: of all names.

    Returns:
        Its arguments, ``GroupStep.table`` and the numbers of the formula, with their types; its
        lines.
    """
    prefix += "step_"
    table, k, i = (prefix + name for name in ("table", "k", "i"))
    given = [f"{prefix}given_{name}" for name in formula.numbers]
    lines = [f"{prefix}{n} = float32({x})" for n, x in zip(formula.numbers, given, strict=True)]
    lines += [f"{table}[{row}, {GRADS}] = {grad}.ctypes.data" for row, grad in enumerate(grads)]
    lines.append(f"for {k} in range({table}.shape[0]):")
    for column, name in enumerate(["grad", "param", *formula.state], GRADS):
        lines.append(f"    {prefix}{name} = line({table}[{k}, {column}], {table}[{k}, 0])")
    lines.append(f"    {prefix}size = {table}[{k}, 0]")
    lines.append(f"    for {i} in shared({prefix}size, {prefix}size):")
    lines += [f"        {line}" for line in formula.native_lines(prefix, i)]
    return {table: ("int64", 2)} | dict.fromkeys(given, NUMBER), lines


@functools.cache
def _update(formula: Formula) -> Native:
    """Return the update of all parameters in a table."""
    takes, lines = update_of(formula, [])
    return Native("update of all parameters", takes, lines)
