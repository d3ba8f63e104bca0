"""Training with progress, logs, trackers, evaluations and checkpoints around the loop."""

from __future__ import annotations

import contextlib
import dataclasses
import signal
import threading
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from tinynet.base.invocation import command
from tinynet.board import Recording
from tinynet.data.readers.tables import TableEncoder
from tinynet.train import show
from tinynet.train.assemble.averages import average_of
from tinynet.train.assemble.build import Parts, preprocessing_of
from tinynet.train.assemble.stopping import EARLY_STOPPING, Best, Limits, examples_per_epoch
from tinynet.train.base.checkpoint_file import CheckpointError
from tinynet.train.base.files import (
    has_valid_checksum,
    read_json,
    row_with_checksum,
    with_checksum,
    write_json,
)
from tinynet.train.base.problems import TrainError
from tinynet.train.base.run_folder import RunFolder, StorageWarning, recorded_warnings
from tinynet.train.config.values import as_tree, read_values
from tinynet.train.diagnose.changes import input_files
from tinynet.train.loop.callback import Entry, Moment
from tinynet.train.loop.fit import Step, fit
from tinynet.train.loop.splits import dataset_attribute
from tinynet.train.metrics.criterion import figures_on, rates
from tinynet.train.metrics.registry import PoorFitWarning, doubt
from tinynet.train.observe.board_log import BoardLog, Tracked
from tinynet.train.observe.progress import ProgressPrinter, as_json, showing
from tinynet.train.run.measures import LoggedNorms, Measures, Result
from tinynet.train.run.processes import StopRequest, ending_together
from tinynet.train.step.epoch import Totals
from tinynet.train.step.method import Compilation
from tinynet.train.step.ranks import Ranks
from tinynet.train.step.task import Place, check_weights
from tinynet.train.store.provenance import Spending, version
from tinynet.train.store.storage import Incidents, Registry, StartingPoint, Storage, error_text
from tinynet.train.trackers.tracking import TrackedRun, Tracking

Show = Literal["text", "json", "nothing"]


