"""Graphs as pictures: outer scopes as boxes, colored by forward, backward and update."""

from __future__ import annotations

from tinynet.board.graphs.formats import duration, size
from tinynet.board.graphs.graph import SOURCES, Graph, Node, producer
from tinynet.board.graphs.svg import Arrow, Box, render

_READABLE = 70  # boxes; more are only drawn on request
_HIDDEN = ("Parameter", "Buffer", "State", "Const")
_STYLES = {"fwd": "forward", "bwd": "backward", "opt": "optimizer"}


def picture(graph: Graph, depth: int | None = None, title: str = "graph") -> str:
    """Return the graph as SVG.

    Leaves out parameters, constants, the state of optimizers, bookkeeping of buffers (running
    statistics), and edges that carry saved values from forward to backward.

    Args:
        graph: the graph.
        depth: the number of scope levels to expand; by default as many as stay readable.
        title: the title of the document.
    """
    nodes = _shown(graph)
    deepest = max((node.name.count("/") for node in nodes), default=0)
    if depth is None:
        depths = range(deepest, 0, -1)
        depth = next((d for d in depths if len({_box_of(n, d) for n in nodes}) <= _READABLE), 0)
    groups: dict[str, list[Node]] = {}
    for node in nodes:
        groups.setdefault(_box_of(node, depth), []).append(node)
    boxes = [_box(key, members) for key, members in groups.items()]
    return render(boxes, _arrows(nodes, depth), title)


def _shown(graph: Graph) -> list[Node]:
    books = _kept(graph)  # also buffers and constants, and nodes computed only from them
    found = []
    for node in graph.nodes:
        sources = node.producers
        if node.name in books:
            continue
        if node.op in ("Buffer", "Const") and node.phase == "fwd":
            books.add(node.name)
        elif sources and books.issuperset(sources):
            books.add(node.name)
        elif node.op not in _HIDDEN or (node.op == "Const" and node.phase == "bwd"):
            found.append(node)
    return found


def _kept(graph: Graph) -> set[str]:
    """Return writes to buffers that nothing reads afterwards: running statistics."""
    buffers = {node.name for node in graph.nodes if node.op == "Buffer"}
    writes = set()
    for node in graph.nodes:
        if node.op.startswith("Assign") and node.producers[0] in buffers:
            buffers.add(node.name)
            writes.add(node.name)
    read: set[str] = set()
    for node in reversed(graph.nodes):
        if node.name not in writes or node.name in read:
            writes.discard(node.name)
            read.update(node.producers)
    return writes


def _box_of(node: Node, depth: int) -> str:
    """Return the box of a node: its scope up to a depth, or the node itself above that."""
    return "/".join(node.name.split("/")[: depth + 1])


def _box(key: str, members: list[Node]) -> Box:
    first = members[0]
    costs = [node.cost for node in members if node.cost is not None]
    time = duration(sum(cost.time for cost in costs)) if costs else ""
    shown = _short(key)
    if len(members) == 1 and first.name == key:
        op = first.operation
        kind = "" if op.lower() in shown.lower() else op
        shape = str(first.outputs[0]) if first.outputs else first.attributes.get("value", "")
        lines = [shown, kind, shape, time]
        facts = [f"{name}: {value}" for name, value in first.attributes.items()]
        return Box(
            key, tuple(filter(None, lines)), style_of(first), "\n".join([first.name, *facts])
        )
    memory = size(sum(cost.memory for cost in costs)) if any(c.memory for c in costs) else ""
    inside = f"{len(members)} operations" if len(members) > 1 else first.operation
    lines = list(filter(None, [shown, inside, f"{time}  {memory}".strip()]))
    names = [node.name for node in members]
    more = [f"and {len(names) - 20} more"] if len(names) > 20 else []
    style = _STYLES.get(first.phase, "source")
    return Box(key, tuple(lines), style, "\n".join([key, *names[:20], *more]), stacked=True)


def style_of(node: Node) -> str:
    """Return the style of a node's box: its phase, unless it is a source or a fold."""
    if node.op == "Repeated":
        return "folded"
    return "source" if node.op in (*SOURCES, "Output") else _STYLES.get(node.phase, "source")


def _short(key: str) -> str:
    """Return the end of a path: the name and its scope, extended past numeric parts.

    Example:
        >>> from tinynet.board.graphs.picture import _short
        >>> _short("net/layers/0/act"), _short("net/body/fc/addmm")
        ('layers/0/act', 'fc/addmm')
    """
    parts = key.split("/")
    first = max(0, len(parts) - 2)
    while first and parts[first].isdecimal():
        first -= 1
    return "/".join(parts[first:])


def _arrows(nodes: list[Node], depth: int) -> list[Arrow]:
    known = {node.name: node for node in nodes}
    arrows: dict[tuple[str, str], Arrow] = {}
    for node in nodes:
        for reference in node.inputs:
            before = known.get(producer(reference))
            if before is None:
                continue
            order_only = reference.startswith("^")
            if not order_only and (before.phase, node.phase) == ("fwd", "bwd"):
                continue  # a saved value
            start, end = _box_of(before, depth), _box_of(node, depth)
            if start != end:
                arrows.setdefault((start, end), Arrow(start, end, dashed=order_only))
    return list(arrows.values())
