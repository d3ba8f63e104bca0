"""The metrics of classification and of regression, by name, and metrics of users."""

from __future__ import annotations

import copy
import functools
import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import Array
from tinynet.train.metrics.metric import (
    Collected,
    Figure,
    Metric,
    Sums,
    UnsuitableError,
    by_label,
    classes_of,
    have_labels,
    known_scores,
    need_classes,
    need_same_shape,
    of_known_targets,
    ratio,
    softmax,
)

# ---- accuracy -----------------------------------------------------------------------------------
# Accuracies, and the confusion matrix.


def accuracy(outputs: Array, targets: Array) -> Sums:
    """Return the number of right predictions, and of targets."""
    found = classes_of(outputs, targets)
    right = np.count_nonzero((found == targets) & known_scores(outputs))
    return np.array([right, np.count_nonzero(targets >= 0)], float)  # losses ignore -100


def top(outputs: Array, targets: Array, k: int) -> Sums:
    """Return the number of targets among the k largest outputs, and of targets."""
    need_classes(outputs, targets)
    target = np.expand_dims(targets.clip(0), 1)
    own = np.take_along_axis(outputs, target, axis=1)
    # The first of equal outputs counts as the largest, as in argmax.
    places = np.arange(outputs.shape[1]).reshape(1, -1, *[1] * (outputs.ndim - 2))
    above = ((outputs > own) | ((outputs == own) & (places < target))).sum(axis=1)
    right = np.count_nonzero((above < k) & (targets >= 0) & known_scores(outputs))
    return np.array([right, np.count_nonzero(targets >= 0)], float)


def binary_accuracy(outputs: Array, targets: Array) -> Sums:
    """Return the number of logits on the right side of 0, and of targets."""
    need_same_shape(outputs, targets)
    right = ((outputs > 0) == (targets > 0.5)) & ~np.isnan(outputs)
    return np.array([np.count_nonzero(right), targets.size], float)


def confusion_counts(outputs: Array, targets: Array) -> Sums:
    """Return the counts of true class i predicted as j, (classes, classes)."""
    count = outputs.shape[1] if outputs.ndim > 1 else 0
    found = classes_of(outputs, targets)
    valid = (targets >= 0) & (targets < count)  # others are ignored by losses too
    valid &= known_scores(outputs)
    pairs = targets[valid].astype(np.int64) * count + found[valid]
    return np.bincount(pairs, minlength=count * count).reshape(count, count)


# ---- calibration --------------------------------------------------------------------------------
# Calibration: whether the probabilities of a model are the frequencies of its hits.


BINS = 15


def by_confidence(outputs: Array, targets: Array) -> Sums:
    """Return the numbers of predictions, the confidences and the hits of each bin, (3, bins)."""
    if have_labels(outputs, targets):
        logits = outputs.ravel().astype(float)
        confidences = np.exp(-np.logaddexp(0, -logits))
        right = targets.ravel() > 0.5
    else:
        scores, classes = of_known_targets(outputs, targets)
        shares = softmax(scores)
        confidences, right = shares.max(axis=1), shares.argmax(axis=1) == classes
    known = ~np.isnan(confidences)
    confidences, right = confidences[known], right[known]
    bins = np.ceil(confidences * BINS).astype(np.int64).clip(1) - 1
    weights = (None, confidences, right.astype(float))
    return np.stack([np.bincount(bins, weight, BINS).astype(float) for weight in weights])


def expected_error(sums: Sums) -> float:
    """Return the mean distance of confidence and hit rate, weighted by the sizes of the bins."""
    counts, confidences, hits = sums
    return float(np.abs(confidences - hits).sum() / counts.sum()) if counts.any() else math.nan


# ---- precision ----------------------------------------------------------------------------------
# Precision, recall and F1: per class, and their averages.


AVERAGES = {
    "": "the mean over the classes that occur (macro); the figure of class 1 for single logits",
    "_micro": "over the predictions for all classes together",
    "_weighted": "the mean over the classes, weighted by their numbers of targets",
    "_per_class": "one value per class",
    "_classK": "the figure of class K alone",
}
"""What the ends of the names mean."""

MEANINGS = {
    "precision": "the share of the predictions of a class that are right",
    "recall": "the share of the targets of a class that are predicted",
    "f1": "the harmonic mean of precision and recall",
}


def counts(outputs: Array, targets: Array) -> Sums:
    """Return the numbers of right predictions, predictions and targets of each class."""
    if have_labels(outputs, targets):
        found, wanted = by_label(outputs > 0), by_label(targets > 0.5)
        return np.stack([(found & wanted).sum(0), found.sum(0), wanted.sum(0)])
    found, count = classes_of(outputs, targets), outputs.shape[1]
    valid = (targets >= 0) & (targets < count)  # losses ignore the others, too
    known = valid & known_scores(outputs)
    groups = targets[known & (found == targets)], found[known], targets[valid]
    return np.stack([np.bincount(group, minlength=count) for group in groups])


