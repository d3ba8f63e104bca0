"""Building the objects that a checked config describes; how a run computes."""

from __future__ import annotations

import contextlib
import linecache
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tinynet import data, nn
from tinynet.core import callsite, seams
from tinynet.core.callsite import Site
from tinynet.core.modes import mode
from tinynet.core.printing import quantity
from tinynet.data.readers.tables import TableEncoder
from tinynet.kernels import native as native_kernels
from tinynet.kernels import threads
from tinynet.random import Generator
from tinynet.train import models
from tinynet.train.assemble.optimizers import (
    Length,
    PlateauSchedule,
    UnknownLengthError,
    component_of,
    distribution,
    freeze,
    given_to,
    length_of,
    needs_metric,
    schedule_of,
)
from tinynet.train.assemble.sets import (
    Maker,
    MixedBatches,
    SetsBuilder,
    balanced,
    count_classes,
    train_order,
)
from tinynet.train.base.problems import (
    UsageError,
    did_you_mean,
    has_users_frames,
    in_users_code,
    one_of,
)
from tinynet.train.config.sections import Config, RunSection
from tinynet.train.config.signatures import Component
from tinynet.train.config.user_code import on_path
from tinynet.train.loop.callback import EVENTS, Callbacks, Entry, Moment, unknown_events
from tinynet.train.loop.splits import dataset_attribute, state_learned
from tinynet.train.metrics.criterion import SETS
from tinynet.train.metrics.registry import Own
from tinynet.train.step.method import Method
from tinynet.train.step.seeds import derive, isolated, seed_all
from tinynet.train.step.task import Loss, Updater, shape_of

UNSCALED = (nn.PoissonNLLLoss, nn.BCELoss, nn.BCEWithLogitsLoss)
"""Losses of counts and of labels."""


@dataclass
class Parts:
    """The objects of a config."""

    config: Config
    train_set: Any
    test_set: Any
    train_batches: data.DataLoader
    test_batches: data.DataLoader
    shuffle: Generator
    """The generator of the training set's order."""

    model: nn.Module
    loss: Loss
    method: Method
    updaters: dict[str, Updater]
    """The optimizers with their schedules, by name."""

    callbacks: Callbacks = field(default_factory=Callbacks)
    """The callbacks in ``run.callbacks``, and the exhibits in ``evaluation.show``."""

    validation_set: Any = None
    """The examples that select; None without any: then the test set selects."""

    metrics: Sequence[str | Own] | None = None
    """The metrics in ``evaluation.metrics``: names, and the user's own."""

    trackers: Mapping[str, Any] = field(default_factory=dict)
    """The trackers in ``run.trackers`` by name; without any if the run is only evaluated."""

    @property
    def sets(self) -> dict[str, Any]:
        """The data sets by name: ``"training"``, ``"validation"`` if there is one, ``"test"``."""
        sets = (self.train_set, self.validation_set, self.test_set)
        return {n: one for n, one in zip(SETS, sets, strict=True) if one is not None}

    @property
    def length(self) -> Length:
        """The number of steps and epochs of the run."""
        return length_of(self.config, len(self.train_batches))

    @property
    def batches(self) -> dict[str, data.DataLoader]:
        """Their batches by name, in order; training is not shuffled."""
        size, sets = self.config.data.batch_size, self.sets.items()
        return {name: data.DataLoader(part, size, seed_batches=True) for name, part in sets}

    @property
    def selection(self) -> str:
        """The name of the set on which the run selects: the best weights, when to stop."""
        return "test" if self.validation_set is None else "validation"

    def moment(
        self, writer: Any, step: int = 0, epoch: int = 1, model: nn.Module | None = None
    ) -> Moment:
        """Return the argument of callbacks and exhibits; its model can be a copy."""
        return Moment(
            self.model if model is None else model,
            writer,
            step,
            epoch,
            self.train_set,
            self.test_set,
            self.validation_set,
            measured_on=self.selection,
        )

    def update_plateau_schedules(self, metrics: Mapping[str, float]) -> None:
        """Pass the metrics of an evaluation to the schedules that monitor one."""
        for schedule in self.plateau_schedules():
            schedule.figure = metrics.get(schedule.monitor)

    def plateau_schedules(self) -> list[PlateauSchedule]:
        """Return the schedules that monitor a metric."""
        schedules = (updater.schedule for updater in self.updaters.values())
        return [schedule for schedule in schedules if isinstance(schedule, PlateauSchedule)]


