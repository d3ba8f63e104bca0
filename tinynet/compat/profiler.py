"""``torch.profiler``: measured times of operations, from ``core/observers``."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import json
import os
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from tinynet.core.trace import observing


class ProfilerActivity(enum.Enum):
    """The activities to profile: here always the CPU.

    Example:
        >>> from tinynet.compat import profiler
        >>> profiler.ProfilerActivity.CPU.name
        'CPU'
    """

    CPU = 0
    XPU = 1
    CUDA = 2


class ProfilerAction(enum.Enum):
    """The action of a profiler at a step: none, warm up, record, or record and save.

    Example:
        >>> from tinynet.compat import profiler
        >>> profiler.schedule(wait=0, warmup=0, active=1)(0).name
        'RECORD_AND_SAVE'
    """

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class Event(NamedTuple):
    """An operation or a named block that ran.

    Attributes:
        name: the name of the operation (``"aten::add"``) or block.
        start, end: times in nanoseconds of ``time.perf_counter_ns``.
        shapes: the shapes of its inputs.
        inside: nanoseconds of the events recorded within it.
    """

    name: str
    start: int
    end: int
    shapes: tuple[tuple[int, ...], ...] = ()
    inside: int = 0


@dataclasses.dataclass(frozen=True)
class Average:
    """All events with one name; times in microseconds.

    Attributes:
        key: the name.
        count: the number of events.
        cpu_time_total, self_cpu_time_total: their total time, with and without nested events.
        input_shapes: the shapes, if events are grouped by them.
    """

    key: str
    count: int
    cpu_time_total: float
    self_cpu_time_total: float
    input_shapes: Any = ""

    @property
    def cpu_time(self) -> float:
        """The mean time of an event."""
        return self.cpu_time_total / self.count


_recorders = threading.local()


def _running() -> list[list[Event]]:
    """Return the event lists of the profilers active in this thread."""
    if not hasattr(_recorders, "lists"):
        _recorders.lists = []
    found: list[list[Event]] = _recorders.lists
    return found


class record_function(contextlib.ContextDecorator):  # noqa: N801  # PyTorch's name
    """Label a block, or a decorated function, in the profile.

    Args:
        name: the label.
        args: accepted for compatibility.

    Example:
        >>> from tinynet.compat import profiler
        >>> with profiler.profile() as p, profiler.record_function("mine"):
        ...     _ = tn.ones(2) + 1
        >>> [a.key for a in p.key_averages()]
        ['mine', 'aten::add']
    """

    def __init__(self, name: str, args: str | None = None):
        self.name = name
        self._begun: list[tuple[int, list[tuple[list[Event], int]]]] = []

    def __enter__(self) -> record_function:
        lists = [(events, len(events)) for events in _running()]
        self._begun.append((time.perf_counter_ns(), lists))
        return self

    def __exit__(self, *exc: object) -> None:
        start, lists = self._begun.pop()
        end = time.perf_counter_ns()
        for events, first in lists:
            inside = sum(e.end - e.start - e.inside for e in events[first:])
            events.append(Event(self.name, start, end, (), inside))


def _record_function_enter(name: str, args: str | None = None) -> record_function:
    """Begin a labelled block, and return what ends it."""
    return record_function(name, args).__enter__()


def _record_function_exit(handle: record_function) -> None:
    """End a labelled block."""
    handle.__exit__(None, None, None)


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, **_: Any
) -> Callable[[int], ProfilerAction]:
    """Return a function that determines the profiler's action at each step.

    Args:
        wait, warmup, active: the steps of a cycle: without profiling, discarded, recorded.
        repeat: the number of cycles; 0: unlimited.
        skip_first: number of steps before the first cycle.

    Raises:
        AssertionError: a number is negative, or nothing is recorded.

    Example:
        >>> from tinynet.compat import profiler
        >>> at = profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
        >>> [at(step).name for step in range(5)]
        ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        raise AssertionError(
            "Invalid profiler schedule arguments. wait, warmup, repeat and skip_first must be >= 0 "
            f"and active > 0. Got {wait}, {warmup}, {repeat}, {skip_first} and {active} instead."
        )

    def action(step: int) -> ProfilerAction:
        cycle, at = divmod(step - skip_first, wait + warmup + active)
        if step < skip_first or (repeat and cycle >= repeat) or at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        last = at == wait + warmup + active - 1
        return ProfilerAction.RECORD_AND_SAVE if last else ProfilerAction.RECORD

    return action


