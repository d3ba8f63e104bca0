"""A program as a graph, with the memory and the median time of replays."""

from __future__ import annotations

import time
import types
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tinynet.board.graphs.assemble import BACKWARD, FORWARD, OPTIMIZER
from tinynet.board.graphs.build import (
    Arguments,
    GraphBuilder,
    Operation,
    Result,
    Source,
    flatten,
    new_bytes,
)
from tinynet.board.graphs.gradients import source_line
from tinynet.board.graphs.graph import Cost, Graph, Root, clean
from tinynet.board.graphs.recording import Graphs
from tinynet.board.graphs.timing import with_medians
from tinynet.capture.api import OptimizedModule
from tinynet.capture.entry import Entry
from tinynet.capture.program import Call, Handle, Value, leaves, rebuilt
from tinynet.capture.record.outputs import Output
from tinynet.capture.verify.comparison import World
from tinynet.capture.verify.snapshot import Snapshot
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.core.trace import modules_of
from tinynet.optim import Optimizer

_REPLAYS = 9
_SECONDS = 2.0  # no further replay begins after them


def record_program(compiled: Any, *args: Any, **kwargs: Any) -> Graphs:
    """Run a call of a compiled function by its program, and return the graph with its times.

    The program runs call by call, with all its effects: of a training step, this is one more step.
    It runs several times, for the median of the times, and the effects of all but the last are
    undone; once only if hooks would see it, in a process group, or after two seconds.
    In the graph, modules are scopes; ``backward`` holds the calls of the backward pass, in the
    scopes of their modules; the name of an optimizer, its step. With the LLVM backend, the calls
    that became one native function stand in a scope of their own, ``native``.

    Args:
        compiled: a compiled function or module.
        *args, **kwargs: arguments for which it has a program.

    Returns:
        The graph ``"program"``, with `text`, `svg` and `write` as in `board.record`.

    Raises:
        RuntimeError: there is no program for these arguments.

    Example:
        >>> from tinynet.capture.graph import record_program
        >>> net = tn.compile(nn.Linear(2, 1))
        >>> for _ in range(3):
        ...     _ = net(tn.ones(3, 2))
        >>> names = [n.name for n in record_program(net, tn.ones(3, 2)).graphs["program"].nodes]
        >>> [name for name in names if name.startswith("Linear")]
        ['Linear/weight', 'Linear/bias', 'Linear/addmm']
    """
    graphs = Graphs()
    graphs.add({"program": program_graph(compiled, args, kwargs)})
    return graphs


def program_graph(compiled: Any, args: Any, kwargs: Any, models: Sequence[Any] = ()) -> Graph:
    """Do the same, and return only the graph; the modules in it are parts of the models."""
    compiled = compiled.__dict__["forward"] if isinstance(compiled, OptimizedModule) else compiled
    tensors: list[Tensor] = []
    entry = compiled.entry_for(args, kwargs, tensors)
    if entry is None:
        reasons = "; ".join(problem.reason for problem in compiled.problems)
        because = f": {reasons}" if reasons else " yet: call it until it has one"
        raise RuntimeError(f"{compiled.__name__} has no program for these arguments{because}")
    world = World(entry.captured, tensors)
    before = Snapshot(world.roots()) if world.can_be_undone() else None
    end = time.perf_counter() + _SECONDS
    graphs = [_replayed(entry, compiled._function, tensors, args, kwargs, models)]
    while before is not None and len(graphs) < _REPLAYS and time.perf_counter() < end:
        before.restore()
        graphs.append(_replayed(entry, compiled._function, tensors, args, kwargs, models))
    return with_medians(graphs)


def _replayed(
    entry: Entry,
    function: Any,
    tensors: list[Tensor],
    args: Any,
    kwargs: Any,
    models: Sequence[Any],
) -> Graph:
    """Run a program once; return its graph."""
    replay = _Replay(entry, tensors, models)
    replay.inputs(function, args, kwargs)
    program = entry.captured.program
    replay.run(entry.run)
    result, stored = program.results
    found = [*flatten(result, "output/output.1")]
    for store, leaf in zip(entry.captured.stores, stored, strict=True):
        found.append((f"output/{store.name}", leaf))
    for name, leaf in found:
        value = _value(leaf)
        if value is not None:
            replay.builder.result(Result(name, replay.arrays[value.number], FORWARD))
    for backward, function in entry.backwards:
        for value in backward.arguments:
            g = np.ones(value.shape or (), value.dtype)
            replay.source("backward/gradient", "Input", value, g, BACKWARD)
        replay.run(function, BACKWARD)
    return replay.builder.graph


def _value(leaf: Any) -> Value | None:
    """Return the value of a result, or of the tensor of which it is a view."""
    while isinstance(leaf, Output) and leaf.value is None:
        leaf = leaf.base
    return leaf.value if isinstance(leaf, Output) else None


