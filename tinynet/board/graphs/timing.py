"""The times of what runs in a step: operations, writes, and the nodes of backward passes.

A `Timer` keeps no values, so a step that is timed uses memory as any other step does. What ran in
one step is found again in another by its module, its name, and its turn among equal names.

Note [Waiting for a processor]
A thread that other programs interrupt takes up work at the same place again and again, so medians
do not leave this waiting out. Where a thread was interrupted and had no processor for most of the
time since the last record, by its own clock, the difference counts as nothing's. (Sleep is no
interruption. Threads of numpy's libraries work along with the one that calls them, which therefore
has a processor.)
"""

from __future__ import annotations

import contextlib
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from tinynet.board.graphs.graph import Cost, Graph, Node
from tinynet.core.graph.engine import BackwardObserver, observing_backward
from tinynet.core.modes import mode
from tinynet.core.trace import observing
from tinynet.dtypes import Array

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]  # not on Windows

_HAS_THREAD_CLOCK = time.get_clock_info("thread_time").resolution <= 1e-6  # not on Windows
BETWEEN = "Python between the operations"
Key = tuple[int, str, int]


@dataclass(slots=True, eq=False)
class Timed:
    """When something ran, in nanoseconds."""

    key: Key
    """Its module, its name, and its turn among equal ones."""

    start: int
    end: int
    before: int = 0
    """The time of Python before it, unless it ran inside of something else."""

    inner: int = 0
    """The part of its time that belongs to what ran inside, to timing that, and to waiting."""

    resumed: int = 0
    """When its record was complete, and Python went on."""


class Timer(BackwardObserver):
    """Times what runs in its thread, in order.

    Attributes:
        timed: what ran since the last `started`.
    """

    def __init__(self) -> None:
        self.timed: list[Timed] = []
        self._turns: Counter[tuple[int, str]] = Counter()
        self._open: list[Timed] = []
        self._last = self._cpu = self._interruptions = 0

    @contextlib.contextmanager
    def started(self) -> Iterator[None]:
        """Return a context in which everything is timed."""
        self.timed = []
        self._turns.clear()
        with observing(self._ran, timed=True), observing_backward(self):
            self._interruptions = _interruptions()
            self.resume()
            yield

    def _ran(
        self,
        op: Any,
        inputs: Sequence[Array],
        outputs: Sequence[Array],
        attributes: dict[str, Any],
        times: tuple[int, int] | None,
    ) -> None:
        self.done(self.operation(op.title, times))

    def visit(self, backward_pass: Any, node: Any, go: Callable[[Any], None]) -> None:
        """See `BackwardObserver`."""
        timed = self.begin(node)
        try:
            go(node)
        finally:
            self.end(timed)
            self.done(timed)

    def operation(self, name: str, times: tuple[int, int] | None) -> Timed:
        """Add an operation that has just run.

        Args:
            name: the operation.
            times: its start and end; None for a write, which is reported when it is complete: it
                took the time since the last record.
        """
        start, end = times or (self._last, time.perf_counter_ns())
        waited, before = self._waited(), max(0, start - self._last)
        timed = self._add(name, mode.scope, start, end)
        # Its part of the waiting: what ran had the processor for a moment, so it has a time.
        timed.inner = waited * (end - start) // max(1, time.perf_counter_ns() - self._last)
        self._python(timed, before, waited - timed.inner)
        return timed

    def begin(self, node: Any) -> Timed:
        """Add a node of a backward pass, whose time begins now."""
        timed = self._add(type(node).__name__, getattr(node, "scope", None))
        self._python(timed, time.perf_counter_ns() - self._last, self._waited())
        self._open.append(timed)
        self.resume()
        timed.start = self._last
        return timed

    def _add(self, name: str, scope: Any, start: int = 0, end: int = 0) -> Timed:
        module = 0 if scope is None else id(scope[1]())
        self._turns[module, name] += 1
        timed = Timed((module, name, self._turns[module, name]), start, end)
        self.timed.append(timed)
        return timed

    def end(self, timed: Timed) -> None:
        """End the time of a node."""
        timed.end = time.perf_counter_ns()
        timed.inner += self._waited()
        self._open.pop()

    def done(self, timed: Timed) -> None:
        """Continue after a record: the node around it, if any, does not pay for it."""
        self.resume()
        timed.resumed = self._last
        if self._open:
            self._open[-1].inner += self._last - timed.start

    def ended(self, backward_pass: Any) -> None:
        """See `BackwardObserver`."""
        self.resume()

    def resume(self) -> None:
        """Begin the time of a write, or of Python, that may come next."""
        self._last, self._cpu = time.perf_counter_ns(), time.thread_time_ns()

    @property
    def rest(self) -> int:
        """The time since the last record."""
        return time.perf_counter_ns() - self._last - self._waited()

    def _python(self, timed: Timed, before: int, waited: int) -> None:
        """Note the time of Python before a record, which inside of a node is the node's."""
        if self._open:
            self._open[-1].inner += waited
        else:
            timed.before = max(0, before - waited)

    def _waited(self) -> int:
        """Return the time since the last record without a processor; see the Note above."""
        if not _HAS_THREAD_CLOCK:
            return 0
        passed, used = time.perf_counter_ns() - self._last, time.thread_time_ns() - self._cpu
        waited = passed - used
        if not used or 2 * waited <= passed:  # it ran: a clock that shows nothing counts in ticks
            return 0
        before, self._interruptions = self._interruptions, _interruptions()
        return waited if self._interruptions != before else 0


