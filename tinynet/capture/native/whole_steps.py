"""Whole training steps in one native call: what is computed, and the step of the optimizer."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from tinynet.capture.native.cache import Native, Takes
from tinynet.capture.native.fusion import Body, function_of
from tinynet.capture.native.optimizers import GroupStep, NativeStep, update_of
from tinynet.capture.program import Call, Value
from tinynet.capture.source import Source, compiled
from tinynet.core.callsite import here
from tinynet.core.graph.engine import store
from tinynet.core.tensors.tensor import Tensor, counter_of, wrap
from tinynet.optim.base.elementwise import tests_of
from tinynet.optim.base.formula import Formula
from tinynet.optim.base.hooks import everywhere
from tinynet.optim.optimizer import Optimizer, step_of

_ZERO_GRAD = inspect.unwrap(Optimizer.zero_grad).__code__


def joined(calls: list[Call], kept: list[Value]) -> list[Call]:
    """Return a program with the step of an optimizer in the native function that precedes it.

    Args:
        calls: the program, with native functions and steps.
        kept: values that are needed after it.
    """
    made: list[Call] = []
    for at, call in enumerate(calls):
        made.append(call)
        if isinstance(call.function, NativeStep):
            later = {v.number for c in calls[at + 1 :] for v in c.inputs()}
            _join_last(made, later | {v.number for v in kept})
    return made


def _join_last(made: list[Call], later: set[int]) -> None:
    """Join the last call, a step, with the native function and the stores before it, if any."""
    step, at = made[-1], len(made) - 2
    while at >= 0 and made[at].function is store:
        at -= 1
    if at < 0 or not hasattr(made[at].function, "body"):
        return
    cleared = at > 0 and _clears(made[at - 1]) and made[at - 1].args[0] is step.args[0]
    groups = _groups(step.args[0])
    grads = _gradients(made[at], made[at + 1 : -1])
    if groups and grads and _take(groups, grads):
        whole = WholeStep(made[at - cleared :], groups, grads)
        made[at - cleared :] = [whole.call(later)]


def _clears(call: Call) -> bool:
    """Return whether a call sets the gradients of an optimizer to None."""
    return getattr(call.function, "__code__", None) is _ZERO_GRAD and len(call.args) == 1


def _groups(optimizer: Any) -> list[GroupStep] | None:
    """Return the steps of all groups; None if native code does not take one of them."""
    plans = [optimizer._plans.get(id(group)) for group in optimizer.param_groups]
    groups = [GroupStep(optimizer, plan) for plan in plans if plan is not None]
    has_formulas = len(groups) == len(plans) and all(group.formula(optimizer) for group in groups)
    return groups if has_formulas else None


def _take(groups: list[GroupStep], grads: dict[int, Value]) -> bool:
    """Return whether the steps are for the parameters that get these gradients.

    A plan may be of an earlier step, with parameters that the group has no longer.
    """
    members = [id(p) for step in groups for p in step.plan.group["params"] if id(p) in grads]
    planned = [id(p) for step in groups for p in step.plan.params]
    return members == planned and len(members) == len(grads)


def _gradients(call: Call, stores: list[Call]) -> dict[int, Value] | None:
    """Return the gradient of each leaf, by its id; None if it is not stored as it is."""
    grads: dict[int, Value] = {}
    made = {v.number for v in call.outputs()}
    for one in stores:
        leaf, g, *how = one.args
        plain = isinstance(leaf, Tensor) and isinstance(g, Value) and how == [True, False, False]
        if not plain or g.number not in made or not g.whole or id(leaf) in grads:
            return None
        grads[id(leaf)] = g
    return grads


class WholeStep:
    """A native function, the gradients that are stored after it, and a step of an optimizer.

    Args:
        parts: the calls, from the native function on, or from ``zero_grad`` before it.
        groups: the steps of the groups of parameters.
        grads: the gradient of each parameter, by its id.
    """

    def __init__(self, parts: list[Call], groups: list[GroupStep], grads: dict[int, Value]):
        self._parts, self._groups, self._grads = parts, groups, grads
        self._optimizer = parts[-1].args[0]
        self._cleared = _clears(parts[0])
        self._body: Body = parts[self._cleared].function.body  # type: ignore[attr-defined]
        self._native: dict[Any, Native] = {}  # by the loops, and the gradients that they take
        name = type(self._optimizer).__name__
        self.native_title = f"{self._body.title}, and the step of {name}"
        self._places: list[tuple[dict[str, Any], str]] = []

    def natives(self) -> list[Native]:
        """Return the native functions so far."""
        return [*self._native.values()]

    def call(self, later: set[int]) -> Call:
        """Return the call of all of it; ``later`` are the numbers of the values needed then."""
        inputs = self._body.inputs
        self._outputs = [v for v in self._body.outputs if v.number in later]
        self._apart = function_of(self._parts, inputs, self._outputs)
        function: Any = self  # which puts a function into the namespace of the program
        call = Call("perform", function, tuple(inputs), {}, self._parts[self._cleared].site)
        call.result = self._outputs[0] if len(self._outputs) == 1 else tuple(self._outputs)
        return call

    def put_into(self, namespace: dict[str, Any], name: str) -> None:
        """Put the Python function of the step into a namespace, now and when it changes."""
        self._places.append((namespace, name))
        namespace[name] = self._function()

    def _run_apart(self, *values: Any) -> Any:
        """Run the parts one by one; adopt the new plans of the optimizer, if it has any."""
        result = self._apart(*values)
        groups = _groups(self._optimizer)
        known = [step.plan for step in self._groups], self._formulas
        if groups and ([step.plan for step in groups], self._next(groups)) != known:
            if _take(groups, self._grads):
                self._groups = groups
                for namespace, name in self._places:
                    namespace[name] = self._function()
        return result

    def _function(self) -> Any:
        """Return the Python function for the plans that the optimizer has now."""
        body, source = self._body, Source([], [])
        keep, space, lines = source.keep, source.namespace, source.lines
        given = ", ".join(f"v{v.number}" for v in body.inputs)
        params = [p for step in self._groups for p in step.plan.params]
        everyone = [p for group in self._optimizer.param_groups for p in group["params"]]
        grads = [self._grads[id(p)] for p in params]
        space.update(apart=self._run_apart, wrap=wrap, here=here, counter_of=counter_of)
        native, more = self._updating(source, [*map(body.name_of, grads)])
        native.put(space, "native")
        lines.append(f"if not fits: return apart({given})")
        lines += body.allocate(space)
        lines.append(f"if native({body.given()}, {more}): return apart({given})")
        for p, g in zip(params, grads, strict=True):
            lines.append(f"{keep(p)}._grad = wrap(v{g.number})")
        taking = {*map(id, params)}
        lines += [f"{keep(p)}._grad = None" for p in everyone if id(p) not in taking]
        lines += [
            f"{keep(step.plan.advance)}(next{i}[2])"
            for i, step in enumerate(self._groups)
            if step.plan.numbers
        ]
        lines.append("site = here()")
        for p in params:
            what = keep(step_of(type(self._optimizer).__name__))
            lines.append(f"({keep(p)}._counter or counter_of({keep(p)})).bump(site, {what})")
        lines += [f"{keep(self._optimizer)}.stepped = True"]
        lines += [f"return {', '.join(f'v{v.number}' for v in self._outputs) or None}"]
        checks = self._checks(source, params, [] if self._cleared else everyone)
        text = [f"def whole({given}):", *checks, *(f"    {line}" for line in lines)]
        function = compiled("whole step", "whole", text, space)
        function.native = native
        return function

    def _next(self, groups: Sequence[GroupStep]) -> tuple[Formula | None, ...]:
        """Return the formulas of the coming step of the groups."""
        return tuple(step.formula(self._optimizer) for step in groups)

    def _updating(self, source: Source, grads: list[str]) -> tuple[Native, str]:
        """Return the native function, and what it is given for the updates of all groups."""
        takes: Takes = {}
        lines: list[str] = []
        given: list[str] = []
        waiting = [*grads]
        self._formulas = self._next(self._groups)
        for i, (step, formula) in enumerate(zip(self._groups, self._formulas, strict=True)):
            assert formula is not None  # see has_formulas
            own = [waiting.pop(0) for _ in step.plan.params]
            more_takes, more_lines = update_of(formula, own, f"group{i}_")
            takes, lines = takes | more_takes, lines + more_lines
            given += [source.keep(step.table), f"*next{i}[1]"]
        key = self._formulas, *grads
        if key not in self._native:
            self._native[key] = self._body.native(takes, lines, self.native_title)
        return self._native[key], ", ".join(given)

    def _checks(self, source: Source, params: list[Tensor], bare: list[Tensor]) -> list[str]:
        """Return lines that set ``fits``: nothing was replaced, and no hooks run."""
        keep = source.keep
        optimizer, hooks = keep(self._optimizer), [keep(hooks) for hooks in everywhere]
        hooks += [
            f"{optimizer}._optimizer_step_pre_hooks",
            f"{optimizer}._optimizer_step_post_hooks",
        ]
        tests = [f"not ({' or '.join(hooks)})", f"len(groups) == {len(self._groups)}"]
        for i, (step, formula) in enumerate(zip(self._groups, self._formulas, strict=True)):
            plan, group = step.plan, keep(step.plan.group)
            tests += [f"groups[{i}] is {group}", f'(params := {group}["params"]) is not None']
            tests += tests_of(plan, [*plan.group["params"]], keep)
            following = f"(next{i} := {optimizer}.next_step({group}, {keep(plan.numbers)}))"
            tests.append(f"{following}[0] is {keep(formula)}")
        tests += [f"{keep(p)}._grad is None" for p in bare]
        tests += [f"{keep(p)}.{name} is None" for p in params for name in ("_hooks", "_edge")]
        lines = [f"groups, state = {optimizer}.param_groups, {optimizer}.state"]
        lines += [f"try: fits = {' and '.join(tests)}", "except KeyError: fits = False"]
        return [f"    {line}" for line in lines]
