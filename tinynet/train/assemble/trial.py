"""A trial of a config on a copy of its model: what does not fit fails before training."""

from __future__ import annotations

import contextlib
import tempfile

from tinynet import board, nn
from tinynet.train.assemble.build import Parts
from tinynet.train.assemble.optimizers import PlateauSchedule, rehearse
from tinynet.train.assemble.rehearsal import rehearsal
from tinynet.train.assemble.sets import MixedBatches
from tinynet.train.assemble.shown import refusal_to_show
from tinynet.train.base.problems import (
    ConfigError,
    Problem,
    UsageError,
    did_you_mean,
    in_users_code,
    one_of,
)
from tinynet.train.config.signatures import construct
from tinynet.train.metrics.metric import UnsuitableError
from tinynet.train.step.epoch import Totals
from tinynet.train.step.method import Batch
from tinynet.train.step.task import Task, as_evaluated, shape_of

_REPEATS = 9
_SPARE = 0.25e9
"""The nanoseconds for repeats of the recorded step before a run; a long run spares 0.5 %."""

_PER_OPERATION = 10_000
"""The nanoseconds of a small operation; a large one takes one per byte and ten operations."""


def trial(parts: Parts, repeats: int | None = 0) -> board.Recording | None:
    """Try an evaluation and a training step on a copy of the model, before anything is written.

    The model, the states of loss and method, and all random streams stay unchanged.

    Args:
        parts: the objects of a config.
        repeats: the number of further steps that give the operations of the recorded step their
            median times; None for a number that the run can spare.

    Returns:
        The recorded step, for the graphs in TensorBoard; None if recording failed.

    Raises:
        UsageError: if model, loss and data do not fit together; the message has the shapes.
    """
    with rehearsal(parts) as tried:
        batch = tried.batch
        with tried.fitting(batch):
            # First the evaluation: it compiles the operations, so the recorded times are typical.
            evaluated = tried.measure(seed=parts.config.run.seed)
            collate = parts.train_batches.collate_fn
            if isinstance(collate, MixedBatches):
                batch = collate.mixed(batch)
            recording = tried.record(batch)
        if recording is not None:
            _measure(recording, parts, tried.task(batches=[batch]), repeats)
        _try_metrics(parts, evaluated)
        try_schedules(parts)
    _try_exhibits(parts, tried.model)
    return recording


def _measure(recording: board.Recording, parts: Parts, task: Task, repeats: int | None) -> None:
    """Give the operations of a recorded step their median times in repeats of it."""
    count = _spare(recording, parts) if repeats is None else repeats
    if count:
        with contextlib.suppress(Exception):  # a step that cannot be repeated has been recorded
            recording.measure(lambda: parts.method.step(task), count)


def _spare(recording: board.Recording, parts: Parts) -> int:
    """Return the number of repeats that a run does not notice.

    It depends on the graph and the config, but on no measured time: code of the user's with a state
    of its own runs equally often before each training.
    """
    costs = recording.costs
    work = sum(cost.flops / 10 + cost.memory + _PER_OPERATION for cost in costs)
    steps = len(parts.train_batches) * parts.config.run.epochs / parts.config.optimizer.accumulate
    affordable = max(_SPARE, steps * work / 200)
    return max(1, min(_REPEATS, int(affordable / work - 1) // 2))


def try_schedules(parts: Parts) -> None:
    """Advance each schedule as often as the run will, without the model.

    Raises:
        ConfigError: if one fails, or reaches a learning rate that is NaN or infinite.
    """
    config = parts.config
    problems = []
    for name, updater in parts.updaters.items():
        section = config.schedule and config.schedule.of(name)
        if not section or isinstance(updater.schedule, PlateauSchedule):
            continue
        text = rehearse(config, name, parts.length.of(section))
        if text:
            path = f"schedule.{name}" if config.schedule and config.schedule.named else "schedule"
            origin = config.origins.get(f"{path}.type") or config.origin(path)
            problems.append(Problem(origin, path, text))
    if problems:
        raise ConfigError(problems)


def _try_metrics(parts: Parts, evaluated: Batch) -> None:
    """Compute the metrics of a batch, and look for the monitored ones among them."""
    config = parts.config
    place = config.origin("evaluation.metrics")
    try:
        totals = Totals(parts.metrics)
        totals.add_batch(evaluated)
        figures = totals.figures()
    except UnsuitableError as error:
        found = f"outputs are {shape_of(evaluated.outputs)}, targets {shape_of(evaluated.targets)}"
        raise UsageError(f"{place}: evaluation.metrics: {error}; {found}") from None
    except Exception as error:  # of a metric of the user
        text = f"{place}: evaluation.metrics: a metric failed\n{in_users_code(error)}"
        raise UsageError(text) from error
    watched = [("evaluation.monitor", config.evaluation.monitor)]
    watched += [("schedule.monitor", schedule.monitor) for schedule in parts.plateau_schedules()]
    for key, name in watched:
        if name and name not in figures:
            listed, hint = one_of(figures), did_you_mean(name, figures)
            raise UsageError(
                f"{config.origin(key)}: {key}: {name!r} is not among the metrics: {listed} "
                f"(evaluation.metrics adds to it){hint}"
            )


def _try_exhibits(parts: Parts, model: nn.Module) -> None:
    """Show all exhibits once, to a temporary folder."""
    config = parts.config
    if not config.evaluation.show:
        return
    with tempfile.TemporaryDirectory() as folder, board.SummaryWriter(folder) as writer:
        at = parts.moment(writer, model=model)
        for component in config.evaluation.show:
            exhibit = construct(component)  # the one of the run stays unused
            try:
                with as_evaluated(model, config.run.seed):
                    exhibit.show(at)
            except Exception as error:
                place = config.origin(f"{component.path}.type")
                text = f"{place}: {component.path}: {refusal_to_show(component, error)}"
                raise UsageError(text) from error
