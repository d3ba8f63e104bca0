"""A few steps on a copy of the model, to measure what a run would need (``tinynet check``)."""

from __future__ import annotations

import math
import statistics
import time
import tracemalloc
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tinynet import board
from tinynet.board.graphs.costs import OperationCost, Total, totals
from tinynet.board.graphs.timing import StepTime
from tinynet.train.assemble.build import Parts
from tinynet.train.assemble.optimizers import component_of, other_lengths
from tinynet.train.assemble.trial import Rehearsal, copy_of_model, rehearsal, trial
from tinynet.train.base.problems import TrainError
from tinynet.train.config.rules import seconds_of
from tinynet.train.diagnose.data_check import check_data
from tinynet.train.observe.summary import ModuleRow, bytes_of, module_rows, weight_bytes
from tinynet.train.step.task import shape_of

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
    recording = trial(parts, steps)
    if recording is None or recording.step_time is None:
        raise TrainError("there is no profile of this step")
    with rehearsal(parts) as tried:
        began = time.perf_counter()
        tried.first_of(parts.train_set)
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
    reports = check_data(parts)
    recording = trial(parts)
    with rehearsal(parts) as tried:
        modules = _modules(tried, recording)
        peak = _peak(tried)
        loss, step_seconds = _steps(tried)
        evaluation_seconds = _evaluation_seconds(tried)
    total_seconds = _total_seconds(parts, step_seconds, evaluation_seconds)
    model, batch = tried.model, tried.batch
    states = [updater.optimizer.state_dict()["state"] for updater in tried.updaters.values()]
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
        optimizer_bytes=bytes_of(states),
        peak_bytes=peak,
        step_seconds=step_seconds,
        total_seconds=total_seconds,
        notes=[*_lengths(parts)],
    )


def _total_seconds(parts: Parts, step: float, evaluation: float) -> float:
    """Return the time of the whole run, given the times of a step and of an evaluated batch."""
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


def _steps(tried: Rehearsal) -> tuple[float, float]:
    """Return the loss of the first step, and the median seconds of the later ones."""
    parts = tried.parts
    accumulate = min(parts.config.optimizer.accumulate, len(parts.train_batches))
    seconds, losses = [], []
    began = time.perf_counter()
    for step in tried.fit([tried.batch] * accumulate, _STEPS, accumulate=accumulate):
        seconds.append(time.perf_counter() - began)
        losses.append(step.loss)
        began = time.perf_counter()
    return losses[0], statistics.median(seconds[1:])


def _modules(tried: Rehearsal, recording: board.Recording | None) -> list[ModuleRow]:
    """Return the modules with the shapes of their outputs, and their costs in the recorded step."""

    def measure() -> list[OperationCost]:
        tried.measure()
        return recording.costs if recording else []

    return module_rows(tried.model, measure)


def _peak(tried: Rehearsal) -> int:
    """Return the peak memory of a step, in bytes."""
    if tracemalloc.is_tracing():  # the caller measures, too
        return 0
    other = Rehearsal(tried.parts, copy_of_model(tried.parts))
    task = other.task(batches=[tried.batch])
    tracemalloc.start()
    try:
        tried.parts.method.step(task)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _evaluation_seconds(tried: Rehearsal) -> float:
    """Return the time to evaluate one batch of the test set."""
    batch = tried.first_of(tried.parts.test_set)
    began = time.perf_counter()
    tried.measure(batch)
    return time.perf_counter() - began
