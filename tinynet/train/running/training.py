"""The surroundings of the loop: what is shown, logged, measured and saved, and when."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tinynet import nn
from tinynet.board import Recording
from tinynet.train.build import seeds
from tinynet.train.build.build import Parts
from tinynet.train.build.ema import MovingAverage
from tinynet.train.build.method import check_weights
from tinynet.train.build.metrics import Totals
from tinynet.train.checkpoint.checksums import sealed_row, sha256
from tinynet.train.checkpoint.files import CheckpointError
from tinynet.train.checkpoint.fingerprint import fingerprints
from tinynet.train.checkpoint.run_folder import RunFolder
from tinynet.train.checkpoint.run_record import write_record
from tinynet.train.checkpoint.sources import to_keep
from tinynet.train.checkpoint.state import Start, restore, state_of
from tinynet.train.checkpoint.storage import Storage
from tinynet.train.config.problems import TrainError
from tinynet.train.config.sections import Config
from tinynet.train.incidents.nonfinite import Place
from tinynet.train.incidents.response import Incidents, in_a_record
from tinynet.train.report.board_log import BoardLog, rates
from tinynet.train.report.progress import Progress, as_json, showing
from tinynet.train.report.tokens import meanings
from tinynet.train.running.best import Best
from tinynet.train.running.interrupt import StopRequest
from tinynet.train.running.loop import Step, fit, measure

Show = Literal["text", "json", "nothing"]
EARLY_STOPPING = "early stopping"


@dataclass(frozen=True)
class Result:
    """What came of a run.

    Example:
        >>> from tinynet.train import run
        >>> few = {"run.epochs": 1, "run.out": str(getfixture("tmp_path"))}
        >>> result = run("configs/digits_mlp.toml", few, quiet=True)
        >>> sorted(result.metrics), result.stopped_by, result.is_complete
        (['accuracy', 'loss'], None, True)
    """

    folder: Path
    """The run folder: config, checkpoint, metrics, TensorBoard events."""

    metrics: dict[str, float]
    """The last measurement on the test set: ``loss`` and the metrics (accuracies from 0 to 1)."""

    model: nn.Module
    """The trained model, with the last weights."""

    config: Config
    """The config of the run."""

    stopped_by: int | str | None = None
    """What ended the run before its last epoch: the number of a signal, or "early stopping"."""

    best: Best | None = None
    """The best measurement and its epoch; its weights are in ``best.npz``."""

    is_complete: bool = True
    """Whether it came to its end; else `tinynet.train.resume` goes on with it."""


class Training:
    """One run of a built config.

    Args:
        parts: what the config describes.
        folder: where everything goes.
        config_text: the config as it is stored.
        show: what is printed.
        saved: a checkpoint to go on from.
    """

    def __init__(
        self,
        parts: Parts,
        folder: RunFolder,
        config_text: str,
        show: Show = "text",
        saved: Mapping[str, Any] | None = None,
    ) -> None:
        config = parts.config
        self.parts = parts
        self.folder = folder
        self.config_text = config_text
        newest = saved["step"] if saved else None
        self.storage = Storage(folder, config.run.keep_checkpoints, newest)
        examples = len(parts.train_set)
        if config.data.drop_last:
            examples -= examples % config.data.batch_size
        self.progress = Progress(config.run.epochs, examples, show)
        self.totals = Totals()
        self.best = Best(config.evaluation, parts.method.compares)
        self.average = MovingAverage(parts.model, config.ema.decay) if config.ema else None
        self.metrics: dict[str, float] = {}
        self.start = Start()
        self.epoch = -1
        self.incidents = Incidents(config.run, folder, self.progress.say)
        self.saved_at = time.monotonic()
        if saved is not None:
            self.start = restore(parts, saved, self.average, self.best, self.totals)
            self.metrics = dict(saved["test"])
            self.incidents.skipped = saved["skipped"]
        early = self.is_over and self.start.epoch < config.run.epochs
        self.stopped_by: int | str | None = EARLY_STOPPING if early else None

    def train(self, record: dict[str, Any], recording: Recording | None = None) -> Result:
        """Train to the end, and record how the run ended in ``run.json``, whatever happens.

        Args:
            record: the content of ``run.json`` so far.
            recording: the step to show as graphs in TensorBoard.
        """
        self.keep(record)
        status = "failed"
        goes_on = self.start.step if "resumed" in record else None
        before = record.get("events", {}).get(str(goes_on)) if goes_on else {}
        log = BoardLog(self.folder.path, self.parts, goes_on, before)
        with StopRequest() as stop:  # until the record says how it ended
            try:
                if recording is not None:
                    log.log_graph(recording)
                with showing(self.progress):
                    ended = self.loop(log, stop)
                status = "finished" if ended else "interrupted"
            except KeyboardInterrupt:
                status, self.stopped_by = "interrupted", signal.SIGINT
                raise
            except Exception as error:
                record["error"] = in_a_record(error)
                raise
            finally:
                log.close()
                with contextlib.suppress(TrainError):  # a full disk must not hide what came before
                    write_record(self.folder, record | self.end(status))
        return self.result(ended)

    def keep(self, record: dict[str, Any]) -> None:
        """Write what repeating the run needs, and what later changes are noticed by."""
        parts, folder = self.parts, self.folder
        copies, record["sources"] = to_keep(parts.config.sources, folder, record)
        known = record.get("files", {})
        for path in folder.path.glob("changes*.diff"):
            record["files"] = known = {path.name: sha256(path.read_bytes()), **known}
        record["data"] = record.get("data") or fingerprints(parts)
        text = self.config_text.encode("utf-8", "backslashreplace")
        files = {folder.config.name: text, **meanings(parts.train_set, folder), **copies}
        self.storage.begin(files, record)

    def end(self, status: str) -> dict[str, Any]:
        """What the record says of how a run ended."""
        best = {"epoch": self.best.epoch, **self.best.figures}
        skipped = self.incidents.skipped
        known = {"test": self.metrics, "best": best, "skipped": skipped}
        return {"status": status, "stopped_by": self.stopped_by, **known}

    def result(self, is_complete: bool = True) -> Result:
        """What came of it."""
        parts = self.parts
        own = (self.folder.path, self.metrics, parts.model, parts.config)
        return Result(*own, self.stopped_by, self.best, is_complete)

    @property
    def is_over(self) -> bool:
        """Whether a checkpoint was that of the end."""
        epochs = self.parts.config.run.epochs
        return self.start.batch == 0 and (self.start.epoch >= epochs or self.best.is_over)

    def loop(self, log: BoardLog, stop: StopRequest) -> bool:
        """The steps of `fit`, and what is done between them; whether it came to its end."""
        parts, config, start = self.parts, self.parts.config, self.start
        ended = True
        for step in fit(
            *(parts.model, parts.loss, parts.updaters, parts.train_batches),
            range(start.epoch, config.run.epochs),
            accumulate=config.optimizer.accumulate,
            first_step=start.step,
            first_batch=start.batch,
            method=parts.method,
            skip=self.incidents,
        ):
            stopping = stop.signal is not None  # asked once: it may come at any moment
            if self.average is not None and step.batches:
                self.average.update()
            self.show(step)
            if step.batches and (step.number % config.run.log_every == 0 or step.ends_epoch):
                log.step(step)
            saving = step.ends_epoch or stopping or self.is_time_to_save(step)
            if saving:
                where = Place(step.epoch, step.number, step.batch, len(parts.train_batches))
                check_weights(parts.model, parts.updaters, where)
            if step.ends_epoch:
                self.end_epoch(log, step)
            if saving:
                self.save(log, step)
            over = step.ends_epoch and (step.epoch + 1 == config.run.epochs or self.best.is_over)
            if over or stopping:
                early = EARLY_STOPPING if step.epoch + 1 < config.run.epochs else None
                self.stopped_by = early if over else stop.signal
                ended = over
                break
        if self.storage.is_failing and not self.storage.save(self.state(step), log.position):
            text = f"the end of the run cannot be saved in {self.folder.path}: the disk is full, or"
            raise CheckpointError(f"{text} cannot be written to (see the warning)")
        return ended

    def show(self, step: Step) -> None:
        """Count the examples of a step."""
        if step.epoch != self.epoch:
            self.epoch = step.epoch
            if step.epoch != self.start.epoch or not self.start.batch:
                self.totals = Totals()
            self.progress.start(step.epoch, self.totals.examples)
        for batch in step.batches:
            self.totals.add_batch(batch)
        self.progress.step(sum(batch.examples for batch in step.batches), self.figures(step))

    def end_epoch(self, log: BoardLog, step: Step) -> None:
        """Measure if it is time, then show and log."""
        run = self.parts.config.run
        test: dict[str, float] = {}
        if step.epoch + 1 == run.epochs or (step.epoch + 1) % run.eval_every == 0:
            with self.measured_weights():
                self.metrics = self.measure(log, step)
                if self.best.see(self.metrics, step.epoch + 1):
                    self.storage.set_best(self.result_state(step))
            test = {f"test/{name}": value for name, value in self.metrics.items()}
            self.parts.tell_schedules(self.metrics)
        figures = self.figures(step, test)
        self.progress.finish(step.epoch, step.number, figures)
        log.epoch(step, figures, test)
        row = as_json({"epoch": step.epoch + 1, "step": step.number, **figures})
        self.storage.add_row(sealed_row(row))

    def is_time_to_save(self, step: Step) -> bool:
        """Whether the config wants a checkpoint in the middle of an epoch, or one failed before."""
        run = self.parts.config.run
        if run.save_every_steps and (step.number + 1) % run.save_every_steps == 0:
            return True
        age = time.monotonic() - self.saved_at
        return 0 < run.save_every_seconds <= age or self.storage.wants_another_try

    def save(self, log: BoardLog, step: Step) -> None:
        """Write a checkpoint, and with it all that TensorBoard is shown."""
        log.writer.flush()
        self.storage.save(self.state(step), log.position)
        self.saved_at = time.monotonic()

    def measure(self, log: BoardLog, step: Step) -> dict[str, float]:
        """The figures of the test set; pictures and samples go to TensorBoard."""
        parts, config = self.parts, self.parts.config
        totals = Totals(config.evaluation.metrics)
        batches, seed = parts.test_batches, config.run.seed
        measure(parts.model, parts.loss, batches, totals, seed, parts.method)
        log.confusion(totals.confusion(), step)
        if config.evaluation.samples:
            log.samples(config.evaluation.samples, step)
        log.exhibits(step)
        return totals.figures()

    def measured_weights(self) -> contextlib.AbstractContextManager[None]:
        """With a moving average it is measured, not the weights of the last step."""
        if self.average is None:
            return contextlib.nullcontext()
        return self.average.in_place_of_weights()

    def figures(self, step: Step, test: Mapping[str, float] | None = None) -> dict[str, float]:
        """Those of the epoch so far, in the order in which they are shown."""
        train = {f"train/{name}": value for name, value in self.totals.figures().items()}
        return {**train, **(test or {}), **rates(step)}

    def result_state(self, step: Step) -> dict[str, Any]:
        """All that measuring again needs."""
        return {
            "config": self.config_text,
            "epoch": step.epoch + 1,
            "skipped": self.incidents.skipped,
            "epoch_is_complete": step.ends_epoch,
            "batch": 0 if step.ends_epoch else step.batch + 1,
            "step": step.number + 1,
            "model": self.parts.model.state_dict(),
            "test": self.metrics,
        }

    def state(self, step: Step) -> dict[str, Any]:
        """All that going on, or measuring again, needs."""
        parts = self.parts
        return {
            **self.result_state(step),
            "best": self.best.state_dict(),
            "ema": state_of(self.average),
            "optimizers": {n: u.optimizer.state_dict() for n, u in parts.updaters.items()},
            "schedules": {n: state_of(u.schedule) for n, u in parts.updaters.items()},
            "method": parts.method.state_dict(),
            "loss": state_of(parts.loss),
            "generators": seeds.states(),
            "loader": parts.train_batches.state_dict(),
            "totals": None if step.ends_epoch else self.totals.state_dict(),
        }