def build(config: Config, preprocessing: Any = None, *, trackers: bool = False) -> Parts:
    """Build the objects of a config, and seed the default generators for training.

    Args:
        config: the config.
        preprocessing: what the data set learned from its training part in an earlier run
            (`preprocessing_of`), to use again.
        trackers: whether to build the trackers, too: a model is evaluated without them.

    Raises:
        ConfigError: if a constructor refuses its arguments, or returns an unsuitable object.
    """
    seed = config.run.seed
    builder = _Builder(config)
    with on_path(config.run.path):
        seed_all(seed, "data")
        sets = SetsBuilder(config, builder.problems).build(preprocessing)
        seed_all(seed, "model")
        model = builder.model()
        loss = builder.loss(sets and sets.train)
        method = builder.make("method", config.method.component)
        builder.problems.raise_if_any()
        assert sets is not None
        builder.use_units(sets.train, loss, method)
        shuffle = Generator().manual_seed(derive(seed, "shuffle"))
        train_batches = builder.batches(sets.train, shuffle)
        test_batches = data.DataLoader(sets.test, config.data.batch_size, seed_batches=True)
        updaters = builder.updaters(model, method, length_of(config, len(train_batches)))
        builder.problems.raise_if_any()
        callbacks = builder.callbacks()
        metrics = builder.metrics(config.evaluation.metrics)
        tracked = builder.trackers() if trackers else {}
        builder.problems.raise_if_any()
    _point_to(config, loss)
    seed_all(seed, "training")
    return Parts(
        config,
        sets.train,
        sets.test,
        train_batches,
        test_batches,
        shuffle,
        model,
        loss,
        method,
        updaters,
        callbacks,
        sets.validation,
        metrics,
        tracked,
    )


def build_model(config: Config) -> nn.Module:
    """Build only the model of a config; the data need not exist.

    Raises:
        ConfigError: if its constructor refuses its arguments, or returns no model.
    """
    builder = _Builder(config)
    with on_path(config.run.path), isolated(config.run.seed, "model"):
        model: nn.Module = builder.model()
    builder.problems.raise_if_any()
    return model


class _Builder(Maker):
    """Builds everything but the data sets."""

    def callbacks(self) -> Callbacks:
        """Return the callbacks and the exhibits."""
        listed = self.config.run.callbacks
        callbacks = [self.make("callback", component) for component in listed]
        for component, callback in zip(listed, callbacks, strict=True):
            for name in unknown_events(callback):
                hint = did_you_mean(name, EVENTS) or "."
                text = f"has a method {name}, which is never called{hint}"
                self.problem(component, f"{text} There are: {one_of(EVENTS)}")
        found = Callbacks(callbacks, [one.path for one in listed], self.config.run.seed)
        exhibits = [(one, self.make("exhibit", one)) for one in self.config.evaluation.show]
        found.insert(len(listed), *(shown(*pair) for pair in exhibits if pair[1] is not None))
        return found

    def mixtures(self, train_set: Any) -> list[Any]:
        """Return the mixtures of training batches."""
        mixtures = [self.make("mixture", one) for one in self.config.data.mix]
        try:
            count_classes(mixtures, train_set)
        except ValueError as error:
            self.problem_at("data.mix", f"{error}: a mixture needs num_classes")
        return mixtures

    def batches(self, train_set: Any, shuffle: Generator) -> data.DataLoader:
        """Return the batches of training, mixed if the config asks for it."""
        section, mixtures = self.config.data, self.mixtures(train_set)
        return data.DataLoader(
            train_set,
            batch_size=section.batch_size,
            sampler=train_order(self.config, train_set, shuffle),
            collate_fn=MixedBatches(mixtures) if mixtures else None,
            drop_last=section.drop_last,
            generator=shuffle,
            num_workers=section.workers,
            persistent_workers=section.workers > 0,
            seed_batches=True,
        )

    def trackers(self) -> dict[str, Any]:
        """Return the trackers by their places and types."""
        return {
            f"{component.path} ({component.type.rpartition(':')[2]})": self.make(
                "tracker", component
            )
            for component in self.config.run.trackers
        }

    def metrics(self, listed: Sequence[str | Component] | None) -> list[str | Own] | None:
        """Return the metrics: names as they are, the others built."""
        if listed is None:
            return None
        return [one if isinstance(one, str) else self.make("metric", one) for one in listed]

    def use_units(self, train_set: Any, loss: Any, method: Method) -> None:
        """Let the method undo the standardization of targets, which some losses do not allow."""
        learned = dataset_attribute(train_set, "preprocessing")
        if not isinstance(learned, TableEncoder) or self.config.data.targets == "inputs":
            return
        if learned.scales_target and isinstance(loss, UNSCALED):
            text = f"{type(loss).__name__} needs targets as they are: use"
            self.problem_at("data.standardize", f'{text} standardize = "inputs"')
        method.original = learned.original

    def updaters(self, model: nn.Module, method: Method, length: Length) -> dict[str, Updater]:
        """Return the optimizers with their schedules, for a run of a length."""
        sections = self.config.optimizer.each()
        for text in distribution(model, method, sections):
            self.problem_at("optimizer", text)
        if self.problems:
            return {}
        updaters = {}
        for name, section in sections.items():
            try:
                given = given_to(section, model, name)
            except UsageError as error:
                self.problem_at(f"optimizer.{name}.layer_lr".replace("..", "."), str(error))
                continue
            optimizer = self.make("optimizer", component_of(section), given)
            if optimizer is not None:
                updater = Updater(optimizer, section.clip_norm, section.clip_value)
                updaters[name] = self.scheduled(name, updater, length)
        for name in (self.config.schedule.named if self.config.schedule else {}).keys() - sections:
            listed = one_of(sections) if self.config.optimizer.named else "only one"
            self.problem_at(f"schedule.{name}", f"there is no such optimizer; there is: {listed}")
        return updaters

    def scheduled(self, name: str, updater: Updater, length: Length) -> Updater:
        """Return an updater with its schedule, if the config has one."""
        section = self.config.schedule and self.config.schedule.of(name)
        if section:
            try:
                component = schedule_of(section, length.of(section))
            except UnknownLengthError as error:
                self.problem(component_of(section), str(error))
                return updater
            schedule = self.make("schedule", component, updater.optimizer)
            waits = schedule is not None and needs_metric(schedule)
            updater.schedule = PlateauSchedule(schedule, section.monitor) if waits else schedule
            updater.per = section.per
        return updater

    def model(self) -> Any:
        """Return the model, with its frozen parameters; None after a problem."""
        section = self.config.model
        model = self.make("model", section.component)
        if model is not None:
            try:
                freeze(model, section.frozen)
            except UsageError as error:
                self.problem_at("model.frozen", str(error))
        return model

    def loss(self, train_set: Any) -> Any:
        """Return the loss, with the weights of the classes if the config asks for them."""
        section = self.config.loss
        if section.class_weights == "none" or train_set is None:
            return self.make("loss", section.component)
        try:
            weights = balanced(section.component, train_set)
        except ValueError as error:
            return self.problem_at("loss.class_weights", str(error))
        return self.make("loss", section.component, **weights)


