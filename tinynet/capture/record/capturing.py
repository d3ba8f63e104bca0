"""Capturing: run a function once, and return what it did forward and what its backward would do."""

from __future__ import annotations

import functools
import gc
import threading
from collections.abc import Callable, Sequence
from typing import Any

from tinynet.autograd.function_node import FunctionNode
from tinynet.capture.guard.holdings import is_a
from tinynet.capture.guard.reads import Reads
from tinynet.capture.guard.watcher import Watcher
from tinynet.capture.program import Call, CaptureError, Program, Value, leaves
from tinynet.capture.record.outputs import READ_OUTSIDE, Output, Reading, Results, with_readings
from tinynet.capture.record.probing import Group, groups
from tinynet.capture.record.recorder import Recorder
from tinynet.capture.record.stores import CarryError, Data, Store
from tinynet.core.graph.engine import reachable
from tinynet.core.graph.node import count_nodes
from tinynet.core.graph.views import edge_of
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import Tensor
from tinynet.kernels.threads import Tally, in_child
from tinynet.nn.base.registry import attributes


class Turn:
    """The right to capture, which one thread has at a time: a capture looks at all objects.

    A child of a fork does not have the thread that had it, unless that thread forked.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: int | None = None
        in_child(self._forget_others)

    def take(self) -> bool:
        """Return True and take it, if no thread has it."""
        taken = self._lock.acquire(blocking=False)
        if taken:
            self._thread = mode.thread
        return taken

    def give_back(self) -> None:
        """Let others take it."""
        self._thread = None
        self._lock.release()

    def _forget_others(self) -> None:
        if self._thread != mode.thread:
            self._lock, self._thread = threading.Lock(), None


class _Collector:
    """The garbage collector, stopped during captures: what it finalizes is not what they do."""

    def __init__(self) -> None:
        self._thresholds: tuple[int, int, int] | None = None
        self.stopped = Tally(self._change, lambda: mode.thread)

    def _change(self, count: int) -> None:
        if self._thresholds is None:
            self._thresholds = gc.get_threshold()
            gc.set_threshold(0)  # a function may ask whether it is enabled
        elif count == 0:
            gc.set_threshold(*self._thresholds)
            self._thresholds = None


_collector = _Collector()


class Captured:
    """The result of one capture.

    Attributes:
        program: the calls of the function.
        outputs: the tensors that it makes and returns.
        groups: the backward passes from the outputs.
        held: the arguments, by number, that code of the function may get otherwise, too.
        relatives: the arguments, by number, that share memory or versions with a tensor from
            outside; the tensor, and whether it is the memory.
        shared: by number, the arrays of arguments that the function may also know otherwise.
        fixed: those that a replay must get again.
        draws: it draws random numbers of the default generator.
        stores: the attributes of modules that it sets to tensors, and arguments whose data it
            replaces.
        idle: those that it sets to the value that they had; what a guard needs.
        carried: those that it reads before, with the number of the argument that has the value.
        later: what the user's code reads in the backward pass, if any of it runs there.
        facts: the answers that the function got about tensors; what a guard needs.
        gradients_read: the tensors from outside whose ``.grad`` was read; what a guard needs.
    """

    def __init__(self, recorder: Recorder, watcher: Watcher, places: dict[tuple[int, str], int]):
        self.program, self.watcher = recorder.program, watcher
        self.draws = recorder.handlers.has_drawn()
        self.outputs: list[Output] = []
        self.groups: list[Group] = []
        arguments, read = [t for _, t in recorder.arguments()], [*watcher.reads.values()]
        self.shared = recorder.outside.shared(arguments, {id(value) for value in read})
        self.fixed: dict[int, Any] = {}
        self.relatives = recorder.outside.relatives(arguments, watcher.reads.tensors)
        self.stores: list[Any] = [store for store in watcher.stores if not store.is_idle()]
        new = [i for i, t in enumerate(arguments) if recorder.outside.has_new_data(t)]
        self.stores += [Data(None, place) for place in new]
        self.idle = [store for store in watcher.stores if store.is_idle()]
        whose = [(store, store.where()) for store in self.stores]
        self.carried = [(store, places[where]) for store, where in whose if where in places]
        held = {id(value) for value in read} | {id(store.before) for store in self.idle}
        self.held = [(i, t) for i, t in enumerate(arguments) if id(t) in held]
        self.later: Reads | None = None
        self.facts = [*recorder.facts]
        self.gradients_read = [*recorder.outside.gradients_read.values()]

    def fix_arguments(self, other: Captured) -> None:
        """Note the arguments that may have been a tensor from outside in two captures."""
        pairs = ((i, a, other.shared.get(i)) for i, a in self.shared.items())
        self.fixed = {i: a for i, a, b in pairs if a is b}
        self.shared = other.shared = {}

    def given(self, result: Any, tensors: Sequence[Tensor]) -> tuple[Any, list[Any]]:
        """Return the result of a call, and what the call left in what it sets.

        Args:
            result: the result.
            tensors: the arguments of the program.
        """
        return result, [store.left(tensors) for store in self.stores]

    def places(self) -> list[tuple[int, str]]:
        """Return what it sets."""
        return [store.where() for store in self.stores]

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
            for name, held in attributes(module).items():
                if held is t:
                    return f"{type(module).__name__}.{name}"
        return f"a {type(t).__name__} {list(t.shape)}"

    def same(self, other: Captured) -> Call | bool | None:
        """Return True, or the first call that differs, or False."""
        if self.places() != other.places():
            return False
        found = self.program.difference(other.program)
        if found is not True or len(self.groups) != len(other.groups):
            return found if found is not True else False
        for mine, its in zip(self.groups, other.groups, strict=True):
            found = mine.same(its)
            if found is not True:
                return found
        return True


def capture(
    function: Callable[..., Any],
    tensors: list[Tensor],
    args: Any,
    kwargs: Any,
    carried: Sequence[Store | Data] = (),
) -> tuple[Any, Captured | None, CaptureError | None]:
    """Run a function; return its result, and what was captured or why nothing was.

    Args:
        function: the function.
        tensors: the arguments of the program: the tensors in the function's, and what is carried.
        args, kwargs: the arguments of the function.
        carried: where the last tensors come from.
    """
    recorder = Recorder(tensors, capture.__code__)
    watcher = Watcher(recorder, function, (args, kwargs, *tensors))
    started = count_nodes()
    recorder.start()
    _collector.stopped.begin()
    try:
        with watcher:
            result = watcher.run(lambda: function(*args, **kwargs))
        first = len(tensors) - len(carried)
        places = {store.where(): first + i for i, store in enumerate(carried)}
        captured = Captured(recorder, watcher, places)
        recorder.check_outside(watcher.reads.tensors)
        if recorder.problem is None:
            _finish(captured, recorder, result, tensors, started, function)
    finally:
        _collector.stopped.end()
        recorder.stop()
    if recorder.problem is not None:
        return result, None, recorder.problem
    return result, captured, None


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
        for store in captured.stores:
            store.check()
        readings = [(path, Reading(t, method)) for path, t, method in recorder.readings]
        if readings and captured.watcher.returned is not result:
            raise CaptureError("a caller changes what the function returns", READ_OUTSIDE)
        result = with_readings(result, readings)
        results = Results(recorder, captured.given(result, tensors))
        captured.program.results, captured.outputs = results.structure, results.outputs
        edges = [edge_of(o.tensor) for o in results.outputs if o.tensor is not None]
        order, _ = reachable([edge[0] for edge in edges if edge is not None])
        probe = functools.partial(groups, recorder, results.outputs, tensors, started)
        if recorder.keeps or any(isinstance(node, FunctionNode) for node in order):
            watcher = Watcher(recorder, function, (), later=True)
            captured.groups, captured.later = _watched(probe, watcher), watcher.reads
        else:
            captured.groups = probe()
        _check_data(captured)
        _check_stores(captured, recorder)
    except CaptureError as problem:
        recorder.refuse(problem)
    except Exception as error:
        reason = f"its backward pass fails: {str(error).partition(chr(10))[0]}"
        recorder.refuse(CaptureError(reason, "run the function without tn.compile to see where"))
    for output in captured.outputs:
        output.tensor = None


def _watched(probe: Callable[[], list[Group]], watcher: Watcher) -> list[Group]:
    """Return what a probe finds, unless code of the user that runs in it reads what may change."""
    with watcher:
        found: list[Group] = watcher.run(probe)
    for what in watcher.reads.unsteady():
        raise CaptureError(
            f"code that its backward pass runs reads {what}, which may change until then",
            "keep the value in ctx, or compile the whole step with its backward pass",
        )
    return found


def _check_stores(captured: Captured, recorder: Recorder) -> None:
    """Raise CarryError if the program reads what was in attributes that it sets; else forget it."""
    read = [captured.facts, captured.gradients_read, captured.states()]
    used = {id(entry[0]) for entries in read for entry in entries}
    used |= {id(leaf) for leaf in leaves(captured.program.results)}
    passed = {id(store) for store, _ in captured.carried}
    held = [s for s in captured.stores if is_a(s.before, Tensor) and id(s) not in passed]
    if needed := [s for s in held if id(s.before) in used or recorder.reads(s.before)]:
        reason = f"the function reads the attribute {needed[0].name!r}, and sets it"
        remedy = "pass the value as an argument, and return the new one"
        raise CarryError(reason, remedy, needed, needed[0].site)
    for store in captured.stores:
        store.forget_before()


def _check_data(captured: Captured) -> None:
    """Refuse to replace the data of an argument where the backward pass would see it otherwise.

    It reads the data that a tensor has by then, as PyTorch's does, if the tensor itself was saved.
    """
    new = zip(captured.stores, captured.program.results[1], strict=True)
    data = {store.place: part for store, part in new if is_a(store, Data)}
    old = {captured.program.arguments[place].memory for place in data}
    passes = (program for group in captured.groups for program in group.programs.values())
    used = {v.memory for program in passes for call in program.calls for v in call.inputs()}
    if old & used or any(not is_a(x, Output) or x.value is None for x in data.values()):
        reason = "the function replaces the data of a tensor by what another tensor has"
        if old & used:
            reason = "the function replaces data that its backward pass needs"
        raise CarryError(reason, "do that outside of the function, or copy the data")
