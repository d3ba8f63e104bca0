"""Which optimizer has which parameters, and the schedules that change their learning rates."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from tinynet import nn
from tinynet.core.tensor import Tensor, wrap
from tinynet.train.bind import Component, construct
from tinynet.train.config import Config, OptimizerSection, ScheduleSection
from tinynet.train.method import Method, Updater
from tinynet.train.problems import one_of


class Waiting:
    """A schedule whose ``step`` takes a figure, as one whose ``step`` takes nothing.

    It stands still until there is a figure, and sees each figure once.
    """

    def __init__(self, schedule: Any, monitor: str) -> None:
        self.schedule = schedule
        self.monitor = monitor
        """The name of the figure."""

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


def wants_figure(schedule: Any) -> bool:
    """Whether ``step`` must be given something, as that of ReduceLROnPlateau."""
    parameters = inspect.signature(schedule.step).parameters.values()
    return any(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)


_REHEARSED = 100_000


def rehearse(config: Config, name: str, advances: int) -> str:
    """Let a schedule advance as often as a run will, for an optimizer of one number.

    Args:
        config: of the run.
        name: of the optimizer that the schedule is for; it must have one.
        advances: how often it advances; only the first 100,000 times are tried.

    Returns:
        What goes wrong; "" if nothing does.
    """
    section = config.schedule and config.schedule.of(name)
    assert section is not None
    optimizer = component_of(config.optimizer.each()[name])
    updater = Updater(construct(optimizer, [nn.Parameter(wrap(np.zeros(1)))]))
    updater.optimizer.stepped = True  # for schedules, which warn if they come first
    schedule = construct(component_of(section), updater.optimizer)
    for done in range(min(advances, _REHEARSED)):
        try:
            schedule.step()
        except Exception as error:
            text = f"fails after {done + 1} of the run's {advances + 1} {section.per}s"
            return f"{text}. {type(error).__name__}: {error}"
        if updater.wrong_rate is not None:
            return f"gives a learning rate of {updater.wrong_rate} after {done + 1} {section.per}s"
    return ""


def updaters_for(config: Config, model: nn.Module) -> dict[str, Updater]:
    """The optimizers of a config for a copy of its model, without schedules."""
    return {
        name: Updater(
            construct(component_of(section), parameters_of(model, name)),
            section.clip_norm,
            section.clip_value,
        )
        for name, section in config.optimizer.each().items()
    }


def parameters_of(model: nn.Module, name: str) -> Iterator[Tensor]:
    """Those of the module of a name; of the whole model if it has none."""
    return (model.get_submodule(name) if name else model).parameters()


def component_of(section: OptimizerSection | ScheduleSection) -> Component:
    """What a section of one optimizer or schedule names."""
    assert section.component is not None  # of one in `each` or `of`
    return section.component


def distribution(model: nn.Module, method: Method, names: Iterable[str]) -> Iterator[str]:
    """What is wrong with how the parameters of a model are shared out among optimizers."""
    names = [*names]
    if method.optimizers and method.optimizers != {*names}:
        wanted = " and ".join(f"[optimizer.{name}]" for name in sorted(method.optimizers))
        yield f"the method {type(method).__name__.lower()} needs the tables {wanted}"
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
    left = [n for n, p in model.named_parameters() if p.requires_grad and id(p) not in owners]
    if left:
        listed = one_of(left)
        yield f"no optimizer has the parameters {listed} (requires_grad = False keeps them fixed)"
