"""Records of samples besides their answers, such as strides, in a file each; needs no PyTorch."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "answers"


class Column:
    """PyTorch's record by sample, ``add/float64/0``, and the differences from it that stay.

    Args:
        name: the name of the file.
        known: the reason of each difference, by a pattern.
    """

    def __init__(self, name: str, known: Mapping[str, str]):
        self._file, self._known = FOLDER / f"{name}.json", known

    def known(self, text: str) -> str | None:
        """Return the pattern that the whole text fits."""
        return next((p for p in self._known if re.fullmatch(p, text)), None)

    def unused(self, used: set[str | None]) -> list[str]:
        """Return the patterns that no difference fits: strike them."""
        return [pattern for pattern in self._known if pattern not in used]

    def load(self) -> dict[str, Any]:
        """Return the record."""
        return dict(json.loads(self._file.read_text(encoding="utf-8")))

    def save(self, found: Mapping[str, Any]) -> None:
        """Write the record, a line for each sample."""
        lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(found.items()))
        self._file.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
