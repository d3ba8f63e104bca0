"""The config reference, from the schema that checks configs."""

import inspect

from docs.site.text import cell, plain, table
from tinynet.train.config.components import FAMILIES, INSIDE, Family
from tinynet.train.config.reference import first_line, kind_of, parameters, spelled
from tinynet.train.config.sections import LEFT_OUT, SECTIONS, field_docs, settings
from tinynet.train.metrics.registry import METRICS


def part() -> str:
    """Return all sections with their types, and the metrics."""
    parts = [section(name) for name in SECTIONS]
    parts += [f"## Types inside others: {name}\n\n{types(of)}" for name, of in INSIDE.items()]
    rows = ([f"`{name}`", cell(metric.meaning)] for name, metric in METRICS.items())
    return "\n\n".join([*parts, "## Metrics", table(["metric", "meaning"], rows)])


def section(name: str) -> str:
    """Return the purpose, the keys and the types of a section."""
    cls = SECTIONS[name]
    note = "" if name not in LEFT_OUT else " Optional."
    parts = [f"## [{name}]", plain(inspect.getdoc(cls) or "") + note]
    docs = field_docs(cls)
    rows = []
    for key, field in settings(cls).items():
        must = f" It must {field.metadata['must']}." if "must" in field.metadata else ""
        rows.append([f"`{key}`", cell(kind_of(name, key)), cell(docs[key] + must)])
    if rows:
        parts.append(table(["key", "value", "meaning"], rows))
    if name in FAMILIES:
        parts.append(f"### Types of {name}\n\n{types(FAMILIES[name])}")
    return "\n\n".join(parts)


def types(family: Family) -> str:
    """Return the table of the values of `type`, with their keys."""
    rows = []
    for name, target in sorted(family.names().items()):
        keys = ", ".join(spelled(p) for p in parameters(target, family))
        rows.append([f"`{name}`", cell(first_line(target)), f"`{keys}`" if keys else ""])
    return table(["type", "description", "keys (in brackets: optional)"], rows)
