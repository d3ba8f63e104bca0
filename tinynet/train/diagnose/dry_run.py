"""A few steps on a copy of the model, to measure what a run would need (``tinynet check``)."""

from __future__ import annotations

import math
import statistics
import time
import tracemalloc
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tinynet import board, nn
from tinynet.board.graphs.costs import OperationCost, Total, totals
from tinynet.board.graphs.timing import StepTime
from tinynet.train.assemble.build import Parts, copied, first_batch
from tinynet.train.assemble.lengths import component_of, other_lengths
from tinynet.train.assemble.optimizers import updaters_for
from tinynet.train.assemble.trial import trial
from tinynet.train.base.problems import TrainError
from tinynet.train.config.rules import seconds_of
from tinynet.train.diagnose.data_check import check_data
from tinynet.train.loop.fit import as_evaluated, fit
from tinynet.train.observe.summary import ModuleRow, bytes_of, module_rows, weight_bytes
from tinynet.train.step.seeds import isolated
from tinynet.train.step.targets import shape_of
from tinynet.train.step.task import Task, Updater

# ---- profiling ----------------------------------------------------------------------------------
# The time and memory of training steps by module and by source line (``tinynet profile``).


@dataclass(frozen=True)
class Profile:
    """The cost of a typical training step."""

    step: StepTime
    """The time of a step."""

    batch_seconds: float
    """The time to load a batch, without workers."""

    costs: list[OperationCost]
    """The cost of each operation, the median over the steps."""

    classes: Mapping[str, str]
    """The class of each module, by path."""

    @property
    def modules(self) -> dict[str, Total]:
        """The costs of each module's own operations, the slowest module first."""
        return _slowest_first(totals(self.costs, lambda cost: cost.module))

    @property
    def lines(self) -> dict[str, Total]:
        """The costs of each source line, the slowest line first."""
        return _slowest_first(totals(self.costs, _line))


def _line(cost: OperationCost) -> str:
    return cost.line or ("(the optimizer)" if cost.phase == "opt" else "(no line)")


def _slowest_first(found: Mapping[str, Total]) -> dict[str, Total]:
    return dict(sorted(found.items(), key=lambda item: -item[1].time))


def profile(parts: Parts, steps: int) -> Profile:
    """Take training steps on a copy of the model; the model and all random streams stay unchanged.

    Args:
        parts: the objects of a config.
        steps: the number of steps whose operations are timed, and of those timed as a whole.

    Raises:
        UsageError: if model, loss and data do not fit together.
        TrainError: if no step can be recorded and repeated; a warning has the reason.
    """
    config = parts.config
    recording = trial(parts, steps)
    if recording is None or recording.step_time is None:
        raise TrainError("there is no profile of this step")
    with isolated(config.run.seed, "trial"):
        began = time.perf_counter()
        first_batch(parts, parts.train_set, config.data.batch_size)
        batch_seconds = time.perf_counter() - began
    return Profile(recording.step_time, batch_seconds, recording.costs, recording.classes)


# ---- dry run ------------------------------------------------------------------------------------


_STEPS = 5


@dataclass(frozen=True)
class Checkup:
    """The findings of `examine`."""

    train_examples: int
    validation_examples: int
    test_examples: int
    looked_at: dict[str, int]
    """The number of checked examples per data set; empty with ``data.check = false``."""

    batches: int
    steps: int
    """Steps per epoch; fewer than batches if gradients are accumulated."""

    epochs: int | None
    """None if only the time ends the run."""

    inputs: str
    targets: str
    loss: float
    modules: list[ModuleRow]
    parameters: int
    trainable: int
    weight_bytes: int
    gradient_bytes: int
    optimizer_bytes: int
    peak_bytes: int
    """The peak memory of a step, besides the weights."""

    step_seconds: float
    total_seconds: float
    """The estimated time of the whole run, including evaluations."""

    notes: list[str]
    """Settings that are valid, but may be unintended."""


