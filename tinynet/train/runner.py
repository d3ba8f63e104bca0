"""One run, from the config file to the folder that holds all that came of it."""

from __future__ import annotations

import contextlib
import json
import shlex
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import util
from pathlib import Path
from typing import Any

from tinynet import nn
from tinynet.board import SummaryWriter
from tinynet.train import checkpoint, seeds
from tinynet.train.build import Parts, build, trial
from tinynet.train.config import Config
from tinynet.train.folder import (
    RunFolder,
    append_line,
    new_run_folder,
    surroundings,
    write_json,
    write_text,
)
from tinynet.train.interrupt import StopRequest
from tinynet.train.loop import Step, Totals, evaluate, fit
from tinynet.train.problems import TrainError, UsageError
from tinynet.train.progress import Progress, describe_figures, showing
from tinynet.train.resolve import load_config, resolve
from tinynet.train.resolved import to_toml
from tinynet.train.source import parse


@dataclass(frozen=True)
class Result:
    """What came of a run."""

    folder: Path
    """The run folder: config, checkpoint, metrics, TensorBoard events."""

    metrics: dict[str, float]
    """The last measurement on the test set: ``loss`` and, for classes, ``accuracy`` (0 to 1)."""

    model: nn.Module
    config: Config
    stopped_by: int | None = None
    """The number of the signal that stopped the run early, if one did."""


def run(
    config_path: str | Path,
    overrides: Iterable[str] | Mapping[str, Any] = (),
    *,
    out: str | Path | None = None,
    quiet: bool = False,
) -> Result:
    """Train what a config file describes; the result has the model and the run folder.

    Args:
        config_path: the TOML file.
        overrides: ``["optimizer.lr=3e-4"]`` or ``{"optimizer.lr": 3e-4}``: in place of the file's.
        out: where the run folder goes, in place of ``run.out``.
        quiet: print nothing and show no bar.

    Raises:
        ConfigError: with all mistakes in the config; nothing has been written.
        TrainError: the run could not begin or go on.

    Example:
        >>> folder = getfixture("tmp_path")
        >>> _ = (folder / "digits.toml").write_text('''
        ...     data = {type = "Digits"}
        ...     model = {type = "mlp", sizes = [64, 32, 10]}
        ...     loss = {type = "CrossEntropyLoss"}
        ...     optimizer = {type = "Adam", lr = 0.01}
        ... ''')
        >>> result = run(folder / "digits.toml", {"run.epochs": 3}, out=folder, quiet=True)
        >>> result.metrics["accuracy"] > 0.9
        True
        >>> evaluate_run(result.folder, quiet=True).metrics == result.metrics
        True
    """
    config = load_config(config_path, overrides, out=out)
    parts = build(config)
    example_inputs = trial(parts)
    folder = new_run_folder(config.run.out, config.run.name)
    write_text(folder.config, to_toml(config))
    result = _Run(parts, folder, quiet).train(example_inputs)
    if not quiet:
        _say_result(result)
    return result


def evaluate_run(place: str | Path, *, quiet: bool = False) -> Result:
    """Measure the model of a run on its test set again.

    Args:
        place: a run folder, or a checkpoint in one.
        quiet: print nothing.

    Raises:
        TrainError: there is no checkpoint there, it is damaged, or its config is not possible now.
    """
    path = Path(place)
    if not path.exists():
        raise UsageError(f"there is no run folder {place}")
    if path.is_dir():
        path = RunFolder(path).checkpoint
        if not path.exists():
            raise UsageError(f"{place} has no {path.name}: it is not the folder of a run")
    saved = checkpoint.load(path)
    folder = path.parent
    text = str(saved["config"]).encode()
    config = resolve(parse(text, file=str(RunFolder(folder).config), folder=folder))
    parts = build(config)
    try:
        parts.model.load_state_dict(saved["model"])
    except RuntimeError as error:
        raise UsageError(
            f"{path} does not fit the model that its config describes: {error}"
        ) from error
    metrics = evaluate(parts.model, parts.loss, parts.test_batches)
    if not quiet:
        print(f"{_test_line(metrics)} ({len(parts.test_set)} examples, epoch {saved['epoch']})")
    return Result(folder, metrics, parts.model, config)


