"""Warnings about steps that do something else than the user expects, each given once."""

from __future__ import annotations

import weakref
from types import GeneratorType
from typing import TYPE_CHECKING, Any

from tinynet.core.callsite import locate, warn
from tinynet.core.graph.accumulate_grad import ACCUMULATION
from tinynet.core.graph.backward import finished
from tinynet.core.graph.node import count_nodes
from tinynet.core.tensors.tensor import counter_of
from tinynet.errors import LostGradientWarning, TrainingWarning, more
from tinynet.nn.base import registry
from tinynet.nn.base.module import Module
from tinynet.nn.parameter import Parameter

if TYPE_CHECKING:
    from tinynet.optim.optimizer import Optimizer

_NO_GRADIENT = (
    "backward() was not called, or zero_grad() was called after it; the loss does not depend on "
    "them (detach(), .data, .item(), numpy() or no_grad() cut it off); or they are not the "
    "parameters of the model that was run"
)


_FIRST_STEPS = 20  # in which a missing zero_grad shows,
_NOT_RESET = 10  # after this many in a row
_KEPT = 100  # losses of past steps in memory: more than any program needs


class Diagnosis:
    """Checks the parameters that steps skip and move; warns once about each kind of mistake."""

    __slots__ = (
        "_gradient",
        "counted",
        "in_modules",
        "required",
        "scheduled",
        "stale",
        "steps",
        "version",
        "warned",
    )

    def __init__(self) -> None:
        # Ids of parameters that required grad, and that belonged to a module, when they were added.
        self.required: set[int] = set()
        self.in_modules: set[int] = set()
        self.warned: set[str] = set()
        self.steps = 0
        self.counted = count_nodes()
        self.scheduled = False  # whether a schedule sets the learning rates
        # A gradient after the last step, and the number of steps whose gradients were added to it.
        self._gradient: weakref.ref[Any] | None = None
        self.version = self.stale = 0

    def joined(self, group: dict[str, Any]) -> None:
        """Remember which parameters of a new group require grad, and which belong to a module."""
        self.required.update(id(p) for p in group["params"] if p.requires_grad)
        self.in_modules |= _in_modules().intersection(map(id, group["params"]))

    def stepped(self, optimizer: Optimizer, moved: int) -> None:
        """Check the gradients of a step, and the parameters that it skipped."""
        self.steps += 1
        if self.steps <= _FIRST_STEPS:
            self._not_reset(optimizer)
        if not self.steps % _KEPT:
            self._kept()
        groups = optimizer.param_groups
        skipped = sum(len(group["params"]) for group in groups) - moved
        if not skipped or {"lost", "result"} <= self.warned:
            return
        waiting = [
            (g, i, p)
            for g, group in enumerate(groups)
            for i, p in enumerate(group["params"])
            if p._grad is None and p.requires_grad
        ]
        self._lost(optimizer, waiting)
        for g, i, p in waiting:
            self._result(optimizer, g, i, p)
        if not moved and not self.warned and not self._is_drawn():
            which = (
                f"none of its {skipped} parameters has a" if skipped > 1 else "its parameter has no"
            )
            self._warn_once(
                "nothing",
                f"{type(optimizer).__name__}.step() changed nothing: {which} gradient. "
                f"Likely: {_NO_GRADIENT if waiting else 'nothing in it requires grad'}.",
            )

    def _is_drawn(self) -> bool:
        """Return whether a schedule is stepped without a model, such as for a plot of its rates."""
        before, self.counted = self.counted, count_nodes()
        return self.scheduled and self.counted == before + 1

    def _not_reset(self, optimizer: Optimizer) -> None:
        """Report gradients that were added to the gradients of several steps before."""
        params = (p for group in optimizer.param_groups for p in reversed(group["params"]))
        grad = next((p._grad for p in params if p._grad is not None), None)
        if grad is None:
            return
        counter = counter_of(grad)
        if self._gradient is not None and self._gradient() is grad:
            first = next(iter(counter.since(self.version)), None)
            added = first is not None and first[1:3] == (ACCUMULATION, self.version + 1)
            self.stale = self.stale + 1 if added else 0
        self._gradient, self.version = weakref.ref(grad), int(counter.n)
        if self.stale == _NOT_RESET:
            self._warn_once(
                "not reset",
                f"{type(optimizer).__name__}.step() applies the gradients of all steps so far: "
                f"backward() adds to .grad, and nothing has reset it for {_NOT_RESET} steps. Call "
                "zero_grad() before each backward(), or after each step()."
                + more("silent-mistakes"),
                TrainingWarning,
            )

    def _kept(self) -> None:
        """Report losses that stay in memory with their graphs."""
        nodes = [node for node in (reference() for reference in finished) if node is not None]
        if len(nodes) < _KEPT:
            return
        where = locate(getattr(nodes[-1], "site", None))
        line = f" ({where.place}: `{where.text}`)" if where else ""
        self._warn_once(
            "kept",
            f"The losses of {len(nodes)} past steps are still in memory with their graphs{line}: "
            "something keeps them, such as `losses.append(loss)` or `total += loss`. Keep numbers "
            "instead: `loss.item()`." + more("silent-mistakes"),
            TrainingWarning,
        )

    def _lost(self, optimizer: Optimizer, waiting: list[tuple[int, int, Any]]) -> None:
        """Report a parameter that has left its module, or whose module is gone."""
        joined = [(g, i, p) for g, i, p in waiting if id(p) in self.in_modules]
        if "lost" in self.warned or not joined:
            return
        in_modules = _in_modules()
        for g, i, p in joined:
            if id(p) not in in_modules:
                self._warn_once(
                    "lost",
                    f"{_name(optimizer, g, i)} belongs to no module any more: the model, or this "
                    "layer of it, was replaced or copied after the optimizer was made. Make the "
                    "optimizer from the parameters of the model that is trained.",
                )

    def _result(self, optimizer: Optimizer, g: int, i: int, p: Any) -> None:
        """Report a parameter that is no longer a leaf."""
        if p.is_leaf or p.retains_grad:
            return
        where = locate(p.grad_fn.site)
        line = f", {where.place}: `{where.text}`" if where else ""
        self._warn_once(
            "result",
            f"{_name(optimizer, g, i)} is no longer a leaf: it became the result of a recorded "
            f"operation{line}. Its .grad stays None, so the optimizer never updates it again. "
            "Write to it inside `with no_grad():`.",
        )

    def frozen(self, optimizer: Optimizer, p: Any) -> None:
        """Warn about an updated parameter that no longer requires grad."""
        if "frozen" in self.warned or id(p) not in self.required:
            return
        for g, group in enumerate(optimizer.param_groups):
            for i, other in enumerate(group["params"]):
                if other is p:
                    self._warn_once(
                        "frozen",
                        f"{_name(optimizer, g, i)} no longer requires grad, but still has a "
                        ".grad from before, and every step applies it. Set its .grad to "
                        "None when you freeze it.",
                    )

    def _warn_once(
        self, kind: str, text: str, category: type[TrainingWarning] = LostGradientWarning
    ) -> None:
        if kind not in self.warned:
            self.warned.add(kind)
            warn(text, category)


