"""Areas under curves, which depend on the order of the outputs only."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tinynet.dtypes import Array
from tinynet.train.metrics.metric import (
    Collected,
    by_label,
    have_labels,
    of_known_targets,
    softmax,
)


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
