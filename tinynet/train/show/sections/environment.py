"""What ran where: command, versions, platform, commit."""

from __future__ import annotations

import shlex
from typing import Any

from tinynet.train.show.markup import Html, element, folded, joined, table
from tinynet.train.show.run_data import RunData


def environment(run: RunData) -> Html:
    """Return a table of the surroundings of the run, and of each time that it was resumed."""
    resumed = run.record.get("resumed", [])
    shown = [_table(run.record)]
    for number, entry in enumerate(resumed, 1):
        times = f" ({number} of {len(resumed)})" if len(resumed) > 1 else ""
        shown.append(folded(f"Resumed at step {entry.get('step')}{times}", _table(entry)))
    return joined(shown)


def _table(record: Any) -> Html:
    git = record.get("git") or {}
    commit = str(git.get("commit", ""))
    if git.get("dirty"):
        commit += ", with changes (changes.diff)"
    typed = record.get("typed") or shlex.join(map(str, record.get("command", [])))
    rows = {
        "command": element("code", typed, class_="long"),
        "folder": element("code", record.get("working_directory", ""), class_="long"),
        "started": str(record.get("started", "")),
        "seed": record.get("seed", ""),
        **{name: version for name, version in record.get("versions", {}).items()},
        "platform": record.get("platform", ""),
        "commit": commit,
    }
    return table(["", ""], [(name, value) for name, value in rows.items() if value != ""])
