"""The parameters of each optimizer, and the schedules of their learning rates."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tinynet import nn
from tinynet.core.tensors.tensor import Tensor
from tinynet.train.assemble.fine_tuning import groups_of
from tinynet.train.assemble.lengths import component_of, schedule_of, stand_in
from tinynet.train.base.problems import one_of
from tinynet.train.config.sections import Config, OptimizerSection
from tinynet.train.config.signatures import construct
from tinynet.train.step.method import Method
from tinynet.train.step.task import Updater


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


_MOST_REHEARSED = 100_000


def rehearse(config: Config, name: str, length: int | None) -> str:
    """Advance a schedule as often as a run will, with an optimizer of one number.

    Args:
        config: the config of the run.
        name: the name of an optimizer with a schedule.
        length: the length of the run in the unit of the schedule, or None; only the first 100,000
            advances are tried.

    Returns:
        A description of the failure; "" if there is none.
    """
    section = config.schedule and config.schedule.of(name)
    assert section is not None
    updater = Updater(construct(component_of(config.optimizer.each()[name]), stand_in()))
    updater.optimizer.stepped = True  # for schedules, which warn if they come first
    schedule = construct(schedule_of(section, length), updater.optimizer)
    for done in range(min(length or _MOST_REHEARSED, _MOST_REHEARSED + 1) - 1):
        try:
            schedule.step()
        except Exception as error:
            of = f"of the run's {length} {section.per}s" if length else f"{section.per}s"
            return f"fails after {done + 1} {of}. {type(error).__name__}: {error}"
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
