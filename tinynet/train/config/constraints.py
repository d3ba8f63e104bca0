"""Constraints on the keys of sections: a rule in words, its test, and names to suggest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tinynet.train.base.problems import did_you_mean
from tinynet.train.metrics.registry import METRICS, find_metric


def must(be: str, holds: Callable[[Any], bool], names: Iterable[str] = ()) -> Mapping[str, Any]:
    """Return the metadata of a field: a rule in words, its test, and names to suggest."""
    return {"must": be, "holds": holds, "names": names}


def refusal_of(rule: Mapping[str, Any], value: Any, word: str = "") -> str:
    """Return what is wrong with a value: a suggestion first, and a long list of names last.

    Args:
        rule: the metadata of a field.
        value: its value.
        word: the wrong part of it; by default all of it.
    """
    hint = did_you_mean(word or str(value), rule["names"]) or "."
    if "known" not in rule:
        return f"must {rule['must']}, got {value!r}{hint}"
    return f"must {rule['briefly']}, got {value!r}{hint} There are: {rule['known']}."


POSITIVE = must("be at least 1", lambda value: value >= 1)
FIGURE = {
    **must(
        f"be loss or a metric ({', '.join(METRICS)}, or one of evaluation.metrics)",
        lambda name: (
            name in ("", "loss") or name.startswith("loss_") or find_metric(name) is not None
        ),
        ["loss", *METRICS],
    ),
    "briefly": "be loss or a metric",
    "known": f"{', '.join(METRICS)}, or one of evaluation.metrics",
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
    "briefly": "be a list of metrics",
    "known": f"{', '.join(METRICS)}; or ./file.py:name",
    "names": METRICS,
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
