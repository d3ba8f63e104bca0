"""Constraints on the keys of sections: a rule in words, its test, and names to suggest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tinynet.train.metrics.registry import METRICS, find_metric


def must(be: str, holds: Callable[[Any], bool], names: Iterable[str] = ()) -> Mapping[str, Any]:
    """Return the metadata of a field: a rule in words, its test, and names to suggest."""
    return {"must": be, "holds": holds, "names": names}


POSITIVE = must("be at least 1", lambda value: value >= 1)
FIGURE = {
    **must(
        f"be loss or a metric ({', '.join(METRICS)}, or one of evaluation.metrics)",
        lambda name: (
            name in ("", "loss") or name.startswith("loss_") or find_metric(name) is not None
        ),
        ["loss", *METRICS],
    ),
    "is_figure": True,  # those of the user's metrics are possible, too
}
NOT_NEGATIVE = must("not be negative", lambda value: value >= 0)
VALIDATION = {
    **must(
        "be from 0 to less than 1, or a data set (a table with a type)",
        lambda share: not isinstance(share, float) or 0 <= share < 1,
    ),
    "or": "data",  # the family of a table in its place
}
RATES = must(
    "have patterns of parameter names with rates that are not negative",
    lambda rates: all(isinstance(r, int | float) and r >= 0 for r in rates.values()),
)
METRIC_LIST = {
    "must": f"be a list of metrics ({', '.join(METRICS)}; or ./file.py:name)",
    "own": True,
}
FOLDER_NAME = must(
    "be a name for a folder, without slashes or control characters",
    lambda name: (
        name not in (".", "..")
        and not set(name) & set('/\\:*?"<>|')
        and (name == "" or name.isprintable())
    ),
)
