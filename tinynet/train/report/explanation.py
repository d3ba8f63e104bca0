"""How a run went, read from its folder: for ``tinynet explain RUN``."""

from __future__ import annotations

import datetime
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tinynet.invocation import command
from tinynet.train.checkpoint import files
from tinynet.train.checkpoint.checksums import row_of
from tinynet.train.checkpoint.drift import damage
from tinynet.train.checkpoint.run_folder import RunFolder, no_run, runs_in
from tinynet.train.checkpoint.run_record import parse_record
from tinynet.train.config.problems import TrainError
from tinynet.train.incidents.post_mortem import REPORT, Report, read_report
from tinynet.train.incidents.response import brief
from tinynet.train.report.progress import describe_figures
from tinynet.train.report.table import aligned
from tinynet.train.running.training import EARLY_STOPPING

_STATUS = {
    "finished": "finished",
    EARLY_STOPPING: "finished by early stopping: nothing better was measured for a while",
    "interrupted": "stopped by Ctrl-C or SIGTERM",
    "failed": "failed",
    "running": "says that it is running",
}


def is_explained(path: Path) -> bool:
    """Whether a path is the folder of a run, or of one of its post-mortems."""
    return RunFolder(path).record.is_file() or (path / REPORT).is_file()


def explain_run(path: Path) -> str:
    """How a run went, what stopped it, and what can be done next.

    Raises:
        TrainError: it is not the folder of a run, or its files are damaged.
    """
    if (path / REPORT).is_file():
        report = read_report(path)
        return "\n".join([report.headline, *report.lines()])
    folder = RunFolder(path)
    record = _record(folder)
    reports = [(place, read_report(place)) for place in post_mortems(folder)]
    status = str(record.get("status"))
    fatal = [report for _, report in reports if not report.skipped] if status == "failed" else []
    how = _STATUS.get(record.get("stopped_by") or status if status == "finished" else status)
    lines = [f"{path}: {how or status}{_when(record)}", *_figures(folder, record)]
    lines += damage(folder, record).values()
    if fatal:
        lines += ["", f"{fatal[-1].headline}; the weights are those of before.", *fatal[-1].lines()]
    elif record.get("error"):
        lines += ["", *str(record["error"]).splitlines()]
    if status == "running":
        lines.append(_last_sign(path))
    skipped = [(place, report) for place, report in reports if report.skipped]
    if skipped:
        lines += ["", f"{len(skipped)} steps were skipped:"]
        lines += [f"  {brief(report)}\n    {command('explain', p)}" for p, report in skipped]
    return "\n".join([*lines, "", *_next(folder, status, fatal)])


_LISTED = 20


def list_runs(path: Path) -> str:
    """The runs in a folder, the newest first: how they went, and how to read more about each.

    Raises:
        UsageError: there are none.
    """
    found = sorted(((_glance(place), place) for place in runs_in(path)), reverse=True)
    if not found:
        raise no_run(path, RunFolder(path).record.name)
    rows = [("status", "last epoch", "to read more")]
    for (_, status, epoch), place in found[:_LISTED]:
        rows.append((status, epoch, command("explain", place)))
    heading = f"{path} is not the folder of a run; there are {len(found)} in it, the newest first:"
    lines = [heading, "", *aligned(rows)]
    if len(found) > _LISTED:
        lines.append(f"and {len(found) - _LISTED} older ones")
    return "\n".join(lines)


def _glance(path: Path) -> tuple[str, str, str]:
    """When a run began, how it ended, and what it came to."""
    folder = RunFolder(path)
    row = _last_row(folder) or {}
    figures = {k: v for k, v in row.items() if k.startswith("test/") and isinstance(v, float)}
    epoch = f"{row['epoch']}: {describe_figures(figures)}" if "epoch" in row else "none"
    try:
        record = _record(folder)
    except TrainError:
        return "", "damaged", epoch
    return str(record.get("started", "")), str(record.get("status")), epoch


def post_mortems(folder: RunFolder) -> list[Path]:
    """The folders of the steps that came to NaN, in their order."""
    found = folder.post_mortems.glob(f"step_*/{REPORT}")
    return sorted((p.parent for p in found), key=lambda p: (len(p.name), p.name))


def _record(folder: RunFolder) -> dict[str, Any]:
    try:
        return parse_record(folder)
    except FileNotFoundError:
        raise no_run(folder.path, folder.record.name) from None


def _when(record: Mapping[str, Any]) -> str:
    started = record.get("started")
    return f" (begun {str(started)[:19].replace('T', ' ')})" if started else ""


def _figures(folder: RunFolder, record: Mapping[str, Any]) -> list[str]:
    """What the run came to: its last epoch, its best measurement, its last checkpoint."""
    lines = []
    row = _last_row(folder)
    if row is None:
        lines.append("no epoch was completed")
    else:
        figures = {k: v for k, v in row.items() if "/" in k and isinstance(v, (int, float))}
        lines.append(f"epoch {row.get('epoch')}: {describe_figures(figures)}")
    best = record.get("best")
    if isinstance(best, dict) and best.get("epoch"):
        figures = {f"test/{k}": v for k, v in best.items() if isinstance(v, float)}
        lines.append(f"best, after epoch {best['epoch']}: {describe_figures(figures)}")
    if folder.checkpoint.exists():
        try:
            saved = files.load(folder.checkpoint)
            lines.append(f"checkpoint: after step {saved['step']}, epoch {saved['epoch']}")
        except TrainError as error:
            lines.append(f"checkpoint: {error}")
    return lines


def _last_row(folder: RunFolder) -> dict[str, Any] | None:
    """The last whole line of the metrics; a process that is killed may leave half of one."""
    try:
        lines = folder.metrics.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    for line in reversed(lines):
        row = row_of(line)
        if row is not None:
            return row
    return None


def _last_sign(path: Path) -> str:
    newest = max((file.stat().st_mtime for file in path.iterdir()), default=0.0)
    ago = datetime.timedelta(seconds=round(max(0.0, time.time() - newest)))
    return (
        "either it is, or it was killed (kill -9, no memory left, a power cut) and could not say "
        f"so; its last sign of life was {ago} ago"
    )


def _next(folder: RunFolder, status: str, fatal: list[Report]) -> list[str]:
    """What can be done now."""
    run = folder.path
    if not folder.checkpoint.exists():
        again = [f"  begin again:    {command('train', folder.config)}"]
    elif status == "finished":
        again = [
            f"  measure again:  {command('eval', run)}",
            f"  look closer:    {command('predict', run)}",
        ]
    else:
        again = [
            f"  go on:          {command('resume', run)}",
            f"  measure it:     {command('eval', run)}",
        ]
    if fatal:
        again += [
            f"  the step again: {command('explain', run, '--replay')}",
            '  to leave such steps out: run.non_finite = "skip" (and run.skip_limit)',
        ]
    curves = f"  curves:         {command('board', folder.path.parent)}"
    return ["what can be done:", *again, curves]
