"""The page: which names tinynet has, which it lacks, and why."""

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


INTRODUCTION = """# Coverage of PyTorch's names

`python -m docs.coverage` generates this page from the public names of PyTorch {}. Names are
*left out* deliberately, each for the reason given; the share refers to the others."""
HEAD = """| namespace | names | implemented | left out | missing | share |
|---|---:|---:|---:|---:|---:|"""


def here(namespace: str) -> Any:
    """Return tinynet's namespace of the same name, if there is one."""
    name = namespace.replace("torch", "tinynet", 1)
    if namespace == "torch.Tensor":
        return tinynet.Tensor
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        parent, _, last = name.rpartition(".")
        return getattr(importlib.import_module(parent), last, None)


def missing(namespace: str) -> dict[str, str | None]:
    """Return the names that tinynet lacks, with the reason; None if they are merely missing."""
    ours = here(namespace)
    lacking = [name for name in NAMESPACES[namespace] if not hasattr(ours, name)]
    return {name: reason(namespace, name) for name in lacking}


def share(namespace: str) -> float:
    """Return the implemented fraction of the names that are not left out."""
    lacking = missing(namespace)
    wanted = len(NAMESPACES[namespace]) - sum(why is not None for why in lacking.values())
    there = len(NAMESPACES[namespace]) - len(lacking)
    return there / wanted if wanted else 1.0


def page() -> str:
    """Return the whole page as Markdown."""
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
    """Return the link target of a heading."""
    return namespace.replace(".", "").lower()


def section(namespace: str) -> str:
    """Return the section of a namespace: each name with yes or no."""
    lacking = missing(namespace)
    rows = ["| name | | |", "|---|---|---|"]
    for name in NAMESPACES[namespace]:
        answer = "yes" if name not in lacking else "no"
        rows.append(
            f"| `{name}` | {answer} | {(lacking.get(name) or '') if answer == 'no' else ''} |"
        )
    return f"## {namespace}\n\n" + "\n".join(rows)