class Training:
    """One run of a built config.

    Args:
        parts: the objects of the config.
        folder: the run folder.
        config_text: the config to store.
        show: what to print.
        saved: the checkpoint to resume from.
        ranks: the processes of the run; None if this is the only one.
        seconds: the time of training before the checkpoint.
    """

    def __init__(
        self,
        parts: Parts,
        folder: RunFolder,
        config_text: str,
        show: Show = "text",
        saved: Mapping[str, Any] | None = None,
        ranks: Ranks | None = None,
        seconds: float = 0.0,
    ) -> None:
        config = parts.config
        self.is_first = ranks is None or ranks.is_first
        self.ranks = ranks or (Ranks() if config.optimizer.accumulate > 1 else None)
        self.parts, self.folder, self.config_text = parts, folder, config_text
        newest = saved["step"] if saved else None
        self.storage = Storage(folder, config.run.keep_checkpoints, newest)
        self.limits = Limits(config.run, seconds, self.ranks)
        self.progress = ProgressPrinter(parts.length.epochs, examples_per_epoch(parts), show)
        self.totals = Totals()
        self.best = Best(config.evaluation, parts.method.compares, parts.selection)
        self.average = average_of(parts)
        self.preprocessing = preprocessing_of(parts)
        self.norms = LoggedNorms(parts.updaters, config.log.norms)
        self.compilation = Compilation(config.run.compile, config.run.native_from)
        self.measures = Measures(parts, self.compilation, self.average, self.ranks)
        own = {"best": self.best, "ema": self.average, "totals": self.totals}
        self.states = Registry(parts, **own, compiled=self.compilation)
        self.starting_point = StartingPoint()
        self.incidents = Incidents(config.run, folder, self.progress.message)
        self.callbacks = parts.callbacks
        self.saved_at = time.monotonic()
        self.tracking = Tracking()
        if saved is not None:
            self.starting_point = self.states.load(saved)
            self.incidents.skipped = saved["skipped"]
            self.limits.check(saved["step"])
            self.measures.load(saved, tests=self.is_complete)
        early = self.is_complete and not self.limits.is_last(self.starting_point.epoch)
        self.stopped_by: int | str | None = self.reason_to_stop if early else None

    log: BoardLog | None = None
    trackers: Tracked
    epoch = shown_epoch = -1
    examples = 0
    """Those of the last step."""

    measured_at = 0
    """The number of steps before the last evaluation in this process."""

    def train(self, record: dict[str, Any], recording: Recording | None = None) -> Result:
        """Train to the end, and record how the run ended in ``run.json``, whatever happens.

        Args:
            record: the content of ``run.json`` so far.
            recording: the step to show as graphs in TensorBoard.
        """
        if recording is not None:
            record |= show.costs_of(recording)
        status, problem, wants_report = "failed", None, True
        spending = Spending()
        together = ending_together(self.ranks, command("resume", self.folder.path))
        with together, recorded_warnings(record), StopRequest() as stop:  # until it is recorded
            try:
                self.record_inputs(record)
                log = self.log = self.open_log(record)
                self.callbacks.insert(0, *self.own_callbacks(log))
                if recording is not None:
                    log.log_graph(recording)
                start = self.starting_point
                moment = self.parts.moment(log.writer, start.step, start.epoch + 1)
                self.callbacks.attach(moment)
                self.limits.begin()
                with showing(self.progress):
                    ended = self.loop(log, stop)
                self.warn_of_poor_fit()
                status = "finished" if ended else "interrupted"
            except KeyboardInterrupt:  # the second one, which asks for the end at once
                status, self.stopped_by = "interrupted", signal.SIGINT
                wants_report = False
                raise
            except Exception as error:
                record["error"] = error_text(error)
                raise
            finally:  # an earlier error matters more than a problem of recording it
                record["spent"] = spending.added_to(record.get("spent"))
                problem = self.end(record, status, wants_report)
            if problem is not None and self.is_first:  # the folders of others are removed
                raise problem
        return self.result(ended)

    def warn_of_poor_fit(self) -> None:
        """Warn if the last evaluation shows a model that is worse than a constant."""
        learned = dataset_attribute(self.parts.train_set, "preprocessing")
        is_scaled = not isinstance(learned, TableEncoder) or learned.scales_target
        if text := doubt(self.measures.figures, self.parts.selection, is_scaled):
            warnings.warn(text, PoorFitWarning, stacklevel=2)

    def end(self, record: dict[str, Any], status: str, wants_report: bool) -> TrainError | None:
        """End logs and trackers, write the report; return what kept the end from the record."""
        with contextlib.suppress(Exception):  # what ended the run matters more
            self.callbacks.end_run()
        if self.log is not None:
            self.log.close()
        problem = self.storage.finish(record | self.outcome(status))
        try:
            if self.log is not None and wants_report:
                self.write_report()
        finally:
            self.tracking.end(status, self.folder.results)  # they keep the report, too
        return problem

    def open_log(self, record: Mapping[str, Any]) -> BoardLog:
        """Open the logs for TensorBoard and for the trackers of the config."""
        step = self.starting_point.step if "resumed" in record else None
        position = record.get("events", {}).get(str(step)) if step else {}
        trackers = self.parts.trackers if self.is_first else {}
        begun = self.starting_point.step
        self.tracking = track(trackers, self.folder, self.config_text, record, begun)
        own = self.norms.figures, self.measures.confusion_matrix
        return BoardLog(self.folder.path, self.parts, *own, step, position)

    def own_callbacks(self, log: BoardLog) -> list[Entry]:
        """Return what the run itself puts before the callbacks of the config and the caller.

        An error in one of them ends the run: trackers and the writer of events keep theirs from it.
        """
        self.trackers = Tracked(self.parts.config, self.norms.figures, self.tracking)
        return [
            Entry({"on_step_end": self.count_step}),
            Entry({"on_step_end": self.show_step, "on_epoch_end": self.show_epoch}),
            Entry(log),
            Entry(self.trackers),
        ]

    def write_report(self) -> None:
        """Write the report, unless the config switches it off; a failure only prints a line."""
        wanted = self.parts.config.run.report and self.is_first
        problem = show.write_report(self.folder, self.parts) if wanted else ""
        if problem:
            self.progress.message(problem)

    def record_inputs(self, record: dict[str, Any]) -> None:
        """Write the files that repeating the run and detecting later changes need."""
        own = self.parts, self.folder, self.config_text, self.preprocessing
        self.storage.write_constant_files(input_files(*own, record), record)

    def outcome(self, status: str) -> dict[str, Any]:
        """Return the entries of the record about the end of the run."""
        best = {"epoch": self.best.epoch, **self.best.figures}
        skipped = self.incidents.skipped
        figures = {**self.measures.record(), "best": best, "skipped": skipped}
        measured = self.measures.figures
        if measured and (criterion := self.best.criterion(measured)) is not None:
            figures["criterion"] = dataclasses.asdict(criterion)
        compiled = {"compiled": summary} if (summary := self.compilation.summary()) else {}
        return {"status": status, "stopped_by": self.stopped_by, **figures, **compiled}

    def result(self, is_complete: bool = True) -> Result:
        """Return the result of the run."""
        last, best, validation = self.measures.results(self.best)
        return Result(
            self.folder.path,
            last,
            self.parts.model,
            self.parts.config,
            self.stopped_by,
            self.best,
            is_complete,
            self.compilation.summary(),
            validation,
            best,
        )

    @property
    def is_complete(self) -> bool:
        """Whether the checkpoint was the last of a complete run."""
        start = self.starting_point
        is_over = self.limits.is_last(start.epoch) or self.reason_to_stop is not None
        return self.limits.reason is not None or (start.batch == 0 and is_over)

    @property
    def reason_to_stop(self) -> str | None:
        """What ends the run before its last epoch, if anything."""
        early = EARLY_STOPPING if self.best.is_over else None
        return self.limits.reason or self.callbacks.stopped_by or early

    def loop(self, log: BoardLog, stop: StopRequest) -> bool:
        """Iterate over `fit`, and act between its steps; return whether the run is complete."""
        parts, config, start = self.parts, self.parts.config, self.starting_point
        ended = True
        for step in fit(
            *(parts.model, parts.loss, parts.updaters, parts.train_batches),
            parts.length.epochs_from(start.epoch),
            accumulate=config.optimizer.accumulate,
            first_step=start.step,
            first_batch=start.batch,
            method=parts.method,
            skip=self.incidents,
            compile=self.compilation.function if config.run.compile else False,
            callbacks=self.callbacks,
            ranks=self.ranks,
            hints=config.run.hints,
        ):
            stopping = self.signal_of(stop)  # read once: it may change at any moment
            is_end = self.limits.see(step.number + 1) is not None or step.ends_epoch
            saving = is_end or stopping is not None or self.is_time_to_save(step)
            if saving:
                where = Place(step.epoch, step.number, step.batch, len(parts.train_batches))
                check_weights(parts.model, parts.updaters, where)
            if is_end:
                self.end_epoch(step)
            is_last = step.ends_epoch and self.limits.is_last(step.epoch + 1)
            over = is_end and (is_last or self.reason_to_stop is not None)
            if over:
                self.test(step)
            if saving:
                self.save_checkpoint(log, step)
            if over or stopping is not None:
                early = None if is_last else self.reason_to_stop
                self.stopped_by = early if over else stopping
                ended = over
                self.callbacks.end_run()
                break
        self.save_rest(log, step)
        return ended

    def signal_of(self, stop: StopRequest) -> int | None:
        """Return the signal that asks for the end of the run, in any process; None without one."""
        if self.ranks is None:
            return stop.signal
        return self.ranks.largest(stop.signal or 0) or None

    def count_step(self, at: Moment) -> None:
        """Add a step to the moving average and the totals."""
        step = at.last
        if self.average is not None and step.batches:
            self.average.update(step.ends_epoch, step.epoch)
        if step.epoch != self.epoch:
            self.epoch = step.epoch
            if step.epoch != self.starting_point.epoch or not self.starting_point.batch:
                self.totals.clear()
        norms = self.norms.figures()
        shares = [self.totals.share_of(batch) for batch in step.batches]
        shares = [share._replace(losses={**share.losses, **norms}) for share in shares]
        if self.ranks is not None and shares:
            shares = self.ranks.in_order(shares, step.count)
        for share in shares:
            self.totals.take(share)
        self.examples = sum(share.examples for share in shares)

    def show_step(self, at: Moment) -> None:
        """Show the progress within an epoch."""
        if at.last.epoch != self.shown_epoch:
            self.shown_epoch = at.last.epoch
            self.progress.start_epoch(at.last.epoch, self.totals.examples - self.examples)
        self.progress.update(self.examples, self.epoch_figures(at.last))

    def show_epoch(self, at: Moment) -> None:
        """Show the figures of an epoch, unless the run has failed in it."""
        if at.figures:
            self.progress.finish_epoch(at.last.epoch, at.last.number, at.figures)

    def end_epoch(self, step: Step) -> None:
        """Evaluate if it is time, then pass on the figures of the epoch, or of its part."""
        run = self.parts.config.run
        found: dict[str, float] = {}
        is_last = self.limits.is_last(step.epoch + 1) or self.limits.reason is not None
        if is_last or (step.epoch + 1) % run.eval_every == 0:
            with self.measures.weights():
                measured, self.measured_at = self.evaluate(), step.number + 1
                if self.best.see(measured, step.epoch + 1):
                    self.storage.set_best(self.evaluation_state(step))
            found = figures_on(self.parts.selection, measured)
            self.parts.update_plateau_schedules(measured)
        figures = self.epoch_figures(step, found)
        self.callbacks.end_epoch(figures)
        self.add_row({"epoch": step.epoch + 1, "step": step.number, **figures})

    def add_row(self, row: Mapping[str, Any]) -> None:
        """Add a row to ``metrics.jsonl``."""
        self.storage.add_row(row_with_checksum(as_json(row)))

    def test(self, step: Step) -> None:
        """Measure the test set at the end, with the last and the best weights.

        If the test set selects, it has been measured after each epoch.
        """
        tests = self.measures.test(step.epoch + 1, self.best.epoch, self.storage.best_weights)
        epochs = {"last": step.epoch + 1, "best": self.best.epoch}
        for name, figures in tests.items():
            row = {"epoch": epochs[name], "step": step.number, "weights": name}
            self.add_row(row | figures_on("test", figures))

    def is_time_to_save(self, step: Step) -> bool:
        """Return whether to save within an epoch: as the config says, or after a failure."""
        run = self.parts.config.run
        if run.save_every_steps and (step.number + 1) % run.save_every_steps == 0:
            return True
        age = time.monotonic() - self.saved_at
        return 0 < run.save_every_seconds <= age or self.storage.retry_is_due

    def save_checkpoint(self, log: BoardLog, step: Step) -> None:
        """Write a checkpoint, and flush the events for TensorBoard."""
        position = log.flush()  # what follows it is dropped if the run is extended
        for figures in (log, self.trackers):
            figures.put_tests(step, self.measures.tests)
        if self.is_first:
            self.storage.commit(self.checkpoint_state(step), position, self.limits.seconds)
        self.saved_at = time.monotonic()

    def save_rest(self, log: BoardLog, step: Step) -> None:
        """Save what could not be written with the last checkpoint.

        Raises:
            CheckpointError: if it cannot be written now, either.
        """
        if not self.storage.is_failing and not (log.was_behind and self.is_first):
            return
        if not self.storage.commit(self.checkpoint_state(step), log.flush(), self.limits.seconds):
            text = f"the end of the run cannot be saved in {self.folder.path}: the disk is full, or"
            raise CheckpointError(f"{text} cannot be written to (see the warning)")

    def evaluate(self) -> dict[str, float]:
        """Return the figures of the set that selects; call callbacks."""
        figures = self.measures.decide()
        self.callbacks.evaluated(figures, self.parts.selection)
        return figures

    def epoch_figures(
        self, step: Step, evaluated: Mapping[str, float] | None = None
    ) -> dict[str, float]:
        """Return the figures of the epoch so far, in display order."""
        train = figures_on("training", self.totals.figures())
        return {**train, **(evaluated or {}), **rates(step)}

    def evaluation_state(self, step: Step) -> dict[str, Any]:
        """Return the state that a later evaluation needs."""
        return {
            "config": self.config_text,
            "epoch": step.epoch + 1,
            "skipped": self.incidents.skipped,
            "epoch_is_complete": step.ends_epoch,
            "batch": 0 if step.ends_epoch else step.batch + 1,
            "step": step.number + 1,
            "model": self.parts.model.state_dict(),
            **self.measures.state_dict(),
            "measured": self.measured_at == step.number + 1,
            **({"preprocessing": self.preprocessing} if self.preprocessing else {}),
        }

    def checkpoint_state(self, step: Step) -> dict[str, Any]:
        """Return the state that resuming the run needs."""
        states = self.states.state_dict()
        if step.ends_epoch:
            states["totals"] = None  # the next epoch begins at 0
        return {**self.evaluation_state(step), **states}


