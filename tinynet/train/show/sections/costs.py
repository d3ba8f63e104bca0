"""Time and memory per module."""

from __future__ import annotations

from tinynet.board.graphs.formats import duration, size
from tinynet.board.graphs.timing import BETWEEN, StepTime
from tinynet.train.show.markup import Html, element, joined, table
from tinynet.train.show.run_data import RunData

_MOST = 25


def costs(run: RunData) -> Html | None:
    """Return a table of the modules, the slowest first."""
    modules = run.record.get("costs")
    if not modules:
        return None
    times = [sum(_times(one)) for one in modules]
    step = StepTime(**run.record["step_time"]) if "step_time" in run.record else None
    whole = (step.sum if step else sum(times)) or 1
    ordered = sorted(modules, key=lambda one: -sum(_times(one)))
    rows = [
        (
            element("span", f"{one['module'] or '(the model)'}", class_="mono"),
            one["type"],
            _share(sum(_times(one)), whole),
            *map(duration, _times(one)),
            size(one["memory"]),
        )
        for one in ordered[:_MOST]
    ]
    if left := ordered[_MOST:]:
        more = sum(sum(_times(one)) for one in left)
        rows.append((f"{len(left)} more", "", _share(more, whole), *[""] * 4))
    if step:
        rows.append((f"({BETWEEN})", "", _share(step.between, whole), *[""] * 4))
    header = ["module", "type", "time", "forward", "backward", "update", "memory"]
    text = element("p", _text(step, "compiled" in run.record), class_="soft")
    return joined([text, table(header, rows, numbers=2)])


def _text(step: StepTime | None, is_compiled: bool) -> str:
    if step is None:
        times = "A training step that was recorded before the run began."
    else:
        waiting = ", with waiting for a processor" if step.waited else ""
        times = (
            f"A training step takes {duration(step.sum)}: its operations and Python's work between "
            f"them ({step.medians}, taken by a copy of the model before the run began; by the "
            f"clock, a step took {duration(step.whole)}{waiting})."
        )
    eager = " It ran eagerly: the compiled steps of the run are faster." if is_compiled else ""
    return f"{times}{eager} Memory is that of the results of the forward pass."


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %"


def _times(one: dict[str, int]) -> tuple[int, int, int]:
    return one["forward"], one["backward"], one["update"]
