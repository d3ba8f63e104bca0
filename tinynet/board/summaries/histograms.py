"""Distributions of values, and curves over thresholds: the tabs Histograms and PR Curves."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tinynet.board import tensorboardx
from tinynet.board.summaries.family import Family, as_array, as_number, check_tag, tensor_proto


class Histograms(Family):
    """The methods of SummaryWriter for distributions."""

    @property
    def default_bins(self) -> list[float]:
        """The bin edges of `bins="tensorflow"`."""
        return _growing_edges().tolist()

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: int | None = None,
        bins: Any = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """Write a histogram of values.

        Infinite and NaN values are dropped, with one `BoardWarning` per tag: an exploding gradient
        does not end a training run.

        Args:
            tag: the name of the histogram.
            values: a tensor or array of any shape.
            global_step: the step; 0 by default.
            bins: `"tensorflow"` (edges that grow by a tenth each, from 1e-12 to 1e20, on both
                sides of zero), or an argument of `numpy.histogram`: a number of bins, a rule such
                as `"auto"`, or the edges.
            walltime: seconds since the epoch; now by default.
            max_bins: merge adjacent bins until there are at most twice as many.

        Raises:
            NotImplementedError: `values` is not a tensor or array.
            TypeError: the values are not real numbers.
            ValueError: there are no values.

        Example:
            >>> getfixture("monkeypatch").chdir(getfixture("tmp_path"))
            >>> from tinynet.utils.tensorboard import SummaryWriter
            >>> with SummaryWriter("runs/example") as writer:
            ...     writer.add_histogram("weights", tn.randn(100), global_step=1)
        """
        check_tag(tag, "add_histogram")
        given = as_array("add_histogram", "values", values).reshape(-1).astype(np.float64)
        if given.size == 0:
            raise ValueError("The input has no element.")
        finite = given[np.isfinite(given)]
        if finite.size < given.size:
            left_out = given.size - finite.size
            self._doubt(tag, f"{left_out} of {given.size} values are inf or nan, and left out")
        if finite.size:
            histogram = _histogram(finite, bins, max_bins)
            self._summary(tag, global_step, walltime, histo=histogram)

    def add_histogram_raw(
        self,
        tag: str,
        min: float,
        max: float,
        num: int,
        sum: float,
        sum_squares: float,
        bucket_limits: Any,
        bucket_counts: Any,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Write a precomputed histogram.

        Args:
            tag: the name of the histogram.
            min: the smallest value.
            max: the largest value.
            num: the number of values.
            sum: their sum.
            sum_squares: the sum of their squares.
            bucket_limits: the upper edge of each bucket, increasing.
            bucket_counts: the number of values in each bucket.
            global_step: the step; 0 by default.
            walltime: seconds since the epoch; now by default.

        Raises:
            ValueError: the numbers of limits and counts differ.
        """
        method = "add_histogram_raw"
        check_tag(tag, method)
        limits = as_array(method, "bucket_limits", bucket_limits).reshape(-1)
        counts = as_array(method, "bucket_counts", bucket_counts).reshape(-1)
        if len(limits) != len(counts):
            raise ValueError(
                "len(bucket_limits) != len(bucket_counts), see the document. "
                f"Got {len(limits)} and {len(counts)}."
            )
        histogram = tensorboardx.load().HistogramProto(
            min=as_number(tag, min),
            max=as_number(tag, max),
            num=as_number(tag, num),
            sum=as_number(tag, sum),
            sum_squares=as_number(tag, sum_squares),
            bucket_limit=limits.tolist(),
            bucket=counts.tolist(),
        )
        self._summary(tag, global_step, walltime, histo=histogram)


@functools.cache
def _growing_edges() -> np.ndarray[Any, Any]:
    """Return edges in geometric progression, mirrored at zero; TensorFlow's default."""
    count = int(np.ceil(np.log(1e20 / 1e-12) / np.log(1.1)))
    positive = np.cumprod(np.concatenate([[1e-12], np.full(count - 1, 1.1)]))
    return np.concatenate([-positive[::-1], [0.0], positive])


def _histogram(values: np.ndarray[Any, Any], bins: Any, max_bins: int | None) -> Any:
    if isinstance(bins, str) and bins == "tensorflow":
        edges = _growing_edges()
        counts, limits = np.histogram(np.clip(values, edges[0], edges[-1]), bins=edges)
    else:
        counts, limits = np.histogram(values, bins=bins)
    if max_bins is not None and len(counts) > max_bins:
        starts = np.arange(0, len(counts), len(counts) // max_bins)
        counts, limits = np.add.reduceat(counts, starts), np.append(limits[starts], limits[-1])
    (used,) = np.nonzero(counts)
    first, last = (used[0], used[-1]) if len(used) else (0, len(counts) - 1)
    # Only upper edges are stored: an empty bucket at the front has the lowest one.
    with np.errstate(over="ignore"):
        sum_squares = float(values @ values)
    return tensorboardx.load().HistogramProto(
        min=values.min(),
        max=values.max(),
        num=len(values),
        sum=values.sum(),
        sum_squares=sum_squares,
        bucket_limit=limits[first : last + 2].tolist(),
        bucket=[0, *counts[first : last + 1].tolist()],
    )


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
        check_tag(tag, method)
        if num_thresholds < 2:
            raise ValueError(
                f"The 'num_thresholds' parameter of {method} must be >= 2. "
                f"Got {num_thresholds} instead."
            )
        truth = as_array(method, "labels", labels).reshape(-1).astype(np.float64)
        likely = as_array(method, "predictions", predictions).reshape(-1).astype(np.float64)
        weight = as_array(method, "weights", 1.0 if weights is None else weights).reshape(-1)
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
        check_tag(tag, method)
        given = (
            *(true_positive_counts, false_positive_counts),
            *(true_negative_counts, false_negative_counts),
            *(precision, recall),
        )
        rows = [
            as_array(method, name, row).reshape(-1) for name, row in zip(_ROWS, given, strict=True)
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
