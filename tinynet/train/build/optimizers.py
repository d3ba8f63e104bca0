"""The parameters of each optimizer, and the schedules of their learning rates."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tinynet import nn
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.train.build.fine_tuning import groups_of
from tinynet.train.build.method import Method
from tinynet.train.build.task import Updater
from tinynet.train.config.problems import one_of
from tinynet.train.config.sections import Config, OptimizerSection, ScheduleSection
from tinynet.train.config.signatures import Component, construct


class PlateauSchedule:
    """A schedule whose ``step`` takes a metric, with a ``step`` that takes no argument.

    It passes each metric on once, and does nothing while there is no new one.
    """

    def __init__(self, schedule: Any, monitor: str) -> None:
        self.schedule = schedule
        self.monitor = monitor
        """The name of the metric."""

        self.figure: float | None = None

    def step(self) -> None:
        """Advance, if there is a new metric."""
        if self.figure is not None:
            self.schedule.step(self.figure)
            self.figure = None

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the schedule, and the metric that is still to be passed on."""
        return {"schedule": self.schedule.state_dict(), "figure": self.figure}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Load the state that `state_dict` returned."""
        self.schedule.load_state_dict(state["schedule"])
        self.figure = state["figure"]


def needs_metric(schedule: Any) -> bool:
    """Return whether ``step`` has a required argument, as that of ReduceLROnPlateau."""
    parameters = inspect.signature(schedule.step).parameters.values()
    return any(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)


LENGTHS = ("T_max", "total_steps", "max_epochs")
"""The arguments of schedules that default to the length of the run."""


def advances(config: Config, section: ScheduleSection, batches: int) -> int:
    """Return the length of the run in the unit of a schedule, epochs or steps.

    Args:
        config: the config of the run.
        section: the schedule.
        batches: the number of batches per epoch.
    """
    steps = -(-batches // config.optimizer.accumulate)
    return config.run.epochs * (steps if section.per == "step" else 1)


def follows_run(component: Component, name: str) -> bool:
    """Return whether an argument of a schedule defaults to the length of the run."""
    is_given = component.written.get(name) is not None or "epochs" in component.arguments
    return name in LENGTHS and name in component.takes and not is_given


def with_lengths(component: Component, length: int) -> Component:
    """Return a schedule with its `LENGTHS` filled in, and those of the schedules inside it."""
    arguments = dict(component.arguments)
    arguments |= {name: max(length, 1) for name in LENGTHS if follows_run(component, name)}
    for key, listed in arguments.items():
        if isinstance(listed, list) and any(isinstance(item, Component) for item in listed):
            lengths = _lengths_inside(component, len(listed), length)
            arguments[key] = [
                with_lengths(item, own) if isinstance(item, Component) else item
                for item, own in zip(listed, lengths, strict=True)
            ]
    return replace(component, arguments=arguments)


def other_lengths(component: Component, length: int) -> Iterator[tuple[str, int, int]]:
    """Yield the arguments that differ from the length of the run.

    Yields:
        The path of each, its value, and the number of steps or epochs of the run.
    """
    for name in LENGTHS:
        given = component.arguments.get(name)
        if isinstance(given, int) and given != length:
            yield f"{component.path}.{name}", given, length
    for listed in component.arguments.values():
        parts = listed if isinstance(listed, list) else []
        lengths = _lengths_inside(component, len(parts), length)
        for item, own in zip(parts, lengths, strict=True):
            if isinstance(item, Component):
                yield from other_lengths(item, own)


def _lengths_inside(component: Component, count: int, length: int) -> list[int]:
    """Return the length of each schedule inside another one."""
    milestones = component.arguments.get("milestones")
    if not isinstance(milestones, list) or len(milestones) != count - 1:
        return [length] * count
    return [end - begin for begin, end in itertools.pairwise([0, *milestones, length])]


_MOST_REHEARSED = 100_000


def rehearse(config: Config, name: str, advances: int) -> str:
    """Advance a schedule as often as a run will, with an optimizer of one number.

    Args:
        config: the config of the run.
        name: the name of an optimizer with a schedule.
        advances: the number of advances; only the first 100,000 are tried.

    Returns:
        A description of the failure; "" if there is none.
    """
    section = config.schedule and config.schedule.of(name)
    assert section is not None
    optimizer = component_of(config.optimizer.each()[name])
    updater = Updater(construct(optimizer, [nn.Parameter(wrap(np.zeros(1)))]))
    updater.optimizer.stepped = True  # for schedules, which warn if they come first
    component = with_lengths(component_of(section), advances + 1)
    schedule = construct(component, updater.optimizer)
    for done in range(min(advances, _MOST_REHEARSED)):
        try:
            schedule.step()
        except Exception as error:
            text = f"fails after {done + 1} of the run's {advances + 1} {section.per}s"
            return f"{text}. {type(error).__name__}: {error}"
        if updater.wrong_rate is not None:
            return f"gives a learning rate of {updater.wrong_rate} after {done + 1} {section.per}s"
    return ""


def updaters_for(config: Config, model: nn.Module) -> dict[str, Updater]:
    """Return the optimizers of a config for a copy of its model, without schedules."""
    return {
        name: Updater(
            construct(component_of(section), given_to(section, model, name)),
            section.clip_norm,
            section.clip_value,
        )
        for name, section in config.optimizer.each().items()
    }


def parameters_of(model: nn.Module, name: str) -> Iterator[Tensor]:
    """Return the parameters of the named module, or of the whole model for ``""``."""
    return (model.get_submodule(name) if name else model).parameters()


def given_to(section: OptimizerSection, model: nn.Module, name: str) -> Iterable[Any]:
    """Return the parameters of an optimizer, in groups if some have learning rates of their own.

    Raises:
        UsageError: a pattern of ``layer_lr`` fits no parameter.
    """
    if not section.layer_lr:
        return parameters_of(model, name)
    return groups_of(model.get_submodule(name) if name else model, section.layer_lr)


def component_of(section: OptimizerSection | ScheduleSection) -> Component:
    """Return the component of a section with a single optimizer or schedule."""
    assert section.component is not None  # as in the sections from `each` or `of`
    return section.component


def distribution(model: nn.Module, method: Method, names: Iterable[str]) -> Iterator[str]:
    """Yield the problem with the assignment of a model's parameters to optimizers, if any."""
    names = [*names]
    if method.optimizers and method.optimizers != {*names}:
        tables = " and ".join(f"[optimizer.{name}]" for name in sorted(method.optimizers))
        yield f"the method {type(method).__name__.lower()} needs the tables {tables}"
        return
    owners: dict[int, str] = {}
    for name in names:
        try:
            owned = [*parameters_of(model, name)]
        except AttributeError:
            modules = one_of([module for module, _ in model.named_modules() if module])
            yield f"the model has no module {name!r}; it has: {modules}"
            return
        for parameter in owned:
            other = owners.setdefault(id(parameter), name)
            if other != name:
                yield f"{other!r} and {name!r} have parameters in common"
                return
    unassigned = [n for n, p in model.named_parameters() if p.requires_grad and id(p) not in owners]
    if unassigned:
        listed = one_of(unassigned)
        yield f"no optimizer has the parameters {listed} (requires_grad = False keeps them fixed)"