class _Run:
    """The surroundings of the loop: what is shown, logged, measured and saved, and when."""

    def __init__(self, parts: Parts, folder: RunFolder, quiet: bool) -> None:
        self.parts = parts
        self.folder = folder
        self.config_text = to_toml(parts.config)
        self.record = {**surroundings(), "seed": parts.config.run.seed, "status": "running"}
        examples = len(parts.train_set)
        if parts.config.data.drop_last:
            examples -= examples % parts.config.data.batch_size
        self.progress = Progress(parts.config.run.epochs, examples, quiet=quiet)
        self.totals = Totals()
        self.metrics: dict[str, float] = {}

    def train(self, example_inputs: Any) -> Result:
        """The whole run; the record says how it ended, whatever happens."""
        write_json(self.folder.record, self.record)
        status = "failed"
        writer = SummaryWriter(self.folder.path)
        try:
            self.write_graph(writer, example_inputs)
            with StopRequest() as stop, showing(self.progress):
                self.loop(writer, stop)
            status = "interrupted" if stop.signal else "finished"
        except KeyboardInterrupt:
            status = "interrupted"
            raise
        finally:
            writer.close()
            with contextlib.suppress(TrainError):  # a full disk must not hide what came before
                end = {"status": status, "test": self.metrics}
                write_json(self.folder.record, self.record | end)
        parts = self.parts
        return Result(self.folder.path, self.metrics, parts.model, parts.config, stop.signal)

    def write_graph(self, writer: SummaryWriter, example_inputs: Any) -> None:
        """Once per run; a model whose graph cannot be drawn can be trained all the same."""
        try:
            writer.add_graph(self.parts.model, (example_inputs,))
        except Exception as error:
            text = f"the graph of the model is not written. {type(error).__name__}: {error}"
            warnings.warn(text, RuntimeWarning, stacklevel=2)

    def loop(self, writer: SummaryWriter, stop: StopRequest) -> None:
        """The steps of `fit`, and what is done between them."""
        parts, config = self.parts, self.parts.config
        for step in fit(
            parts.model,
            parts.loss,
            parts.optimizer,
            parts.train_batches,
            config.run.epochs,
            schedule=parts.schedule,
            per=config.schedule.per if config.schedule is not None else "epoch",
            clip_norm=config.optimizer.clip_norm,
        ):
            if step.batch == 0:
                self.totals = Totals()
                self.progress.start(step.epoch)
            self.totals.add(step.outputs, step.targets, step.loss)
            self.progress.step(len(step.targets), self.figures(step))
            if step.number % config.run.log_every == 0 or step.ends_epoch:
                writer.add_scalar("train/loss", step.loss, step.number)
                writer.add_scalar("lr", step.lr, step.number)
            if step.ends_epoch or stop.signal:
                last = step.epoch + 1 == config.run.epochs or bool(stop.signal)
                self.end_epoch(writer, step, last)
            if stop.signal:
                break

    def end_epoch(self, writer: SummaryWriter, step: Step, last: bool) -> None:
        """Measure if it is time, then show, log and save."""
        parts, every = self.parts, self.parts.config.run.eval_every
        test: dict[str, float] = {}
        if last or (step.epoch + 1) % every == 0:
            self.metrics = evaluate(parts.model, parts.loss, parts.test_batches)
            test = {f"test/{name}": value for name, value in self.metrics.items()}
        figures = self.figures(step, test)
        self.progress.finish(step.epoch, figures)
        for name, value in test.items():
            writer.add_scalar(name, value, step.number)
        for name, value in figures.items():
            writer.add_scalar(f"epoch/{name.replace('/', '_')}", value, step.epoch + 1)
        writer.flush()
        row = {"epoch": step.epoch + 1, "step": step.number, **figures}
        append_line(self.folder.metrics, json.dumps(row))
        checkpoint.save(self.folder.checkpoint, self.state(step))

    def figures(self, step: Step, test: Mapping[str, float] | None = None) -> dict[str, float]:
        """Those of the epoch so far, in the order in which they are shown."""
        train = {f"train/{name}": value for name, value in self.totals.figures().items()}
        return {**train, **(test or {}), "lr": step.lr}

    def state(self, step: Step) -> dict[str, Any]:
        """All that going on, or measuring again, needs."""
        parts = self.parts
        schedule: Any = parts.schedule
        return {
            "config": self.config_text,
            "epoch": step.epoch + 1,
            "epoch_is_complete": step.ends_epoch,
            "step": step.number + 1,
            "model": parts.model.state_dict(),
            "optimizer": parts.optimizer.state_dict(),
            "schedule": None if schedule is None else schedule.state_dict(),
            "generators": {**seeds.states(), "shuffle": parts.shuffle.get_state()},
            "test": self.metrics,
        }


def _say_result(result: Result, say: Callable[[str], object] = print) -> None:
    """The last lines of a run: what came of it, where it is, and how to look at it."""
    if result.stopped_by is not None:
        say("stopped early, after the step in progress; what was learned is saved")
    if result.metrics:  # a run may be stopped before it is measured
        say(_test_line(result.metrics))
    say(f"run folder: {result.folder}")
    missing = util.find_spec("tensorboard") is None
    hint = "  (first: pip install tensorboard)" if missing else ""
    say(f"look at it: tensorboard --logdir {shlex.quote(result.config.run.out)}{hint}")


def _test_line(metrics: Mapping[str, float]) -> str:
    names = sorted(metrics)  # accuracy before loss
    return describe_figures({f"test/{name}": metrics[name] for name in names})
