"""``torch.utils.benchmark``: the time of a statement, measured as PyTorch does."""

from __future__ import annotations

import dataclasses
import statistics
import sys
import timeit
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from tinynet.compat import runtime

timer = timeit.default_timer
_UNITS = ((1e-9, "ns"), (1e-6, "us"), (1e-3, "ms"), (1.0, "s"))


@dataclasses.dataclass(frozen=True)
class TaskSpec:
    """What was measured.

    Attributes:
        stmt, setup: the statement, and the code before it.
        global_setup: code of C++; empty.
        label, sub_label, description, env: names for tables.
        num_threads: the number of threads.
    """

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label with the sub-label, or the statement."""
        named = self.label or self.stmt
        return f"{named}: {self.sub_label}" if self.sub_label else named


@dataclasses.dataclass
class Measurement:
    """The times of a statement.

    Attributes:
        number_per_run: how often the statement ran for each time.
        raw_times: seconds of each run.
        task_spec: what was measured.
        metadata: the caller's own notes.

    Example:
        >>> from tinynet.compat.utilities import benchmark
        >>> task = benchmark.TaskSpec("x + 1", "pass")
        >>> m = benchmark.Measurement(10, [2.0, 4.0, 9.0], task)
        >>> m.times, m.median, m.mean, m.iqr
        ([0.2, 0.4, 0.9], 0.4, 0.5, 0.35)
    """

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = None

    @property
    def times(self) -> list[float]:
        """Seconds per execution of each run."""
        return [time / self.number_per_run for time in self.raw_times]

    @property
    def median(self) -> float:
        """The median of the times."""
        return statistics.median(self.times)

    @property
    def mean(self) -> float:
        """The mean of the times."""
        return statistics.mean(self.times)

    @property
    def iqr(self) -> float:
        """The distance of the quartiles of the times."""
        times = sorted(self.times)
        if len(times) < 2:
            return 0.0
        first, _, third = statistics.quantiles(times, n=4, method="inclusive")
        return third - first

    @property
    def has_warnings(self) -> bool:
        """Whether the times vary by more than a tenth of their median."""
        return self.iqr > 0.1 * self.median

    @property
    def title(self) -> str:
        """The title of the task."""
        return self.task_spec.title

    @property
    def env(self) -> str:
        """The caller's name of the environment."""
        return self.task_spec.env or "Unspecified env"

    @property
    def as_row_name(self) -> str:
        """The name of the row in a table."""
        return self.task_spec.sub_label or self.task_spec.stmt or "[Unknown]"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "task_spec":
            raise AttributeError(name)
        return getattr(self.task_spec, name)

    def __repr__(self) -> str:
        threads = f"{self.task_spec.num_threads} thread"
        threads += "s" if self.task_spec.num_threads > 1 else ""
        count = len(self.raw_times)
        lines = [f"{self.title}\n{'setup: ' + self.setup if self.setup != 'pass' else ''}".rstrip()]
        if count == 1:
            lines += [f"  {_shown(self.median)}", f"  1 measurement, {self.number_per_run} runs"]
        else:
            lines += [f"  Median: {_shown(self.median)}", f"  IQR:    {_shown(self.iqr)}"]
            lines += [f"  {count} measurements, {self.number_per_run} runs per measurement"]
        return "\n".join([*lines[:-1], f"{lines[-1]}, {threads}"])

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """Return one measurement for each task, with the times of all of its measurements."""
        found: dict[TaskSpec, list[Measurement]] = defaultdict(list)
        for one in measurements:
            found[one.task_spec].append(one)
        return [
            Measurement(1, [time for one in same for time in one.times], task)
            for task, same in found.items()
        ]


def _unit(seconds: float) -> tuple[float, str]:
    """Return the largest unit that is not longer than a time."""
    return next((u for u in reversed(_UNITS) if u[0] <= seconds), _UNITS[0])


def _shown(seconds: float) -> str:
    size, unit = _unit(seconds)
    return f"{seconds / size:.2f} {unit}"