def _fraction(name: str, sums: Sums) -> tuple[Array, Array]:
    """Return the numerator and the denominator of a figure for each class."""
    right, predicted, wanted = sums
    if name == "f1":
        return 2 * right, predicted + wanted
    return right, predicted if name == "precision" else wanted


def _of_classes(name: str, sums: Sums) -> Array:
    """Return the figure of each class: 0 where there are no predictions or targets."""
    numerator, denominator = _fraction(name, sums)
    return numerator / np.maximum(denominator, 1)


def _macro(name: str, sums: Sums) -> float:
    occurs = sums[1:].any(axis=0)
    return float(_of_classes(name, sums)[occurs].mean()) if occurs.any() else math.nan


def _micro(name: str, sums: Sums) -> float:
    numerator, denominator = (part.sum() for part in _fraction(name, sums))
    return float(numerator / denominator) if denominator else math.nan


def _weighted(name: str, sums: Sums) -> float:
    total = sums[2].sum()
    return float(_of_classes(name, sums) @ sums[2] / total) if total else math.nan


def _per_class(name: str, sums: Sums) -> dict[str, float]:
    return {f"class{index}": float(f) for index, f in enumerate(_of_classes(name, sums))}


def _class(name: str, number: int) -> Callable[[Sums], float]:
    def finish(sums: Sums) -> float:
        return _per_class(name, sums).get(f"class{number}", math.nan)

    return finish


_FINISHERS: dict[str, Callable[[str, Sums], Figure]] = {
    "": _macro,
    "_micro": _micro,
    "_weighted": _weighted,
    "_per_class": _per_class,
}


def all_averages() -> dict[str, Metric]:
    """Return the metrics of this file by name."""
    return {
        name + end: _metric(name, end, f"{meaning}: {average}")
        for name, meaning in MEANINGS.items()
        for end, average in AVERAGES.items()
    }


def _metric(name: str, end: str, meaning: str) -> Metric:
    def of_class(number: int) -> Metric:
        return Metric(counts, True, meaning, _class(name, number))

    if end not in _FINISHERS:
        return Metric(counts, True, meaning, of_number=of_class)
    return Metric(counts, True, meaning, functools.partial(_FINISHERS[end], name))


# ---- ranking ------------------------------------------------------------------------------------
# Areas under curves, which depend on the order of the outputs only.


def scores_and_labels(outputs: Array, targets: Array) -> Collected:
    """Return scores and labels (examples, labels); each class is one against the rest.

    Of two classes, the second one suffices.
    """
    if have_labels(outputs, targets):
        return Collected(by_label(outputs), by_label(targets > 0.5))
    scores, classes = of_known_targets(outputs, targets)
    shares = softmax(scores)
    labels = classes[:, None] == np.arange(shares.shape[1])
    first = 1 if shares.shape[1] == 2 else 0
    return Collected(shares[:, first:], labels[:, first:])


def mean_of_labels(area: Callable[[Array, Array], float]) -> Callable[[Collected], float]:
    """Return a function that returns the mean area of the labels that have one."""

    def finish(collected: Collected) -> float:
        scores, labels = collected.joined()
        if np.isnan(scores).any():
            return math.nan
        areas = [area(*pair) for pair in zip(scores.T, labels.T, strict=True)]
        defined = [value for value in areas if not math.isnan(value)]
        return float(np.mean(defined)) if defined else math.nan

    return finish


def roc_auc(scores: Array, labels: Array) -> float:
    """Return the share of pairs (a positive, a negative) in order; equal scores count half.

    NaN if there are only positives, or only negatives.
    """
    positives = int(np.count_nonzero(labels))
    pairs = positives * (labels.size - positives)
    if not pairs:
        return math.nan
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    rank = counts.cumsum() - (counts - 1) / 2  # the mean rank of equal scores, from 1
    return float((rank[place][labels].sum() - positives * (positives + 1) / 2) / pairs)


def average_precision(scores: Array, labels: Array) -> float:
    """Return the mean of the precisions at each threshold, weighted by the gain in recall.

    NaN if there are no positives.
    """
    if not labels.any():
        return math.nan
    order = np.argsort(-scores, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(scores[order])), len(order) - 1)  # of equal scores
    found = labels[order].cumsum()[ends]
    return float((np.diff(found, prepend=0) * found / (ends + 1)).sum() / found[-1])


class PoorFitWarning(UserWarning):
    """A model that predicts worse than a constant."""