class _Replay:
    """Runs the calls of a program, and adds them to a graph."""

    def __init__(self, entry: Entry, tensors: list[Tensor], models: Sequence[Any]):
        self.builder = GraphBuilder()
        self.arrays: dict[int, Any] = {}
        self.entry, self.tensors = entry, tensors
        self._handles: dict[int, Tensor] = {}
        self._roots: dict[int, Root] = {}
        self._parameters: dict[int, tuple[str, str]] = {}
        self._phase = FORWARD
        self._group = ""  # the scope of the native function
        self._used: set[int] = set()  # values that calls of a backward pass use
        for model in models:
            self._add_root(model)
        programs = [entry.captured.program, *(backward for backward, _ in entry.backwards)]
        for call in (call for program in programs for call in program.calls):
            for module in _modules(call)[:1]:
                self._add_root(module)

    def _add_root(self, module: Any) -> None:
        if id(module) in self._roots:
            return
        label = self.builder.names.scope(clean(type(module).__name__), again=True)
        root = self._roots[id(module)] = Root(module, label)
        for inner in root.modules:
            self._roots.setdefault(inner, root)
        for scope in root.scopes.values():
            self.builder.names.reserve(scope)
        for path, inner in root.all_paths():
            for op, named in (
                ("Parameter", inner.named_parameters(recurse=False)),
                ("Buffer", inner.named_buffers(recurse=False)),
            ):
                for name, t in named:
                    self._parameters.setdefault(id(t), (f"{root.scopes[path]}/{clean(name)}", op))

    # ---- values from outside ----------------------------------------------------------------

    def inputs(self, function: Any, args: Any, kwargs: Any) -> None:
        """Add the arguments and the tensors from outside."""
        program = self.entry.captured.program
        names: dict[int, str] = {}
        signed = types.SimpleNamespace(forward=getattr(function, "forward", function))
        for name, leaf in Arguments(*args, **kwargs).leaves(signed):
            if isinstance(leaf, Tensor):
                names.setdefault(id(leaf), name)
        for number, (t, value) in enumerate(zip(self.tensors, program.arguments, strict=True)):
            name = f"input/{names.get(id(t), number)}"
            self.source(name, "Input", value, t._array, FORWARD)
        programs = [program, *(backward for backward, _ in self.entry.backwards)]
        states = [state for one in programs for state in one.states]
        for t, value in states:
            name, op = self._parameters.get(id(t), (f"state/{clean(type(t).__name__)}", "State"))
            self.source(name, op, value, t._array, FORWARD)

    def source(self, name: str, op: str, value: Value, array: Any, device: str) -> None:
        """Add a value that is there before the calls."""
        self.arrays[value.number] = array
        self.builder.source(Source(name, op, array), device)

    # ---- calls ------------------------------------------------------------------------------

    def run(self, function: Any, phase: str = FORWARD) -> None:
        """Run the calls that a program's function makes."""
        self._phase = phase
        each = [member for call in function.calls for member in call.members or [call]]
        self._used = {v.number for call in each if call.node for v in call.inputs()}
        for at, call in enumerate(function.calls):
            if call.members:
                self._run_group(call)
            else:
                self._add(*self._run(call), at in function.overwritten)

    def _run(self, call: Call) -> tuple[Call, Any, _Gradients, Cost]:
        """Run a call; return it with its arguments, the gradients before it, and its time."""
        args, kwargs = (rebuilt(a, self._given) for a in (call.args, call.kwargs))
        gradients = _Gradients(args)
        start = time.perf_counter_ns()
        result = call.function(*args, **kwargs)
        took = time.perf_counter_ns() - start
        self._define(call.result, result)
        return call, args, gradients, Cost(start, took, 0)

    def _run_group(self, call: Call) -> None:
        """Run a native function, and the calls in it, which share its time by their own times."""
        *_, whole = self._run(call)
        ran = [self._run(member) for member in call.members]
        factor = whole.time / max(1, sum(cost.time for *_, cost in ran))
        self._group = self.builder.names.scope("native", again=True) + "/"
        for member, args, gradients, cost in ran:
            shared = replace(cost, time=round(cost.time * factor))
            self._add(member, args, gradients, shared, False)
        self._group = ""

    def _given(self, leaf: Any) -> Any:
        if isinstance(leaf, Value):
            return self.arrays[leaf.number]
        if not isinstance(leaf, Handle):
            return leaf
        if leaf.place >= 0 or leaf.value is None:
            return self.tensors[leaf.place]
        t = self._handles.get(leaf.number)
        if t is None:
            t = self._handles[leaf.number] = wrap(self.arrays[leaf.value.number])
            t._requires_grad = leaf.requires_grad
        return t

    def _define(self, pattern: Any, result: Any) -> None:
        if isinstance(pattern, Value):
            held = result._array if isinstance(result, Tensor) else result
            self.arrays[pattern.number] = np.asarray(held) if np.isscalar(held) else held
        elif isinstance(pattern, (tuple, list)):
            for part, held in zip(pattern, result, strict=True):
                self._define(part, held)

    def _add(
        self, call: Call, args: Any, gradients: _Gradients, cost: Cost, overwrites: bool
    ) -> None:
        """Add a node for a call that ran."""
        if call.title == "bump":  # it counts a write, and computes nothing
            return
        owner = args[0] if args else None
        inputs = [self.arrays[v.number] for v in call.inputs()]
        outputs = [self.arrays[v.number] for v in call.outputs()]
        writes = call.kind == "write"
        if writes:
            outputs = inputs[:1]
        elif isinstance(owner, Optimizer) and call.title == "step":
            outputs = [p._array for p in _parameters(owner)]
            inputs, writes = outputs + gradients.read(), True
        elif call.kind == "perform":
            read = [g for g in gradients.read() if self.builder.producer(g) is not None]
            inputs, outputs = inputs + read, outputs + gradients.new()
            if written := gradients.written():  # the target of a write comes first
                known = {id(array) for array in written}
                inputs = written + [array for array in inputs if id(array) not in known]
                outputs, writes = written + outputs, True
        inputs, outputs = ([a for a in x if isinstance(a, np.ndarray)] for x in (inputs, outputs))
        scope, device = self._place(call, owner)
        title = call.title
        attributes = {"kind": call.kind, **source_line(call.site)}
        if call.node:
            attributes["node"] = call.node
        if call.title == "store" and id(owner) in self._parameters:  # the gradient of a leaf
            title = f"{self._parameters[id(owner)][0].rpartition('/')[2]}.grad"
        if overwrites:
            attributes["overwrites"] = "an input"
        else:
            cost = replace(cost, memory=new_bytes(inputs, outputs))
        scope = (self._group + scope).rstrip("/")
        given = title, tuple(inputs), tuple(outputs), scope, attributes, writes, device, cost
        self.builder.operation(Operation(*given))

    def _place(self, call: Call, owner: Any) -> tuple[str, str]:
        """Return the scope and the device of a call."""
        if isinstance(owner, Optimizer):
            return clean(type(owner).__name__), OPTIMIZER
        scope = self._scope(call)
        # The gradient of the result itself, from which a backward pass starts, has no node.
        starts = not scope and not [*call.inputs()] and self._feeds_backward(call)
        if call.node or starts:
            self._phase = BACKWARD
            return f"backward/{scope}" if scope else "backward", BACKWARD
        if not scope and self._phase == BACKWARD:
            return "", OPTIMIZER  # such as gradient clipping
        return scope, FORWARD

    def _feeds_backward(self, call: Call) -> bool:
        return any(v.number in self._used for v in call.outputs())

    def _scope(self, call: Call) -> str:
        """Return the scope of the innermost module."""
        modules = _modules(call)
        if not modules:
            return ""
        root = self._roots[id(modules[0])]
        known = (module for module in reversed(modules) if id(module) in root.paths)
        return root.scopes[root.paths[id(next(known))][0]]


