"""Runs of one config with different values, each in its own process."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, NamedTuple

from tinynet.base.invocation import VARIABLE, command
from tinynet.board import SummaryWriter
from tinynet.board.summaries.hparams import hparams
from tinynet.distributed import mpi
from tinynet.distributed.mpi import launched_rank, launched_size, without_launcher
from tinynet.kernels.threads import VARIABLES
from tinynet.train.assemble.stopping import PRUNED
from tinynet.train.assemble.trial import trial
from tinynet.train.base.files import read_json, write_json
from tinynet.train.base.problems import ConfigError, Problem, TrainError, UsageError
from tinynet.train.base.run_folder import RunFolder, parse_record
from tinynet.train.config.document import toml_or_text
from tinynet.train.config.resolve import load_config
from tinynet.train.config.sections import Config
from tinynet.train.config.values import text_of
from tinynet.train.metrics.criterion import SETS, selection_of
from tinynet.train.run.processes import VARIABLE as SUPERVISED
from tinynet.train.run.processes import StopRequest, signal_name
from tinynet.train.run.runner import prepare
from tinynet.train.store.provenance import surroundings
from tinynet.train.study.study import Dimension, Point, probes

_PAUSE = 0.02  # seconds between two polls of the processes


@dataclass(frozen=True)
class RunGroup:
    """The runs of a config in a folder."""

    folder: Path
    config: str
    settings: tuple[str, ...] = ()
    """Assignments that all runs have in common."""

    def log(self, point: Point) -> Path:
        """Return the log file of a run."""
        return self.folder / f"{point.name}.log"

    def run_folders(self, point: Point) -> list[Path]:
        """Return the folders of the runs of a point, the newest last."""
        return sorted(path.parent for path in (self.folder / point.name).glob("*/config.toml"))


@dataclass(frozen=True)
class Outcome:
    """The outcome of one point."""

    point: Point
    status: str
    """``"finished"``, ``"pruned"``, ``"failed"``, ``"interrupted"`` or ``"not started"``."""

    metrics: Mapping[str, float]
    """The last evaluation on the set that selects."""

    best: Mapping[str, float]
    """The best evaluation and its epoch."""

    folder: str
    tests: Mapping[str, float] = field(default_factory=dict)
    """The figures of the test set with the last weights, if another set selects."""

    selected_on: str = "test"
    """The set that selects: ``"validation"`` or ``"test"``."""

    message: str = ""
    """The last line of the error message of a failed run; what interrupted one that was not asked
    to stop."""


Answer = Callable[[Point, Mapping[str, Any]], str]
"""Takes a report of a run, with ``epoch`` and ``figures``; returns the reason to stop, or ""."""


Watch = Callable[[Sequence[tuple[Point, float]]], object]
"""Takes the points that are running, with the seconds since they began."""


def unwatched(running: Sequence[tuple[Point, float]]) -> None:
    """Do nothing with the points that are running."""


def check_all(
    config: str,
    points: Iterable[Point],
    settings: Iterable[str] = (),
    known: Iterable[Problem] = (),
) -> None:
    """Resolve and build the config of every point, and try a step.

    Points that differ only in their seeds are tried once.

    Args:
        config: the config file.
        points: the points.
        settings: assignments that all points have in common.
        known: mistakes that have been found already.

    Raises:
        ConfigError: if configs have mistakes; lists each mistake once.
        UsageError: if parts do not fit together; names the values.
    """
    problems = dict.fromkeys(known)
    configs: dict[str, tuple[Point, Config]] = {}
    for point in points:
        try:
            without_seed = [pair for pair in point.values.items() if pair[0] != "run.seed"]
            loaded = load_config(config, [*settings, *point.assignments])
            configs.setdefault(str(without_seed), (point, loaded))
        except ConfigError as error:
            problems.update(dict.fromkeys(error.problems))
    misfits: dict[str, None] = {}
    for point, one in () if problems else configs.values():
        try:
            trial(prepare(one))
        except ConfigError as error:
            problems.update(dict.fromkeys(error.problems))
        except UsageError as error:
            values = ", ".join(f"{key}={point.values[key]}" for key in point.varying)
            misfits[f"with {values}: {error}"] = None
    if problems:
        raise ConfigError(problems)
    if misfits:
        raise UsageError("\n".join([*misfits, "no run was started; nothing was written."]))


def resolved_text(config: str, assignments: Iterable[str]) -> str:
    """Return a config in full, without the origins of its values, which hold paths."""
    resolved = load_config(Path(config).absolute(), [*assignments])
    return text_of(resolved.values(), resolved.file, with_origins=False).rstrip()


# ---- the record of a study ----


def record_study(kind: str, runs: RunGroup, space: Sequence[Dimension], **plan: Any) -> None:
    """Write ``KIND.json`` into the folder of some runs: their config, and the values of their keys.

    Args:
        kind: ``"sweep"`` or ``"search"``.
        runs: the runs.
        space: the values of the keys that differ between them.
        plan: what else the study needs when it is resumed.
    """
    own = {"config": runs.config, "settings": [*runs.settings], **plan}
    own |= {"space": {one.key: one.text for one in space}, "resolved": _resolved(runs, space)}
    write_json(runs.folder / f"{kind}.json", surroundings() | own)


def open_study(
    kind: str, folder: Path, parse: Callable[[str], Dimension], what: str
) -> tuple[RunGroup, tuple[Dimension, ...], dict[str, Any]]:
    """Return the runs that `record_study` recorded, the values of their keys, and the record.

    Args:
        kind: the kind of the study.
        folder: its folder.
        parse: makes a dimension of ``KEY=TEXT``.
        what: what its runs are called: ``"trials"``.

    Raises:
        UsageError: if there is none, or its config has changed.
    """
    try:
        record = read_json(folder / f"{kind}.json")
        space = tuple(parse(f"{key}={text}") for key, text in record["space"].items())
        runs = RunGroup(folder, str(record["config"]), tuple(record["settings"]))
        before = record["resolved"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{folder} is not the folder of a {kind} ({error})") from None
    if _resolved(runs, space) != before:
        raise UsageError(
            f"{runs.config} has changed since the {kind} began, so old and new {what} could not be "
            f"compared: start a new {kind}"
        )
    return runs, space, record


def _resolved(runs: RunGroup, space: Sequence[Dimension]) -> str:
    return resolved_text(runs.config, [*runs.settings, *probes(space)[0].assignments])


# ---- outcomes ----


def outcome_of(group: RunGroup, point: Point) -> Outcome:
    """Return the outcome of a point, from a finished run or else the newest one."""
    found = Outcome(point, "not started", {}, {}, "")
    for record in sorted((group.folder / point.name).glob("*/run.json")):
        with contextlib.suppress(FileNotFoundError, TrainError):
            run = parse_record(RunFolder(record.parent))
            recorded = run.get("status", "running")
            status = "interrupted" if recorded == "running" else recorded
            on = selection_of(run)
            tests = run.get("test", {}) if on == "validation" else {}
            figures = run.get(on, {}), run.get("best", {})
            found = Outcome(point, status, *figures, str(record.parent), tests, on)
            if status == "finished":
                is_pruned = run.get("stopped_by") == PRUNED
                return replace(found, status="pruned") if is_pruned else found
    return found


# ---- running ----


class _Process:
    """The process of a run."""

    def __init__(
        self, group: RunGroup, point: Point, jobs: int, answer: Answer | None, start: Start | None
    ) -> None:
        self.point = point
        self.began = time.monotonic()
        self.is_asked_to_stop = False
        self._answer = answer
        program = [sys.executable, "-m", "tinynet", *_command(group, point), "--json"]
        self.popen: Any
        if start is not None:
            self.popen = start(program, group.log(point), {VARIABLE: command()})
            return
        environment = without_launcher(os.environ) | {VARIABLE: command()}
        if jobs > 1:  # several processes with a thread per core each would slow each other down
            environment = {**dict.fromkeys(VARIABLES, "1"), **environment}
        if answer is not None:
            environment[SUPERVISED] = "1"
        with open(group.log(point), "ab") as log:
            self.popen = subprocess.Popen(
                program,
                stdin=subprocess.DEVNULL if answer is None else subprocess.PIPE,
                stdout=log if answer is None else subprocess.PIPE,
                stderr=log,
                env=environment,
            )

    def listen(self, reports: queue.Queue[tuple[_Process, bytes]]) -> None:
        """Put the reports of the run into a queue as they come."""
        if self.popen.stdout is not None:
            arguments = self, self.popen.stdout, reports
            threading.Thread(target=_listen, args=arguments, daemon=True).start()

    def answer(self, line: bytes) -> None:
        """Answer a report."""
        if self._answer is not None and self.popen.stdin is not None:
            reason = self._answer(self.point, json.loads(line))
            with contextlib.suppress(OSError):  # the run has been killed
                self.popen.stdin.write(f"{json.dumps(reason)}\n".encode())
                self.popen.stdin.flush()

    def stop(self) -> None:
        """Ask the run to finish its step, save, and exit; only once, since twice aborts it.

        Ctrl-C in a terminal has reached it, too; a signal to this process only has not.
        """
        if not self.is_asked_to_stop and self.popen.poll() is None:
            self.popen.terminate()
        self.is_asked_to_stop = True

    def close(self) -> None:
        """Close the pipes of a process that has ended."""
        for pipe in filter(None, (self.popen.stdin, self.popen.stdout)):
            with contextlib.suppress(OSError):
                pipe.close()


def _listen(
    process: _Process, lines: IO[bytes], reports: queue.Queue[tuple[_Process, bytes]]
) -> None:
    with contextlib.suppress(ValueError, OSError):  # the pipe has been closed
        for line in lines:
            if line.endswith(b"\n"):  # else the run was killed while it wrote
                reports.put((process, line))


def run_points(
    group: RunGroup,
    points: Iterator[Point],
    jobs: int,
    ended: Callable[[Outcome, float], object],
    answer: Answer | None = None,
    start: Start | None = None,
    watch: Watch = unwatched,
) -> int | None:
    """Run points, at most `jobs` at once.

    Args:
        group: the runs.
        points: the points; each is taken when there is a free place for it.
        jobs: the maximum number of processes.
        ended: called after each run with its outcome and seconds.
        answer: called with each evaluation of a run.
        start: starts a program elsewhere.
        watch: called again and again with the points that are running, and their seconds so far.

    Returns:
        The signal that stopped the runs early, if one did.
    """
    running: list[_Process] = []
    # Not a SimpleQueue: where a signal arrives as its timeout ends, CPython's waits for ever.
    reports: queue.Queue[tuple[_Process, bytes]] = queue.Queue()
    with StopRequest() as stop:
        try:
            while True:
                while len(running) < jobs and not stop.signal:
                    if (point := next(points, None)) is None:
                        break
                    running.append(_Process(group, point, jobs, answer, start))
                    running[-1].listen(reports)
                if not running:
                    return stop.signal
                with contextlib.suppress(queue.Empty):
                    process, line = reports.get(timeout=_PAUSE)
                    if process in running:  # else it was killed before its report was read
                        process.answer(line)
                if stop.signal:
                    _stop(running)
                watch([(one.point, time.monotonic() - one.began) for one in running])
                for process in [one for one in running if one.popen.poll() is not None]:
                    running.remove(process)
                    process.close()
                    ended(_outcome_now(group, process), time.monotonic() - process.began)
        finally:
            _stop(running)


def _stop(running: Iterable[_Process]) -> None:
    for process in running:
        process.stop()


def _command(group: RunGroup, point: Point) -> list[str]:
    """Return the command that starts or resumes a run."""
    started = group.run_folders(point)
    if started:
        return ["resume", str(started[-1])]
    own = [f"run.out={group.folder}", f"run.name={point.name}"]
    settings = [*group.settings, *point.assignments, *own]
    return ["train", group.config, *(w for setting in settings for w in ("--set", setting))]


def _outcome_now(group: RunGroup, process: _Process) -> Outcome:
    """Return the outcome of a point whose process has ended, which may have recorded nothing."""
    outcome, code = outcome_of(group, process.point), process.popen.returncode
    killed_by = signal_name(code)
    if code == 0 or (killed_by and outcome.status in ("finished", "pruned")):
        if outcome.status in ("finished", "pruned"):
            log_hparams(outcome)
        return outcome
    stopped = process.is_asked_to_stop and outcome.status != "failed"
    if killed_by or stopped or outcome.status == "interrupted":
        text = f"killed by {killed_by}" if killed_by else f"exit code {code}"
        message = "" if process.is_asked_to_stop else f"{text}: see {group.log(process.point)}"
        return replace(outcome, status="interrupted", message=message)
    message = f"exit code {code}: {_last_message(group.log(process.point))}"
    return replace(outcome, status="failed", message=message)


def _last_message(log: Path) -> str:
    """Return the last unindented line of a log, which starts the last error message."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    messages = [
        line for line in lines if line[:1].strip("{ ") and not line.endswith("nothing was written.")
    ]
    return messages[-1] if messages else f"see {log}"


