"""Resuming a run: exactly as if it had never stopped, unless its config was changed."""

from __future__ import annotations

import contextlib
import copy
import functools
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tinynet.base.invocation import command
from tinynet.core.printing import quantity
from tinynet.train.assemble.build import Parts, build, computing
from tinynet.train.assemble.optimizers import PlateauSchedule, lengthen, with_warmup
from tinynet.train.assemble.trial import trial, try_schedules
from tinynet.train.base.files import locked, move, read_text, remove_leftovers
from tinynet.train.base.problems import UsageError
from tinynet.train.base.run_folder import RunFolder, StorageWarning, no_run, read_record, seconds_of
from tinynet.train.config.document import dotted, parse
from tinynet.train.config.reference import to_toml
from tinynet.train.config.resolve import load_config, resolve
from tinynet.train.config.rules import MOST
from tinynet.train.config.sections import Config
from tinynet.train.config.values import Values, as_tree
from tinynet.train.diagnose.changes import Drift
from tinynet.train.run.measures import Result
from tinynet.train.run.processes import (
    advise,
    agreeing,
    private_folder,
    resumable,
    sharing,
    temporary,
)
from tinynet.train.run.runner import named, prepare, print_result
from tinynet.train.run.training import Show, Training
from tinynet.train.step.ranks import Ranks, join
from tinynet.train.store.provenance import check_vocabulary, resumed_record
from tinynet.train.store.storage import cut_rows, newest_checkpoint

# ---- config changes -----------------------------------------------------------------------------
# Changes to the config of a resumed run, and how they take effect.


FIXED = {
    "run.seed": "all random numbers follow from it",
    "run.name": "the run stays in its folder",
    "run.out": "the run stays in its folder",
    "run.init_from": "the weights are those of the checkpoint",
    "run.init_skip": "the weights are those of the checkpoint",
    "run.limit_batches": "the rest of the epoch would be undefined",
    "run.overfit_batches": "the rest of the epoch would be undefined",
    "evaluation.limit_batches": "the figures would not be comparable",
    "optimizer.layer_lr": "the learning rates are those of the checkpoint",
    "run.callbacks": "their state is that of the checkpoint",
    "data": "the rest of the epoch would be undefined",
    "model.type": "the weights are those of another model",
    "method.type": "its state is that of the checkpoint",
    "optimizer.type": "its state is that of the checkpoint",
    "schedule.type": "its state is that of the checkpoint",
    "schedule.warmup": "its state is that of the checkpoint",
}
"""The keys that cannot change when a run is resumed, with the reasons; each covers its subkeys."""

LENGTH = ("run.epochs", "run.max_steps", "optimizer.accumulate")
"""The keys that change the length of the run."""

FREE = ("data.workers",)
"""Exceptions: keys below these that may change."""


@dataclass(frozen=True)
class Change:
    """A changed value."""

    path: tuple[str, ...]
    before: Any
    now: Any
    """The new value; None if it is left out. The same holds for `before`."""

    @property
    def key(self) -> str:
        """``"optimizer.lr"``."""
        return dotted(self.path)

    def __str__(self) -> str:
        shown = ["left out" if v is None else repr(v) for v in (self.before, self.now)]
        return f"{self.key}: {shown[0]} -> {shown[1]}"


def changes_of(before: Values, now: Values) -> list[Change]:
    """Return the differences between the values of two configs.

    Example:
        >>> from tinynet.train.config.values import read_values
        >>> now = read_values("[optimizer]\\nlr = 0.2\\n[run]\\nseed = 1")
        >>> [str(c) for c in changes_of(read_values("[optimizer]\\nlr = 0.1"), now)]
        ['optimizer.lr: 0.1 -> 0.2', 'run.seed: left out -> 1']
    """
    old, new = (dict(_leaves(as_tree(values))) for values in (before, now))
    paths = [*old, *(path for path in new if path not in old)]
    pairs = [(path, old.get(path), new.get(path)) for path in paths]
    return [Change(*one) for one in pairs if one[1] != one[2] and one[0] != ("run", "path")]


def _leaves(tree: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[Any, Any]]:
    for key, value in tree.items():
        inside = path in ((), ("optimizer",), ("schedule",)) and isinstance(value, dict)
        yield from _leaves(value, (*path, key)) if inside else [((*path, key), value)]


def refuse_fixed(changes: list[Change]) -> None:
    """Refuse changes to keys that are fixed.

    Raises:
        UsageError: with all refused changes.
    """
    lines = []
    for change in changes:
        ends = (change.path[0], f"{change.path[0]}.{change.path[-1]}", change.key)
        reason = next((FIXED[end] for end in ends if end in FIXED), None)
        if reason is not None and change.key not in FREE:
            lines.append(f"{change} is not possible when resuming: {reason}")
    if lines:
        hint = "run.init_from starts a new run from the weights of this one"
        raise UsageError("\n".join([*lines, f"({hint})"]))


# ---- values that checkpoints hold, too ----


