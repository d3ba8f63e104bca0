"""The surroundings of the loop: what is shown, logged, measured and saved, and when."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tinynet import nn
from tinynet.board import SummaryWriter
from tinynet.data import Tokenizer
from tinynet.train import checkpoint, seeds
from tinynet.train.best import Best
from tinynet.train.board_log import BoardLog, rates
from tinynet.train.build import Parts
from tinynet.train.config import Config
from tinynet.train.ema import MovingAverage
from tinynet.train.exhibits import said_by
from tinynet.train.folder import RunFolder, append_line, write_json, write_text
from tinynet.train.incidents import Incidents, in_a_record
from tinynet.train.interrupt import StopRequest
from tinynet.train.loop import Step, fit, measure
from tinynet.train.metrics import Totals
from tinynet.train.problems import TrainError
from tinynet.train.progress import Progress, as_json, showing
from tinynet.train.provenance import repository, surroundings, uncommitted
from tinynet.train.resolved import to_toml

Show = Literal["text", "json", "nothing"]


@dataclass(frozen=True)
class Result:
    """What came of a run."""

    folder: Path
    """The run folder: config, checkpoint, metrics, TensorBoard events."""

    metrics: dict[str, float]
    """The last measurement on the test set: ``loss`` and the metrics (accuracies from 0 to 1)."""

    model: nn.Module
    config: Config
    stopped_by: int | None = None
    """The number of the signal that stopped the run early, if one did."""

    best: Best | None = None
    """The best measurement and its epoch; its weights are in ``best.npz``."""


class Training:
    """One run of a built config."""

    def __init__(self, parts: Parts, folder: RunFolder, show: Show = "text") -> None:
        config = parts.config
        self.parts = parts
        self.folder = folder
        self.config_text = to_toml(config)
        self.record = {**surroundings(), "seed": config.run.seed, "status": "running"}
        examples = len(parts.train_set)
        if config.data.drop_last:
            examples -= examples % config.data.batch_size
        self.progress = Progress(config.run.epochs, examples, show)
        self.totals = Totals()
        self.best = Best(config.evaluation, parts.method.compares)
        self.average = MovingAverage(parts.model, config.ema.decay) if config.ema else None
        self.metrics: dict[str, float] = {}
        self.epoch = -1
        self.incidents = Incidents(config.run, folder, self.progress.say)

    def train(self) -> Result:
        """The whole run; the record says how it ended, whatever happens."""
        self.write_surroundings()
        status = "failed"
        log = BoardLog(SummaryWriter(self.folder.path), self.parts)
        try:
            log.graph()
            with StopRequest() as stop, showing(self.progress):
                self.loop(log, stop)
            status = "interrupted" if stop.signal else "finished"
        except KeyboardInterrupt:
            status = "interrupted"
            raise
        except Exception as error:
            self.record["error"] = in_a_record(error)
            raise
        finally:
            log.close()
            with contextlib.suppress(TrainError):  # a full disk must not hide what came before
                best = {"epoch": self.best.epoch, **self.best.figures}
                end = {"status": status, "test": self.metrics, "best": best}
                skipped = {"skipped": self.incidents.skipped}
                write_json(self.folder.record, self.record | end | skipped)
        parts = self.parts
        return Result(
            self.folder.path, self.metrics, parts.model, parts.config, stop.signal, self.best
        )

    def write_surroundings(self) -> None:
        """What the run depends on besides its config, before anything else happens."""
        place = Path(self.parts.config.file).parent
        git = repository(place)
        self.record["git"] = git
        if git is not None and git["dirty"]:
            write_text(self.folder.diff, uncommitted(place))
        tokenizer = said_by(self.parts.train_set, "tokenizer")
        if isinstance(tokenizer, Tokenizer):
            tokenizer.save(self.folder.tokenizer)
        write_json(self.folder.record, self.record)

    def loop(self, log: BoardLog, stop: StopRequest) -> None:
        """The steps of `fit`, and what is done between them."""
        parts, config = self.parts, self.parts.config
        for step in fit(
            parts.model,
            parts.loss,
            parts.updaters,
            parts.train_batches,
            config.run.epochs,
            accumulate=config.optimizer.accumulate,
            method=parts.method,
            skip=self.incidents,
        ):
            if self.average is not None and step.batches:
                self.average.update()
            self.show(step)
            if step.batches and (step.number % config.run.log_every == 0 or step.ends_epoch):
                log.step(step)
            if step.ends_epoch or stop.signal:
                self.end_epoch(log, step, bool(stop.signal))
            if stop.signal or (step.ends_epoch and self.best.is_over):
                break

    def show(self, step: Step) -> None:
        """Count the examples of a step."""
        if step.epoch != self.epoch:
            self.epoch = step.epoch
            self.totals = Totals()
            self.progress.start(step.epoch)
        for batch in step.batches:
            self.totals.add_batch(batch)
        self.progress.step(sum(batch.examples for batch in step.batches), self.figures(step))

    def end_epoch(self, log: BoardLog, step: Step, stopped: bool) -> None:
        """Measure if it is time, then show, log and save."""
        run = self.parts.config.run
        test: dict[str, float] = {}
        is_best = False
        if stopped or step.epoch + 1 == run.epochs or (step.epoch + 1) % run.eval_every == 0:
            with self.measured_weights():
                self.metrics = self.measure(log, step)
                is_best = self.best.see(self.metrics, step.epoch + 1)
                if is_best:
                    checkpoint.save(self.folder.best, self.result_state(step))
            test = {f"test/{name}": value for name, value in self.metrics.items()}
            self.parts.tell_schedules(self.metrics)
        figures = self.figures(step, test)
        self.progress.finish(step.epoch, step.number, figures)
        log.epoch(step, figures, test)
        row = {"epoch": step.epoch + 1, "step": step.number, **figures}
        append_line(self.folder.metrics, as_json(row))
        checkpoint.save(self.folder.checkpoint, self.state(step))

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
            "ema": None if self.average is None else self.average.state_dict(),
            "optimizers": {n: u.optimizer.state_dict() for n, u in parts.updaters.items()},
            "schedules": {n: _state(u.schedule) for n, u in parts.updaters.items()},
            "generators": {**seeds.states(), "shuffle": parts.shuffle.get_state()},
        }


def _state(part: Any) -> dict[str, Any] | None:
    """The state of something that may have none."""
    return part.state_dict() if hasattr(part, "state_dict") else None
