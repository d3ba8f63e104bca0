"""Distances of outputs from numeric targets."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from tinynet.dtypes import Array
from tinynet.train.metrics.metric import Collected, Sums, need_same_shape


class PoorFitWarning(UserWarning):
    """A model that predicts worse than a constant."""


def doubt(figures: Mapping[str, float], name: str, is_standardized: bool) -> str:
    """Return why figures are those of a model that is worse than a constant; "" if they are not.

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
