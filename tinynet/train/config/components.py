"""The types that each section of a config accepts."""

from __future__ import annotations

import functools
import inspect
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import isclass
from types import ModuleType
from typing import Any, cast

from tinynet import data, nn, optim
from tinynet.base.invocation import command
from tinynet.base.lazy import find, members
from tinynet.data.transforms.mixtures import Mixture
from tinynet.optim import lr_scheduler
from tinynet.optim.lr_scheduler import ReduceLROnPlateau
from tinynet.train import exhibits, models, trackers
from tinynet.train.base.problems import few_of, one_of
from tinynet.train.config.coercion import accepts_functions, takes_one_function
from tinynet.train.config.document import KeyPath, dotted
from tinynet.train.config.rules import METRIC_LIST, refusal_of
from tinynet.train.config.sections import EvaluationSection, ScheduleSection
from tinynet.train.config.signatures import Component, signature_of
from tinynet.train.loop.callback import EVENTS, is_callback
from tinynet.train.metrics.registry import find_metric, is_higher_better, is_metric, name_of
from tinynet.train.step.method import Adversarial, Method, Supervised
from tinynet.train.trackers.tracking import is_tracker

# ---- metric list --------------------------------------------------------------------------------
# Lists of types; ``evaluation.metrics`` has names of metrics, too.


def as_table(item: Any) -> Any:
    """Return the table that a reference stands for; any other item unchanged.

    Example:
        >>> as_table("./metrics.py:brier"), as_table("f1")
        ({'type': './metrics.py:brier'}, 'f1')
    """
    is_reference = isinstance(item, str) and (":" in item or item.endswith(".py"))
    return {"type": item} if is_reference else item


def as_tables(given: Any) -> list[dict[str, Any]] | None:
    """Return the tables of a list of types and tables; None if it is something else.

    Example:
        >>> as_tables(["MLflow", {"type": "Wandb"}]), as_tables("MLflow"), as_tables([1])
        ([{'type': 'MLflow'}, {'type': 'Wandb'}], None, None)
    """
    if not isinstance(given, list) or not all(isinstance(item, str | dict) for item in given):
        return None
    return [{"type": item} if isinstance(item, str) else item for item in given]


def figure_of(item: Any) -> str:
    """Return the name of the figure of a listed metric.

    Example:
        >>> figure_of("./metrics.py:brier"), figure_of("f1")
        ('brier', 'f1')
    """
    table = as_table(item)
    reference = str(table.get("type") if isinstance(table, dict) else table)
    return reference.rpartition(":")[2].rpartition(".")[2]


def problem_with(given: Sequence[Any]) -> str:
    """Return the problem with a list of metrics; "" if there is none."""
    tables = [as_table(item) for item in given]
    names = [item for item in tables if not isinstance(item, dict)]
    wrong = [n for n in names if not isinstance(n, str) or find_metric(n) is None]
    if wrong:
        return refusal_of(METRIC_LIST, given, str(wrong[0]))
    figures = [figure_of(item) for item in given]
    twice = [name for name in dict.fromkeys(figures) if figures.count(name) > 1]
    return f"has more than one metric {one_of(twice)}." if twice else ""


def is_own_figure(name: Any, tree: Mapping[str, Any]) -> bool:
    """Return whether a figure belongs to a user's metric in a config.

    Example:
        >>> is_own_figure("brier", {"evaluation": {"metrics": ["./metrics.py:brier"]}})
        True
    """
    table = tree.get("evaluation")
    listed = table.get("metrics") if isinstance(table, dict) else None
    items = listed if isinstance(listed, list | tuple) else ()
    own = [figure_of(item) for item in items if isinstance(as_table(item), dict)]
    return any(name == figure or str(name).startswith(f"{figure}_") for figure in own)


def undirected(section: EvaluationSection | None) -> Iterator[tuple[str, str]]:
    """Yield the key and the problem if the monitored metric does not say which way is better."""
    if section is None:  # it has other mistakes
        return
    listed = [metric for metric in section.metrics or () if metric is not None]
    name = section.monitor or (name_of(listed[0]) if listed else "loss")
    if is_higher_better(name, listed) is None:
        text = (
            f"{name} decides which weights are best, so it must have an attribute "
            "higher_is_better = True or False (or name another metric in evaluation.monitor)"
        )
        yield "monitor" if section.monitor else "metrics", text


def directed(
    schedule: ScheduleSection | None, evaluation: EvaluationSection
) -> ScheduleSection | None:
    """Return a section whose ReduceLROnPlateau has the mode of its figure, unless one is given."""
    if schedule is None:
        return None
    named = {name: _directed(one, evaluation) for name, one in schedule.named.items()}
    return replace(_directed(schedule, evaluation), named=named)


