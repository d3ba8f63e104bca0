"""Graphs as indented text for terminals, and quantities with units."""

from __future__ import annotations

from collections.abc import Sequence

from tinynet.board.graphs.graph import SOURCES, Graph, Node
from tinynet.board.graphs.names import scopes_of

# ---- quantities ------------------------------------------------------------------------------


def duration(nanoseconds: float) -> str:
    """Return a time with a unit.

    Example:
        >>> from tinynet.board.graphs.formats import duration
        >>> duration(1500), duration(2_340_000)
        ('1.5 µs', '2.3 ms')
    """
    for unit, length in (("s", 1e9), ("ms", 1e6)):
        if nanoseconds >= length:
            return f"{nanoseconds / length:.1f} {unit}"
    return f"{nanoseconds / 1e3:.1f} µs"


def size(count: float) -> str:
    """Return a number of bytes with a unit.

    Example:
        >>> from tinynet.board.graphs.formats import size
        >>> size(24), size(2048), size(3_500_000)
        ('24 B', '2.0 kB', '3.5 MB')
    """
    for unit, length in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= length:
            return f"{count / length:.1f} {unit}"
    return f"{count:.0f} B"


# ---- outline ---------------------------------------------------------------------------------


def outline(graph: Graph, notes: Sequence[str] = ()) -> str:
    """Return the graph as an indented text, one line per scope and operation.

    Columns: name, type and shape of the first output, time, new memory, floating-point operations
    of products, the user's line, and the sources of the inputs.
    """
    rows: list[tuple[str, ...]] = []
    open_scopes: list[str] = []
    for node in by_scope(graph):
        scopes = node.name.split("/")[:-1]
        same = 0
        while same < min(len(scopes), len(open_scopes)) and scopes[same] == open_scopes[same]:
            same += 1
        rows += [
            ("  " * n + scopes[n] + "/", "", "", "", "", "", "") for n in range(same, len(scopes))
        ]
        open_scopes = scopes
        rows.append(_row(node, len(scopes)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)] if rows else []
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join([_summary(graph), *(f"folded: {note}" for note in notes), *lines]) + "\n"


def _summary(graph: Graph) -> str:
    costs = [node.cost for node in graph.nodes if node.cost is not None]
    flops = sum(int(node.attributes.get("flops", 0)) for node in graph.nodes)
    elements = sum(
        int(node.attributes.get("elements", 0)) for node in graph.nodes if node.op == "Parameter"
    )
    facts = [f"{len(costs)} operations", duration(sum(cost.time for cost in costs))]
    facts.append(size(sum(cost.memory for cost in costs)))
    facts += [f"{flops:,} flops"] if flops else []
    facts += [f"{elements:,} parameters"] if elements else []
    return ", ".join(facts)


def by_scope(graph: Graph) -> list[Node]:
    """Return the nodes grouped by scope, in execution order.

    Parameters and other sources come first in their scope.
    """
    first: dict[str, int] = {}  # scope -> when the first operation in it ran
    for number, node in enumerate(graph.nodes):
        if node.op not in SOURCES:
            for scope in scopes_of(node.name):
                first.setdefault(scope, number)
    unused = len(graph.nodes)

    def place(entry: tuple[int, Node]) -> list[int]:
        number, node = entry
        own = -1 if node.op in SOURCES and node.scope else number
        return [*(first.get(scope, unused) for scope in scopes_of(node.name)), own]

    return [node for _, node in sorted(enumerate(graph.nodes), key=place)]


def _row(node: Node, level: int) -> tuple[str, ...]:
    name = node.name.rpartition("/")[2]
    op = node.operation
    shown = name if name.partition("_")[0] == op or op == name else f"{name}: {op}"
    shape = str(node.outputs[0]) if node.outputs else node.attributes.get("value", "")
    time = duration(node.cost.time) if node.cost else ""
    memory = size(node.cost.memory) if node.cost and node.cost.memory else ""
    flops = f"{int(node.attributes['flops']):,} flops" if "flops" in node.attributes else ""
    line = node.attributes.get("source", "").partition(": ")[0].partition(" in ")[0]
    inputs = ", ".join(_short(reference, node.scope) for reference in node.inputs)
    came = f"<- {inputs}" if inputs else ""
    return ("  " * level + shown, shape, time, memory, flops, line, came)


def _short(reference: str, scope: str) -> str:
    """Return a reference relative to a scope: within the same scope it needs no path."""
    mark = "^" if reference.startswith("^") else ""
    name = reference.removeprefix("^")
    return mark + (name.removeprefix(f"{scope}/") if scope else name)
