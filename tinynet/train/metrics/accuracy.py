"""Accuracies, and the confusion matrix."""

from __future__ import annotations

import numpy as np

from tinynet.dtypes import Array
from tinynet.train.metrics.metric import (
    Sums,
    classes_of,
    known_scores,
    need_classes,
    need_same_shape,
)


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