class profile:  # noqa: N801  # PyTorch's name
    """Record the operations of this thread, with their times, in a ``with`` block.

    Args:
        activities: accepted for compatibility.
        schedule: the steps to record, see ``schedule``; by default all.
        on_trace_ready: called with the profiler at the end of each recorded cycle.
        record_shapes: accepted for compatibility; shapes are always recorded.
        profile_memory, with_stack, with_flops, with_modules, use_cuda, enabled: accepted for
            compatibility.

    Example:
        >>> from tinynet.compat import profiler
        >>> with profiler.profile() as p:
        ...     _ = tn.ones(2) + 1
        >>> [(a.key, a.count) for a in p.key_averages()]
        [('aten::add', 1)]
    """

    def __init__(
        self,
        enabled: Any = True,
        *,
        activities: Iterable[Any] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
        **options: Any,
    ):
        self._schedule, self._ready = schedule, on_trace_ready
        self._events: list[Event] = []
        self._recording: contextlib.ExitStack | None = None
        self.step_num = 0

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def _action(self) -> ProfilerAction:
        return ProfilerAction.RECORD if self._schedule is None else self._schedule(self.step_num)

    def start(self) -> None:
        """Begin."""
        action = self._action()
        if action in (ProfilerAction.NONE, ProfilerAction.WARMUP) or self._recording:
            return
        self._events = []
        self._recording = contextlib.ExitStack()
        self._recording.enter_context(observing(self._see, timed=True))
        _running().append(self._events)

    def _see(self, op: Any, inputs: Any, outputs: Any, attributes: Any, times: Any) -> None:
        if times is not None:
            shapes = tuple(a.shape for a in inputs)
            self._events.append(Event(f"aten::{op.title}", times[0], times[1], shapes))

    def _pause(self) -> None:
        if self._recording is not None:
            self._recording.close()
            self._recording = None
            _running()[:] = [e for e in _running() if e is not self._events]

    def stop(self) -> None:
        """Stop, and pass the remaining events to ``on_trace_ready``."""
        if self._recording is not None:
            self._pause()
            if self._ready is not None:
                self._ready(self)

    def step(self) -> None:
        """Begin the next step of the schedule."""
        if self._action() is ProfilerAction.RECORD_AND_SAVE:
            self.stop()
        self.step_num += 1
        self.start()

    def events(self) -> list[Event]:
        """Return all recorded events, in the order in which they ended."""
        return [*self._events]

    def key_averages(self, group_by_input_shape: bool = False, **_: Any) -> Averages:
        """Return the events grouped by name, in the order in which they began."""
        groups: dict[Any, list[Event]] = {}
        for event in sorted(self._events, key=lambda e: e.start):
            key = event.name, event.shapes if group_by_input_shape else ""
            groups.setdefault(key, []).append(event)
        return Averages(
            Average(
                name,
                len(group),
                sum(e.end - e.start for e in group) / 1e3,
                sum(e.end - e.start - e.inside for e in group) / 1e3,
                shapes,
            )
            for (name, shapes), group in groups.items()
        )

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write the events for ``chrome://tracing`` or Perfetto."""
        events = [
            {
                "name": e.name, "cat": "cpu_op", "ph": "X", "pid": os.getpid(), "tid": 0,
                "ts": e.start / 1e3, "dur": (e.end - e.start) / 1e3,
                "args": {"Input Dims": [[*s] for s in e.shapes]},
            }
            for e in self._events
        ]  # fmt: skip
        Path(path).write_text(json.dumps({"traceEvents": events}), encoding="utf-8")


class Averages(list[Average]):
    """The groups of a profile; prints as a table.

    Example:
        >>> from tinynet.compat import profiler
        >>> profiler.profile().key_averages().table().splitlines()[-1]
        'Self CPU time total: 0.000us'
    """

    def table(self, sort_by: str | None = None, row_limit: int = 100, **_: Any) -> str:
        """Return the groups as a text table, sorted by an attribute."""
        key = (sort_by or "").replace("cuda", "cpu").replace("device", "cpu")
        rows: list[Average] = [*self]
        if key in ("cpu_time_total", "self_cpu_time_total", "cpu_time", "count"):
            rows.sort(key=lambda row: getattr(row, key), reverse=True)
        width = max([len(row.key) for row in rows[:row_limit]] + [4])
        total = sum(row.self_cpu_time_total for row in self)
        lines = [
            f"{'Name':<{width}}  {'Self CPU %':>10}  {'Self CPU':>12}  {'CPU total':>12}  "
            f"{'CPU time avg':>12}  {'# of Calls':>10}"
        ]
        for row in rows[:row_limit]:
            lines.append(
                f"{row.key:<{width}}  {row.self_cpu_time_total / (total or 1):>10.2%}  "
                f"{row.self_cpu_time_total:>10.3f}us  {row.cpu_time_total:>10.3f}us  "
                f"{row.cpu_time:>10.3f}us  {row.count:>10}"
            )
        return "\n".join([*lines, f"Self CPU time total: {total:.3f}us"])

    def total_average(self) -> Average:
        """Return all groups combined."""
        own = sum(row.self_cpu_time_total for row in self)
        return Average("Total", sum(row.count for row in self), own, own)


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """Return a function for ``on_trace_ready`` that writes each trace to a new file.

    Args:
        dir_name: the directory, created if necessary.
        worker_name: a prefix of the file names.
        use_gzip: accepted for compatibility; files are not compressed.

    Example:
        >>> from tinynet.compat import profiler
        >>> callable(profiler.tensorboard_trace_handler("runs"))
        True
    """

    def write(profiler: profile) -> None:
        folder = Path(dir_name)
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{worker_name or f'worker_{os.getpid()}'}.{time.time_ns()}.pt.trace.json"
        profiler.export_chrome_trace(folder / name)

    return write


@contextlib.contextmanager
def emit_nvtx(enabled: bool = True, record_shapes: bool = False) -> Any:
    """Do nothing: there is no GPU to profile.

    Args:
        enabled, record_shapes: accepted for compatibility.

    Example:
        >>> from tinynet.compat import profiler
        >>> with profiler.emit_nvtx():
        ...     pass
    """
    yield


emit_itt = emit_nvtx

EventList = Averages