def preprocessing_of(parts: Parts) -> dict[str, Any] | None:
    """Return what the data set learned from its training part, as plain data; None if nothing."""
    return state_learned(parts.train_set)


def first_batch(parts: Parts, examples: Any, count: int) -> Sequence[Any]:
    """Return the first examples of a data set as a batch.

    Raises:
        UsageError: if there are none, or the batch is not a pair.
    """
    place = parts.config.origin("data.type")
    if not len(parts.train_batches):
        raise UsageError(
            f"{place}: the training set has {quantity(len(parts.train_set), 'example')}, fewer "
            f"than data.batch_size = {parts.config.data.batch_size}, and data.drop_last leaves none"
        )
    plain = data.DataLoader(examples, batch_size=count, seed_batches=True)
    try:
        batch = next(iter(plain))
    except Exception as error:
        text = f"{place}: no batch can be made of the data set\n{in_users_code(error)}"
        raise UsageError(text) from error
    if not isinstance(batch, Sequence) or len(batch) != 2:
        raise UsageError(f"{place}: a batch must be a pair (inputs, targets), is {shape_of(batch)}")
    return batch


@contextlib.contextmanager
def computing(run: RunSection) -> Iterator[None]:
    """Use the kernels and the number of threads of a config inside a ``with`` block."""
    count = None if run.threads == "auto" else run.threads
    with native_kernels.used(run.llvm), threads.used(count):
        yield


def threads_left_to_others() -> str:
    """Return a line about the threads if other programs use some of the processors; or nothing."""
    count, usable = threads.get_count(), threads.processors.usable()
    if threads.chosen() is not None or count == usable:
        return ""
    are = f"{count} thread{'s' * (count > 1)}"
    return f"other programs are using processors: {are} of {usable} (run.threads sets the number)"


def shown(component: Component, exhibit: Any) -> Entry:
    """Return the entry of an exhibit, of which a failure only warns.

    Args:
        component: the exhibit in the config.
        exhibit: the object.
    """

    def warn(error: Exception) -> None:
        text = f"{component.path}: {refusal_to_show(component, error)}"
        warnings.warn(text, RuntimeWarning, stacklevel=3)

    return Entry({"on_evaluation_end": exhibit.show}, component.path, warn)


def refusal_to_show(component: Component, error: Exception) -> str:
    """Return the error message of an exhibit, with the user's lines in its traceback."""
    if has_users_frames(error):
        return f"{component.type} failed\n{in_users_code(error)}"
    return f"{component.type} cannot be shown. {type(error).__name__}: {error}"


def _point_to(config: Config, loss: Any) -> None:
    """Make operations without a line of the user's program name a line of the config.

    Args:
        config: the config.
        loss: the object of ``[loss]``; all other modules are parts of ``[model]``.
    """
    of_model, of_loss = _site(config, "model"), _site(config, "loss")

    def site() -> Site | None:
        scope = mode.scope
        if scope is None:  # an optimizer
            return None
        while scope[0] is not None:
            scope = scope[0]
        return of_loss if type(scope[1]()) is type(loss) else of_model

    seams.fallback[:] = [site]
    for file in Path(models.__file__).parent.glob("*.py"):
        callsite.OUTSIDE[str(file)] = True


def _site(config: Config, section: str) -> Site | None:
    """Return a site that decodes to the line of a section's type; None if it is in no file."""
    origin = config.origin(f"{section}.type")
    if origin.kind != "file" or not origin.line:
        return None
    text = linecache.getline(origin.file, origin.line).rstrip() or "_"
    # A name as long as the line, at its place.
    code = compile("\n" * (origin.line - 1) + "_" * len(text), origin.file, "exec")
    lines = [position[0] for position in code.co_positions()]
    return code, 2 * lines.index(origin.line)
