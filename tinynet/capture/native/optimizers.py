"""Steps of optimizers: one native call for all parameters of a group."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tinynet.capture.native.cache import Native
from tinynet.capture.native.eager_kernels import enabled
from tinynet.capture.program import Call
from tinynet.capture.source import Source, compiled
from tinynet.core.callsite import here
from tinynet.numba_kernels import compiler
from tinynet.optim.base.elementwise import Elementwise
from tinynet.optim.base.hooks import everywhere
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
        hooks = optimizer._before or optimizer._after or everywhere[0] or everywhere[1]
        todo: list[tuple[Any, GroupStep, tuple[Any, ...]]] = []
        for group in optimizer.param_groups:
            step = None if hooks else self._step(optimizer, group)
            grads = step and step.gradients(
                group["params"], optimizer.state, optimizer.buffers(group)
            )
            if not (step and grads):
                self.slowly(optimizer)
                return
            todo.append((group, step, grads))
        site = here()
        for group, step, grads in todo:
            step.run(optimizer, group, grads)
            optimizer._wrote(zip(step.plan.params, grads, strict=True), site, 0)
        optimizer.stepped = True

    def _step(self, optimizer: Elementwise, group: Any) -> GroupStep | None:
        """Return the step of a group, prepared where the plan of the optimizer is new and fits."""
        step, plan = self._groups.get(id(group)), optimizer._plans.get(id(group))
        if step is not None and step.plan is plan:
            return step
        grads = [None if p._grad is None else p._grad._array for p in group["params"]]
        names = optimizer.buffers(group)
        if plan is None or not plan.fits(group["params"], grads, optimizer.state, names):
            return None
        step = self._groups[id(group)] = GroupStep(optimizer, plan)
        return step


class GroupStep:
    """The step of a group of parameters.

    Attributes:
        plan: their values and state.
        gradients: returns the arrays of all gradients, given the parameters, the state and the
            names of its entries; None if something has been replaced since the plan was made.
    """

    def __init__(self, optimizer: Elementwise, plan: Plan):
        self.plan = plan
        self.gradients = _gradients(plan)
        self._lines = _lines(plan) if _has_own_loop(type(optimizer)) else None
        self._loops: dict[str, Any] = {}

    def run(self, optimizer: Elementwise, group: Any, grads: tuple[Any, ...]) -> None:
        """Update the parameters."""
        plan = self.plan
        loop = optimizer.one_pass(group, plan.numbers) if self._lines else None
        if loop is None or self._lines is None:
            plan.run(optimizer.rule(group, plan.numbers, plan.kind, False), grads)
            return
        plan.copy_numbers()
        name, numbers = loop
        if name not in self._loops:
            _update(name, len(grads)).put(self._loops, name)
        self._loops[name](*self._lines, *grads, *numbers)


def _has_own_loop(kind: type[Elementwise]) -> bool:
    """Return whether the loop of an optimizer is that of its rule: users' classes may change it."""
    owners = [
        next(base for base in kind.__mro__ if name in vars(base)) for name in ("one_pass", "rule")
    ]
    return issubclass(*owners)


def _gradients(plan: Plan) -> Any:
    """Write ``Plan.fits`` as straight-line code for the objects of a plan."""
    source = Source([], [])
    keep, lines = source.keep, source.lines
    tests = [f"names == {keep(plan.names)}", f"len(params) == {len(plan.params)}"]
    first: list[str] = []  # the 0-d state of the first parameter
    for i, (p, slot) in enumerate(zip(plan.params, plan.slots, strict=True)):
        name = keep(p)
        tests += [f"params[{i}] is {name}", f"{name}._array is {keep(slot.array)}"]
        lines.append(f"g{i} = {name}._grad")
        if slot.held is not None:
            held = keep(slot.held)
            tests += [f"state.get({name}) is {held}", f"len({held}) == {len(slot.held)}"]
            for key, value in slot.held.items():
                tests.append(f"{held}[{key!r}] is {keep(value)}")
                tests.append(f"{keep(value)}._array is {keep(value._array)}")
        else:
            tests.append(f"state.get({name}) is None")
        numbers = [f"{keep(number)}.item()" for number in slot.numbers.values()]
        tests += [f"{mine} == {its}" for mine, its in zip(first, numbers, strict=False)]
        first = first or numbers
    for i, shape in enumerate(plan.shapes):
        tests += [f"g{i} is not None", f"(a{i} := g{i}._array).__class__ is array"]
        tests += [f"a{i}.shape == {shape!r}", f"a{i}.flags.c_contiguous"]
    source.namespace["array"] = np.ndarray
    made = "".join(f"a{i}, " for i in range(len(plan.shapes)))
    lines += [f"fits = {' and '.join(tests)}", f"return ({made}) if fits else None"]
    head = "def gradients(params, state, names):"
    body = ["    try:", *(f"        {line}" for line in lines), "    except KeyError: return None"]
    return compiled("gradients of a group", "gradients", [head, *body], source.namespace)


def _lines(plan: Plan) -> list[Any] | None:
    """Return values and state of all parameters as ``[n]``; None if a loop does not take them."""
    arrays = [a for slot in plan.slots for a in (slot.array, *slot.buffers)]
    if any(a.dtype != np.float32 or not a.flags.c_contiguous for a in arrays):
        return None
    return [a.reshape(-1) for a in arrays]


@functools.cache
def _update(name: str, count: int) -> Native:
    """Return the update of ``count`` parameters; dispatching tuples of arrays takes longer."""
    state, numbers, function = _UPDATES[name]
    given = [[f"{n}{k}" for n in state] for k in range(count)]
    names = [n for each in given for n in each] + [f"grad{k}" for k in range(count)] + numbers
    lines = [f"def update({', '.join(names)}):"]
    lines += [f"    {n} = float32({n})" for n in numbers]
    for k, each in enumerate(given):
        grad = f"grad{k}.reshape({each[0]}.size)"
        lines.append(f"    one({', '.join([*each, grad, *numbers])})")
    space = {"one": compiler.jit(function), "float32": np.float32}
    return Native(f"{name} of {count} parameters", "update", lines, space)


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
