"""The metrics by name."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable

import numpy as np

from tinynet.dtypes import Array
from tinynet.train.metrics import classification, regression
from tinynet.train.metrics.metric import Metric, Sums, ratio


def _nothing(outputs: Array, targets: Array) -> Sums:
    return np.zeros(2)


def _of_loss(function: Callable[[float], float], meaning: str) -> Metric:
    return Metric(_nothing, False, meaning, of_loss=function)


def _area(area: Callable[[Array, Array], float], curve: str) -> Metric:
    meaning = f"the area under the {curve}; of several classes, the mean of each against the rest"
    return Metric(
        classification.scores_and_labels, True, meaning, classification.mean_of_labels(area)
    )


def _top(k: int) -> Metric:
    meaning = "the share of examples whose target class is among the K largest outputs: top3, top5"
    of_batch = functools.partial(classification.top, k=k)
    return Metric(of_batch, True, meaning, of_number=_top, least=1)


METRICS = {
    "accuracy": Metric(
        classification.accuracy,
        True,
        "the share of examples whose largest output is that of the target class",
    ),
    "average_precision": _area(
        classification.average_precision, "precision-recall curve (average precision)"
    ),
    "binary_accuracy": Metric(
        classification.binary_accuracy,
        True,
        "the share of outputs that are above 0 exactly where the target is 1",
    ),
    "bits": _of_loss(
        lambda loss: loss / math.log(2),
        "the loss in bits: per character, for a model of characters",
    ),
    "calibration_error": Metric(
        classification.by_confidence,
        False,
        "the expected calibration error: the mean distance of confidence and hit rate, in "
        f"{classification.BINS} bins of equal width",
        classification.expected_error,
    ),
    "confusion_matrix": Metric(
        classification.confusion_counts,
        True,
        "counts of each true class against each predicted class, as an image",
        finish=lambda sums: None,
    ),
    "mae": Metric(regression.distances, False, "the mean absolute error"),
    "mse": Metric(regression.squares, False, "the mean squared error"),
    "perplexity": _of_loss(lambda loss: math.exp(min(loss, 700.0)), "exp(loss)"),
    **classification.all_averages(),
    "r2": Metric(
        regression.both, True, "the explained share of the variance of the targets", regression.r2
    ),
    "rmse": Metric(
        regression.squares,
        False,
        "the root mean squared error",
        finish=lambda sums: math.sqrt(ratio(sums)),
    ),
    "roc_auc": _area(classification.roc_auc, "ROC curve"),
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
