"""From a checked config to the objects that it describes, and a trial of them."""

from __future__ import annotations

import copy
import inspect
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tinynet import data, nn, optim
from tinynet.board import SummaryWriter
from tinynet.core.generator import Generator
from tinynet.train.bind import Component
from tinynet.train.components import FAMILIES, INSIDE, Family
from tinynet.train.config import Config, DataSection
from tinynet.train.exhibits import Exhibit, Moment
from tinynet.train.imports import on_path
from tinynet.train.loop import Loss, Schedule, as_evaluated
from tinynet.train.metrics import Totals, UnsuitableError
from tinynet.train.problems import (
    ConfigError,
    Problem,
    UsageError,
    has_users_frames,
    in_users_code,
    one_of,
)
from tinynet.train.seeds import derive, isolated, seed_all
from tinynet.train.shapes import shape_of
from tinynet.train.targets import InputsAsTargets


@dataclass
class Parts:
    """Everything that a config describes, built."""

    config: Config
    train_set: Any
    test_set: Any
    train_batches: data.DataLoader
    test_batches: data.DataLoader
    shuffle: Generator
    """What the order of the training set is drawn from."""

    model: nn.Module
    loss: Loss
    optimizer: optim.Optimizer
    schedule: Schedule | None
    exhibits: Sequence[Exhibit] = ()
    """What ``evaluation.show`` lists."""

    def tell_schedule(self, metrics: Mapping[str, float]) -> None:
        """Hand the figure of a measurement to a schedule that waits for one."""
        if isinstance(self.schedule, Waiting) and self.config.schedule is not None:
            self.schedule.figure = metrics[self.config.schedule.monitor]


