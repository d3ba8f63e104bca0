"""Metrics of classifiers: accuracy, precision, recall, calibration, areas under curves."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

from tinynet.dtypes import Array
from tinynet.train.metrics.metric import (
    Collected,
    Figure,
    Metric,
    Sums,
    by_label,
    classes_of,
    have_labels,
    known_scores,
    need_classes,
    need_same_shape,
    of_known_targets,
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
    "": "the mean over the classes that occur (macro); of single logits, that of class 1",
    "_micro": "over the predictions for all classes together",
    "_weighted": "the mean over the classes, weighted by their numbers of targets",
    "_per_class": "one value per class",
    "_classK": "that of class K alone",
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
