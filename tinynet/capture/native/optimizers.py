"""Steps of optimizers: one native call for all parameters of a group."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tinynet.capture.native.cache import Native
from tinynet.capture.native.eager_kernels import enabled
from tinynet.capture.program import Call
from tinynet.core.callsite import here
from tinynet.numba_kernels import compiler
from tinynet.optim.base.elementwise import Elementwise
from tinynet.optim.base.hooks import everywhere
from tinynet.optim.base.parameter_state import OnePass
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
        self.slowly = enabled(slowly)
        self._ready: dict[int, tuple[Plan, list[Any] | None]] = {}
        self._blocks: dict[int, tuple[list[Any], Any]] = {}

    def __call__(self, optimizer: Elementwise) -> None:
        """Run a step."""
        if optimizer._before or optimizer._after or everywhere[0] or everywhere[1]:
            self.slowly(optimizer)
            return
        todo = []
        for group in optimizer.param_groups:
            plan, params = optimizer._plans.get(id(group)), group["params"]
            grads = [p._grad for p in params]
            if plan is None or any(g is None for g in grads):
                self.slowly(optimizer)
                return
            arrays = [g._array for g in grads]
            if not plan.fits(params, arrays, optimizer.state, optimizer.buffers(group)):
                self.slowly(optimizer)
                return
            todo.append((group, plan, arrays))
        site = here()
        for group, plan, arrays in todo:
            self._update(plan, self._block(optimizer, group, plan), arrays)
            optimizer._wrote(zip(plan.params, arrays, strict=True), site, 0)
        optimizer.stepped = True

    def _block(self, optimizer: Elementwise, group: Any, plan: Plan) -> Any:
        """Return the update of a group, kept while its options stay the same."""
        options = [value for name, value in group.items() if name != "params"]
        if not plan.numbers and id(group) in self._blocks:
            before, block = self._blocks[id(group)]
            if before == options:
                return block
        optimizer.native = True
        try:
            block = optimizer.rule(group, plan.numbers, plan.kind, False)
        finally:
            del optimizer.native
        self._blocks[id(group)] = options, block
        return block

    def _update(self, plan: Plan, block: Any, grads: list[Any]) -> None:
        known = self._ready.get(id(plan))
        if known is None or known[0] is not plan:
            known = self._ready[id(plan)] = plan, _lines(plan)
        lines = known[1]
        if lines is None or not isinstance(block, OnePass):
            plan.run(block, grads)
            return
        plan.copy_numbers()
        _update(block.kernel, len(grads))(*lines, *grads, *block.numbers)


def _lines(plan: Plan) -> list[Any] | None:
    """Return values and state of all parameters as ``[n]``; None if some are not contiguous."""
    if any(not a.flags.c_contiguous for slot in plan.slots for a in (slot.array, *slot.buffers)):
        return None
    return [a.reshape(-1) for slot in plan.slots for a in (slot.array, *slot.buffers)]


@functools.cache
def _update(name: str, count: int) -> Any:
    """Return the update of ``count`` parameters; dispatching tuples of arrays takes longer."""
    state, numbers, function = _UPDATES[name]
    given = [[f"{n}{k}" for n in state] for k in range(count)]
    names = [n for each in given for n in each] + [f"grad{k}" for k in range(count)] + numbers
    lines = [f"def update({', '.join(names)}):"]
    for k, each in enumerate(given):
        grad = f"grad{k}.reshape({each[0]}.size)"
        lines.append(f"    one({', '.join([*each, grad, *numbers])})")
    return Native(f"{name} of {count} parameters", "update", lines, {"one": compiler.jit(function)})


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


# By name of the kernel of a OnePass: the arrays, the numbers, the update.
_UPDATES = {
    "adam": (
        ["param", "mean", "square"],
        ["kept", "penalty", "beta1", "new1", "beta2", "new2", "eps", "rate"],
        _adam,
    ),
    "momentum": (["param", "buffer"], ["penalty", "kept", "lr"], _momentum),
}