class _Gradients:
    """The gradients of the tensors that a call may use or change, and what it does to them."""

    def __init__(self, args: Any):
        self._tensors = [*_tensors(args)]
        self._before = [None if t._grad is None else t._grad._array for t in self._tensors]
        self._versions = [None if t._grad is None else t._grad._version for t in self._tensors]

    def read(self) -> list[Any]:
        """Return those that were there before."""
        return [array for array in self._before if array is not None]

    def new(self) -> list[Any]:
        """Return those that the call has stored."""
        pairs = zip(self._tensors, self._before, strict=True)
        now = ((None if t._grad is None else t._grad._array, before) for t, before in pairs)
        return [array for array, before in now if array is not None and array is not before]

    def written(self) -> list[Any]:
        """Return those that the call has changed in place."""
        each = zip(self._tensors, self._before, self._versions, strict=True)
        return [
            before
            for t, before, version in each
            if t._grad is not None and t._grad._array is before and t._grad._version != version
        ]


def _modules(call: Call) -> list[Any]:
    return [m for m in modules_of(call.scope) if not isinstance(m, OptimizedModule)]


def _parameters(optimizer: Optimizer) -> Iterator[Tensor]:
    return (p for group in optimizer.param_groups for p in group["params"])


def _tensors(args: Any) -> Iterator[Tensor]:
    """Yield the tensors among arguments, and the tensors of optimizers."""
    for leaf in leaves(args):
        if isinstance(leaf, Tensor):
            yield leaf
        elif isinstance(leaf, Optimizer):
            yield from _parameters(leaf)
