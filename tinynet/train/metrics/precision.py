"""Precision, recall and F1: per class, and their averages."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

from tinynet.dtypes import Array
from tinynet.train.metrics.metric import (
    Figure,
    Metric,
    Sums,
    by_label,
    classes_of,
    have_labels,
    known_scores,
)

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
