"""Many runs of one config, each in its own process: a failed run does not stop the others.

The folder of a sweep holds ``sweep.json`` (the values to try), a folder and a log per run, and
``results.csv``. Resuming a sweep skips finished runs and resumes the others from their last
checkpoints.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tinynet.board import SummaryWriter
from tinynet.invocation import VARIABLE, command
from tinynet.train.build.trial import trial
from tinynet.train.checkpoint.provenance import surroundings
from tinynet.train.checkpoint.run_folder import write_json, write_text
from tinynet.train.config.document import toml_or_text
from tinynet.train.config.grid import Axis, Point, points
from tinynet.train.config.problems import ConfigError, Problem, UsageError
from tinynet.train.config.rendering import to_toml
from tinynet.train.config.resolve import load_config
from tinynet.train.config.sections import Config
from tinynet.train.metrics.registry import higher_is_better
from tinynet.train.running.interrupt import StopRequest
from tinynet.train.running.runner import prepare

_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
_PAUSE = 0.02  # seconds between two polls of the processes


@dataclass(frozen=True)
class Outcome:
    """The outcome of one point."""

    point: Point
    status: str
    """``"finished"``, ``"failed"``, ``"interrupted"`` or ``"not started"``."""

    metrics: Mapping[str, float]
    """The last evaluation."""

    best: Mapping[str, float]
    """The best evaluation and its epoch."""

    folder: str
    message: str = ""
    """The last line of the error message of a failed run."""


@dataclass(frozen=True)
class Sweep:
    """A sweep: its config, its axes, and its folder."""

    folder: Path
    config: str
    axes: tuple[Axis, ...]

    @property
    def points(self) -> list[Point]:
        """All combinations of the values."""
        return points(self.axes)

    def log(self, point: Point) -> Path:
        """Return the log file of a run."""
        return self.folder / f"{point.name}.log"


# ---- its folder ----


def check_all(config: str, axes: Sequence[Axis]) -> None:
    """Resolve and build the config of every point, and try a step.

    Points that differ only in their seeds are tried once.

    Raises:
        ConfigError: if configs have mistakes; lists each mistake once.
        UsageError: if parts do not fit together; names the values.
    """
    problems: dict[Problem, None] = {}
    configs: dict[str, tuple[Point, Config]] = {}
    for point in points(axes):
        try:
            without_seed = [pair for pair in point.values.items() if pair[0] != "run.seed"]
            configs.setdefault(str(without_seed), (point, load_config(config, point.assignments)))
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


def new_sweep(config: str, axes: Sequence[Axis], folder: Path) -> Sweep:
    """Record the config and the values to try in a new folder."""
    axes = tuple(axes)
    write_json(
        folder / "sweep.json",
        {
            **surroundings(),
            "config": str(Path(config).absolute()),
            "axes": {one.key: list(one.values) for one in axes},
            "resolved": _resolved(config, axes),
        },
    )
    return Sweep(folder, str(Path(config).absolute()), axes)


def open_sweep(folder: Path) -> Sweep:
    """Open the sweep of a folder.

    Raises:
        UsageError: if there is none, or its config has changed.
    """
    try:
        record = json.loads((folder / "sweep.json").read_text(encoding="utf-8"))
        axes = tuple(Axis(key, tuple(values)) for key, values in record["axes"].items())
        config, before = str(record["config"]), record["resolved"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{folder} is not the folder of a sweep ({error})") from None
    if _resolved(config, axes) != before:
        raise UsageError(
            f"{config} has changed since the sweep began, so old and new runs could not be "
            "compared: start a new sweep"
        )
    return Sweep(folder, config, axes)


def _resolved(config: str, axes: Sequence[Axis]) -> str:
    """Return the first config of a sweep without its comments, which hold paths."""
    resolved = load_config(Path(config).absolute(), points(axes)[0].assignments)
    return "\n".join(line.partition("  # ")[0].rstrip() for line in to_toml(resolved).splitlines())


def outcome_of(sweep: Sweep, point: Point) -> Outcome:
    """Return the outcome of a point, from a finished run or else the newest one."""
    found = Outcome(point, "not started", {}, {}, "")
    for record in sorted((sweep.folder / point.name).glob("*/run.json")):
        with contextlib.suppress(OSError, ValueError):
            run = json.loads(record.read_text(encoding="utf-8"))
            status = "interrupted" if run["status"] == "running" else run["status"]
            found = Outcome(
                point, status, run.get("test", {}), run.get("best", {}), str(record.parent)
            )
            if status == "finished":
                break
    return found


# ---- running ----


def run_all(
    sweep: Sweep, jobs: int, report: Callable[[int, Outcome, float], object]
) -> tuple[list[Outcome], int | None]:
    """Run all unfinished points, at most `jobs` at once.

    Args:
        sweep: the sweep.
        jobs: the maximum number of processes.
        report: called after each run with the number of completed runs, its outcome and seconds.

    Returns:
        The outcomes of all points, and the signal that stopped the sweep early, if one did.
    """
    outcomes = {point.number: outcome_of(sweep, point) for point in sweep.points}
    pending = deque(o.point for o in outcomes.values() if o.status != "finished")
    done = len(outcomes) - len(pending)
    running: dict[int, tuple[subprocess.Popen[bytes], float]] = {}
    with StopRequest() as stop:
        try:
            while running or (pending and not stop.signal):
                while pending and len(running) < jobs and not stop.signal:
                    point = pending.popleft()
                    running[point.number] = (_start(sweep, point, jobs), time.monotonic())
                for number in [n for n, (p, _) in running.items() if p.poll() is not None]:
                    process, began = running.pop(number)
                    outcomes[number] = _ended(sweep, outcomes[number].point, process.returncode)
                    done += 1
                    if outcomes[number].status == "finished":
                        log_hparams(outcomes[number])
                    report(done, outcomes[number], time.monotonic() - began)
                if stop.signal == signal.SIGTERM:  # Ctrl-C reaches them from the terminal
                    _terminate(running)
                time.sleep(_PAUSE)
        finally:
            _terminate(running)
    return list(outcomes.values()), stop.signal


def _start(sweep: Sweep, point: Point, jobs: int) -> subprocess.Popen[bytes]:
    program = [sys.executable, "-m", "tinynet", *_command(sweep, point), "--json"]
    environment = os.environ | {VARIABLE: command()}
    if jobs > 1:  # several processes with a thread per core each would slow each other down
        environment = {**dict.fromkeys(_THREADS, "1"), **environment}
    with open(sweep.log(point), "ab") as log:
        return subprocess.Popen(
            program, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment
        )


def _command(sweep: Sweep, point: Point) -> list[str]:
    """Return the command that starts or resumes a run."""
    started = sorted((sweep.folder / point.name).glob("*/config.toml"))
    if started:
        return ["resume", str(started[-1].parent)]
    settings = [*point.assignments, f"run.out={sweep.folder}", f"run.name={point.name}"]
    return ["train", sweep.config, *(w for setting in settings for w in ("--set", setting))]


def _ended(sweep: Sweep, point: Point, code: int) -> Outcome:
    outcome = outcome_of(sweep, point)
    if code == 0:
        return outcome
    message = f"exit code {code}: {_last_message(sweep.log(point))}"
    status = "interrupted" if outcome.status == "interrupted" else "failed"
    return Outcome(point, status, outcome.metrics, outcome.best, outcome.folder, message)


def _last_message(log: Path) -> str:
    """Return the last unindented line of a log, which starts the last error message."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    messages = [
        line for line in lines if line[:1].strip("{ ") and not line.endswith("nothing was written.")
    ]
    return messages[-1] if messages else f"see {log}"


