"""Capturing: run a function once, and return what it did forward and what its backward would do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet.capture.program import Call, Program, Value, leaves, rebuilt
from tinynet.capture.recorder import CaptureError, Recorder
from tinynet.capture.watcher import Watcher
from tinynet.core.graph.engine import BackwardPass
from tinynet.core.graph.node import Node, count_nodes
from tinynet.core.graph.traversal import reachable
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.core.tensors.views import edge_of


class Captured:
    """The result of one capture.

    Attributes:
        program: the calls of the function.
        backward: the calls of its backward pass, with the gradients of the outputs as arguments and
            those of ``ends`` as results; None if no output requires grad.
        ends: where the gradients go: tensors, or numbers of arguments.
    """

    def __init__(self, recorder: Recorder, watcher: Watcher):
        self.program, self.recorder, self.watcher = recorder.program, recorder, watcher
        self.backward: Program | None = None
        self.ends: list[Any] = []
        self.differentiable: list[Value] = []
        self.spent: list[Value] = []

    def same(self, other: Captured) -> Call | bool | None:
        """Return True, or the first call that differs, or False."""
        found = self.program.difference(other.program)
        if found is not True or self.backward is None or other.backward is None:
            return found if (self.backward is None) == (other.backward is None) else False
        return self.backward.difference(other.backward)


def capture(
    function: Callable[..., Any], tensors: list[Tensor], args: Any, kwargs: Any
) -> tuple[Any, Captured | None, CaptureError | None]:
    """Run a function; return its result, and what was captured or why nothing was."""
    recorder = Recorder(tensors)
    watcher = Watcher(recorder, function)
    started = count_nodes()
    recorder.start()
    try:
        with watcher:
            result = function(*args, **kwargs)
        captured = Captured(recorder, watcher)
        if recorder.problem is None:
            _finish(captured, result, tensors, started)
    except CaptureError as problem:
        recorder.refuse(problem)
    finally:
        recorder.stop()
    recorder.check_writes()
    if recorder.problem is not None:
        return result, None, recorder.problem
    return result, captured, None


def _finish(captured: Captured, result: Any, tensors: list[Tensor], started: int) -> None:
    """Add the results, and the backward pass from those that require grad."""
    recorder, program = captured.recorder, captured.program

    def of(leaf: Any) -> Any:
        if isinstance(leaf, Tensor):
            return recorder.value_of(leaf)
        return recorder._constant(leaf)

    program.results = rebuilt(result, of)
    outputs: dict[int, tuple[Value, Tensor]] = {}
    for leaf in leaves(result):
        if isinstance(leaf, Tensor) and isinstance(value := recorder.value_of(leaf), Value):
            if leaf._view is not None and leaf._view.base is not leaf:
                owner = value.memory
                if any(v.memory == owner for v in program.arguments) or any(
                    v.memory == owner for _, v in program.states
                ):
                    raise CaptureError(
                        "the function returns a view of a tensor from outside",
                        "return a copy: `x.clone()`",
                    )
            if leaf.requires_grad:
                if leaf._edge is None and leaf._view is None:
                    raise CaptureError("the function returns a new leaf", "make it outside")
                outputs[value.number] = (value, leaf)
    live = []
    for value, leaf in outputs.values():
        edge = edge_of(leaf)
        assert edge is not None
        order, _ = reachable([edge[0]], set())
        if any(node in recorder.spent for node in order):
            captured.spent.append(value)
        else:
            live.append((value, edge))
    if live:
        _probe(captured, live, tensors, started)


def _probe(captured: Captured, live: Any, tensors: list[Tensor], started: int) -> None:
    """Record the backward pass from the outputs to the leaves and the arguments."""
    recorder = captured.recorder
    forward, backward = recorder.program, Program()
    recorder.program = backward
    ends: dict[Any, Any] = {}
    for place, t in enumerate(tensors):
        if t.requires_grad:
            edge = edge_of(t)
            ends.setdefault(edge, place)
    stops = {edge[0] for edge in ends}
    order, found = reachable([edge[0] for _, edge in live], stops)
    for node in order:
        if isinstance(node, Node) and node not in stops and node.sequence < started:
            raise CaptureError(
                "a result depends on the history of a tensor from outside",
                "pass that tensor as an argument, or detach it",
            )
    for leaf in found.values():
        ends.setdefault((leaf.tensor, 0), leaf.tensor)
    given = []
    for value, _ in live:
        g = np.ones(value.shape or (), value.dtype)
        backward.arguments.append(recorder._define(g))
        given.append(wrap(g))
    edges = [edge for _, edge in live]
    run = BackwardPass(edges, given, True, False, list(ends))
    run.run()
    captured.backward, captured.ends = backward, list(ends.values())
    captured.differentiable = [value for value, _ in live]
    found_grads = map(run.captured.get, ends)
    backward.results = [None if x is None else recorder._value(x._array) for x in found_grads]
    recorder.program = forward
