"""Graphs in Graphviz's DOT language."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tinynet.board.graphs.formats import by_scope, duration
from tinynet.board.graphs.graph import Graph, Node
from tinynet.board.graphs.layout import STYLES, Arrow, Box
from tinynet.board.graphs.pictures import style_of


def dot_of_boxes(boxes: Sequence[Box], arrows: Sequence[Arrow], title: str) -> str:
    """Return boxes and arrows in DOT."""
    lines = [f"  {_node(box.key, box.lines, box.style, box.tooltip)}" for box in boxes]
    lines += [_edge(a.start, a.end, a.label, "dashed" if a.dashed else "") for a in arrows]
    return _document(title, lines)


def dot_of_graph(graph: Graph, title: str = "graph") -> str:
    """Return a graph in DOT: scopes are clusters, control edges are dotted."""
    lines: list[str] = []
    level: list[str] = []
    for node in by_scope(graph):
        scopes = node.name.split("/")[:-1]
        while level != scopes[: len(level)]:
            lines.append("  " * len(level) + "}")
            level.pop()
        for part in scopes[len(level) :]:
            level.append(part)
            cluster = quoted("cluster_" + "/".join(level))
            lines.append(f"{'  ' * len(level)}subgraph {cluster} {{ label={quoted(part)};")
        tip = "\n".join(f"{key}: {value}" for key, value in node.attributes.items())
        shown = _node(node.name, _label(node), style_of(node), tip)
        lines.append("  " * (len(level) + 1) + shown)
    lines += ["  " * depth + "}" for depth in range(len(level), 0, -1)]
    for node in graph.nodes:
        for reference in node.inputs:
            name, _, number = reference.removeprefix("^").partition(":")
            style = "dotted" if reference.startswith("^") else ""
            lines.append(_edge(name, node.name, number, style))
    return _document(title, lines)


def _label(node: Node) -> list[str]:
    name = node.name.rpartition("/")[2]
    kind = node.operation if node.operation != name else ""
    time = duration(node.cost.time) if node.cost else ""
    return list(filter(None, [name, kind, *map(str, node.outputs[:1]), time]))


def _document(title: str, lines: Sequence[str]) -> str:
    head = [f"digraph {quoted(title)} {{", '  node [shape=box, style="rounded,filled"];']
    return "\n".join([*head, *lines, "}"]) + "\n"


def _node(key: str, lines: Iterable[str], style: str, tooltip: str) -> str:
    fill, border = STYLES[style]
    look = f'fillcolor="{fill}", color="{border}", tooltip={quoted(tooltip)}'
    return f"{quoted(key)} [label={quoted(chr(10).join(lines))}, {look}];"


def _edge(start: str, end: str, label: str, style: str) -> str:
    looks = [f"label={quoted(label)}"] if label else []
    looks += [f"style={style}"] if style else []
    options = f" [{', '.join(looks)}]" if looks else ""
    return f"  {quoted(start)} -> {quoted(end)}{options};"


def quoted(text: str) -> str:
    r"""Return a string of the DOT language.

    Example:
        >>> from tinynet.board.graphs.dot import quoted
        >>> print(quoted('a "b"'))
        "a \"b\""
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