def _directed(schedule: ScheduleSection, evaluation: EvaluationSection) -> ScheduleSection:
    component = schedule.component
    target = component and component.target
    if component is None or not (isclass(target) and issubclass(target, ReduceLROnPlateau)):
        return schedule
    higher = is_higher_better(schedule.monitor, evaluation.metrics)
    if "mode" in component.arguments or not higher:
        return schedule
    given, written = ({**own, "mode": "max"} for own in (component.arguments, component.written))
    return replace(schedule, component=replace(component, arguments=given, written=written))


# ---- components ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Family:
    """The types that a section accepts."""

    section: str
    """The section: ``"optimizer"``."""

    what: str
    """A description for messages: ``"an optimizer"``."""

    fits: Callable[[Any], bool]
    """Whether an object belongs to the family."""

    names: Callable[[], Mapping[str, Callable[..., Any]]]
    """The built-in types by name."""

    given: str | None = None
    """The parameter that the trainer passes; the first one if there is none of this name."""

    hidden: frozenset[str] = frozenset()
    """Keywords that the trainer passes."""

    rates: bool = False
    """Whether its numeric arguments are rates, factors and counts: finite, rarely negative."""

    nests: bool = False
    """Whether its types can contain each other, and get the same argument from the trainer."""

    lasts: bool = False
    """Whether its types last for a number of steps or epochs, which can be a share of the run."""

    calls: Callable[[Any], bool] = lambda target: True
    """Whether building calls a target; otherwise it is used as it is, and takes no arguments."""

    def some_names(self) -> str:
        """Return the names for a message; of many, only a few."""
        words = filter(None, ["list", self.section])
        return few_of([*self.names()], command(*words))

    def given_to(self, target: Callable[..., Any]) -> str | None:
        """Return `Component.given` for a target."""
        if self.given is None:
            return None
        return self.given if self.given in inspect.signature(target).parameters else ""


class _Types(Mapping[str, Callable[..., Any]]):
    """The types in a module by their public names; a look-up loads no other type.

    Args:
        module: the module.
        keep: whether an object is one of the types.
    """

    def __init__(self, module: ModuleType, keep: Callable[[Any], bool]) -> None:
        self._module, self._keep = module, keep

    def __getitem__(self, name: str) -> Callable[..., Any]:
        found = find(self._module, name)
        if name.startswith("_") or not self._keep(found):
            raise KeyError(name)
        return cast(Callable[..., Any], found)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    @functools.cached_property
    def _all(self) -> list[str]:
        named = members(self._module).items()
        return [name for name, value in named if name[0] != "_" and self._keep(value)]


def _classes(
    module: ModuleType, base: type, keep: Callable[[type], bool] = lambda cls: True
) -> Mapping[str, Callable[..., Any]]:
    """Return the public subclasses of `base` in a module that accept keyword arguments."""

    def fits(cls: Any) -> bool:
        return (
            inspect.isclass(cls)
            and issubclass(cls, base)
            and cls is not base
            and keep(cls)
            and not _takes_objects_only(cls)
        )

    return _Types(module, fits)


def _takes_objects_only(cls: type) -> bool:
    """Return whether a class takes only ``*args``, as Sequential, which TOML cannot express."""
    kinds = [p.kind for p in inspect.signature(cls).parameters.values()]
    return inspect.Parameter.VAR_POSITIONAL in kinds and len(kinds) == 1


def _is_loss(cls: type) -> bool:
    return cls.__name__.endswith("Loss")


def _is_source(cls: type) -> bool:
    """Return whether a data set needs no tensors or other data sets as arguments."""
    signature = signature_of(cls)
    parameters = signature.parameters.values()
    if signature.open or not hasattr(cls, "__len__"):  # StackDataset; streams have no length
        return False
    return not any(p.required and not _plain(p.declared) for p in parameters)


def _plain(declared: Any) -> bool:
    return "Dataset" not in str(declared) and "Tensor" not in str(declared)


def _steps_alone(cls: type[optim.Optimizer]) -> bool:
    """Return whether an optimizer steps without a closure."""
    parameters = [*inspect.signature(cls.step).parameters.values()][1:]
    return all(p.default is not p.empty for p in parameters)


