"""What went wrong, or may have: errors, skipped steps, damage, warnings."""

from __future__ import annotations

from tinynet.train.diagnose.explanation import post_mortems
from tinynet.train.incidents.post_mortem import read_report
from tinynet.train.show.markup import Html, element, joined
from tinynet.train.show.run_data import RunData
from tinynet.train.store.response import brief

_MOST = 20


def warnings(run: RunData) -> Html:
    """Return a list of all that a reader should know before trusting the figures."""
    record = run.record
    found = [*map(str, record.get("warnings", []))]
    if record.get("error"):
        found.insert(0, str(record["error"]))
    found += [brief(read_report(place)) for place in post_mortems(run.folder)[:_MOST]]
    found += run.damage.values()
    if run.missing:
        found.append(f"The model cannot be tried, so its answers are missing. {run.missing}")
    found += [
        f"compiled: {reason}" for reason in (record.get("compiled") or {}).get("eager_because", [])
    ]
    if not found:
        return element("p", "None.", class_="soft")
    return joined(element("pre", text, class_="text") for text in found)