def _interruptions() -> int:
    """Return the number of times that the system has interrupted this thread; 0 if unknown."""
    of_thread = getattr(resource, "RUSAGE_THREAD", None)  # of Linux
    return 0 if of_thread is None else resource.getrusage(of_thread).ru_nivcsw


def spent(timed: Sequence[Timed]) -> int:
    """Return the time from the first start to the last end, without what ran inside."""
    inner = sum(one.inner for one in timed)
    records = sum(one.resumed - one.end for one in timed[:-1])
    return max(0, timed[-1].end - min(one.start for one in timed) - inner - records)


class Span(NamedTuple):
    """What was timed together, and the nodes that share this time in proportion to their sizes."""

    timed: Sequence[Timed]
    nodes: Sequence[Node]

    def share(self, nanoseconds: int) -> None:
        """Give each node its share of a time."""
        sizes = [
            max(1, math.prod(node.outputs[0].shape)) if node.outputs else 1 for node in self.nodes
        ]
        start, before, whole = min(one.start for one in self.timed), 0, sum(sizes)
        for size, node in zip(sizes, self.nodes, strict=True):
            share = nanoseconds * (before + size) // whole - nanoseconds * before // whole
            node.cost = replace(node.cost or Cost(start, 0, 0), time=share)
            before += size


class StepTime(NamedTuple):
    """The time of a typical step: medians over several, in nanoseconds."""

    steps: int
    """The number of steps whose operations were timed, and of those that were timed as a whole."""

    operations: int
    """The time of all operations."""

    between: int
    """The time of Python between the operations."""

    whole: int
    """The time of a step by the clock. It is longer where a step waits for a processor."""

    @property
    def sum(self) -> int:
        """The time of a step without waiting."""
        return self.operations + self.between

    @property
    def medians(self) -> str:
        """The origin of the times, for people."""
        return f"medians over {self.steps} warm steps" if self.steps > 1 else "one warm step"

    @property
    def waited(self) -> bool:
        """Whether most of a step was not spent in its parts, on a machine with other work."""
        return self.whole > 1.5 * self.sum


@dataclass(frozen=True)
class Repeats:
    """What was timed in several repeats of a step."""

    ran: list[list[Timed]]
    """What ran, of each."""

    rests: list[int]
    """The time of Python after the last operation, of each."""

    wholes: list[int]
    """The time by the clock of steps whose operations were not timed."""


def repeated(step: Callable[[], object], count: int) -> Repeats:
    """Time steps as a whole and operation by operation, in turns.

    Args:
        step: takes a step. It is called ``2 * count`` times, and once before these if they are
            several.
        count: the number of steps of each kind.
    """
    timer, found = Timer(), Repeats([], [], [])
    if count > 1:
        step()
    for _ in range(count):
        began = time.perf_counter_ns()
        step()
        found.wholes.append(time.perf_counter_ns() - began)
        with timer.started():
            step()
            found.rests.append(timer.rest)
        found.ran.append(timer.timed)
    return found


def share_medians(spans: Sequence[Span], repeats: Repeats) -> StepTime:
    """Give the nodes of a recorded step their median times in repeats of it.

    A node that ran in none of them, in a model that branches, keeps its time.

    Args:
        spans: the spans of the recorded step.
        repeats: what ran in the repeats.
    """
    found = [{timed.key: timed for timed in step} for step in repeats.ran]
    operations, between = 0, _median(repeats.rests)
    for span in spans:
        wanted = [timed.key for timed in span.timed]
        steps = (step for step in found if all(key in step for key in wanted))
        each = [[step[key] for key in wanted] for step in steps] or [[*span.timed]]
        time = _median(map(spent, each))
        span.share(time)
        operations += time
        between += _median(sum(one.before for one in timed) for timed in each)
    whole = _median(repeats.wholes)
    return StepTime(len(repeats.wholes), operations, between, whole)


def _median(times: Iterable[float]) -> int:
    return round(float(np.median([*times])))


def with_medians(graphs: Sequence[Graph]) -> Graph:
    """Return the last of several graphs of the same operations, with the median of their times."""
    for nodes in zip(*(graph.nodes for graph in graphs), strict=True):
        times = [node.cost.time for node in nodes if node.cost is not None]
        if nodes[-1].cost is not None:
            nodes[-1].cost = replace(nodes[-1].cost, time=_median(times))
    return graphs[-1]