def track(
    trackers: Mapping[str, Any],
    folder: RunFolder,
    config: str,
    record: Mapping[str, Any],
    first_step: int,
) -> Tracking:
    """Begin a run in its trackers.

    Args:
        trackers: the trackers by name.
        folder: the run folder, which keeps the ids of the run in its trackers.
        config: the resolved config.
        record: the content of ``run.json``.
        first_step: the number of the first step.
    """
    if not trackers:
        return Tracking()
    ids, lock = _ids(folder), threading.Lock()

    def keep(name: str, identity: str) -> None:
        with lock:
            ids[name] = identity
            write_json(folder.trackers, with_checksum({"ids": ids}))

    run = _described(folder.path.absolute(), config, record, first_step)
    return Tracking(trackers, run, dict(ids), keep)


def _described(path: Path, config: str, record: Mapping[str, Any], first_step: int) -> TrackedRun:
    """Return what trackers get about a run, from its folder OUT/NAME/[GROUP/POINT/]RUN."""
    latest = record.get("resumed", [record])[-1]
    about = {"tinynet.version": version(), "run_folder": str(path)}
    if latest.get("git"):
        about["git.commit"] = latest["git"]["commit"]
        about["git.dirty"] = str(latest["git"]["dirty"]).lower()
    name, group, top = path.name, "", path.parent
    for kind in ("sweep", "search"):
        if (top.parent / f"{kind}.json").is_file():
            name, group, top = top.name, top.parent.name, top.parent.parent
            about[kind] = group
    values = as_tree(read_values(config))
    return TrackedRun(name, top.name, group, top.parent, values, about, "", first_step)


def _ids(folder: RunFolder) -> dict[str, str]:
    """Return the ids of the run in its trackers, by their names; {} without trackers."""
    try:
        content = read_json(folder.trackers)
    except FileNotFoundError:
        return {}
    except TrainError as error:
        problem = str(error)
    else:
        if has_valid_checksum(content):
            return dict(content["ids"])
        problem = f"{folder.trackers} was changed or damaged since the run wrote it"
    text = f"{problem}: the run begins anew in its trackers"
    warnings.warn(text, StorageWarning, stacklevel=4)
    return {}
