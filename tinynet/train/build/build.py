"""From a checked config to the objects that it describes."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tinynet import data, nn
from tinynet.random import Generator
from tinynet.train.build.method import Loss, Method, Updater
from tinynet.train.build.optimizers import (
    Waiting,
    advances,
    component_of,
    distribution,
    parameters_of,
    wants_figure,
    with_lengths,
)
from tinynet.train.build.seeds import derive, isolated, seed_all
from tinynet.train.build.shapes import shape_of
from tinynet.train.build.source_lines import point_to
from tinynet.train.build.targets import InputsAsTargets
from tinynet.train.config.components import FAMILIES, INSIDE, Family
from tinynet.train.config.constructor_errors import refusal, refused_at
from tinynet.train.config.problems import (
    ConfigError,
    Problem,
    UsageError,
    has_users_frames,
    in_users_code,
    one_of,
)
from tinynet.train.config.sections import Config, DataSection
from tinynet.train.config.signatures import Component, construct
from tinynet.train.config.user_code import on_path
from tinynet.train.exhibits import Exhibit

_MOST_EXAMPLES = 2**36
"""Their order alone would take half a terabyte."""


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
    method: Method
    updaters: dict[str, Updater]
    """The optimizers with their schedules, by name."""

    exhibits: Sequence[Exhibit] = ()
    """What ``evaluation.show`` lists."""

    def tell_schedules(self, metrics: Mapping[str, float]) -> None:
        """Hand the figures of a measurement to the schedules that wait for one."""
        for schedule in self.waiting():
            schedule.figure = metrics[schedule.monitor]

    def waiting(self) -> list[Waiting]:
        """The schedules that wait for a figure."""
        schedules = (updater.schedule for updater in self.updaters.values())
        return [schedule for schedule in schedules if isinstance(schedule, Waiting)]


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
        method = builder.make("method", config.method.component)
        builder.raise_if_any()
        assert sets is not None
        shuffle = Generator().manual_seed(derive(seed, "shuffle"))
        train_batches, test_batches = _batches(config.data, *sets, shuffle)
        updaters = builder.updaters(model, method, len(train_batches))
        builder.raise_if_any()
        exhibits = [builder.make("exhibit", listed) for listed in config.evaluation.show]
        builder.raise_if_any()
    point_to(config, loss)
    seed_all(seed, "training")
    return Parts(
        config,
        *sets,
        train_batches,
        test_batches,
        shuffle,
        model,
        loss,
        method,
        updaters,
        exhibits,
    )


def build_model(config: Config) -> nn.Module:
    """Only the model of a config: what it was trained on need not be there any more.

    Raises:
        ConfigError: its constructor refuses its arguments, or makes something else.
    """
    builder = _Builder(config)
    with on_path(config.run.path), isolated(config.run.seed, "model"):
        model: nn.Module = builder.make("model", config.model.component)
    builder.raise_if_any()
    return model


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
            return self.problem_at(refused_at(component, error), refusal(component, error))
        if not family.fits(built):
            return self.problem(component, f"must give {family.what}, gave {_kind(built, family)}")
        return built

    def problem(self, component: Component, text: str) -> None:
        self.problem_at(component.path, text)

    def problem_at(self, path: str, text: str) -> None:
        origins, place = self.config.origins, path
        while place and place not in origins and f"{place}.type" not in origins:
            place = place.rpartition(".")[0]
        origin = origins.get(f"{place}.type") or self.config.origin(place)
        self.problems.append(Problem(origin, path, text))

    def updaters(self, model: nn.Module, method: Method, batches: int) -> dict[str, Updater]:
        """Return the optimizers with their schedules, for a number of batches per epoch."""
        sections = self.config.optimizer.each()
        for text in distribution(model, method, sections):
            self.problem_at("optimizer", text)
        if self.problems:
            return {}
        updaters = {}
        for name, section in sections.items():
            given = parameters_of(model, name)
            optimizer = self.make("optimizer", component_of(section), given)
            if optimizer is not None:
                updater = Updater(optimizer, section.clip_norm, section.clip_value)
                updaters[name] = self.scheduled(name, updater, batches)
        for name in (self.config.schedule.named if self.config.schedule else {}).keys() - sections:
            listed = one_of(sections) if self.config.optimizer.named else "only one"
            self.problem_at(f"schedule.{name}", f"there is no such optimizer; there is: {listed}")
        return updaters

    def scheduled(self, name: str, updater: Updater, batches: int) -> Updater:
        """An updater with its schedule, if it has one."""
        section = self.config.schedule and self.config.schedule.of(name)
        if section:
            component = with_lengths(component_of(section), advances(self.config, section, batches))
            schedule = self.make("schedule", component, updater.optimizer)
            waits = schedule is not None and wants_figure(schedule)
            updater.schedule = Waiting(schedule, section.monitor) if waits else schedule
            updater.per = section.per
        return updater

    def sets(self, section: DataSection) -> tuple[Any, Any] | None:
        """The training set and the test set."""
        component = section.component
        if "train" in component.takes:
            train_set = self.make("data", component, train=True)
            if train_set is None:  # what is wrong would be told twice
                return None
            test_set = self.make("data", component, train=False)
            return None if test_set is None else self.not_empty(component, train_set, test_set)
        whole = self.make("data", component)
        if whole is None or not self.has_count(component, whole):
            return None
        count = round(len(whole) * section.test_fraction)
        split = Generator().manual_seed(derive(self.config.run.seed, "split"))
        train_set, test_set = data.random_split(whole, [len(whole) - count, count], generator=split)
        return self.not_empty(component, train_set, test_set)

    def has_count(self, component: Component, part: Any) -> bool:
        """Whether a data set says how many examples it has; notes what it says instead."""
        try:
            count = len(part)
        except Exception as error:  # Python's own, for what is no length, or the user's
            text = f"the length of the data set cannot be used\n{in_users_code(error)}"
            self.problem(component, text)
            return False
        if count > _MOST_EXAMPLES:
            text = f"the data set says that it has {count:,} examples, which cannot be shuffled"
            self.problem(component, text)
        return count <= _MOST_EXAMPLES

    def not_empty(self, component: Component, *sets: Any) -> tuple[Any, Any] | None:
        if not all([self.has_count(component, part) for part in sets]):
            return None
        for name, part in zip(("training", "test"), sets, strict=True):
            if not len(part):
                self.problem(component, f"the {name} set is empty")
        if self.config.data.targets == "inputs":
            return InputsAsTargets(sets[0]), InputsAsTargets(sets[1])
        return sets[0], sets[1]


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
