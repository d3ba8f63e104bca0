"""The parts of the page on compiled functions: a captured program, and measured steps."""

import contextlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from docs.site.compiled import folded
from docs.site.text import fenced
from tinynet.core.declaration.operation import REGISTRY
from tinynet.ops import everything as everything

DOCS = Path(__file__).parents[1]
MEASURED = {
    "tinynet µs": "eager",
    "compiled µs": "compiled",
    "compiled by LLVM µs": "by LLVM",
    "PyTorch µs": "PyTorch",
    "torch.compile µs": "`torch.compile`",
    "JAX jit µs": "JAX jit",
}
"""Column of the benchmarks -> its head on the page."""


def compiled_step() -> dict[str, Any]:
    """Run the first program of the page; return its variables."""
    text = (DOCS / "compile.md").read_text(encoding="utf-8")
    (first, *_) = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    page: dict[str, Any] = {}
    with contextlib.redirect_stdout(None):
        exec(compile(first, "compile.md", "exec"), page)
    return page


def explained() -> str:
    """Return the explanation of the compiled step."""
    return fenced(str(compiled_step()["static"].explain()), "text")


def program() -> str:
    """Return the source of the compiled step, and its guards."""
    page = compiled_step()
    ((entry,),) = page["static"]._entries.values()
    names = named(entry.run.__globals__, page)
    source = re.sub(r"\bk\d+\b", lambda k: names.get(k[0], k[0]), entry.run.source)
    guards = re.search(r"fits = (.*)", source)
    if guards is None:
        return fenced(source, "python")
    shown = fenced(source.replace(guards[1], "..."), "python")
    return shown + "\n\n" + folded("The guards", guards[1].replace(" and ", "\nand "))


def named(constants: dict[str, Any], page: dict[str, Any]) -> dict[str, str]:
    """Return readable names for the constants of a program."""
    known = {id(value): name for name, value in page.items()}
    known[id(page)] = "globals"
    for path, module in page["net"].named_modules():
        name = re.sub(r"\.?(\d+)", r"[\1]", f"net.{path}" if path else "net")
        known |= {id(value): f"{name}.{key}" for key, value in vars(module).items()}
        known |= {id(module): name, id(vars(module)): f"vars({name})"}
    for path, p in page["net"].named_parameters():
        name = re.sub(r"\.?(\d+)", r"[\1]", f"net.{path}")
        known |= {id(p): name, id(p._array): f"{name}.array"}
    for op in REGISTRY.values():
        known |= {id(f): f"{op.name}_grad_{of}" for of, f in (op.formulas or {}).items()}
    return {
        key: known.get(id(value)) or getattr(value, "__qualname__", None) or repr(value)
        for key, value in constants.items()
        if not isinstance(value, np.ndarray) or id(value) in known
    }


def steps() -> str:
    """Return a table of the training steps that were measured last, in microseconds."""
    tables = json.loads((DOCS / "benchmarks/results.json").read_text(encoding="utf-8"))["tables"]
    table = next(t for t in tables if t["title"] == "Training steps")
    columns = [c for c in MEASURED if c in table["columns"]]
    lines = ["| step | " + " | ".join(f"{MEASURED[c]} µs" for c in columns) + " |"]
    lines.append("|---" + "|---:" * len(columns) + "|")
    for row in table["rows"]:
        found = dict(zip(table["columns"], row, strict=True))
        cells = ("-" if found[c] is None else f"{found[c]:,.0f}" for c in columns)
        lines.append(f"| {found['workload']}: {found['model']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
