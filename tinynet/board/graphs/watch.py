"""Recording what runs, in order: operations, writes, calls of models, backward passes.

Recording computes nothing else, so that it hardly affects the times. Arrays and nodes are kept
until the records are dropped, because their identity links them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tinynet.board.graphs.build import new_bytes
from tinynet.board.graphs.graph import Call, Calls, Names
from tinynet.board.graphs.timing import Timed, Timer
from tinynet.core.callsite import Site, here
from tinynet.core.graph.accumulate_grad import Rows
from tinynet.core.graph.node import Node, count_nodes
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.trace import following
from tinynet.dtypes import Array


@dataclass(slots=True, eq=False)
class Ran:
    """An operation, or a write in place, that ran."""

    op: Any
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    attributes: dict[str, Any]
    call: Call | None
    visit: Visit | None  # the node of a backward pass for which it ran
    site: Site | None
    part: str
    stamp: int  # its node, if it creates one, has the next creation number
    timed: Timed


@dataclass(slots=True, eq=False)
class Called:
    """A model is called; hooks fill in its arguments and results."""

    call: Call
    part: str
    arguments: tuple[tuple[Any, ...], dict[str, Any]] | None = None


@dataclass(slots=True, eq=False)
class Returned:
    """A model has returned."""

    call: Call
    part: str
    output: Any


@dataclass(slots=True, eq=False)
class Pass:
    """A backward pass begins."""

    edges: list[tuple[Any, int]]
    part: str
    captures: bool  # as in autograd.grad: gradients are returned instead of accumulated


@dataclass(slots=True, eq=False)
class Visit:
    """A visited node of a backward pass: its saved values, and the gradients it passed on."""

    of: Pass
    node: Node
    saved: dict[str, Any]
    part: str
    timed: Timed
    memory: int = 0
    left: list[tuple[int, Array]] = field(default_factory=list)  # number of the edge, gradient


@dataclass(slots=True, eq=False)
class Passed:
    """A backward pass has ended; holds the gradients of its leaves."""

    of: Pass
    leaves: list[tuple[Tensor, Array | None]]


Event = Ran | Called | Returned | Pass | Visit | Passed


class Watch(Timer):
    """Records events between `started` and its end, in the thread that started it.

    Args:
        models: the models by name; others are named after their classes.
    """

    def __init__(self, models: Mapping[str, Any]) -> None:
        super().__init__()
        self.names = Names()
        self.events: list[Event] = []
        self.part = ""
        self.calls = Calls(self.names, models, self._outermost)
        self._hooked: list[tuple[Any, bool, Any]] = []
        self._passes: list[Pass] = []
        self._visits: list[Visit] = []

    @contextlib.contextmanager
    def started(self) -> Iterator[None]:
        """Return a context in which everything is recorded; leaves nothing on the modules."""
        try:
            with following(self), super().started():
                yield
        finally:
            while self._hooked:
                self._unhook()

    # ---- operations ---------------------------------------------------------------------------

    def _ran(
        self,
        op: Any,
        inputs: Sequence[Array],
        outputs: Sequence[Array],
        attributes: dict[str, Any],
        times: tuple[int, int] | None,
    ) -> None:
        timed = self.operation(op.title, times)
        visit = self._visits[-1] if self._visits else None
        given = tuple(arrays_of(inputs)), tuple(arrays_of(outputs)), attributes
        call, stamp = self.calls.current, count_nodes()
        self.events.append(Ran(op, *given, call, visit, here(), self.part, stamp, timed))
        self.done(timed)

    # ---- modules ------------------------------------------------------------------------------

    def entered(self, module: Any) -> None:
        """See `core.module_scope.Follower`."""
        self.calls.entered(module)

    def left(self, module: Any) -> None:
        """See `core.module_scope.Follower`."""
        outermost = self.calls.current is not None and self.calls.current.outer is None
        self.calls.left(module)
        if outermost and self._hooked:
            self._unhook()

    def _outermost(self, call: Call) -> None:
        """Add a hook to a called model, for this call only, to see its arguments and results."""
        event = Called(call, self.part)
        self.events.append(event)

        def returned(module: Any, args: Any, kwargs: Any, output: Any) -> None:
            event.arguments = args, kwargs
            self.events.append(Returned(call, self.part, output))

        had = "_hooks" in vars(call.module)
        handle = call.module.register_forward_hook(returned, with_kwargs=True)
        self._hooked.append((call.module, had, handle))

    def _unhook(self) -> None:
        module, had, handle = self._hooked.pop()
        handle.remove()
        if not had:
            vars(module).pop("_hooks", None)

    # ---- backward -----------------------------------------------------------------------------

    def began(self, backward_pass: Any) -> None:
        """See `BackwardObserver`."""
        self._passes.append(
            Pass(list(backward_pass.edges), self.part, backward_pass.inputs is not None)
        )
        self.events.append(self._passes[-1])

    def visit(self, backward_pass: Any, node: Node, go: Callable[[Node], None]) -> None:
        """See `BackwardObserver`."""
        came = backward_pass.pending.get(node)
        edges = [(number, edge) for number, edge in enumerate(node.edges) if edge]
        before = {number: gradient_at(backward_pass, edge) for number, edge in edges}
        saved = saved_values(node)
        visit = Visit(self._passes[-1], node, saved, self.part, self.begin(node))
        self.events.append(visit)
        self._visits.append(visit)
        try:
            go(node)
        finally:
            self.end(visit.timed)
            self._visits.pop()
            for number, edge in edges:
                array = gradient_at(backward_pass, edge)
                if array is not None and array is not before[number]:
                    visit.left.append((number, array))
            came = came if isinstance(came, list) else [came]
            known = [*arrays_of(came), *(a for a in before.values() if a is not None)]
            visit.memory = new_bytes(known, [array for _, array in visit.left])
            self.done(visit.timed)

    def ended(self, backward_pass: Any) -> None:
        """See `BackwardObserver`."""
        leaves = [
            (leaf, array_of(leaf._grad))
            for leaf in (arrived.tensor for arrived in backward_pass.leaves.values())
        ]
        self.events.append(Passed(self._passes.pop(), leaves))
        self.resume()


def array_of(value: Any) -> Any:
    """Return the array of a tensor, or of a sparse gradient's rows; None for anything else."""
    value = getattr(value, "_array", value)
    if isinstance(value, Rows):
        return value.values
    return value if isinstance(value, np.ndarray) else None