def owner_of(params: Any) -> Module | None:
    """Return the module whose ``parameters()``, not yet read, are passed."""
    while isinstance(params, GeneratorType) and params.gi_frame is not None:
        values = params.gi_frame.f_locals
        if isinstance(values.get("self"), Module):
            return values["self"]
        params = values.get(".0")  # what a generator expression reads
    return None


def why_empty(owner: Module | None) -> str:
    """Return what to do about a model without parameters: it may keep its layers in a list.

    Args:
        owner: the model; unless given, all modules that exist. "" if none keeps layers in a list.
    """
    modules = _of_users() if owner is None else owner.modules()
    for module in [*modules]:
        if next(module.parameters(), None) is not None:
            continue
        for name, value in vars(module).items():
            if type(value) not in (list, tuple, dict):
                continue
            parts = [*value.values()] if isinstance(value, dict) else [*value]
            kind = "Dict" if isinstance(value, dict) else "List"
            for base in (Module, Parameter):
                if any(isinstance(part, base) for part in parts):
                    return (
                        f"`{type(module).__name__}.{name}` is a plain {type(value).__name__}, in "
                        "which a module does not look for parameters: write "
                        f"`self.{name} = nn.{base.__name__}{kind}(...)`"
                    )
    return "" if owner is None else "assign the layers to attributes: `self.fc = nn.Linear(...)`"


def _of_users() -> list[Module]:
    """Return the modules that exist whose classes are not tinynet's."""
    alive = [*registry.alive.values()]
    return [m for m in alive if type(m).__module__.partition(".")[0] != "tinynet"]


def _in_modules() -> set[int]:
    """Return the ids of the parameters of all modules that exist."""
    modules = [reference() for reference in registry.alive.valuerefs()]
    return {id(p) for module in modules if module is not None for p in module._parameters.values()}


def _name(optimizer: Optimizer, g: int, i: int) -> str:
    """Return the name of a parameter for messages."""
    group, kind = optimizer.param_groups[g], type(optimizer).__name__
    if "param_names" in group:
        return f"The parameter {group['param_names'][i]!r} of {kind}"
    of = kind if len(optimizer.param_groups) == 1 else f"group {g} of {kind}"
    return f"Parameter {i} of {of} (shape {list(group['params'][i].shape)})"
