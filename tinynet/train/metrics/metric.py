"""What a metric is, and the shapes of outputs and targets that metrics need."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tinynet.dtypes import Array

Sums = Array
"""Numbers of a batch that are added over the batches, such as a sum and a count."""

Figure = float | Mapping[str, float] | None
"""A number; numbers by name; or None for a metric without a number, such as a matrix."""


class UnsuitableError(Exception):
    """Outputs and targets do not suit a metric."""


def ratio(sums: Sums) -> float:
    """Return the first of two sums divided by the second; NaN if that is 0."""
    return float(sums[0] / sums[1]) if sums[1] else math.nan


@dataclass(frozen=True)
class Metric:
    """A figure computed from outputs and targets."""

    of_batch: Callable[[Any, Any], Any]
    """Return the sums of a batch, given the arrays of its outputs and targets."""

    higher_is_better: bool
    meaning: str
    finish: Callable[[Any], Figure] = ratio
    """Return the figure of the sums."""

    add: Callable[[Any, Any], Any] = operator.add
    """Add the sums of the next batch, which another process may have computed."""

    of_loss: Callable[[float], float] | None = None
    """Return the figure for a loss, if the metric is a function of the loss alone."""

    of_number: Callable[[int], Metric] | None = None
    """Return the metric for a number in its name, if the name ends in K."""

    least: int = 0
    """The smallest such number."""

    takes_arrays: bool = True
    """Whether `of_batch` takes arrays; otherwise it takes whatever the model returns."""


class Collected:
    """The arrays of several batches: adding two collections concatenates them.

    Example:
        >>> sum([Collected(np.array([1, 2])), Collected(np.array([3]))]).joined()
        [array([1, 2, 3])]
    """

    def __init__(self, *arrays: Array) -> None:
        self._batches = [arrays]

    def __add__(self, other: Collected) -> Collected:
        self._batches += other._batches  # in place: copying would take quadratic time
        return self

    def __radd__(self, zero: int) -> Collected:
        return self

    def joined(self) -> list[Array]:
        """Return each array, concatenated over the batches."""
        return [np.concatenate(parts) for parts in zip(*self._batches, strict=True)]


def have_classes(outputs: Array, targets: Array) -> bool:
    """Return whether outputs are (batch, classes, ...) and targets class indices (batch, ...)."""
    return targets.dtype.kind in "iu" and outputs.ndim == targets.ndim + 1


def need_classes(outputs: Array, targets: Array) -> None:
    """Raise UnsuitableError unless targets are class indices."""
    if not have_classes(outputs, targets):
        raise UnsuitableError(
            "needs outputs (batch, classes, ...) and targets (batch, ...) that are class indices"
        )


def need_same_shape(outputs: Array, targets: Array) -> None:
    """Raise UnsuitableError unless outputs and targets have the same shape."""
    if outputs.shape != targets.shape:
        raise UnsuitableError("needs outputs and targets of the same shape")


def have_labels(outputs: Array, targets: Array) -> bool:
    """Return whether there are labels (one logit and one 0 or 1 each) rather than classes.

    Raises:
        UnsuitableError: if there are neither.
    """
    if have_classes(outputs, targets):
        return False
    if outputs.shape != targets.shape:
        raise UnsuitableError(
            "needs outputs (batch, classes, ...) and targets (batch, ...) that are class indices, "
            "or outputs and targets of the same shape (a logit and a label each)"
        )
    return True


def by_label(array: Array) -> Array:
    """Return an array of labels (batch,) or (batch, labels, ...) as (examples, labels).

    Example:
        >>> by_label(np.zeros((4, 3, 2))).shape, by_label(np.zeros(4)).shape
        ((8, 3), (4, 1))
    """
    if array.ndim < 2:
        return array.reshape(-1, 1)
    return np.moveaxis(array, 1, -1).reshape(-1, array.shape[1])


def of_known_targets(outputs: Array, targets: Array) -> tuple[Array, Array]:
    """Return outputs (examples, classes) and targets (examples,), without ignored targets."""
    outputs, targets = by_label(outputs), targets.reshape(-1)
    known = (targets >= 0) & (targets < outputs.shape[1])  # losses ignore the others, too
    return outputs[known], targets[known]


def softmax(scores: Array) -> Array:
    """Return the probabilities (examples, classes) of logits."""
    powers = np.exp(scores.astype(float) - scores.max(axis=1, keepdims=True))
    shares: Array = powers / powers.sum(axis=1, keepdims=True)
    return shares


def classes_of(outputs: Array, targets: Array) -> Array:
    """Return the class with the largest output, or the first of equal ones.

    Args:
        outputs: (batch, classes, ...), floating.
        targets: (batch, ...), integers.

    Raises:
        UnsuitableError: if they have other shapes or dtypes.
    """
    need_classes(outputs, targets)
    classes: Array = outputs.argmax(axis=1)
    return classes


def known_scores(outputs: Array) -> Array:
    """Return the mask of the examples without NaN scores; the others never count as right."""
    return np.asarray(~np.isnan(outputs).any(axis=1))
