"""Precision and recall of a binary classifier: the PR Curves tab."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.board import tensorboardx
from tinynet.board.summaries import checks
from tinynet.board.summaries.family import Family, tensor_proto

_ROWS = (
    *("true_positive_counts", "false_positive_counts"),
    *("true_negative_counts", "false_negative_counts"),
    *("precision", "recall"),
)
_TINY = 1e-7  # lower bound of a denominator


class Curves(Family):
    """The methods of SummaryWriter for precision-recall curves."""

    def add_pr_curve(
        self,
        tag: str,
        labels: Any,
        predictions: Any,
        global_step: int | None = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Write a precision-recall curve over all thresholds.

        NaN predictions are dropped, with one `BoardWarning` per tag.

        Args:
            tag: the name of the curve.
            labels: the true labels: 0 or 1, or booleans.
            predictions: the predicted probabilities of 1, from 0 to 1.
            global_step: the step; 0 by default.
            num_thresholds: the number of thresholds, evenly spaced from 0 to 1; at least 2.
            weights: the weight of each prediction; 1 by default.
            walltime: seconds since the epoch; now by default.

        Raises:
            ValueError: sizes differ, or predictions or labels are not between 0 and 1.

        Example:
            >>> getfixture("monkeypatch").chdir(getfixture("tmp_path"))
            >>> from tinynet.utils.tensorboard import SummaryWriter
            >>> with SummaryWriter("runs/example") as writer:
            ...     writer.add_pr_curve("dog", labels=[1, 0, 1], predictions=[0.9, 0.4, 0.3])
        """
        method = "add_pr_curve"
        checks.check_tag(tag, method)
        if num_thresholds < 2:
            raise ValueError(
                f"The 'num_thresholds' parameter of {method} must be >= 2. "
                f"Got {num_thresholds} instead."
            )
        truth = checks.array(method, "labels", labels).reshape(-1).astype(np.float64)
        likely = checks.array(method, "predictions", predictions).reshape(-1).astype(np.float64)
        weight = checks.array(method, "weights", 1.0 if weights is None else weights).reshape(-1)
        if len(truth) != len(likely) or len(weight) not in (1, len(likely)):
            raise ValueError(
                f"{method} needs as many labels as predictions, and as many weights. "
                f"Got {len(truth)}, {len(likely)}, {len(weight)}."
            )
        weight = np.broadcast_to(weight, likely.shape)
        known = ~np.isnan(likely)
        if not known.all():
            self._doubt(tag, f"{(~known).sum()} of {len(known)} predictions are nan, and left out")
            truth, likely, weight = truth[known], likely[known], weight[known]
        for name, values in (("labels", truth), ("predictions", likely)):
            if not ((values >= 0) & (values <= 1)).all():
                raise ValueError(f"The '{name}' parameter of {method} must be within [0, 1].")
        self._curve(tag, _counted(truth, likely, weight, num_thresholds), global_step, walltime)

    def add_pr_curve_raw(
        self,
        tag: str,
        true_positive_counts: Any,
        false_positive_counts: Any,
        true_negative_counts: Any,
        false_negative_counts: Any,
        precision: Any,
        recall: Any,
        global_step: int | None = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Write a precomputed curve; all arrays have one number per threshold.

        Args:
            tag: the name of the curve.
            true_positive_counts: 1s predicted as 1.
            false_positive_counts: 0s predicted as 1.
            true_negative_counts: 0s predicted as 0.
            false_negative_counts: 1s predicted as 0.
            precision: fraction of true positives among all predicted 1s.
            recall: fraction of true positives among all 1s.
            global_step: the step; 0 by default.
            num_thresholds: without effect: the arrays determine the number.
            weights: accepted for compatibility; without effect.
            walltime: seconds since the epoch; now by default.

        Raises:
            ValueError: the arrays differ in size.
        """
        method = "add_pr_curve_raw"
        checks.check_tag(tag, method)
        given = (
            *(true_positive_counts, false_positive_counts),
            *(true_negative_counts, false_negative_counts),
            *(precision, recall),
        )
        rows = [
            checks.array(method, name, row).reshape(-1)
            for name, row in zip(_ROWS, given, strict=True)
        ]
        if len({len(row) for row in rows}) != 1:
            raise ValueError(
                f"The six arrays of {method} must have one size. Got {[len(row) for row in rows]}."
            )
        self._curve(tag, np.stack(rows), global_step, walltime)

    def _curve(
        self, tag: str, rows: np.ndarray[Any, Any], step: Any, walltime: float | None
    ) -> None:
        data = tensorboardx.load().PrCurvePluginData(version=0, num_thresholds=rows.shape[1])
        metadata = tensorboardx.metadata("pr_curves", data.SerializeToString())
        proto = tensor_proto(rows.astype(np.float32))
        self._summary(tag, step, walltime, tensor=proto, metadata=metadata)


def _counted(
    truth: np.ndarray[Any, Any],
    likely: np.ndarray[Any, Any],
    weight: np.ndarray[Any, Any],
    thresholds: int,
) -> np.ndarray[Any, Any]:
    """Return the six rows: counts and ratios at each threshold."""
    place = np.floor(likely * (thresholds - 1)).astype(np.intp)
    ones = np.bincount(place, truth * weight, minlength=thresholds)
    zeros = np.bincount(place, (1 - truth) * weight, minlength=thresholds)
    true_positive, false_positive = (np.cumsum(each[::-1])[::-1] for each in (ones, zeros))
    true_negative = false_positive[0] - false_positive
    false_negative = true_positive[0] - true_positive
    precision = true_positive / np.maximum(_TINY, true_positive + false_positive)
    recall = true_positive / np.maximum(_TINY, true_positive + false_negative)
    counts = (true_positive, false_positive, true_negative, false_negative)
    return np.stack((*counts, precision, recall))
