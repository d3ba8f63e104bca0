"""mkdocs hooks that add generated pages and replace marks with generated parts.

A mark is a comment in a page, ``<!-- generated: NAME -->``, with a name in `PARTS`.
"""

import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
if str(ROOT) not in sys.path:  # mkdocs loads this file by its path
    sys.path.insert(0, str(ROOT))

from docs.site import (  # noqa: E402
    api,
    benchmarks,
    captured,
    commands,
    compiled,
    configs,
    departures,
    examples,
    situations,
)

PARTS = {
    "benchmarks": benchmarks.part,
    "compiled mul": compiled.out_of_place,
    "compiled mul_": compiled.in_place,
    "captured step": captured.program,
    "explained step": captured.explained,
    "measured steps": captured.steps,
    "examples": examples.part,
    "situations": situations.part,
    "configs": configs.part,
    "commands": commands.part,
    "departures": departures.part,
    "small departures": departures.small,
}
MARK = re.compile(r"<!-- generated: ([\w ]+) -->")


def on_config(config: Any) -> Any:
    """Fill the section API, and append unlisted pages to a section."""
    sections = {title: pages for section in config.nav for title, pages in section.items()}
    sections["Reference"].append({"API": list(api.addresses())})
    placed = {page for pages in sections.values() for page in pages if isinstance(page, str)}
    docs = Path(config.docs_dir)
    found = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    for page in sorted(found - placed):  # those are of `python -m benchmarks --save`
        sections["Background" if page.startswith("benchmarks/") else "Guides"].append(page)
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are generated as a whole."""
    for uri, text in api.pages().items():
        files.append(File.generated(config, uri, content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace marks with the generated parts."""
    return MARK.sub(lambda mark: PARTS[mark[1]](), markdown)
