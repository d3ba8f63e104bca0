"""Time and memory per module."""

from __future__ import annotations

from tinynet.board.graphs.formats import duration, size
from tinynet.train.html_report.markup import Html, element, joined, table
from tinynet.train.html_report.run_data import RunData

_MOST = 25


def costs(run: RunData) -> Html | None:
    """Return a table of the modules, the slowest first."""
    modules = run.record.get("costs")
    if not modules:
        return None
    whole = sum(sum(_times(one)) for one in modules) or 1
    ordered = sorted(modules, key=lambda one: -sum(_times(one)))
    rows = [
        (
            element("span", f"{one['module'] or '(the model)'}", class_="mono"),
            one["type"],
            f"{100 * sum(_times(one)) / whole:.1f} %",
            *map(duration, _times(one)),
            size(one["memory"]),
        )
        for one in ordered[:_MOST]
    ]
    text = (
        "A training step that was recorded before the run began. Memory is that of the results of "
        "the forward pass."
    )
    header = ["module", "type", "time", "forward", "backward", "update", "memory"]
    left = len(ordered) - _MOST
    more = [element("p", f"and {left} more", class_="soft")] if left > 0 else []
    return joined([element("p", text, class_="soft"), table(header, rows, numbers=2), *more])


def _times(one: dict[str, int]) -> tuple[int, int, int]:
    return one["forward"], one["backward"], one["update"]
