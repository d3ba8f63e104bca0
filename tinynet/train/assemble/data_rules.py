"""Rules that examples must satisfy for a loss and a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tinynet import dtypes, nn
from tinynet.core.printing import quantity
from tinynet.dtypes import Array

_OF_CLASSES = (nn.CrossEntropyLoss, nn.NLLLoss, nn.MultiMarginLoss)


def takes_class_weights(target: Any) -> bool:
    """Return whether a type is a loss of classes with an argument ``weight``."""
    return isinstance(target, type) and issubclass(target, _OF_CLASSES)


@dataclass(frozen=True)
class Rule:
    """A condition on each row of a part of the examples, such as ``"targets"``."""

    part: str
    expected: str
    """The condition in words, such as ``"a class from 0 to 9"``."""

    bad: Callable[[Array], Array]
    """From a stack of rows to a mask of the rows that violate the condition."""

    found: Callable[[Array], str]
    """From a row that violates the condition to its description."""


def finite(part: str) -> Rule:
    """Return the rule that a part contains no NaN and no infinity."""
    return Rule(part, "finite numbers", _not_finite, _describe_not_finite)


def _not_finite(rows: Array) -> Array:
    if rows.dtype.kind not in "fc":
        return np.zeros(len(rows), bool)
    flat = rows.reshape(len(rows), -1)
    # If all elements are finite, so is the sum, unless it overflows: hence the second check.
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = ~np.isfinite(flat.sum(1))
    if suspicious.any():
        suspicious[suspicious] = ~np.isfinite(flat[suspicious]).all(1)
    return suspicious


def _describe_not_finite(row: Array) -> str:
    bad = ~np.isfinite(row)
    where = f", the first at {[int(i) for i in np.argwhere(bad)[0]]}" if row.ndim else ""
    nans = int(np.isnan(row).sum())
    infinities = int(bad.sum()) - nans
    counts = [f"{n} {what}" for n, what in ((nans, "NaN"), (infinities, "inf")) if n]
    return f"{' and '.join(counts)} of {row.size}{where}"


def for_loss(loss: Any, outputs: Any, target: Any) -> list[Rule]:
    """Return the rules for the targets of a loss.

    Args:
        loss: the loss of the config.
        outputs: the model's outputs for a batch.
        target: the target of one example.
    """
    if isinstance(loss, nn.BCELoss):
        return [Rule("targets", "numbers from 0 to 1", _outside(0, 1), _extremes)]
    shape: Any = getattr(outputs, "shape", ())
    if not isinstance(loss, _OF_CLASSES) or len(shape) < 2:
        return []
    if dtypes.is_floating(target.dtype) and target.shape == tuple(shape[1:]):
        return []  # probabilities of classes
    count = int(shape[1])
    last, ignored = count - 1, getattr(loss, "ignore_index", None)
    wrong = _outside(0, last)

    def bad(rows: Array) -> Array:
        if rows.dtype.kind not in "iu":
            return np.ones(len(rows), bool)
        known = rows if ignored is None else np.where(rows == ignored, 0, rows)
        return wrong(known)

    also = f" (or {ignored}, which is ignored)" if ignored is not None and ignored >= 0 else ""
    kind = type(loss).__name__
    model = f"the model has {quantity(count, 'output')}, the loss is {kind}"
    expected = f"a class from 0 to {last}{also}: {model}"
    return [Rule("targets", expected, bad, _extremes)]


def _outside(low: float, high: float) -> Callable[[Array], Array]:
    def bad(rows: Array) -> Array:
        flat = rows.reshape(len(rows), -1)
        return np.asarray(((flat < low) | (flat > high)).any(1))

    return bad


def _extremes(row: Array) -> str:
    kind = "" if row.dtype.kind in "iu" else f" ({row.dtype})"
    if row.size == 1:
        return f"{row.item():.6g}{kind}"
    return f"numbers from {row.min():.6g} to {row.max():.6g}{kind}"
