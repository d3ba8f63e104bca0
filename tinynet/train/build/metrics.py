"""Metrics, which ``evaluation.metrics`` of a config names.

A **new metric** is a function of one batch and a row in `METRICS`. Its result is summed over the
batches, so that the batch size does not affect the figure.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.train.build.method import Batch

Sums = Array
"""A sum over the elements of a batch and their number; for the confusion matrix, counts."""


class UnsuitableError(Exception):
    """Outputs and targets do not suit a metric."""


@dataclass(frozen=True)
class Metric:
    """A figure computed from outputs and targets."""

    of_batch: Callable[[Array, Array], Sums]
    higher_is_better: bool
    meaning: str
    finish: Callable[[Sums], float | None] = lambda sums: _ratio(sums)
    """Return the figure of the sums, or None if there is none (a matrix)."""


def _ratio(sums: Sums) -> float:
    return float(sums[0] / sums[1]) if sums[1] else math.nan


# ---- of one batch ----


def classes_of(outputs: Array, targets: Array) -> Array:
    """Return the class with the largest output, or the first of equal ones.

    Args:
        outputs: (batch, classes, ...), floating.
        targets: (batch, ...), integers.

    Raises:
        UnsuitableError: if they have other shapes or dtypes.
    """
    _need_classes(outputs, targets)
    classes: Array = outputs.argmax(axis=1)
    return classes


def _need_classes(outputs: Array, targets: Array) -> None:
    if targets.dtype.kind not in "iu" or outputs.ndim != targets.ndim + 1:
        raise UnsuitableError(
            "needs outputs (batch, classes, ...) and targets (batch, ...) that are class indices"
        )


def _known_scores(outputs: Array) -> Array:
    """Return the mask of the examples without NaN scores; the others never count as right."""
    return np.asarray(~np.isnan(outputs).any(axis=1))


def _accuracy(outputs: Array, targets: Array) -> Sums:
    found = classes_of(outputs, targets)
    right = np.count_nonzero((found == targets) & _known_scores(outputs))
    return np.array([right, np.count_nonzero(targets >= 0)], float)  # losses ignore -100


def _top(outputs: Array, targets: Array, k: int) -> Sums:
    _need_classes(outputs, targets)
    target = np.expand_dims(targets.clip(0), 1)
    own = np.take_along_axis(outputs, target, axis=1)
    # The first of equal outputs counts as the largest, as in argmax.
    places = np.arange(outputs.shape[1]).reshape(1, -1, *[1] * (outputs.ndim - 2))
    above = ((outputs > own) | ((outputs == own) & (places < target))).sum(axis=1)
    right = np.count_nonzero((above < k) & (targets >= 0) & _known_scores(outputs))
    return np.array([right, np.count_nonzero(targets >= 0)], float)


def _binary_accuracy(outputs: Array, targets: Array) -> Sums:
    _need_same_shape(outputs, targets)
    right = ((outputs > 0) == (targets > 0.5)) & ~np.isnan(outputs)
    return np.array([np.count_nonzero(right), targets.size], float)


def _squares(outputs: Array, targets: Array) -> Sums:
    _need_same_shape(outputs, targets)
    return np.array([np.square(outputs - targets, dtype=float).sum(), targets.size])


def _distances(outputs: Array, targets: Array) -> Sums:
    _need_same_shape(outputs, targets)
    return np.array([np.abs(outputs - targets).sum(dtype=float), targets.size])


def _need_same_shape(outputs: Array, targets: Array) -> None:
    if outputs.shape != targets.shape:
        raise UnsuitableError("needs outputs and targets of the same shape")


def _nothing(outputs: Array, targets: Array) -> Sums:
    """Return zeros, for a metric that is a function of the loss (`_OF_LOSS`)."""
    return np.zeros(2)


def _confusion_counts(outputs: Array, targets: Array) -> Sums:
    count = outputs.shape[1] if outputs.ndim > 1 else 0
    found = classes_of(outputs, targets)
    valid = (targets >= 0) & (targets < count)  # others are ignored by losses too
    valid &= _known_scores(outputs)
    pairs = targets[valid].astype(np.int64) * count + found[valid]
    return np.bincount(pairs, minlength=count * count).reshape(count, count)


# ---- the list ----

METRICS = {
    "accuracy": Metric(
        _accuracy, True, "the share of examples whose largest output is that of the target class"
    ),
    "binary_accuracy": Metric(
        _binary_accuracy,
        True,
        "the share of outputs that are above 0 exactly where the target is 1",
    ),
    "bits": Metric(_nothing, False, "the loss in bits: per character, for a model of characters"),
    "confusion_matrix": Metric(
        _confusion_counts,
        True,
        "counts of each true class against each predicted class, as an image",
        finish=lambda sums: None,
    ),
    "mae": Metric(_distances, False, "the mean absolute error"),
    "mse": Metric(_squares, False, "the mean squared error"),
    "perplexity": Metric(_nothing, False, "exp(loss)"),
    "rmse": Metric(
        _squares,
        False,
        "the root mean squared error",
        finish=lambda sums: math.sqrt(_ratio(sums)),
    ),
    "topK": Metric(
        functools.partial(_top, k=1),
        True,
        "the share of examples whose target class is among the K largest outputs: top3, top5",
    ),
}

_OF_LOSS: dict[str, Callable[[float], float]] = {
    "bits": lambda loss: loss / math.log(2),
    "perplexity": lambda loss: math.exp(min(loss, 700.0)),
}


def find_metric(name: str) -> Metric | None:
    """Return the metric with a name, or None.

    Example:
        >>> find_metric("mse").higher_is_better, find_metric("top")
        (False, None)
    """
    top = re.fullmatch(r"top([1-9]\d{0,5})", name)
    if top:
        first = METRICS["topK"]
        of_batch = functools.partial(_top, k=int(top[1]))
        return Metric(of_batch, first.higher_is_better, first.meaning, first.finish)
    return METRICS.get(name) if name != "topK" else None


def higher_is_better(name: str) -> bool:
    """Return whether a larger figure with this name is better; False for losses."""
    metric = find_metric(name)
    return metric is not None and metric.higher_is_better


# ---- over an epoch ----


class Totals:
    """Sums over the examples of an epoch, and the resulting figures.

    Args:
        metrics: names; None for the accuracy if the targets are classes.

    Example:
        >>> totals = Totals(["top2", "perplexity"])
        >>> totals.add(tn.tensor([[0.1, 0.9, 0.5], [0.8, 0.2, 0.3]]), tn.tensor([2, 1]), loss=0.0)
        >>> totals.figures()
        {'loss': 0.0, 'top2': 0.5, 'perplexity': 1.0}
    """

    def __init__(self, metrics: Sequence[str] | None = None) -> None:
        self.examples = 0
        self._losses: dict[str, float] = {}
        self._optional = metrics is None
        names = ["accuracy"] if metrics is None else metrics
        self._metrics = {name: _known(name) for name in names}
        self._sums: dict[str, Any] = dict.fromkeys(self._metrics, 0)

    def add(
        self,
        outputs: Any,
        targets: Any,
        loss: float | Mapping[str, float],
        examples: int | None = None,
    ) -> None:
        """Add a batch. Its loss is the mean over its examples, or several losses by name.

        Raises:
            UnsuitableError: if outputs and targets do not suit a metric.
        """
        examples = len(targets) if examples is None else examples
        self.examples += examples
        losses = loss if isinstance(loss, Mapping) else {"loss": loss}
        for name, value in losses.items():
            self._losses[name] = self._losses.get(name, 0.0) + value * examples
        if not self._metrics:
            return
        try:
            if "perplexity" in self._metrics and "loss" not in losses:
                name = "perplexity"
                raise UnsuitableError("needs a method with one loss")
            pair = _array(outputs), _array(targets)
            for name, metric in self._metrics.items():
                self._sums[name] = self._sums[name] + metric.of_batch(*pair)
        except UnsuitableError as error:
            if not self._optional:
                raise UnsuitableError(f"{name} {error}") from None
            self._metrics = {}

    def add_batch(self, batch: Batch) -> None:
        """Add a batch; raises the errors of `add`."""
        self.add(batch.outputs, batch.targets, batch.by_name, batch.examples)

    def figures(self) -> dict[str, float]:
        """Return the losses (``loss``) and the metrics; an empty dict before the first batch."""
        if not self.examples:
            return {}
        figures = {name: value / self.examples for name, value in self._losses.items()}
        for name, metric in self._metrics.items():
            if name in _OF_LOSS:
                figures[name] = _OF_LOSS[name](figures["loss"])
            else:
                figure = metric.finish(self._sums[name])
                if figure is not None:
                    figures[name] = figure
        return figures

    def state_dict(self) -> dict[str, Any]:
        """Return the sums so far."""
        return {
            "examples": self.examples,
            "losses": dict(self._losses),
            "sums": {name: self._sums[name] for name in self._metrics},
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Load the state that `state_dict` returned."""
        self.examples, self._losses = state["examples"], dict(state["losses"])
        self._metrics = {n: m for n, m in self._metrics.items() if n in state["sums"]}
        self._sums |= state["sums"]

    def confusion_matrix(self) -> Array | None:
        """Return the counts of true class i predicted as j, (classes, classes); or None."""
        counts: Array | None = self._sums.get("confusion_matrix")
        return counts if isinstance(counts, np.ndarray) else None


def _known(name: str) -> Metric:
    metric = find_metric(name)
    if metric is None:
        raise ValueError(f"There is no metric {name!r}. There are: {', '.join(METRICS)}")
    return metric


def _array(value: Any) -> Array:
    if not isinstance(value, Tensor):
        raise UnsuitableError("needs outputs and targets that are tensors")
    return value.detach().numpy()
