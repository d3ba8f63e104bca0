"""The page: what is there, what is not, and why."""

import importlib
import json
from pathlib import Path
from typing import Any

import tinynet

from .reasons import reason

HERE = Path(__file__).parent
PAGE = HERE.parent / "coverage.md"
NAMES: dict[str, Any] = json.loads((HERE / "names.json").read_text(encoding="utf-8"))
NAMESPACES = {space: names for space, names in NAMES.items() if space != "PyTorch"}


INTRODUCTION = """# What of PyTorch is here

Generated from the public names of PyTorch {} by `python -m docs.coverage`. *Left out* are names
that tinynet does not mean to have, each with its reason; the share is that of the others."""
HEAD = """| namespace | names | there | left out | not yet | share |
|---|---:|---:|---:|---:|---:|"""


def here(namespace: str) -> Any:
    """tinynet's namespace of the same name; None if there is none."""
    name = namespace.replace("torch", "tinynet", 1)
    if namespace == "torch.Tensor":
        return tinynet.Tensor
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        parent, _, last = name.rpartition(".")
        return getattr(importlib.import_module(parent), last, None)


def missing(namespace: str) -> dict[str, str | None]:
    """The names that tinynet lacks, with the reason; None where they are only not there yet."""
    ours = here(namespace)
    lacking = [name for name in NAMESPACES[namespace] if not hasattr(ours, name)]
    return {name: reason(namespace, name) for name in lacking}


def share(namespace: str) -> float:
    """How much is there of what is not left out for a reason."""
    lacking = missing(namespace)
    wanted = len(NAMESPACES[namespace]) - sum(why is not None for why in lacking.values())
    there = len(NAMESPACES[namespace]) - len(lacking)
    return there / wanted if wanted else 1.0


def page() -> str:
    """The whole page, as Markdown."""
    parts = [INTRODUCTION.format(NAMES["PyTorch"]), HEAD]
    for space, names in NAMESPACES.items():
        lacking = missing(space)
        out = sum(why is not None for why in lacking.values())
        counts = [len(names), len(names) - len(lacking), out, len(lacking) - out]
        cells = " | ".join(map(str, counts))
        parts[-1] += f"\n| [`{space}`](#{anchor(space)}) | {cells} | {share(space):.0%} |"
    parts += [section(space) for space in NAMESPACES]
    return "\n\n".join(parts) + "\n"


def anchor(namespace: str) -> str:
    """The link target that Markdown makes of a heading."""
    return namespace.replace(".", "").lower()


def section(namespace: str) -> str:
    """One namespace: each name with yes or no."""
    lacking = missing(namespace)
    rows = ["| name | | |", "|---|---|---|"]
    for name in NAMESPACES[namespace]:
        answer = "yes" if name not in lacking else "no"
        rows.append(
            f"| `{name}` | {answer} | {(lacking.get(name) or '') if answer == 'no' else ''} |"
        )
    return f"## {namespace}\n\n" + "\n".join(rows)