def arrays_of(values: Iterable[Any]) -> list[Array]:
    """Return the arrays of all values that have one."""
    return [array for array in map(array_of, values) if array is not None]


def gradient_at(backward_pass: Any, edge: tuple[Any, int]) -> Array | None:
    """Return the array of the gradient accumulated at an edge so far."""
    return array_of(arrived_at(backward_pass, edge))


def arrived_at(backward_pass: Any, edge: tuple[Any, int]) -> Any:
    """Return the gradient accumulated at an edge so far, or in its leaf."""
    target, number = edge
    if isinstance(target, Tensor):
        found = backward_pass.leaves[id(target)].gradient
        return target._grad if found is None else found
    found = backward_pass.pending.get(target)
    return found[number] if isinstance(found, list) else found


def saved_values(node: Any) -> dict[str, Any]:
    """Return the values that a node has saved: arrays and numbers by name."""
    inner = getattr(node, "inner", None) or node  # for CopySlices: the node of the write
    found = {name: getattr(inner, f"saved_{name}", None) for name in inner.saved}
    kept = getattr(node, "_saved", ())  # of an autograd.Function
    if isinstance(kept, list):
        found |= {str(i): item[0].array for i, item in enumerate(kept) if item is not None}
    return {name: value for name, value in found.items() if value is not None}