def doubt(figures: Mapping[str, float], name: str, is_standardized: bool) -> str:
    """Return why figures show a model that is worse than a constant; "" if they do not.

    Args:
        figures: the figures of a data set.
        name: the name of the set.
        is_standardized: whether its targets are.

    Example:
        >>> doubt({"r2": -1.35}, "test", True).partition(":")[0]
        'r2 is -1.35 on the test set'
        >>> doubt({"r2": 0.9}, "test", True)
        ''
    """
    score = figures.get("r2", 0.0)
    if not score < 0:
        return ""
    remedy = "other learning rates (tinynet find-lr CONFIG) and more epochs are worth a try"
    if not is_standardized:
        remedy = "data.standardize = true scales the inputs and the target of a table"
    text = f"r2 is {score:.3g} on the {name} set: the mean of the targets would predict it better"
    return f"{text}; {remedy}"


def squares(outputs: Array, targets: Array) -> Sums:
    """Return the sum of the squared errors, and their number."""
    need_same_shape(outputs, targets)
    return np.array([np.square(outputs - targets, dtype=float).sum(), targets.size])


def distances(outputs: Array, targets: Array) -> Sums:
    """Return the sum of the absolute errors, and their number."""
    need_same_shape(outputs, targets)
    return np.array([np.abs(outputs - targets).sum(dtype=float), targets.size])


def both(outputs: Array, targets: Array) -> Collected:
    """Return outputs and targets, a column for each number of an example."""
    need_same_shape(outputs, targets)
    count = len(targets)
    return Collected(*(a.reshape(count, -1).astype(float) for a in (outputs, targets)))


def r2(collected: Collected) -> float:
    """Return the explained share of the variance, the mean over the columns.

    A constant column counts 1 if it is predicted exactly, else 0. NaN for fewer than two examples.
    """
    outputs, targets = collected.joined()
    if len(targets) < 2:
        return math.nan
    left = np.square(targets - outputs).sum(axis=0)
    total = np.square(targets - targets.mean(axis=0)).sum(axis=0)
    explained = 1 - left / np.where(total > 0, total, 1)
    return float(np.where(total > 0, explained, left == 0).mean())


def _nothing(outputs: Array, targets: Array) -> Sums:
    return np.zeros(2)


def _of_loss(function: Callable[[float], float], meaning: str) -> Metric:
    return Metric(_nothing, False, meaning, of_loss=function)


def _area(area: Callable[[Array, Array], float], curve: str) -> Metric:
    meaning = f"the area under the {curve}; of several classes, the mean of each against the rest"
    return Metric(scores_and_labels, True, meaning, mean_of_labels(area))


def _top(k: int) -> Metric:
    meaning = "the share of examples whose target class is among the K largest outputs: top3, top5"
    of_batch = functools.partial(top, k=k)
    return Metric(of_batch, True, meaning, of_number=_top, least=1)


METRICS = {
    "accuracy": Metric(
        accuracy,
        True,
        "the share of examples whose largest output belongs to the target class",
    ),
    "average_precision": _area(average_precision, "precision-recall curve (average precision)"),
    "binary_accuracy": Metric(
        binary_accuracy,
        True,
        "the share of outputs that are above 0 exactly where the target is 1",
    ),
    "bits": _of_loss(
        lambda loss: loss / math.log(2),
        "the loss in bits: per character, for a model of characters",
    ),
    "calibration_error": Metric(
        by_confidence,
        False,
        "the expected calibration error: the mean distance of confidence and hit rate, in "
        f"{BINS} bins of equal width",
        expected_error,
    ),
    "confusion_matrix": Metric(
        confusion_counts,
        True,
        "counts of each true class against each predicted class, as an image",
        finish=lambda sums: None,
    ),
    "mae": Metric(distances, False, "the mean absolute error"),
    "mse": Metric(squares, False, "the mean squared error"),
    "perplexity": _of_loss(lambda loss: math.exp(min(loss, 700.0)), "exp(loss)"),
    **all_averages(),
    "r2": Metric(both, True, "the explained share of the variance of the targets", r2),
    "rmse": Metric(
        squares,
        False,
        "the root mean squared error",
        finish=lambda sums: math.sqrt(ratio(sums)),
    ),
    "roc_auc": _area(roc_auc, "ROC curve"),
    "topK": _top(1),
}
"""A name that ends in K stands for a number, such as top5."""


def find_metric(name: str) -> Metric | None:
    """Return the metric with a name, or None.

    Example:
        >>> find_metric("mse").higher_is_better, find_metric("top")
        (False, None)
        >>> find_metric("top5").meaning == METRICS["topK"].meaning
        True
    """
    numbered = re.fullmatch(r"(\w*?[^\W\d])(0|[1-9]\d{0,5})", name)
    if numbered and name not in METRICS:
        pattern, number = METRICS.get(f"{numbered[1]}K"), int(numbered[2])
        if pattern is None or pattern.of_number is None or number < pattern.least:
            return None
        return pattern.of_number(number)
    metric = METRICS.get(name)
    return None if metric is None or metric.of_number is not None else metric


def higher_is_better(name: str) -> bool:
    """Return whether a larger figure with this name is better; False for losses."""
    metric = find_metric(name)
    return metric is not None and metric.higher_is_better


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
    """Return the name of a metric's figure: the name of the function or class.

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
