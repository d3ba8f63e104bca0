"""All tables: every `cases_*.py` of this folder has one."""

from __future__ import annotations

import importlib
from pathlib import Path

from .spec import Table

HERE = Path(__file__).parent
TABLES: dict[str, Table] = {}
for _path in sorted(HERE.glob("cases_*.py")):
    _table = importlib.import_module(f".{_path.stem}", __package__).TABLE
    assert _path.stem == f"cases_{_table.name}", f"{_path.name} names its table {_table.name!r}"
    TABLES[_table.name] = _table