def log_hparams(outcome: Outcome) -> None:
    """Write the values and figures of a run that has ended for TensorBoard's tab HParams.

    Without the message about an experiment, of which TensorBoard reads only one, the tab has the
    columns of all runs in its folder, also where sweeps and searches vary different values.
    """
    values = {
        key: value if isinstance(value, bool | int | float) else text
        for key, text in outcome.point.values.items()
        if (value := toml_or_text(text)) is not None
    }
    selected = SETS[outcome.selected_on]
    measured = {
        selected: outcome.metrics,
        "test": outcome.tests or outcome.metrics,
        f"best_{selected}": outcome.best,
    }
    figures = {
        f"hparam/{part}_{name}": value
        for part, found in measured.items()
        for name, value in found.items()
        if isinstance(value, int | float)
    }
    _, start, end = hparams({**values, "status": outcome.status}, figures)
    with SummaryWriter(outcome.folder) as writer:
        for summary in (start, end):
            writer._get_file_writer().add_summary(summary)
        for name, value in figures.items():
            writer.add_scalar(name, value, 0)


class Remote:
    """A run on another rank, with what a Popen has. A signal to mpirun reaches it there.

    Args:
        future: its exit code.
    """

    stdin = stdout = None

    def __init__(self, future: Future[int]) -> None:
        self.future = future

    def poll(self) -> int | None:
        """Return its exit code, or None while it runs."""
        return self.future.result() if self.future.done() else None

    @property
    def returncode(self) -> int | None:
        """Its exit code, or None while it runs."""
        return self.poll()

    def terminate(self) -> None:
        """Do nothing: mpirun passes signals on."""