def examine(parts: Parts) -> Checkup:
    """Try a few training steps and an evaluation on a copy of the model.

    Raises:
        UsageError: if model, loss and data do not fit together.
        NonFiniteError: if a loss is NaN or infinite.
    """
    config = parts.config
    reports = check_data(parts)
    recording = trial(parts)
    with isolated(config.run.seed, "trial"):
        batch = first_batch(parts, parts.train_set, config.data.batch_size)
        model = copied(parts)
        modules = _modules(parts, model, batch, recording)
        peak = _peak(parts, batch)
        updaters = updaters_for(config, model)
        loss, step_seconds = _steps(parts, model, updaters, batch)
    total_seconds = _total_seconds(parts, step_seconds, _evaluation_seconds(parts, model))
    parameters = [*model.parameters()]
    return Checkup(
        train_examples=len(parts.train_set),
        validation_examples=len(parts.sets.get("validation", ())),
        test_examples=len(parts.test_set),
        looked_at={name: report.checked for name, report in reports.items()},
        batches=len(parts.train_batches),
        steps=parts.length.per_epoch,
        epochs=parts.length.epochs,
        inputs=shape_of(batch[0]),
        targets=shape_of(batch[1]),
        loss=loss,
        modules=modules,
        parameters=sum(p.numel() for p in parameters),
        trainable=sum(p.numel() for p in parameters if p.requires_grad),
        weight_bytes=weight_bytes(model),
        gradient_bytes=bytes_of([p.grad for p in parameters]),
        optimizer_bytes=bytes_of([u.optimizer.state_dict()["state"] for u in updaters.values()]),
        peak_bytes=peak,
        step_seconds=step_seconds,
        total_seconds=total_seconds,
        notes=[*_lengths(parts)],
    )


def _total_seconds(parts: Parts, step: float, evaluation: float) -> float:
    """Return the time of the whole run, given that of a step and of an evaluated batch."""
    limit = seconds_of(parts.config.run.max_time) or math.inf
    steps, epochs = parts.length.steps, parts.length.epochs
    if steps is None or epochs is None:
        return limit
    return min(step * steps + evaluation * _evaluated_batches(parts, epochs), limit)


def _evaluated_batches(parts: Parts, epochs: int) -> int:
    """Return the number of batches that a run evaluates: the test set twice, unless it selects."""
    evaluations = -(-epochs // parts.config.run.eval_every)
    count = len(parts.batches[parts.selection]) * evaluations
    return count if parts.selection == "test" else count + 2 * len(parts.test_batches)


def _lengths(parts: Parts) -> Iterator[str]:
    """Yield notes on schedules that are longer or shorter than the run."""
    config = parts.config
    for name in parts.updaters:
        section = config.schedule and config.schedule.of(name)
        if section:
            length = parts.length.of(section)
            for path, given, own in other_lengths(component_of(section), length):
                yield (
                    f"{config.origin(path)}: {path} = {given}, but the schedule lasts for {own} "
                    f"{section.per}s of this run; left out, it is that number"
                )


def _steps(
    parts: Parts, model: nn.Module, updaters: Mapping[str, Updater], batch: Any
) -> tuple[float, float]:
    """Return the loss of the first step, and the median seconds of the later ones."""
    accumulate = min(parts.config.optimizer.accumulate, len(parts.train_batches))
    seconds, losses = [], []
    began = time.perf_counter()
    batches = [batch] * accumulate
    for step in fit(
        *(model, parts.loss, updaters, batches, _STEPS),
        accumulate=accumulate,
        method=parts.method,
        hints=False,
    ):
        seconds.append(time.perf_counter() - began)
        losses.append(step.loss)
        began = time.perf_counter()
    return losses[0], statistics.median(seconds[1:])


def _modules(
    parts: Parts, model: nn.Module, batch: Any, recording: board.Recording | None
) -> list[ModuleRow]:
    """Return the modules with the shapes of their outputs, and their costs in the recorded step."""

    def measure() -> list[OperationCost]:
        with as_evaluated(model):
            parts.method.measure(model, parts.loss, batch)
        return recording.costs if recording else []

    return module_rows(model, measure)


def _peak(parts: Parts, batch: Any) -> int:
    """Return the peak memory of a step, in bytes."""
    if tracemalloc.is_tracing():  # the caller measures, too
        return 0
    model = copied(parts)
    updaters = updaters_for(parts.config, model)
    tracemalloc.start()
    try:
        parts.method.step(Task(model, parts.loss, updaters, [batch], strict=False))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _evaluation_seconds(parts: Parts, model: nn.Module) -> float:
    """Return the time to evaluate one batch of the test set."""
    batch = first_batch(parts, parts.test_set, parts.config.data.batch_size)
    with as_evaluated(model):
        began = time.perf_counter()
        parts.method.measure(model, parts.loss, batch)
        return time.perf_counter() - began
