"""Calibration: whether the probabilities of a model are the frequencies of its hits."""

from __future__ import annotations

import math

import numpy as np

from tinynet.dtypes import Array
from tinynet.train.metrics.metric import Sums, have_labels, of_known_targets, softmax

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
