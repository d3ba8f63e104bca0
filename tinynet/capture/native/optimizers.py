"""Steps of optimizers: one native call for all parameters of a group."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tinynet.capture.native.cache import Native
from tinynet.capture.native.forms import enabled
from tinynet.capture.program import Call
from tinynet.core.callsite import here
from tinynet.kernels.numba import compiler
from tinynet.optim.base.elementwise import Elementwise
from tinynet.optim.base.hooks import has_step_hooks
from tinynet.optim.base.plans import Plan


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
        lines: the values and the state of each in one dimension; empty if no loop takes them.
    """

    def __init__(self, optimizer: Elementwise, plan: Plan):
        self.plan = plan
        self.lines = _lines(plan) if _has_own_loop(type(optimizer)) else ()
        self._loops: dict[str, Any] = {}

    def loop(self, optimizer: Elementwise) -> tuple[str, tuple[float, ...]] | None:
        """Return the name of the loop, and its numbers for the coming step, if there is one."""
        return optimizer.fused_loop(self.plan.group, self.plan.numbers) if self.lines else None

    def run(self, optimizer: Elementwise, grads: tuple[Any, ...]) -> None:
        """Update the parameters."""
        plan, loop = self.plan, self.loop(optimizer)
        if loop is None or not all(g.flags.c_contiguous for g in grads):
            plan.run(optimizer.block_rule(plan.group, plan.numbers, plan.kind, False), grads)
            return
        name, numbers = loop
        if name not in self._loops:
            _update(name, len(grads)).put(self._loops, name)
        self._loops[name](*grads, *self.lines, *numbers)
        plan.advance()


def _has_own_loop(kind: type[Elementwise]) -> bool:
    """Return whether the loop of an optimizer is that of its rule: users' classes may change it."""
    owners = [
        next(base for base in kind.__mro__ if name in vars(base)) for name in ("fused_loop", "rule")
    ]
    return issubclass(*owners)


def _lines(plan: Plan) -> tuple[Any, ...]:
    """Return values and state of all parameters as ``[n]``; nothing if no loop takes them."""
    arrays = [a for slot in plan.slots for a in (slot.array, *slot.buffers)]
    if any(a.dtype != np.float32 or not a.flags.c_contiguous for a in arrays):
        return ()
    return tuple(a.reshape(-1) for a in arrays)


def update_of(name: str, grads: list[str], prefix: str = "") -> tuple[list[str], list[str], Any]:
    """Return a loop over all parameters of a group, as a part of a native function.

    Args:
        name: that of the loop.
        grads: the names of the gradients, by parameter.
        prefix: of all names.

    Returns:
        The names of its arguments, ``GroupStep.lines`` and the numbers of the loop; its lines; the
        globals that these need.
    """
    state, numbers, function = _UPDATES[name]
    numbers = [prefix + n for n in numbers]
    given = [[f"{prefix}{n}{k}" for n in state] for k in range(len(grads))]
    lines = [f"{n} = float32({n})" for n in numbers]
    for each, grad in zip(given, grads, strict=True):
        array = f"{grad}.reshape({each[0]}.size)"
        lines.append(f"{name}({', '.join([*each, array, *numbers])})")
    names = [n for each in given for n in each] + numbers
    return names, lines, {name: _loop(function), "float32": np.float32}


@functools.cache
def _loop(function: Any) -> Any:
    return compiler.jit(function)


@functools.cache
def _update(name: str, count: int) -> Native:
    """Return the update of ``count`` parameters; dispatching tuples of arrays takes longer."""
    grads = [f"grad{k}" for k in range(count)]
    names, lines, space = update_of(name, grads)
    head = f"def update({', '.join(grads + names)}):"
    body = [f"    {line}" for line in lines]
    return Native(f"{name} of {count} parameters", "update", [head, *body], space)


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
