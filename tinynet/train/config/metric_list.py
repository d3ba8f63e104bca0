"""Lists of types; ``evaluation.metrics`` has names of metrics, too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from inspect import isclass
from typing import Any

from tinynet.optim.lr_scheduler import ReduceLROnPlateau
from tinynet.train.base.problems import one_of
from tinynet.train.config.constraints import METRIC_LIST, refusal_of
from tinynet.train.config.sections import EvaluationSection, ScheduleSection
from tinynet.train.metrics.own import is_higher_better, name_of
from tinynet.train.metrics.registry import find_metric


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
    """Return whether a figure is that of a user's metric in a config, or one of its figures.

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