def _terminate(running: dict[int, tuple[subprocess.Popen[bytes], float]]) -> None:
    """Ask the runs to finish their steps, save, and exit; only once, since twice aborts them."""
    for number, (process, began) in running.items():
        if began and process.poll() is None:
            process.terminate()
            running[number] = (process, 0.0)


def log_hparams(outcome: Outcome) -> None:
    """Write the values and metrics of a finished run for TensorBoard's tab HParams."""
    values = {
        key: value if isinstance(value, bool | int | float) else text
        for key, text in outcome.point.values.items()
        if (value := toml_or_text(text)) is not None
    }
    metrics = {f"hparam/{name}": value for name, value in outcome.metrics.items()}
    with SummaryWriter(outcome.folder) as writer:
        writer.add_hparams(values, metrics, run_name=".")


# ---- the table ----


def table(sweep: Sweep, outcomes: Sequence[Outcome]) -> list[list[str]]:
    """Return a header and a row per run, the best first."""
    figures = list(dict.fromkeys(name for o in outcomes for name in o.metrics))
    watched = _watched(figures)
    ordered = sorted(outcomes, key=lambda o: _rank(o.metrics, watched))
    keys = [one.key for one in sweep.axes if len(one.values) > 1]
    rows = [[*_short(keys), *reversed(figures), "status", "folder"]]
    for outcome in ordered:
        shown = [_figure(outcome.metrics.get(name)) for name in reversed(figures)]
        folder = Path(outcome.folder).name if outcome.folder else ""
        where = f"{outcome.point.name}/{folder}" if folder else ""
        values = [outcome.point.values[key] for key in keys]
        rows.append([*values, *shown, outcome.status, where])
    return rows


