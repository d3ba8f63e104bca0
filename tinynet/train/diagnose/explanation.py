"""The outcome of a run, read from its folder, for ``tinynet explain RUN``.

A step that produced NaN can be repeated from its post-mortem.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from tinynet.base.invocation import command
from tinynet.core.modes import no_grad
from tinynet.core.printing import quantity
from tinynet.core.tensors.tensor import Tensor
from tinynet.train.assemble.build import Parts, build
from tinynet.train.assemble.stopping import EARLY_STOPPING, MAX_STEPS, MAX_TIME, PRUNED
from tinynet.train.base.checkpoint_file import read_checkpoint
from tinynet.train.base.files import read_last_row
from tinynet.train.base.problems import TrainError, UsageError
from tinynet.train.base.run_folder import RunFolder, no_run, parse_record, read_record, runs_in
from tinynet.train.base.terminal import aligned
from tinynet.train.config.resolve import load_config
from tinynet.train.config.user_code import stand_ins
from tinynet.train.diagnose.changes import run_damage
from tinynet.train.incidents.guard import (
    REPORT,
    STATE,
    Failure,
    PostMortem,
    Report,
    Snapshot,
    investigate,
    loss_of,
    read_report,
)
from tinynet.train.metrics.criterion import (
    SELECTED_ON_TEST,
    SETS,
    is_test,
    recorded_criterion,
    selection_of,
)
from tinynet.train.observe.progress import describe_figures
from tinynet.train.step import seeds
from tinynet.train.step.task import Place, Task
from tinynet.train.store.storage import brief

_STATUS = {
    "finished": "finished",
    EARLY_STOPPING: "finished by early stopping: no further improvement",
    MAX_STEPS: "finished: the number of steps reached run.max_steps",
    MAX_TIME: "finished: the time of training reached run.max_time",
    PRUNED: "pruned by the search: other trials were better after as many epochs",
    "interrupted": "stopped by Ctrl-C or SIGTERM",
    "failed": "failed",
    "running": "recorded as running",
}


def is_explained(path: Path) -> bool:
    """Return whether a path is a run folder, or the folder of a post-mortem."""
    return RunFolder(path).record.is_file() or (path / REPORT).is_file()


def explain_run(path: Path) -> str:
    """Explain how a run went, what stopped it, and what to do next.

    Raises:
        TrainError: if it is not a run folder, or its files are damaged.
    """
    if (path / REPORT).is_file():
        report = read_report(path)
        return "\n".join([report.headline, *report.lines()])
    folder = RunFolder(path)
    record = _record(folder)
    reports = [(place, read_report(place)) for place in post_mortems(folder)]
    status, fatal = str(record.get("status")), fatal_reports(folder, record)
    lines = [f"{path}: {status_of(record)}{_when(record)}", *_figures(folder, record)]
    lines += run_damage(folder, record).values()
    if fatal:
        lines += [
            "",
            f"{fatal[-1].headline}; the weights are those before this step.",
            *fatal[-1].lines(),
        ]
    elif record.get("error"):
        lines += ["", *str(record["error"]).splitlines()]
    if status == "running":
        lines.append(_last_sign(path))
    skipped = [(place, report) for place, report in reports if report.skipped]
    if skipped:
        lines += ["", f"{quantity(len(skipped), 'step was', 'steps were')} skipped:"]
        lines += [f"  {brief(report)}\n    {command('explain', p)}" for p, report in skipped]
    return "\n".join([*lines, "", *_next(folder, status, fatal)])


def fatal_reports(folder: RunFolder, record: Mapping[str, Any]) -> list[Report]:
    """Return what is known of the step at which a run failed, if a NaN or infinity ended it."""
    if record.get("status") != "failed":
        return []
    return [report for report in map(read_report, post_mortems(folder)) if not report.skipped]


def status_of(record: Mapping[str, Any]) -> str:
    """Return how a run ended, in words.

    Example:
        >>> status_of({"status": "finished", "stopped_by": "good enough"})
        'finished, stopped by a callback: good enough'
    """
    status = str(record.get("status"))
    if status == "finished" and (reason := record.get("stopped_by")):
        return _STATUS.get(reason, f"finished, stopped by a callback: {reason}")
    return _STATUS.get(status, status)


def brief_status(record: Mapping[str, Any]) -> str:
    """Return how a run ended, in a word; what a search pruned has not finished.

    Example:
        >>> brief_status({"status": "finished", "stopped_by": "pruned"})
        'pruned'
    """
    return PRUNED if record.get("stopped_by") == PRUNED else str(record.get("status"))


def status_with_cause(record: Mapping[str, Any]) -> str:
    """Return how a run ended, in words, with the first line of its error.

    Example:
        >>> status_with_cause({"status": "failed", "error": "the loss is nan\\nin step 3"})
        'failed: the loss is nan'
    """
    error = str(record.get("error") or "").strip()
    return ": ".join(filter(None, (status_of(record), error.partition("\n")[0])))


_LISTED = 20


def list_runs(path: Path) -> str:
    """List the runs in a folder, newest first, with their status and the command for details.

    Raises:
        UsageError: if there are none.
    """
    found = sorted(((_summary(place), place) for place in runs_in(path)), reverse=True)
    if not found:
        raise no_run(path, RunFolder(path).record.name)
    rows = [("status", "last epoch", "details")]
    for (_, status, epoch), place in found[:_LISTED]:
        rows.append((status, epoch, command("explain", place)))
    heading = f"{path} is not the folder of a run; there are {len(found)} in it, the newest first:"
    lines = [heading, "", *aligned(rows)]
    if len(found) > _LISTED:
        lines.append(f"and {len(found) - _LISTED} older ones")
    return "\n".join(lines)


def _summary(path: Path) -> tuple[str, str, str]:
    """Return the start, status and last figures of a run."""
    folder = RunFolder(path)
    row = read_last_row(folder.metrics, is_test) or {}
    measured = tuple(f"{SETS[name]}/" for name in ("validation", "test"))
    figures = {k: v for k, v in row.items() if k.startswith(measured) and isinstance(v, float)}
    epoch = f"{row['epoch']}: {describe_figures(figures)}" if "epoch" in row else "none"
    try:
        record = _record(folder)
    except TrainError:
        return "", "damaged", epoch
    return str(record.get("started", "")), brief_status(record), epoch


def post_mortems(folder: RunFolder) -> list[Path]:
    """Return the folders of the post-mortems, in order."""
    found = folder.post_mortems.glob(f"step_*/{REPORT}")
    return sorted((p.parent for p in found), key=lambda p: (len(p.name), p.name))


def _record(folder: RunFolder) -> dict[str, Any]:
    try:
        return parse_record(folder)
    except FileNotFoundError:
        raise no_run(folder.path, folder.record.name) from None


def _when(record: Mapping[str, Any]) -> str:
    started = record.get("started")
    return f" (started {str(started)[:19].replace('T', ' ')})" if started else ""


def _figures(folder: RunFolder, record: Mapping[str, Any]) -> list[str]:
    """Return lines on the last epoch, the best evaluation and the last checkpoint."""
    lines = []
    row = read_last_row(folder.metrics, is_test)
    if row is None:
        lines.append("no epoch was completed")
    else:
        figures = {k: v for k, v in row.items() if "/" in k and isinstance(v, (int, float))}
        lines.append(f"epoch {row.get('epoch')}: {describe_figures(figures)}")
    best = record.get("best")
    if isinstance(best, dict) and best.get("epoch"):
        selection = selection_of(record)
        figures = {k: v for k, v in best.items() if isinstance(v, float)}
        described = describe_figures({f"{selection}/{k}": v for k, v in figures.items()})
        lines.append(f"best, after epoch {best['epoch']}: {described}")
        criterion = recorded_criterion(record)
        if criterion is not None and (doubt := criterion.doubt(best)):
            lines[-1] += f" ({doubt})"
        lines += [SELECTED_ON_TEST] if selection == "test" else []
    for key, weights in (("test", "last"), ("test_best", "best")):
        tested = record.get(key) if selection_of(record) == "validation" else None
        if isinstance(tested, dict) and tested:
            figures = {f"test/{k}": v for k, v in tested.items() if isinstance(v, float)}
            lines.append(f"with the {weights} weights: {describe_figures(figures)}")
    if folder.checkpoint.exists():
        try:
            saved = read_checkpoint(folder.checkpoint)
            lines.append(f"checkpoint: after step {saved['step']}, epoch {saved['epoch']}")
        except TrainError as error:
            lines.append(f"checkpoint: {error}")
    return lines


def _last_sign(path: Path) -> str:
    newest = max((file.stat().st_mtime for file in path.iterdir()), default=0.0)
    ago = datetime.timedelta(seconds=round(max(0.0, time.time() - newest)))
    return (
        "it is running, or it was killed (kill -9, out of memory, a power cut); its last sign of "
        f"life was {ago} ago"
    )


def _next(folder: RunFolder, status: str, fatal: list[Report]) -> list[str]:
    """Return the list of next commands."""
    run = folder.path
    if not folder.checkpoint.exists():
        again = [("start again", command("train", folder.config))]
    elif status == "finished":
        again = [
            ("evaluate again", command("eval", run)),
            ("predictions", command("predict", run)),
        ]
    else:
        again = [("resume", command("resume", run)), ("evaluate", command("eval", run))]
    if fatal:
        again += [
            ("repeat the step", command("explain", run, "--replay")),
            ("skip such steps", 'run.non_finite = "skip" (and run.skip_limit)'),
        ]
    again.append(("curves", command("board", folder.path.parent)))
    width = max(len(name) for name, _ in again) + 1
    return ["next:", *(f"  {f'{name}:':<{width}} {text}" for name, text in again)]


def replayed(path: Path) -> str:
    """Repeat a step with the current code, and report what produces the NaN now.

    Args:
        path: a run folder, for its last failed step; or the folder of a post-mortem.

    Raises:
        TrainError: if it has no post-mortem, or one that does not fit the config of the run.
    """
    place = (
        path if (path / REPORT).is_file() else next(iter(post_mortems(RunFolder(path))[::-1]), None)
    )
    if place is None:
        raise UsageError(f"{path} has no stored step that produced NaN or infinity")
    report = replay(place).report
    if not report.suspects:
        return f"{report.headline}: this no longer happens. {report.note}"
    return "\n".join([f"{report.headline}; repeated just now:", *report.lines()])


def replay(place: Path) -> PostMortem:
    """Repeat the step of a post-mortem, with the model and the loss of its run's config.

    Args:
        place: the folder of the post-mortem, inside the run folder.

    Raises:
        TrainError: as for `replayed`.
    """
    saved = read_checkpoint(place / STATE)
    folder = RunFolder(place.parent.parent)
    copies = stand_ins(folder, read_record(folder))  # not for changed files, which may have the fix
    parts = build(load_config(folder.config, stand_ins=copies))
    _load(parts, saved["model"], place)
    parts.model.train()
    where = Place(*saved["place"])
    batches = saved["batches"]
    failure = Failure(
        saved["what"],
        tuple(saved["place"]),
        saved["loss"],
        batches,
        saved["indices"],
        parts.train_set,
    )
    task = Task(parts.model, parts.loss, parts.updaters, batches, where, dry=True)
    with seeds.isolated():
        seeds.set_states(saved["generators"])
        snapshot = Snapshot(parts.model)
        snapshot.take()
        step = partial(loss_of, partial(parts.method.step, task))
        return investigate(failure, parts.model, snapshot, step)


def _load(parts: Parts, saved: dict[str, Tensor], place: Path) -> None:
    """Load the weights and all buffers, including those that are not in the state_dict."""
    model = parts.model
    try:
        names = model.state_dict().keys()
        model.load_state_dict({name: saved[name] for name in names if name in saved})
        with no_grad():
            for name, buffer in model.named_buffers():
                if name not in names and name in saved:
                    buffer.copy_(saved[name])
    except RuntimeError as error:
        raise TrainError(f"{place} does not fit the model of its config: {error}") from error