class Waiting:
    """A schedule whose ``step`` takes a figure, as one whose ``step`` takes nothing.

    It stands still until there is a figure, and sees each figure once.
    """

    def __init__(self, schedule: Any) -> None:
        self.schedule = schedule
        self.figure: float | None = None

    def step(self) -> None:
        """Advance, if there is a figure that was not seen yet."""
        if self.figure is not None:
            self.schedule.step(self.figure)
            self.figure = None

    def state_dict(self) -> dict[str, Any]:
        """The state of the schedule, and the figure that it has not seen yet."""
        return {"schedule": self.schedule.state_dict(), "figure": self.figure}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` returned."""
        self.schedule.load_state_dict(state["schedule"])
        self.figure = state["figure"]


def _wants_figure(schedule: Any) -> bool:
    """Whether ``step`` must be given something, as that of ReduceLROnPlateau."""
    parameters = inspect.signature(schedule.step).parameters.values()
    return any(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)


def build(config: Config) -> Parts:
    """The objects of a config; afterwards the default generators are seeded for training.

    Raises:
        ConfigError: a constructor refuses its arguments, or makes the wrong kind of thing.
    """
    seed = config.run.seed
    builder = _Builder(config)
    with on_path(config.run.path):
        seed_all(seed, "data")
        sets = builder.sets(config.data)
        seed_all(seed, "model")
        model = builder.make("model", config.model.component)
        loss = builder.make("loss", config.loss.component)
        builder.raise_if_any()
        assert sets is not None
        optimizer = builder.make("optimizer", config.optimizer.component, model.parameters())
        builder.raise_if_any()
        schedule = None
        if config.schedule is not None:
            schedule = builder.make("schedule", config.schedule.component, optimizer)
            builder.raise_if_any()
            schedule = Waiting(schedule) if _wants_figure(schedule) else schedule
        exhibits = [builder.make("exhibit", listed) for listed in config.evaluation.show]
        builder.raise_if_any()
    shuffle = Generator().manual_seed(derive(seed, "shuffle"))
    train_batches, test_batches = _batches(config.data, *sets, shuffle)
    seed_all(seed, "training")
    return Parts(
        config,
        *sets,
        train_batches,
        test_batches,
        shuffle,
        model,
        loss,
        optimizer,
        schedule,
        exhibits,
    )


class _Builder:
    """Calls what a config names, and collects what goes wrong."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.problems: list[Problem] = []

    def raise_if_any(self) -> None:
        if self.problems:
            raise ConfigError(self.problems)

    def make(self, section: str, component: Component, *supplied: Any, **hidden: Any) -> Any:
        """The object of a component; None after a mistake."""
        family = FAMILIES[section] if section in FAMILIES else INSIDE[section]
        try:
            built = construct(component, *supplied, **hidden)
        except (Exception, SystemExit) as error:
            return self.problem(component, refusal(component, error))
        if not family.fits(built):
            return self.problem(component, f"must give {family.what}, gave {_kind(built, family)}")
        return built

    def problem(self, component: Component, text: str) -> None:
        origin = self.config.origin(f"{component.path}.type")
        self.problems.append(Problem(origin, component.path, text))

    def sets(self, section: DataSection) -> tuple[Any, Any] | None:
        """The training set and the test set."""
        component = section.component
        if "train" in component.takes:
            pair = tuple(self.make("data", component, train=train) for train in (True, False))
            return None if None in pair else self.not_empty(component, *pair)
        whole = self.make("data", component)
        if whole is None:
            return None
        count = round(len(whole) * section.test_fraction)
        split = Generator().manual_seed(derive(self.config.run.seed, "split"))
        train_set, test_set = data.random_split(whole, [len(whole) - count, count], generator=split)
        return self.not_empty(component, train_set, test_set)

    def not_empty(self, component: Component, *sets: Any) -> tuple[Any, Any] | None:
        for name, part in zip(("training", "test"), sets, strict=True):
            if not len(part):
                self.problem(component, f"the {name} set is empty")
        if self.config.data.targets == "inputs":
            return InputsAsTargets(sets[0]), InputsAsTargets(sets[1])
        return sets[0], sets[1]


def construct(component: Component, *supplied: Any, **hidden: Any) -> Any:
    """Call the target of a component, after building the components among its arguments."""
    arguments = {key: _inside(value, supplied) for key, value in component.arguments.items()}
    if component.given:
        return component.target(**{component.given: supplied[0]}, **arguments, **hidden)
    return component.target(*supplied, **arguments, **hidden)


def _inside(value: Any, supplied: tuple[Any, ...]) -> Any:
    if isinstance(value, Component):
        return construct(value, *(supplied if value.given is not None else ()))
    if isinstance(value, list):
        return [_inside(item, supplied) for item in value]
    return value


def refusal(component: Component, error: BaseException) -> str:
    """What a constructor had to say, with the user's own lines if they are in its traceback."""
    if has_users_frames(error):
        return f"{component.type} failed\n{in_users_code(error)}"
    return f"{component.type} refused its arguments. {type(error).__name__}: {error}"


def _kind(built: Any, family: Family) -> str:
    return f"{built!r} ({type(built).__name__})"[:200]


def _batches(
    section: DataSection, train_set: Any, test_set: Any, shuffle: Generator
) -> tuple[data.DataLoader, data.DataLoader]:
    train_batches = data.DataLoader(
        train_set,
        batch_size=section.batch_size,
        shuffle=section.shuffle,
        drop_last=section.drop_last,
        generator=shuffle,
        num_workers=section.workers,
        persistent_workers=section.workers > 0,
    )
    return train_batches, data.DataLoader(test_set, batch_size=section.batch_size)


def trial(parts: Parts) -> None:
    """Try a copy of the model on a batch, forward and backward.

    So what does not fit together is known before anything is written. Neither the model nor a
    random stream is different afterwards.

    Raises:
        UsageError: they do not fit; with the shapes.
    """
    config = parts.config
    with isolated(config.run.seed, "trial"):
        inputs, targets = first_batch(parts, parts.train_set, config.data.batch_size)
        model = copied(parts)
        try:
            outputs = model(inputs)
            objective = parts.loss(outputs, targets)
            objective.backward()
        except Exception as error:
            raise UsageError(_misfit(config, error, inputs, targets)) from error
        _try_metrics(config, outputs, targets, objective.item())
    _try_exhibits(parts, model)


def copied(parts: Parts) -> nn.Module:
    """The model again, for trials that leave no trace in it.

    Raises:
        UsageError: it cannot be copied.
    """
    try:
        return copy.deepcopy(parts.model)
    except Exception as error:
        place = parts.config.origin("model.type")
        raise UsageError(
            f"{place}: the model cannot be copied, which is needed to try it\n"
            f"{in_users_code(error)}"
        ) from error


def _try_metrics(config: Config, outputs: Any, targets: Any, loss: float) -> None:
    """Whether the metrics can be computed, and all figures that are watched are there."""
    totals = Totals(config.evaluation.metrics)
    try:
        totals.add(outputs, targets, loss)
    except UnsuitableError as error:
        place = config.origin("evaluation.metrics")
        found = f"outputs are {shape_of(outputs)}, targets {shape_of(targets)}"
        raise UsageError(f"{place}: evaluation.metrics: {error}; {found}") from None
    figures = totals.figures()
    watched = {"evaluation.monitor": config.evaluation.monitor}
    if config.schedule is not None:
        watched["schedule.monitor"] = config.schedule.monitor
    for key, name in watched.items():
        if name and name not in figures:
            listed = one_of(figures)
            raise UsageError(
                f"{config.origin(key)}: {key}: {name!r} is not measured; what is: {listed} "
                "(evaluation.metrics adds to it)"
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


def refusal_to_show(component: Component, error: Exception) -> str:
    """What an exhibit had to say, with the user's own lines if they are in its traceback."""
    if has_users_frames(error):
        return f"{component.type} failed\n{in_users_code(error)}"
    return f"{component.type} cannot be shown. {type(error).__name__}: {error}"


def first_batch(parts: Parts, examples: Any, count: int) -> Sequence[Any]:
    """The first examples of a data set as a batch.

    Raises:
        UsageError: there is none, or it is no pair.
    """
    place = parts.config.origin("data.type")
    if not len(parts.train_batches):
        raise UsageError(
            f"{place}: the training set has {len(parts.train_set)} examples, fewer than "
            f"data.batch_size = {parts.config.data.batch_size}, and data.drop_last leaves none"
        )
    plain = data.DataLoader(examples, batch_size=count)
    try:
        batch = next(iter(plain))
    except Exception as error:
        text = f"{place}: no batch can be made of the data set\n{in_users_code(error)}"
        raise UsageError(text) from error
    if not isinstance(batch, Sequence) or len(batch) != 2:
        raise UsageError(f"{place}: a batch must be a pair (inputs, targets), is {shape_of(batch)}")
    return batch


def _misfit(config: Config, error: Exception, inputs: Any, targets: Any) -> str:
    return (
        f"{config.origin('model.type')}: the model, the loss and the data do not fit together: "
        f"inputs are {shape_of(inputs)}, targets {shape_of(targets)}\n{in_users_code(error)}"
    )
