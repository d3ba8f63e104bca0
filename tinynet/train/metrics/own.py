"""Metrics of users: functions, and classes with ``update`` and ``compute``."""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.train.metrics.metric import Collected, Figure, Metric, UnsuitableError
from tinynet.train.metrics.registry import higher_is_better

Own = Callable[[Any, Any], Any] | Any
"""A function of outputs and targets, or an object with ``update`` and ``compute``."""


def is_metric(built: Any) -> bool:
    """Return whether an object can be a metric.

    Example:
        >>> is_metric(len), is_metric("accuracy")
        (True, False)
    """
    return _collects(built) or callable(built)


def _collects(built: Any) -> bool:
    return all(callable(getattr(built, name, None)) for name in ("update", "compute"))


def name_of(metric: Any) -> str:
    """Return the name of a metric's figure: that of the function or class.

    Args:
        metric: a name, a function, a class, an object of one, or a component of a config.

    Example:
        >>> name_of("top5"), name_of(len)
        ('top5', 'len')
    """
    if isinstance(metric, str):
        return metric
    metric = getattr(metric, "target", metric)
    return str(getattr(metric, "__name__", type(metric).__name__))


def is_higher_better(name: str, metrics: Iterable[Any] | None) -> bool | None:
    """Return whether a larger figure is better.

    Args:
        name: the name of a figure; one with the name of a metric and ``_`` belongs to the metric.
        metrics: the metrics that are measured.

    Returns:
        None if it is the figure of a user's metric without an attribute ``higher_is_better``.
    """
    for metric in metrics or ():
        own = name_of(metric)
        if not isinstance(metric, str) and (name == own or name.startswith(f"{own}_")):
            better = getattr(getattr(metric, "target", metric), "higher_is_better", None)
            return None if better is None else bool(better)
    return higher_is_better(name)


def of_user(own: Own) -> Metric:
    """Return a user's metric as a `Metric`.

    Example:
        >>> def worst(outputs, targets):
        ...     return (outputs - targets).abs().max()
        >>> metric = of_user(worst)
        >>> sums = [metric.of_batch(tn.zeros(2), tn.tensor(x)) for x in ([1.0, 2.0], [0.0, -3.0])]
        >>> metric.finish(sum(sums))
        3.0
    """
    better = bool(getattr(own, "higher_is_better", False))
    meaning = (inspect.getdoc(own) or "").partition("\n")[0]
    if not _collects(own):
        return Metric(
            _tensors,
            better,
            meaning,
            lambda sums: _figure(own(*map(wrap, sums.joined()))),
            takes_arrays=False,
        )
    started = _started(own)

    def update(sums: Any, batch: tuple[Any, Any]) -> int:
        started.update(*batch)
        return 0

    def compute(sums: Any) -> Figure:
        return _figure(started.compute())

    return Metric(lambda *batch: batch, better, meaning, compute, update, takes_arrays=False)


def _tensors(outputs: Any, targets: Any) -> Collected:
    if not (isinstance(outputs, Tensor) and isinstance(targets, Tensor)):
        raise UnsuitableError(
            "needs outputs and targets that are tensors (a class with update and compute takes any)"
        )
    return Collected(outputs.detach().numpy(), targets.detach().numpy())


def _started(own: Any) -> Any:
    """Return a metric without batches: reset, or a copy of one that has no ``reset``."""
    if not callable(getattr(own, "reset", None)):
        return copy.deepcopy(own)
    own.reset()
    return own


def _figure(value: Any) -> Figure:
    """Return the result of a user's metric as numbers."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        return {str(name): _number(inside) for name, inside in value.items()}
    return _number(value)


def _number(value: Any) -> float:
    if isinstance(value, Tensor | np.ndarray | np.generic):
        value = value.item() if math.prod(value.shape) == 1 else value
    if isinstance(value, bool | int | float):
        return float(value)
    raise UnsuitableError(f"must return a number, or numbers by name, returned {value!r:.100}")
