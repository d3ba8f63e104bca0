"""The README's table of the cost of one operation."""

import re
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def part() -> str:
    """Return the section of the README, without its heading."""
    text = README.read_text(encoding="utf-8")
    (section,) = re.findall(r"^## What one operation costs\n(.*?)(?=^## )", text, re.S | re.M)
    return section.strip()