def over_seeds(sweep: Sweep, outcomes: Sequence[Outcome], key: str = "run.seed") -> list[list[str]]:
    """Return the table of means and standard deviations over the seeds; [] if not applicable."""
    others = [one.key for one in sweep.axes if one.key != key and len(one.values) > 1]
    if not others or all(one.key != key or len(one.values) < 2 for one in sweep.axes):
        return []
    groups: dict[tuple[str, ...], list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.status == "finished":
            place = tuple(outcome.point.values[other] for other in others)
            groups.setdefault(place, []).append(outcome)
    figures = list(dict.fromkeys(name for o in outcomes for name in o.metrics))
    watched = _watched(figures)
    means = {
        place: {f: statistics.fmean(o.metrics[f] for o in group) for f in figures}
        for place, group in groups.items()
    }
    rows = [[*_short(others), *reversed(figures), "runs"]]
    for place in sorted(groups, key=lambda place: _rank(means[place], watched)):
        spread = {f: _spread([o.metrics[f] for o in groups[place]]) for f in figures}
        shown = [f"{_figure(means[place][f])} ± {spread[f]}" for f in reversed(figures)]
        rows.append([*place, *shown, str(len(groups[place]))])
    return rows


def write_table(sweep: Sweep, rows: Sequence[Sequence[str]]) -> Path:
    """Write ``results.csv`` into the folder of the sweep, and return its path."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    path = sweep.folder / "results.csv"
    write_text(path, text.getvalue())
    return path


def _short(keys: Sequence[str]) -> list[str]:
    """Return the last parts of the keys, or the whole keys if these are ambiguous."""
    last = [key.rpartition(".")[2] for key in keys]
    return [s if last.count(s) == 1 else k for s, k in zip(last, keys, strict=True)]


def _watched(figures: Sequence[str]) -> str:
    others = [name for name in figures if name != "loss"]
    return others[0] if others else "loss"


def _rank(metrics: Mapping[str, float], name: str) -> tuple[bool, float]:
    value = metrics.get(name)
    if value is None:
        return True, 0.0
    return False, -value if higher_is_better(name) else value


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.5g}"


def _spread(values: Sequence[float]) -> str:
    return f"{statistics.stdev(values):.2g}" if len(values) > 1 else "?"