class ChangedValues:
    """Changed values that loading the checkpoint would overwrite.

    Create it after the optimizers and schedules are built from the config and before their states
    are loaded; call `apply` after that.

    Raises:
        UsageError: if an argument of a schedule cannot be changed.
    """

    def __init__(self, parts: Parts, changes: list[Change]) -> None:
        self.parts = parts
        self._optimizer: list[tuple[str, str, Any]] = []
        self._schedule: list[tuple[str, str, Any]] = []
        for change in changes:
            section, *middle, key = change.path
            if section not in ("optimizer", "schedule"):
                continue
            for name, updater in parts.updaters.items():
                if middle and middle[0] != name:
                    continue
                if section == "optimizer" and key in updater.optimizer.defaults:
                    self._optimizer.append((name, key, updater.optimizer.defaults[key]))
                elif section == "schedule" and key not in ("per", "monitor"):
                    self._schedule.append((name, key, self._of_schedule(name, change)))
        self._has_other_length = any(change.key in LENGTH for change in changes)

    def _of_schedule(self, name: str, change: Change) -> Any:
        schedule = self._schedule_of(name)
        if not hasattr(schedule, change.path[-1]):
            text = f"{type(schedule).__name__} does not keep this value"
            raise UsageError(f"{change} is not possible when resuming: {text}")
        return getattr(schedule, change.path[-1])

    def apply(self) -> None:
        """Replace the values of the checkpoint."""
        for name, key, value in self._optimizer:
            updater = self.parts.updaters[name]
            for group in updater.optimizer.param_groups:
                if key == "lr" and group.get("initial_lr"):  # keep the schedule's factor
                    value_now = value * group["lr"] / group["initial_lr"]
                    group["initial_lr"], group["lr"] = value, value_now
                else:
                    group[key] = value
            for schedule in _each(updater.schedule) if key == "lr" else ():
                schedule.base_lrs = [value for _ in schedule.base_lrs]
        for name, key, value in self._schedule:
            setattr(self._schedule_of(name), key, value)
        for name in self.parts.updaters if self._has_other_length else ():
            self._lengthen(name)

    def _lengthen(self, name: str) -> None:
        """Give a schedule the length of the run as it is now."""
        section = self.parts.config.schedule and self.parts.config.schedule.of(name)
        if section:
            length = self.parts.length.of(section)
            updater = self.parts.updaters[name]
            other = copy.deepcopy(updater.optimizer)
            lengthen(with_warmup(section, length), _inner(updater.schedule), other, length)

    def _schedule_of(self, name: str) -> Any:
        """Return the schedule that the config names, without its warm-up."""
        section = self.parts.config.schedule and self.parts.config.schedule.of(name)
        schedule = _inner(self.parts.updaters[name].schedule)
        return schedule._schedulers[-1] if section and section.warmup is not None else schedule


def _inner(schedule: Any) -> Any:
    return schedule.schedule if isinstance(schedule, PlateauSchedule) else schedule


def _each(schedule: Any) -> Iterator[Any]:
    """Yield a schedule, or those inside it, which have the initial rates."""
    for inner in getattr(schedule, "_schedulers", ()):
        yield from _each(inner)
    if hasattr(_inner(schedule), "base_lrs"):
        yield _inner(schedule)


# ---- resuming -----------------------------------------------------------------------------------


def resume(
    place: str | Path,
    overrides: Iterable[str] | Mapping[str, Any] = (),
    *,
    force: bool = False,
    quiet: bool = False,
    json: bool = False,
    callbacks: Sequence[Any] = (),
) -> Result:
    """Resume a run that was stopped or killed, in its folder. The result equals the one of an
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
            folder = private_folder(folder, own, ranks)
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
    """Return a function that resumes the run."""
    folder, record = drift.folder, drift.record
    if (found := newest_checkpoint(folder)) is None:
        drift.warn_of_damage()
        return _restart(folder, config, show, ranks, callbacks)
    path, saved = found
    drift.damage.pop(folder.metrics.name, None)  # cut_rows names the epochs
    changes = changes_of(_in_full(saved["config"], drift).values(), config.values())
    refuse_fixed(changes)
    _name_edits(drift, changes)
    parts = _built(config, saved, drift, force)
    parts.callbacks.add(callbacks)
    changed_values = ChangedValues(parts, changes)
    text = to_toml(config) if changes else read_text(folder.config)
    training = Training(parts, folder, text, show, saved, ranks, seconds_of(record, saved["step"]))
    changed_values.apply()
    _refuse_too_few_epochs(training)
    where = f"epoch {saved['epoch']}, step {saved['step']}"
    epochs = training.starting_point.epoch
    complete = training.is_complete
    training.storage.written = cut_rows(folder.metrics, saved["step"], epochs, complete=complete)
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


def _in_full(text: Any, drift: Drift) -> Config:
    """Return a stored config with the keys that have been added to tinynet drift."""
    folder = drift.folder
    source = parse(str(text).encode(), file=str(folder.config), folder=folder.path)
    return resolve(source, stand_ins=drift.stand_ins)


def _print(show: Show, *lines: str) -> None:
    if show == "text":
        print(*lines, sep="\n", flush=True)
