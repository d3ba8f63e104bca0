"""Steps of optimizers: one native call for all parameters of a group."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tinynet.capture.native import library
from tinynet.capture.native.cache import Native
from tinynet.capture.native.forms import enabled
from tinynet.capture.program import Call
from tinynet.core.callsite import here
from tinynet.kernels.numba import compiler
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
    return Call("perform", NativeStep(call.function), call.args, {}, call.site)


class NativeStep:
    """Runs steps of an optimizer.

    Args:
        slowly: the optimizer's own step, for whatever is not plain, such as hooks or new state.
    """

    def __init__(self, slowly: Any):
        self.__name__ = slowly.__name__
        self.slowly = enabled(slowly)
        self._groups: dict[int, GroupStep] = {}

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


def update_of(name: str, grads: list[str], prefix: str = "") -> tuple[list[str], list[str], Any]:
    """Return a loop over all parameters of a group, as a part of a native function.

    Args:
        name: that of the loop.
        grads: the names of the gradients, by parameter; none: they are in the table already.
        prefix: of all names.

    Returns:
        The names of its arguments, ``GroupStep.table`` and the numbers of the loop; its lines; the
        globals that these need.
    """
    state, numbers, function = _UPDATES[name]
    table, numbers = f"{prefix}table", [prefix + n for n in numbers]
    lines = [f"{n} = float32({n})" for n in numbers]
    lines += [f"{table}[{k}, {GRADS}] = {grad}.ctypes.data" for k, grad in enumerate(grads)]
    columns = [*range(GRADS + 1, GRADS + 1 + len(state)), GRADS]
    arrays = [f"line({table}[k, {column}], {table}[k, 0])" for column in columns]
    lines.append(f"for k in range({table}.shape[0]):")
    lines.append(f"    {name}({', '.join([*arrays, *numbers])})")
    return [table, *numbers], lines, {name: _loop(function), "float32": np.float32}


@functools.cache
def _loop(function: Any) -> Any:
    return compiler.jit(function, inner=True)


@functools.cache
def _update(name: str) -> Native:
    """Return the update of all parameters in a table."""
    names, lines, space = update_of(name, [])
    body = [f"    {line}" for line in lines]
    head = f"def update({', '.join(names)}):"
    return Native(f"{name} of all parameters", "update", [head, *body], library.namespace() | space)


def _adam(param, mean, square, grad, kept, penalty, beta1, new1, beta2, new2, eps, rate):
    for i in range(param.size):
        p = param[i] * kept
        g = grad[i] + penalty * p
        m = mean[i] * beta1 + new1 * g
        v = square[i] * beta2 + new2 * (g * g)
        mean[i] = m
        square[i] = v
        param[i] = p - rate * (m / (np.sqrt(v) + eps))


def _momentum(param, buffer, grad, penalty, kept, lr):
    for i in range(param.size):
        b = buffer[i] * kept + (grad[i] + penalty * param[i])
        buffer[i] = b
        param[i] -= lr * b


def _descent(param, grad, penalty, lr):
    for i in range(param.size):
        param[i] -= lr * (grad[i] + penalty * param[i])


# By name: the arrays, the numbers, the update.
_UPDATES = {
    "adam": (
        ["param", "mean", "square"],
        ["kept", "penalty", "beta1", "new1", "beta2", "new2", "eps", "rate"],
        _adam,
    ),
    "momentum": (["param", "buffer"], ["penalty", "kept", "lr"], _momentum),
    "descent": (["param"], ["penalty", "lr"], _descent),
}