def _merged(*maps: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return mappings as one: the first has priority, and the last one's types come first."""
    return ChainMap(*maps)  # type: ignore[arg-type]  # they are only read


def _models() -> Mapping[str, Callable[..., Any]]:
    own, layers = (_classes(m, nn.Module, lambda cls: not _is_loss(cls)) for m in (models, nn))
    return _merged(layers, own, _Types(models, _is_model_function))


def _is_model_function(value: Any) -> bool:
    return inspect.isfunction(value) and value.__module__.startswith(models.__name__)


def _losses() -> Mapping[str, Callable[..., Any]]:
    return _merged(*(_classes(m, nn.Module, _is_loss) for m in (models, nn)))


def _schedules() -> Mapping[str, Callable[..., Any]]:
    averaging = _classes(optim.swa_utils, lr_scheduler.LRScheduler)
    return _merged(averaging, _classes(lr_scheduler, lr_scheduler.LRScheduler))


def _is_data(built: Any) -> bool:
    return hasattr(built, "__getitem__") and hasattr(built, "__len__")


def _is_a(base: type) -> Callable[[Any], bool]:
    return lambda built: isinstance(built, base)


def _anything() -> Mapping[str, Callable[..., Any]]:
    families = [*FAMILIES.values(), *INSIDE.values()]
    return _merged(*(family.names() for family in reversed(families)))


FAMILIES = {
    family.section: family
    for family in (
        Family(
            "data",
            "a data set (with __getitem__ and __len__)",
            _is_data,
            lambda: _classes(data, data.Dataset, _is_source),
            hidden=frozenset({"train"}),
        ),
        Family("model", "an nn.Module", _is_a(nn.Module), _models),
        Family(
            "loss",
            "a function of outputs and targets",
            callable,
            _losses,
        ),
        Family(
            "method",
            "a method of training (a subclass of tinynet.train.Method)",
            _is_a(Method),
            lambda: {"supervised": Supervised, "adversarial": Adversarial},
        ),
        Family(
            "optimizer",
            "an optimizer",
            _is_a(optim.Optimizer),
            lambda: _classes(optim, optim.Optimizer, _steps_alone),
            given="params",
            rates=True,
        ),
        Family(
            "schedule",
            "a schedule",
            _is_a(lr_scheduler.LRScheduler),
            _schedules,
            given="optimizer",
            rates=True,
            nests=True,
            lasts=True,
        ),
    )
}

INSIDE = {
    family.section: family
    for family in (
        Family(
            "transform",
            "a transform of samples",
            callable,
            lambda: _classes(
                data.transforms,
                data.transforms.Transform,
                lambda cls: not issubclass(cls, Mixture),
            ),
        ),
        Family(
            "mixture",
            "a mixture of the samples of a batch (a function of inputs and targets)",
            callable,
            lambda: _classes(data.transforms, Mixture),
            hidden=frozenset({"generator"}),
            calls=inspect.isclass,
        ),
        Family(
            "exhibit",
            "an exhibit (with a method show)",
            lambda built: callable(getattr(built, "show", None)),
            lambda: _classes(exhibits, exhibits.Exhibit),
        ),
        Family(
            "tracker",
            "a tracker (with a method log)",
            is_tracker,
            lambda: _classes(trackers, trackers.Tracker),
        ),
    )
}
"""The families inside sections: ``evaluation.show``, ``run.trackers``, transforms in data sets."""

CALLBACK = Family(
    "callback",
    f"a callback (with one of the methods {', '.join(EVENTS)})",
    is_callback,
    lambda: {},
)
"""The family of callbacks, all of which are the user's."""

OWN_METRIC = Family(
    "metric",
    "a metric (a function of outputs and targets, or an object with update and compute)",
    is_metric,
    lambda: {},
    calls=inspect.isclass,
)
"""The family of users' metrics; those that ship with tinynet are not built (`METRICS`)."""

EVERY = {**FAMILIES, **INSIDE, CALLBACK.section: CALLBACK, OWN_METRIC.section: OWN_METRIC}

PART = Family("", "a part", lambda built: True, _anything)
"""The family of any other table with a ``type`` among arguments."""


def inside(family: Family, declared: Any) -> Family:
    """Return the family of a table with a ``type`` among the arguments of a family's type."""
    if family.nests:
        return family
    takes_transforms = family.section in ("data", "transform") and accepts_functions(declared)
    return INSIDE["transform"] if takes_transforms else PART


def composed(path: KeyPath, declared: Any, values: Any) -> Any:
    """Return a list of transforms for a data set that takes one as their `Compose`.

    Args:
        path: the path of the argument.
        declared: its declared type; unless that is a function, the values stay as they are.
        values: functions and components.
    """
    if path[0] != "data" or not isinstance(values, list) or not takes_one_function(declared):
        return values
    return Component(dotted(path), "Compose", data.transforms.Compose, {"transforms": values})