Start = Callable[[Sequence[str], Path, Mapping[str, str]], Remote]
"""Starts a program; takes its words, the file to append its output to, and variables to set."""


class Places(NamedTuple):
    """Where runs are started.

    Attributes:
        jobs: the maximum number of runs at once.
        start: starts a run elsewhere; None for a process of this machine.
    """

    jobs: int
    start: Start | None = None


def _on_a_rank(program: Sequence[str], log: Path, environment: Mapping[str, str]) -> int:
    """Run a program to its end on this rank; return its exit code."""
    threads = dict.fromkeys(VARIABLES, "1")
    with open(log, "ab") as output:
        return subprocess.call(
            program,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={**threads, **without_launcher(os.environ), **environment},
        )


@contextlib.contextmanager
def places_of(name: str, jobs: int) -> Iterator[Places | None]:
    """Return where runs are started; None on a rank that has only worked for rank 0.

    Args:
        name: ``"local"``, or ``"mpi"`` for the processes of ``mpirun``.
        jobs: the maximum number of runs at once, for ``"local"``.

    Raises:
        UsageError: this is not the kind of start that the executor needs.
    """
    size = launched_size()
    if name == "local":
        if size > 1:
            raise UsageError(
                f"mpirun has started {size} processes: add --executor mpi to let them share the "
                "runs, or start the sweep without mpirun"
            )
        yield Places(jobs)
        return
    if size == 1:
        raise UsageError(
            "--executor mpi needs processes that do the runs: start it with "
            "mpirun -n 4 tinynet sweep ..., for three runs at once"
        )
    try:
        pool = mpi.executor()
    except RuntimeError as error:
        raise UsageError(str(error)) from None
    # Ranks that wait for work outlive Ctrl-C: their runs save and exit, and then rank 0 ends them.
    with StopRequest() if launched_rank() else contextlib.nullcontext(), pool as found:
        if found is None:
            yield None
            return

        def start(program: Sequence[str], log: Path, environment: Mapping[str, str]) -> Remote:
            words = [*program], log.absolute(), dict(environment)
            return Remote(found.submit(_on_a_rank, *words))

        yield Places(size - 1, start)
