"""Capturing: run a function once, and return what it did forward and what its backward would do."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tinynet.autograd.function_node import FunctionNode
from tinynet.capture.outputs import Output, Results
from tinynet.capture.probing import Group, groups
from tinynet.capture.program import Call, CaptureError, Program, Value
from tinynet.capture.recorder import Recorder
from tinynet.capture.watcher import Watcher
from tinynet.core.graph.node import count_nodes
from tinynet.core.graph.traversal import reachable
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.tensors.views import edge_of


class Captured:
    """The result of one capture.

    Attributes:
        program: the calls of the function.
        outputs: the tensors that it makes and returns.
        groups: the backward passes from the outputs.
        shared: by number, the arrays of arguments that the function may also know otherwise.
        fixed: those that a replay must get again.
        draws: it draws random numbers of the default generator.
        facts: the answers that the function got about tensors; what a guard needs.
        gradients_read: the tensors from outside whose ``.grad`` was read; what a guard needs.
    """

    def __init__(self, recorder: Recorder, watcher: Watcher):
        self.program, self.watcher = recorder.program, watcher
        self.draws = recorder.handlers.has_drawn()
        self.outputs: list[Output] = []
        self.groups: list[Group] = []
        arguments, read = [t for _, t in recorder.arguments()], watcher.reads.values()
        self.shared = recorder.outside.shared(arguments, {id(value) for value in read})
        self.fixed: dict[int, Any] = {}
        self.facts = [*recorder.facts]
        self.gradients_read = [*recorder.outside.gradients_read.values()]

    def fix_arguments(self, other: Captured) -> None:
        """Note the arguments that may have been a tensor from outside in two captures."""
        pairs = ((i, a, other.shared.get(i)) for i, a in self.shared.items())
        self.fixed = {i: a for i, a, b in pairs if a is b}
        self.shared = other.shared = {}

    def programs(self) -> list[Program]:
        """Return the program, and the backward passes from its outputs."""
        passes = (p for group in self.groups for p in group.programs.values())
        return [self.program, *passes]

    def states(self) -> list[tuple[Tensor, Value]]:
        """Return the tensors from outside, with their values."""
        return [*{v.number: (t, v) for p in self.programs() for t, v in p.states}.values()]

    def name_of(self, t: Tensor) -> str:
        """Return a name for a tensor from outside."""
        for module in self.watcher.modules:
            for name, held in vars(module).items():
                if held is t:
                    return f"{type(module).__name__}.{name}"
        return f"a {type(t).__name__} {list(t.shape)}"

    def same(self, other: Captured) -> Call | bool | None:
        """Return True, or the first call that differs, or False."""
        found = self.program.difference(other.program)
        if found is not True or len(self.groups) != len(other.groups):
            return found if found is not True else False
        for mine, its in zip(self.groups, other.groups, strict=True):
            found = mine.same(its)
            if found is not True:
                return found
        return True


def capture(
    function: Callable[..., Any], tensors: list[Tensor], args: Any, kwargs: Any
) -> tuple[Any, Captured | None, CaptureError | None]:
    """Run a function; return its result, and what was captured or why nothing was."""
    recorder = Recorder(tensors, capture.__code__)
    watcher = Watcher(recorder, function, (args, kwargs))
    started = count_nodes()
    recorder.start()
    try:
        with _no_collection():
            with watcher:
                result = function(*args, **kwargs)
            captured = Captured(recorder, watcher)
            recorder.check_outside(watcher.reads.tensors)
            if recorder.problem is None:
                _finish(captured, recorder, result, tensors, started, function)
    finally:
        recorder.stop()
    if recorder.problem is not None:
        return result, None, recorder.problem
    return result, captured, None


@contextmanager
def _no_collection() -> Iterator[None]:
    """Stop the garbage collector: what it finalizes is not what the function does."""
    thresholds = gc.get_threshold()
    gc.set_threshold(0)  # a function may ask whether it is enabled
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


def _finish(
    captured: Captured,
    recorder: Recorder,
    result: Any,
    tensors: list[Tensor],
    started: int,
    function: Callable[..., Any],
) -> None:
    """Add the results, and the backward passes from those that require grad."""
    try:
        captured.watcher.reads.require_new(result)
        results = Results(recorder, result)
        captured.program.results, captured.outputs = results.structure, results.outputs
        edges = [edge_of(o.tensor) for o in results.outputs if o.tensor is not None]
        order, _ = reachable([edge[0] for edge in edges if edge is not None])
        watcher = None
        if any(isinstance(node, FunctionNode) for node in order):
            watcher = Watcher(recorder, function, (), later=True)
        with watcher or contextlib.nullcontext():
            captured.groups = groups(recorder, results.outputs, tensors, started)
        for what in () if watcher is None else watcher.reads.unsteady():
            raise CaptureError(
                f"the backward pass of a Function reads {what}, which may change before it runs",
                "keep the value in ctx, or compile the whole step with its backward pass",
            )
    except CaptureError as problem:
        recorder.refuse(problem)
    except Exception as error:
        reason = f"its backward pass fails: {str(error).partition(chr(10))[0]}"
        recorder.refuse(CaptureError(reason, "run the function without tn.compile to see where"))
    for output in captured.outputs:
        output.tensor = None
