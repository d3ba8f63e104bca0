"""Resuming a run: exactly as if it had never stopped, unless its config was changed."""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tinynet.base.invocation import command
from tinynet.core.printing import quantity
from tinynet.train.assemble.build import Parts, build
from tinynet.train.assemble.computing import computing
from tinynet.train.assemble.trial import trial, try_schedules
from tinynet.train.base.problems import UsageError
from tinynet.train.base.reading import read_text
from tinynet.train.base.run_folder import RunFolder, StorageWarning, no_run
from tinynet.train.base.run_record import read_record, seconds_of
from tinynet.train.base.writing import locked, move, remove_leftovers
from tinynet.train.config.bounds import MOST
from tinynet.train.config.document import parse
from tinynet.train.config.rendering import to_toml
from tinynet.train.config.resolve import load_config, resolve
from tinynet.train.config.sections import Config
from tinynet.train.config.validation import recorded
from tinynet.train.diagnose.drift import Drift
from tinynet.train.run.config_changes import ChangedValues, changes_of, refuse_fixed
from tinynet.train.run.interrupt import resumable
from tinynet.train.run.processes import (
    advise,
    agreeing,
    copied,
    sharing,
    temporary,
)
from tinynet.train.run.result import Result
from tinynet.train.run.runner import named, prepare, print_result
from tinynet.train.run.training import Show, Training
from tinynet.train.step.ranks import Ranks, join
from tinynet.train.store.provenance import resumed_record
from tinynet.train.store.storage import cut_rows, newest_checkpoint
from tinynet.train.store.tokens import check_vocabulary


def resume(
    place: str | Path,
    overrides: Iterable[str] | Mapping[str, Any] = (),
    *,
    force: bool = False,
    quiet: bool = False,
    json: bool = False,
    callbacks: Sequence[Any] = (),
) -> Result:
    """Resume a run that was stopped or killed, in its folder. The result is that of an
    uninterrupted run, to the bit.

    The folder's config and the overrides take precedence over the config in the checkpoint; the
    differences are printed. To extend a complete run, raise ``run.epochs``.

    Args:
        place: a run folder.
        overrides: ``["run.epochs=20"]`` or ``{"run.epochs": 20}``.
        force: resume even if source files or the data have changed since the run began.
        quiet: print nothing and show no bar.
        json: print one JSON object per epoch, and a summary at the end.
        callbacks: those that were passed to `run`; checkpoints contain their states.

    Raises:
        UsageError: if it is not a run folder, another process trains in it, a change is not
            possible, or source files or data have changed.
        TrainError: if no checkpoint can be read, or the run fails.

    Example:
        >>> folder = getfixture("tmp_path")
        >>> _ = (folder / "digits.toml").write_text('''
        ...     run = {epochs = 1}
        ...     data = {type = "Digits"}
        ...     model = {type = "mlp", sizes = [64, 32, 10]}
        ...     loss = {type = "CrossEntropyLoss"}
        ...     optimizer = {type = "Adam", lr = 0.01}
        ... ''')
        >>> from tinynet.train import run
        >>> first = run(folder / "digits.toml", out=folder, quiet=True)
        >>> again = resume(first.folder, {"run.epochs": 2}, quiet=True)
        >>> twice = run(folder / "digits.toml", {"run.epochs": 2}, out=folder, quiet=True)
        >>> again.metrics == twice.metrics
        True
    """
    folder = RunFolder(Path(place))
    if not folder.config.is_file():
        raise no_run(folder.path, folder.config.name)
    ranks = join()
    advise(ranks, command("resume", folder.path))
    quiet = quiet or (ranks is not None and not ranks.is_first)
    show: Show = "nothing" if quiet else "json" if json else "text"
    with contextlib.ExitStack() as stack:
        own = stack.enter_context(temporary(ranks))
        with agreeing(ranks):
            folder = copied(folder, own, ranks)
            drift = Drift(folder)
            config = load_config(folder.config, overrides, stand_ins=drift.stand_ins)
            stack.enter_context(computing(config.run))
            stack.enter_context(locked(folder.path))
            remove_leftovers(folder.path)
            train = _resume(drift, config, show, force, ranks, named(callbacks))
        with resumable("resume", folder.path):
            result = train()
    print_result(result, show)
    return result


