"""The saved results, as Markdown, JSON and plots; a new measurement replaces its own tables."""

import json
import re
from dataclasses import asdict
from pathlib import Path

from benchmarks.tables import Table

INDEX = "results.json"


def save(tables: list[Table], folder: Path) -> None:
    """Write the tables and their plots beside the tables of earlier measurements in a folder."""
    from benchmarks import plots

    folder.mkdir(parents=True, exist_ok=True)
    kept = {table.title: table for table in saved(folder)}
    kept.update({table.title: table for table in tables})
    measured = {table.title for table in tables}
    parts, about = ["# Measured\n"], ""
    for table in kept.values():
        if table.about != about:
            about = table.about
            parts.append(f"{about}\n")
        parts.append(table.markdown())
        name = "_".join(re.findall(r"\w+", table.title.lower())) + ".png"
        plot = plots.kind_of(table)
        if plot is not None:
            parts.append(f"![{table.title}: tinynet and PyTorch]({name})\n")
            if table.title in measured:
                plot(table, folder / name)
    (folder / "results.md").write_text("\n".join(parts), encoding="utf-8")
    content = {"tables": [asdict(table) for table in kept.values()]}
    (folder / INDEX).write_text(json.dumps(content, indent=1), encoding="utf-8")


def saved(folder: Path) -> list[Table]:
    """Return the tables of earlier measurements."""
    path = folder / INDEX
    if not path.exists():
        return []
    tables = json.loads(path.read_text(encoding="utf-8"))["tables"]
    return [Table(**table, quiet=True) for table in tables]
