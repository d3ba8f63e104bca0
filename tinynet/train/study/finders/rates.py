"""The learning rates that a range test varies, and the settings that train with a rate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tinynet.train.assemble.optimizers import component_of
from tinynet.train.base.problems import UsageError, did_you_mean, one_of
from tinynet.train.base.toml_text import dotted, toml_value
from tinynet.train.config.sections import Config
from tinynet.train.step.task import Updater


@dataclass(frozen=True)
class _Varied:
    """A parameter group, and its rate as a multiple of the first one's."""

    group: dict[str, Any]
    ratio: float


class Rates:
    """The rates of the optimizers of a config. They vary together, with their ratios unchanged.

    Args:
        config: the config.
        updaters: its optimizers, without schedules.
        name: the optimizer to vary; None for all of them.

    Attributes:
        key: the key of the config that has the first rate.
        configured: its value there.

    Raises:
        UsageError: if there is no such optimizer, or a rate cannot be varied.
    """

    def __init__(
        self, config: Config, updaters: Mapping[str, Updater], name: str | None = None
    ) -> None:
        self.names = _chosen(config, name)
        self._config = config
        given = {one: _given(config, updaters, one) for one in self.names}
        self.key, self.configured = given[self.names[0]]
        if not self.configured > 0:
            text = f"{self.key} is {self.configured:g}; the range test needs a rate above 0"
            raise UsageError(f"{config.origin(self.key)}: {text}")
        self._keys = {key: rate / self.configured for key, rate in given.values()}
        self._varied = [
            _Varied(group, _rate(given[one], group) / self.configured)
            for one in self.names
            for group in updaters[one].optimizer.param_groups
        ]

    def set(self, rate: float) -> None:
        """Set the rates: the first one to this rate, the others in proportion."""
        for varied in self._varied:
            varied.group["lr"] = rate * varied.ratio

    def settings(self, rate: float) -> list[str]:
        """Return the settings of a config that trains with a rate: ``["optimizer.lr=0.01"]``."""
        found = [f"{key}={_short(rate * ratio)}" for key, ratio in self._keys.items()]
        for name in self.names:
            section = self._config.optimizer.each()[name]
            path = component_of(section).path
            if section.layer_lr:
                scaled = {
                    pattern: _short(rate * own / self.configured)
                    for pattern, own in section.layer_lr.items()
                }
                found.append(f"{path}.layer_lr={toml_value(scaled)}")
        return found


def _chosen(config: Config, name: str | None) -> list[str]:
    """Return the names of the optimizers to vary."""
    known = [*config.optimizer.each()]
    if name is None:
        return known
    if not config.optimizer.named:
        raise UsageError(f"the config has one optimizer, without a name: there is no {name!r}")
    if name not in known:
        hint = did_you_mean(name, known) or "."
        raise UsageError(f"there is no optimizer {name!r}{hint} There are: {one_of(known)}")
    return [name]


def _given(config: Config, updaters: Mapping[str, Updater], name: str) -> tuple[str, float]:
    """Return the key of the config that decides on the rate of an optimizer, and its value.

    A schedule with a ``max_lr`` ignores the rates of the optimizer.
    """
    section = config.optimizer.each()[name]
    schedule = config.schedule and config.schedule.of(name)
    if schedule and "max_lr" in component_of(schedule).takes:
        component = component_of(schedule)
        key, rate = f"{component.path}.max_lr", component.arguments.get("max_lr")
        what = f"{component.type} sets the learning rates"
        if not isinstance(rate, int | float):
            problem = f"{what} of the parameter groups, each to another one"
        elif section.layer_lr:
            problem = f"{what} of all layers, so layer_lr has no effect"
        else:
            return key, float(rate)
        raise UsageError(f"{config.origin(key)}: {key}: {problem}; the range test varies one rate")
    optimizer = updaters[name].optimizer
    key = dotted([*filter(None, ("optimizer", name)), "lr"])
    if not isinstance(optimizer.defaults.get("lr"), int | float):
        kind = type(optimizer).__name__
        raise UsageError(f"{config.origin(key)}: {kind} has no learning rate to vary")
    return key, float(optimizer.defaults["lr"])


def _rate(given: tuple[str, float], group: Mapping[str, Any]) -> float:
    """Return the rate of a parameter group in a run."""
    key, rate = given
    return rate if key.endswith(".max_lr") else float(group["lr"])


def _short(rate: float) -> float:
    """Return a rate with two digits, as people write them."""
    return float(f"{rate:.2g}")
