"""Histograms of the weights and of their gradients."""

from __future__ import annotations

import numpy as np

from tinynet.dtypes import Array
from tinynet.train.show.markup import Html, element, folded, joined, table
from tinynet.train.show.run_data import RunData

_BINS = 28
_OPEN = 24  # rows that are visible at once


def weights(run: RunData) -> Html | None:
    """Return a table with a row per parameter."""
    if run.model is None or not run.model.weights:
        return None
    gradients = run.model.gradients
    header = ["parameter", "shape", "weights", "from", "to", "gradients", "typical", "largest"]
    rows = [_row(name, array, gradients.get(name)) for name, array in run.model.weights.items()]
    text = (
        "The last weights, and their gradients for the first batch of the training set: the root "
        "of the mean square, and the largest magnitude."
    )
    first = table(header, rows[:_OPEN], numbers=3)
    rest = rows[_OPEN:]
    more = [folded(f"{len(rest)} more", table(header, rest, numbers=3))] if rest else []
    return joined([element("p", text, class_="soft"), first, *more])


def _row(name: str, array: Array, gradient: Array | None) -> list[object]:
    values = _finite(array)
    low, high = (f"{values.min():.3g}", f"{values.max():.3g}") if values.size else ("", "")
    row: list[object] = [
        element("span", name, class_="mono"),
        "×".join(map(str, array.shape)) or "1",
        sparkline(values),
        low,
        high,
    ]
    if gradient is None or not gradient.size:
        return [*row, element("span", "none", class_="soft"), "", ""]
    slopes = _finite(gradient)
    if not slopes.size:
        return [*row, element("span", "not finite", class_="bad"), "", ""]
    typical = float(np.sqrt(np.mean(np.square(slopes))))
    return [*row, sparkline(slopes, "gradient"), f"{typical:.2g}", f"{np.abs(slopes).max():.2g}"]


def _finite(array: Array) -> Array:
    flat: Array = np.abs(array).ravel() if array.dtype.kind == "c" else array.ravel()
    return flat[np.isfinite(flat)].astype(np.float64)


def sparkline(values: Array, kind: str = "") -> Html:
    """Return a histogram the size of a word."""
    if not values.size:
        return Html("")
    counts, _ = np.histogram(values, bins=_BINS)
    heights = 24 * counts / counts.max()
    bars = "".join(
        f"M{4 * i} 24v{-height:.1f}h3v{height:.1f}z" for i, height in enumerate(heights) if height
    )
    path = element("path", d=bars)
    name = f"spark {kind}".strip()
    box = f"0 0 {4 * _BINS} 24"
    return element("svg", path, viewBox=box, class_=name, preserveAspectRatio="none", role="img")
