"""A trial of what a config describes, on a copy: what does not fit is known before training."""

from __future__ import annotations

import tempfile
from typing import Any

from tinynet import nn
from tinynet.board import SummaryWriter
from tinynet.train.build.build import Parts, copied, first_batch, refusal_to_show
from tinynet.train.build.method import Batch, Task
from tinynet.train.build.metrics import Totals, UnsuitableError
from tinynet.train.build.optimizers import Waiting, advances, rehearse, updaters_for
from tinynet.train.build.seeds import isolated
from tinynet.train.build.shapes import shape_of
from tinynet.train.config.problems import (
    ConfigError,
    Problem,
    UsageError,
    did_you_mean,
    in_users_code,
    one_of,
)
from tinynet.train.config.sections import Config
from tinynet.train.config.signatures import construct
from tinynet.train.exhibits import Moment
from tinynet.train.running.loop import as_evaluated


def trial(parts: Parts) -> None:
    """Try a step with a copy of the model, and a measurement.

    So what does not fit together is known before anything is written. Neither the model nor a
    random stream is different afterwards.

    Raises:
        UsageError: they do not fit; with the shapes.
    """
    config = parts.config
    with isolated(config.run.seed, "trial"):
        batch = first_batch(parts, parts.train_set, config.data.batch_size)
        model = copied(parts)
        updaters = updaters_for(config, model)
        try:
            parts.method.step(Task(model, parts.loss, updaters, [batch], strict=False))
            with as_evaluated(model, config.run.seed):
                measured = parts.method.measure(model, parts.loss, batch)
        except Exception as error:
            raise UsageError(_misfit(config, error, *batch)) from error
        _try_metrics(parts, measured)
        try_schedules(parts)
    _try_exhibits(parts, model)


def try_schedules(parts: Parts) -> None:
    """Let each schedule advance as often as the run will, without the model.

    Raises:
        ConfigError: one fails on the way, or comes to a rate that is NaN or infinite.
    """
    config = parts.config
    problems = []
    for name, updater in parts.updaters.items():
        section = config.schedule and config.schedule.of(name)
        if not section or isinstance(updater.schedule, Waiting):
            continue
        text = rehearse(config, name, advances(config, section, len(parts.train_batches)) - 1)
        if text:
            path = f"schedule.{name}" if config.schedule and config.schedule.named else "schedule"
            origin = config.origins.get(f"{path}.type") or config.origin(path)
            problems.append(Problem(origin, path, text))
    if problems:
        raise ConfigError(problems)


def _try_metrics(parts: Parts, measured: Batch) -> None:
    """Whether the metrics can be computed, and all figures that are watched are there."""
    config = parts.config
    totals = Totals(config.evaluation.metrics)
    try:
        totals.add_batch(measured)
    except UnsuitableError as error:
        place = config.origin("evaluation.metrics")
        found = f"outputs are {shape_of(measured.outputs)}, targets {shape_of(measured.targets)}"
        raise UsageError(f"{place}: evaluation.metrics: {error}; {found}") from None
    figures = totals.figures()
    watched = [("evaluation.monitor", config.evaluation.monitor)]
    watched += [("schedule.monitor", schedule.monitor) for schedule in parts.waiting()]
    for key, name in watched:
        if name and name not in figures:
            listed, hint = one_of(figures), did_you_mean(name, figures)
            raise UsageError(
                f"{config.origin(key)}: {key}: {name!r} is not measured; what is: {listed} "
                f"(evaluation.metrics adds to it){hint}"
            )


def _try_exhibits(parts: Parts, model: nn.Module) -> None:
    """Whether all that shall be shown can be; it is written to a folder that is gone afterwards."""
    config = parts.config
    if not config.evaluation.show:
        return
    with tempfile.TemporaryDirectory() as folder, SummaryWriter(folder) as writer:
        at = Moment(model, writer, 0, 1, parts.train_set, parts.test_set)
        for component in config.evaluation.show:
            exhibit = construct(component)  # that of the run stays as it is
            try:
                with as_evaluated(model, config.run.seed):
                    exhibit.show(at)
            except Exception as error:
                place = config.origin(f"{component.path}.type")
                text = f"{place}: {component.path}: {refusal_to_show(component, error)}"
                raise UsageError(text) from error


def _misfit(config: Config, error: Exception, inputs: Any, targets: Any) -> str:
    return (
        f"{config.origin('model.type')}: the model, the loss and the data do not fit together: "
        f"inputs are {shape_of(inputs)}, targets {shape_of(targets)}\n{in_users_code(error)}"
    )
