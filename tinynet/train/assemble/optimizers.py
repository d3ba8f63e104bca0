"""The optimizers of a config: initial weights, parameters and rates per layer, schedules.

Schedules follow the length of a run in steps and epochs.
"""

from __future__ import annotations

import inspect
import itertools
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from tinynet import exchange, nn
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.optim.lr_scheduler import LinearLR, SequentialLR
from tinynet.train.base.problems import UsageError, did_you_mean, few_of, one_of
from tinynet.train.config.rules import LENGTHS, Share, count_of, share_of
from tinynet.train.config.sections import Config, OptimizerSection, ScheduleSection
from tinynet.train.config.signatures import Component, construct
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
    """Return whether ``step`` has a required argument, as in ReduceLROnPlateau."""
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


WEIGHT_FILES = {
    ".safetensors": "load_file",
    ".pt": "load_pytorch",
    ".pth": "load_pytorch",
    ".npz": "load",
}
"""The function of `exchange` that reads weights, for each file extension."""

_INSIDE = ("state_dict", "model_state_dict", "model")
"""The names under which checkpoints have a state_dict."""


def read_weights(path: Path) -> dict[str, Tensor]:
    """Return the state_dict in a file.

    Raises:
        UsageError: the file cannot be read, or has no state_dict.
    """
    try:
        content = getattr(exchange, WEIGHT_FILES[path.suffix])(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
    except (exchange.ExchangeError, exchange.UnsafeError) as error:
        raise UsageError(str(error)) from None
    for name in _INSIDE:
        if isinstance(content, Mapping) and isinstance(content.get(name), Mapping):
            content = content[name]
    if not isinstance(content, Mapping) or not content or not _are_tensors(content.values()):
        raise UsageError(f"{path} has no state_dict: names with a tensor each")
    return dict(content)


def load_initial(model: nn.Module, weights: Mapping[str, Any], skip: Sequence[str]) -> None:
    """Load weights, except those that a pattern leaves out.

    Raises:
        RuntimeError: names or shapes differ; the model may have been changed.
        UsageError: a pattern fits no name of the model.
    """
    own = model.state_dict()
    left = {name for pattern in skip for name in _fitting(pattern, own)}
    kept = {name: value for name, value in weights.items() if not _fits_any(name, skip)}
    model.load_state_dict({**kept, **{name: own[name] for name in left}})


def freeze(model: nn.Module, patterns: Sequence[str]) -> None:
    """Clear ``requires_grad`` of the parameters that a pattern fits.

    Raises:
        UsageError: a pattern fits none, or no parameter is left to train.

    Example:
        >>> net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
        >>> freeze(net, ["0.*"])
        >>> [name for name, p in net.named_parameters() if p.requires_grad]
        ['1.weight', '1.bias']
    """
    parameters = dict(model.named_parameters())
    for pattern in patterns:
        for name in _fitting(pattern, parameters):
            parameters[name].requires_grad_(False)
    if patterns and not any(p.requires_grad for p in parameters.values()):
        raise UsageError("no parameter is left to train")


def groups_of(model: nn.Module, rates: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return the parameter groups of an optimizer: those without a rate of their own first.

    Raises:
        UsageError: a pattern fits no parameter.

    Example:
        >>> net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
        >>> groups = groups_of(net, {"0.*": 1e-4})
        >>> [(len(group["params"]), group.get("lr")) for group in groups]
        [(2, None), (2, 0.0001)]
    """
    left = dict(model.named_parameters())
    found = []
    for pattern, rate in rates.items():
        _fitting(pattern, dict(model.named_parameters()))
        names = [name for name in left if fnmatchcase(name, pattern)]
        if names:
            found.append({"params": [left.pop(name) for name in names], "lr": float(rate)})
    return [{"params": [*left.values()]}, *found] if left else found


def _fitting(pattern: str, names: Iterable[str]) -> list[str]:
    names = [*names]
    found = [name for name in names if fnmatchcase(name, pattern)]
    if not found:
        hint = did_you_mean(pattern, names) or "."
        raise UsageError(f"{pattern!r} fits no name{hint} There are: {few_of(names, 'the model')}")
    return found


def _fits_any(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _are_tensors(values: Iterable[Any]) -> bool:
    return all(isinstance(value, Tensor) for value in values)


class UnknownLengthError(ValueError):
    """A schedule follows the length of a run that only ``run.max_time`` ends."""


@dataclass(frozen=True)
class Length:
    """The length of a run.

    Example:
        >>> Length(per_epoch=5, steps=12).epochs
        3
    """

    per_epoch: int
    """The number of steps per epoch."""

    steps: int | None
    """The number of steps; None if only ``run.max_time`` ends the run."""

    @property
    def epochs(self) -> int | None:
        """The number of epochs, the last of which may be incomplete."""
        return None if self.steps is None else -(-self.steps // self.per_epoch)

    def epochs_from(self, first: int) -> Iterable[int]:
        """Return the numbers of the epochs from one on."""
        return itertools.count(first) if self.epochs is None else range(first, self.epochs)

    def of(self, section: ScheduleSection) -> int | None:
        """The length in the unit of a schedule."""
        return self.steps if section.per == "step" else self.epochs


def length_of(config: Config, batches: int) -> Length:
    """Return the length of a run with a number of batches per epoch."""
    per_epoch = max(-(-batches // config.optimizer.accumulate), 1)
    limits = [config.run.epochs * per_epoch, config.run.max_steps]
    return Length(per_epoch, min((limit for limit in limits if limit), default=None))


def component_of(section: OptimizerSection | ScheduleSection) -> Component:
    """Return the component of a section with a single optimizer or schedule."""
    assert section.component is not None  # as in the sections from `each` or `of`
    return section.component


def schedule_of(section: ScheduleSection, length: int | None) -> Component:
    """Return the schedule of a section for a run of a length, after its warm-up if there is one.

    Raises:
        UnknownLengthError: if it needs the length, which is None.
    """
    return with_lengths(with_warmup(section, length), length)


def with_warmup(section: ScheduleSection, length: int | None) -> Component:
    """Return the schedule of a section, after its warm-up if it has one, with shares."""
    component = component_of(section)
    if section.warmup is None:
        return component
    share = share_of(section.warmup)
    end = section.warmup if share is None else Share(f"{100 * share}%")
    count = _resolved("warmup", end, length)
    rise = Component(
        component.path,
        "LinearLR",
        LinearLR,
        {"start_factor": 1 / (count + 1)},
        takes=frozenset({"total_iters"}),
        given="optimizer",
    )
    arguments = {"schedulers": [rise, component], "milestones": [end]}
    return Component(component.path, "SequentialLR", SequentialLR, arguments, given="optimizer")


def _follows_run(component: Component, name: str) -> bool:
    """Return whether an argument of a schedule defaults to the length of the run."""
    is_given = component.written.get(name) is not None or "epochs" in component.arguments
    return name in LENGTHS and name in component.takes and not is_given


def _following(component: Component) -> dict[str, Any]:
    """Return the arguments that follow the length of the run: shares, or None if left out."""
    left_out = {name: None for name in LENGTHS if _follows_run(component, name)}
    given = {k: v for k, v in component.arguments.items() if _is_share(v)}
    return left_out | given


def _is_share(value: Any) -> bool:
    return isinstance(value, Share) or (isinstance(value, list) and any(map(_is_share, value)))


def _resolved(name: str, value: Any, length: int | None) -> Any:
    """Return an argument that follows the run as a number, or as a list of numbers."""
    if isinstance(value, list):
        return [_resolved(name, item, length) if _is_share(item) else item for item in value]
    if length is None and not isinstance(value, int):
        raise UnknownLengthError(
            f"{name} follows the length of the run, which run.max_time leaves open: "
            f"set run.epochs or run.max_steps, or {name} to a number"
        )
    return max(length or 0, 1) if value is None else count_of(value, length or 0)


def with_lengths(component: Component, length: int | None) -> Component:
    """Return a schedule with the arguments that follow the run as numbers, inside it, too."""
    follow = _following(component)
    resolved = {name: _resolved(name, value, length) for name, value in follow.items()}
    arguments = {**component.arguments, **resolved}
    for key, items, lengths in _contained(arguments, length):
        arguments[key] = [
            with_lengths(item, own) if isinstance(item, Component) else item
            for item, own in zip(items, lengths, strict=True)
        ]
    return replace(component, arguments=arguments)


def other_lengths(component: Component, length: int | None) -> Iterator[tuple[str, int, int]]:
    """Yield the arguments that differ from the length of the run.

    Yields:
        The path of each, its value, and the number of steps or epochs of the run.
    """
    if length is None:
        return
    for name in LENGTHS:
        given = component.arguments.get(name)
        is_shorter = name == "total_iters" and given is not None and given < length  # a warm-up
        if isinstance(given, int) and given != length and not is_shorter:
            yield f"{component.path}.{name}", given, length
    for _key, items, lengths in _contained(component.arguments, length):
        for item, own in zip(items, lengths, strict=True):
            if isinstance(item, Component):
                yield from other_lengths(item, own)


def _contained(
    arguments: Mapping[str, Any], length: int | None
) -> Iterator[tuple[str, list[Any], Sequence[int | None]]]:
    """Yield the lists of schedules among the arguments of one, with the length of each."""
    for key, items in [*arguments.items()]:
        if isinstance(items, list) and any(isinstance(item, Component) for item in items):
            yield key, items, _lengths_inside(arguments.get("milestones"), len(items), length)


def _lengths_inside(milestones: Any, count: int, length: int | None) -> Sequence[int | None]:
    """Return the length of each schedule inside another one."""
    if not isinstance(milestones, list) or len(milestones) != count - 1 or _is_share(milestones):
        return [length] * count
    spans = [end - begin for begin, end in itertools.pairwise([0, *milestones])]
    begin = milestones[-1] if milestones else 0
    return [*spans, None if length is None else length - begin]


# ---- a resumed run of another length ----

_KEPT_AS = {
    "total_steps": ("total_steps", "_schedule_phases"),
    "step_size_up": ("total_size", "step_ratio"),
    "step_size_down": ("total_size", "step_ratio"),
    "T_0": (),  # a cycle that has begun has its length
}
"""The attributes of schedules that keep an argument under another name."""


def stand_in() -> list[nn.Parameter]:
    """Return the parameters of an optimizer of one number, to try a schedule with."""
    return [nn.Parameter(wrap(np.zeros(1)))]


def lengthen(component: Component, schedule: Any, optimizer: Any, length: int | None) -> None:
    """Give a schedule whose state was loaded the length of the run as it is now.

    Milestones that have been reached stay.

    Args:
        component: the schedule in the config, with shares.
        schedule: the schedule.
        optimizer: another optimizer, to construct the schedule anew.
        length: the length of the run in its unit.
    """
    resolved, follows = with_lengths(component, length), _following(component)
    arguments = dict(resolved.arguments)
    inside = getattr(schedule, "_schedulers", None)
    if inside is None:
        new = construct(resolved, optimizer) if follows else schedule
        for name in follows:
            for key in _KEPT_AS.get(name, (name,)):
                if hasattr(schedule, key):
                    setattr(schedule, key, getattr(new, key))
        return
    if "milestones" in follows:
        old, now = schedule._milestones, schedule.last_epoch
        done = bisect_right(old, now)
        later = [max(milestone, now + 1) for milestone in arguments["milestones"][done:]]
        schedule._milestones = arguments["milestones"] = [*old[:done], *later]
    given = {**component.arguments, "milestones": arguments.get("milestones")}
    for _key, items, lengths in _contained(given, length):
        for item, one, own in zip(items, inside, lengths, strict=True):
            if isinstance(item, Component):
                lengthen(item, one, optimizer, own)