def _resume(
    drift: Drift,
    config: Config,
    show: Show,
    force: bool,
    ranks: Ranks | None,
    callbacks: Mapping[str, Any],
) -> Callable[[], Result]:
    """Return what goes on with the run."""
    folder, record = drift.folder, drift.record
    if (found := newest_checkpoint(folder)) is None:
        drift.warn_of_damage()
        return _restart(folder, config, show, ranks, callbacks)
    path, saved = found
    drift.damage.pop(folder.metrics.name, None)  # cut_rows names the epochs
    now = to_toml(config)
    changes = changes_of(_in_full(saved["config"], drift), now)
    refuse_fixed(changes)
    _name_edits(drift, changes)
    parts = _built(config, saved, drift, force)
    parts.callbacks.add(callbacks)
    changed_values = ChangedValues(parts, changes)
    text = now if changes else read_text(folder.config)
    training = Training(parts, folder, text, show, saved, ranks, seconds_of(record, saved["step"]))
    changed_values.apply()
    _refuse_too_few_epochs(training)
    where = f"epoch {saved['epoch']}, step {saved['step']}"
    epochs = training.starting_point.epoch
    kept = {"sealed": "files" in record, "complete": training.is_complete}
    training.storage.written = cut_rows(folder.metrics, saved["step"], epochs, **kept)
    if training.is_complete:
        _print(show, f"the run is complete ({where}); --set {training.limits.key}=N extends it")
        if problem := training.storage.finish(record | training.outcome("finished")):
            raise problem
        return training.result
    if path != folder.checkpoint and folder.checkpoint.exists():  # it is damaged
        move(folder.checkpoint, folder.checkpoint.with_suffix(".damaged"))
    _announce(show, changes, where, ranks, config)
    changed = {change.key: [change.before, change.now] for change in changes}
    record = resumed_record(config, folder, saved["step"], changed, record | {"data": drift.data})
    return functools.partial(training.train, record)


def _name_edits(drift: Drift, changes: Sequence[Any]) -> None:
    """Name the changed values in the warning of a damaged config."""
    if drift.folder.config.name in drift.damage:
        edits = "; ".join(map(str, changes)) or "no values"
        drift.damage[drift.folder.config.name] += f" (changed: {edits})"


def _built(config: Config, saved: Mapping[str, Any], drift: Drift, force: bool) -> Parts:
    """Build the objects of a config; refuse changes of files and data unless forced."""
    parts = build(config, saved.get("preprocessing"), trackers=True)
    check_vocabulary(parts.train_set, drift.folder, drift.damage)
    drift.compare(parts)
    drift.refuse_changes(force)
    try_schedules(parts)
    return parts


def _announce(
    show: Show, changes: Sequence[Any], where: str, ranks: Ranks | None, config: Config
) -> None:
    if changes:
        lines = [f"  {change}" for change in changes]
        _print(show, "changed since the checkpoint (the new values apply):", *lines)
    _print(show, f"resuming after {where}")
    if ranks is not None:
        _print(show, sharing(ranks, config))


def _refuse_too_few_epochs(training: Training) -> None:
    """Refuse to stop in the middle of an epoch, where nothing is evaluated or saved."""
    start, run, batches = (
        training.starting_point,
        training.parts.config.run,
        training.parts.train_batches,
    )
    if start.batch and training.limits.is_last(start.epoch) and not training.is_complete:
        raise UsageError(
            f"run.epochs must be at least {start.epoch + 1} to resume this run: it has trained "
            f"{quantity(start.epoch, 'epoch')} and {start.batch} of {len(batches)} batches of the "
            f"next. Got {run.epochs} instead. "
            f"`{command('eval', training.folder.path)}` evaluates it without training"
        )


def _restart(
    folder: RunFolder,
    config: Config,
    show: Show,
    ranks: Ranks | None,
    callbacks: Mapping[str, Any],
) -> Callable[[], Result]:
    """Restart a run whose process died before the first checkpoint."""
    parts = prepare(config)
    parts.callbacks.add(callbacks)
    recording = trial(parts, None)
    _print(show, f"{folder.path} has no checkpoint yet: starting from the beginning")
    rows = cut_rows(folder.metrics, MOST)
    if len(rows) > 1:  # the first may be written before the first checkpoint
        text = f"{folder.path} has metrics of {quantity(len(rows), 'epoch')}, but its checkpoint"
        text = f"{text} is missing: starting from the beginning"
        warnings.warn(text, StorageWarning, stacklevel=4)
    cut_rows(folder.metrics, 0)
    record = read_record(folder)
    earlier = {key: value for key, value in record.items() if key not in ("sources", "data")}
    record = resumed_record(config, folder, 0, {}, earlier)
    training = Training(parts, folder, to_toml(config), show, ranks=ranks)
    return functools.partial(training.train, record, recording)


def _in_full(text: Any, drift: Drift) -> str:
    """Return a stored config with the keys that have been added to tinynet drift."""
    folder = drift.folder
    source = parse(str(text).encode(), file=str(folder.config), folder=folder.path)
    return to_toml(resolve(recorded(source), stand_ins=drift.stand_ins))


def _print(show: Show, *lines: str) -> None:
    if show == "text":
        print(*lines, sep="\n", flush=True)
