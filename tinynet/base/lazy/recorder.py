"""Prints which file declares which function and which method of Tensor, as JSON.

``python -m tinynet.base.lazy`` runs it with the modules to load, before any of tinynet is loaded.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from importlib.machinery import SourceFileLoader
from types import ModuleType
from typing import Any

TENSORS, SPECIAL = "tinynet.core.tensors.tensor", "tinynet.ops.special_functions"
KINDS = {"tinynet.Tensor": (TENSORS, "METHODS"), "tinynet.ops": (TENSORS, "FUNCTIONS")}
KINDS["tinynet.ops.special"] = SPECIAL, "SPECIAL"
homes: dict[str, dict[str, str]] = {kind: {} for kind in KINDS}
_execute = SourceFileLoader.exec_module


def declared(kind: str) -> dict[str, Any]:
    """Return what has been declared of a kind so far."""
    module, attribute = KINDS[kind]
    found: dict[str, Any] = getattr(sys.modules.get(module), attribute, {})
    return found


def exec_module(loader: SourceFileLoader, module: ModuleType) -> None:
    """Run a file; the names that there are only since then are its own."""
    _execute(loader, module)
    for kind, found in homes.items():
        for name in declared(kind):
            found.setdefault(name, module.__name__)


def table(kind: str) -> dict[str, str]:
    """Return the homes of the names of a kind, and of their aliases, as the table has them."""
    found = homes[kind]
    for other, first in vars(sys.modules[TENSORS])["ALIASES"].items():
        found |= {f"{other}{end}": found[first + end] for end in ("", "_") if first + end in found}
    if kind == "tinynet.Tensor":  # core's methods are there from the start
        found = {name: home for name, home in found.items() if ".core." not in home}
    properties = {name for name, value in declared(kind).items() if isinstance(value, property)}
    return {n: f"{home}:{'property' if n in properties else n}" for n, home in found.items()}


if __name__ == "__main__":
    SourceFileLoader.exec_module = exec_module  # type: ignore[assignment,method-assign]  # records each file
    sys.path[0] = ""
    for each in sys.argv[1:]:
        import_module(each)
    print(json.dumps({kind: table(kind) for kind in KINDS}))
