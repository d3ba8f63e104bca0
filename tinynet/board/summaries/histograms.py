"""Distributions of values: the Histograms and Distributions tabs."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tinynet.board import tensorboardx
from tinynet.board.summaries import checks
from tinynet.board.summaries.family import Family


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
        checks.check_tag(tag, "add_histogram")
        given = checks.array("add_histogram", "values", values).reshape(-1).astype(np.float64)
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
        checks.check_tag(tag, method)
        limits = checks.array(method, "bucket_limits", bucket_limits).reshape(-1)
        counts = checks.array(method, "bucket_counts", bucket_counts).reshape(-1)
        if len(limits) != len(counts):
            raise ValueError(
                "len(bucket_limits) != len(bucket_counts), see the document. "
                f"Got {len(limits)} and {len(counts)}."
            )
        histogram = tensorboardx.load().HistogramProto(
            min=checks.number(tag, min),
            max=checks.number(tag, max),
            num=checks.number(tag, num),
            sum=checks.number(tag, sum),
            sum_squares=checks.number(tag, sum_squares),
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