class Timer:
    """A statement, timed as by ``timeit`` but for warm-up, threads and repetitions.

    Args:
        stmt: the statement; a function is called.
        setup: code that runs once before.
        global_setup: code of C++; refused.
        timer: a function that returns seconds.
        globals: the variables of the statement; ``torch`` is added if it is imported.
        label, sub_label, description, env: names for ``Compare``.
        num_threads: the number of threads while the statement runs.
        language: ``"python"``.

    Raises:
        NotImplementedError: the language is not Python.

    Example:
        >>> from tinynet.compat.utilities import benchmark
        >>> t = benchmark.Timer("x.sum()", globals={"x": tn.ones(3)})
        >>> t.timeit(5).number_per_run
        5
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Any = "python",
    ):
        if global_setup or str(language).lower() not in ("python", "py", "language.python"):
            raise NotImplementedError("tinynet times Python only: it compiles no C++")
        known = {name: sys.modules[name] for name in ("torch",) if name in sys.modules}
        known.update(globals or {})
        self._timer = timeit.Timer(stmt, setup, timer, known)
        given = (global_setup, label, sub_label, description, env, num_threads)
        self._task_spec = TaskSpec(stmt, setup, *given)

    def _timeit(self, number: int) -> float:
        return max(self._timer.timeit(number), 1e-9)

    def _measured(self, run: Callable[[], tuple[int, list[float]]]) -> Measurement:
        """Return the times of a function, measured with the task's number of threads."""
        before = runtime.get_num_threads()
        runtime.set_num_threads(self._task_spec.num_threads)
        try:
            return Measurement(*run(), self._task_spec)
        finally:
            runtime.set_num_threads(before)

    def timeit(self, number: int = 1000000) -> Measurement:
        """Return one time of ``number`` executions, after a warm-up of a hundredth of them."""

        def run() -> tuple[int, list[float]]:
            self._timeit(max(number // 100, 2))
            return number, [self._timeit(number)]

        return self._measured(run)

    def _block(self, min_run_time: float) -> int:
        """Return a number of executions that takes a thousandth of a time."""
        number = 1
        while (took := self._timeit(number)) < min_run_time / 1000 and number < 2**30:
            number *= 10 if took < min_run_time / 10_000 else 2
        return number

    def blocked_autorange(
        self, callback: Callable[[int, float], Any] | None = None, min_run_time: float = 0.2
    ) -> Measurement:
        """Return times of blocks of executions, which take ``min_run_time`` seconds together.

        Args:
            callback: called with the number of executions and the time of each block.
            min_run_time: seconds.
        """

        def run() -> tuple[int, list[float]]:
            number = self._block(min_run_time)
            times: list[float] = []
            while sum(times) < min_run_time:
                times.append(self._timeit(number))
                if callback:
                    callback(number, times[-1])
            return number, times

        return self._measured(run)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], Any] | None = None,
    ) -> Measurement:
        """Return times of blocks, of which there are more until their quartiles are close.

        Args:
            threshold: the distance of the quartiles, relative to the median, that ends it.
            min_run_time, max_run_time: seconds.
            callback: called with the number of executions and the time of each block.
        """

        def run() -> tuple[int, list[float]]:
            number = self._block(min_run_time)
            times: list[float] = []
            while (spent := sum(times)) < max_run_time:
                times.append(self._timeit(number))
                if callback:
                    callback(number, times[-1])
                found = Measurement(number, times, self._task_spec)
                if spent > min_run_time and len(times) > 3 and found.iqr < threshold * found.median:
                    break
            return number, times

        return self._measured(run)


class Compare:
    """Measurements as a table: a row for each sub-label, a column for each description.

    Args:
        results: the measurements.

    Example:
        >>> from tinynet.compat.utilities import benchmark
        >>> task = benchmark.TaskSpec("x + 1", "pass", label="add", sub_label="2", description="a")
        >>> print(benchmark.Compare([benchmark.Measurement(1, [2e-6], task)]))
        [---- add -----]
                 |  a
        1 threads: -----
            2    | 2.00
        Times are in microseconds (us).
    """

    def __init__(self, results: Iterable[Measurement]):
        self._results: list[Measurement] = [*results]

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add measurements."""
        self._results += results

    def trim_significant_figures(self) -> None:
        """Do nothing: times have two decimals."""

    def colorize(self, rowwise: bool = False) -> None:
        """Do nothing: the table has no colours."""

    highlight_warnings = trim_significant_figures

    def print(self) -> None:
        """Print the table."""
        print(self)

    def __str__(self) -> str:
        tables: dict[str | None, list[Measurement]] = defaultdict(list)
        for one in Measurement.merge(self._results):
            tables[one.task_spec.label].append(one)
        return "\n\n".join(_table(label, rows) for label, rows in tables.items())


def _table(label: str | None, results: list[Measurement]) -> str:
    """Return the table of one label."""
    size, unit = _unit(min(one.median for one in results))
    columns = [*dict.fromkeys(one.task_spec.description or "" for one in results)]
    cells: dict[int, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for one in results:
        row = cells[one.task_spec.num_threads][one.as_row_name]
        row[one.task_spec.description or ""] = f"{one.median / size:.2f}"
    first = max(len(name) for rows in cells.values() for name in rows) + 8
    wide = [max(len(column), 5) + 1 for column in columns]

    def line(name: str, values: Iterable[str]) -> str:
        parts = (f"{value:^{width}}" for value, width in zip(values, wide, strict=True))
        return f"{name:<{first}}" + "".join(f"|{part}" for part in parts)

    lines = [line("", columns)]
    for threads, rows in sorted(cells.items()):
        lines.append(f"{threads} threads: ".ljust(len(lines[0]), "-"))
        lines += [
            line(f"    {name}", [row.get(column, "") for column in columns])
            for name, row in rows.items()
        ]
    names = {"ns": "nanoseconds", "us": "microseconds", "ms": "milliseconds", "s": "seconds"}
    named = f" {label or ''} "
    title = f"[{named:-^{len(lines[0]) - 2}}]"
    return "\n".join([title, *map(str.rstrip, lines), f"Times are in {names[unit]} ({unit})."])
