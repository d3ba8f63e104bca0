"""Graphs as pictures: scopes as boxes, the overview with one box per module, Graphviz's DOT."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tinynet.board.graphs.graph import SOURCES, Graph, Node, by_scope, duration, producer, size
from tinynet.board.graphs.layout import STYLES, Arrow, Box, render

# ---- picture ------------------------------------------------------------------------------------
# Graphs as pictures: outer scopes as boxes, colored by forward, backward and update.


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
        >>> from tinynet.board.graphs.pictures import _short
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


# ---- conceptual ---------------------------------------------------------------------------------
# The overview of a graph: one box per module, as Keras draws its models.
#
# A module that calls no other module is a box with one layer. Where a module computes something
# itself (such as a residual sum), each operation is a separate layer. The edges follow from those
# of operations. The scope of a single model is left out, so that its modules are seen at once.
#
# Note [Names that are whole]
# TensorBoard cuts names at a width: that of a scope, which is a box,
# later than that of a node, an oval. It writes longer names of boxes in smaller letters, so a name
# that is slightly too wide fits with spaces after it, which browsers do not show. A class and an
# attribute that do not fit together are shortened to one of them.
#
# Source: tensorboard/plugins/graph/keras_util.py, the reader of this format.


_KEPT = ("Input", "Output")
_BOX, _OVAL = 51.9, 29.9  # pixels for names, of TensorBoard's 52 and 30
_LARGE, _SMALL = (11, 9.0), (18, 6.0)  # characters and pixels of the letters; between these, linear
_OVAL_LETTERS = 6
# The widths of Roboto's letters, TensorBoard's font, in hundredths of their size.
_ROBOTO = {24: "ijl|:", 25: " ", 26: ".", 27: "I[]", 28: "-", 33: "t", 34: "r()", 35: "f", 45: "_"}
_ROBOTO |= {47: "y", 48: "v", 50: "xz", 51: "k", 52: "cs", 53: "e", 54: "La", 55: "FJhnu"}
_ROBOTO |= {57: "Eoq", 59: "S", 60: "TYZ", 62: "BR", 63: "KPX", 64: "V", 65: "ACU", 66: "D"}
_ROBOTO |= {68: "G", 69: "OQ", 71: "HN", 75: "w", 87: "M", 88: "m", 89: "W"}
_WIDTH = {letter: width / 100 for width, letters in _ROBOTO.items() for letter in letters}
_USUAL = 0.56


def conceptual(graph: Graph, classes: Mapping[str, str], device: str) -> str:
    """Return the JSON of a Keras model that resembles the forward pass of a graph.

    Args:
        graph: the full graph.
        classes: the scope of each call of a module -> the class of the module.
        device: the device of the forward pass.
    """
    inner = {scope.rpartition("/")[0] for scope in classes}  # calls that call modules
    inner |= {"/".join(s.split("/")[:n]) for s in classes for n in range(1, s.count("/") + 1)}
    models = [scope for scope in inner & classes.keys() if "/" not in scope]
    names = _Names(models[0] if len(models) == 1 else "")
    layer_of: dict[str, str] = {}
    layers: dict[str, dict[str, Any]] = {}
    for node in graph.nodes:
        if node.device != device or (node.op not in _KEPT and not _computes(node)):
            continue
        own = node.scope in classes and node.scope not in inner
        kind = classes[node.scope] if own else _kind(node)
        name = names.box(node.scope, kind) if own else names.node(node.name, kind)
        layer_of[node.name] = name
        layer = layers.setdefault(name, _layer(name, kind, node))
        sources = (layer_of.get(source) for source in node.producers)
        layer["from"] |= dict.fromkeys(s for s in sources if s is not None and s != name)
    made = [_finished(layer) for layer in layers.values()]
    config = {"name": "", "layers": made, "input_layers": [], "output_layers": []}
    return json.dumps({"class_name": "Functional", "config": config})


def _computes(node: Node) -> bool:
    return node.cost is not None or node.op == "Repeated"


def _kind(node: Node) -> str:
    kind = {"Input": "InputLayer", "Output": "Output"}.get(node.op)
    return kind or node.operation


def _layer(name: str, kind: str, node: Node) -> dict[str, Any]:
    config: dict[str, Any] = {"name": name}
    if node.outputs:
        config["dtype"] = node.outputs[0].dtype
    return {"class_name": kind, "config": config, "from": {}}


def _finished(layer: dict[str, Any]) -> dict[str, Any]:
    """Return the layer in Keras 3's form, with the sources of its arguments."""
    history = [{"config": {"keras_history": [name, 0, 0]}} for name in layer.pop("from")]
    return {**layer, "inbound_nodes": [{"args": [history], "kwargs": {}}] if history else []}


# ---- names -----------------------------------------------------------------------------------


class _Names:
    """Names of layers that TensorBoard shows whole; see the Note above.

    Args:
        model: the scope to leave out.
    """

    def __init__(self, model: str) -> None:
        self._found = {"": "", model: ""}
        self._used: set[str] = set()

    def node(self, name: str, kind: str) -> str:
        """Return the name of an operation: an oval if its name fits, else a box around it."""
        scope, _, own = name.rpartition("/")
        if _width(own) * _OVAL_LETTERS > _OVAL:
            return self.box(name, kind)
        if name not in self._found:
            self._found[name] = self._free(self._scope(scope), [own])
        return self._found[name]

    def box(self, scope: str, kind: str) -> str:
        """Return the name of a layer in a box of its own."""
        return f"{self._scope(scope)}/{kind}".removeprefix("/")

    def _scope(self, scope: str) -> str:
        if scope not in self._found:
            outer, _, own = scope.rpartition("/")
            fitting = [name for name in map(_fitted, _shortened(own)) if name]
            self._found[scope] = self._free(self._scope(outer), [*fitting, own])
        return self._found[scope]

    def _free(self, scope: str, candidates: list[str]) -> str:
        paths = [f"{scope}/{name}".removeprefix("/") for name in candidates]
        more = (f"{paths[-1]}_{number}" for number in range(1, len(self._used) + 2))
        name = next(path for path in (*paths, *more) if path.rstrip() not in self._used)
        self._used.add(name.rstrip())
        return name


def _shortened(name: str) -> Iterator[str]:
    """Yield a name, and shorter ones: of ``Class[attribute]`` the attribute, the end of the class.

    Example:
        >>> from tinynet.board.graphs.pictures import _shortened
        >>> [*_shortened("BatchNorm2d[norm]_1")], [*_shortened("CustomLayer[0]")]
        (['BatchNorm2d[norm]_1', 'norm_1'], ['CustomLayer[0]', 'Layer[0]'])
    """
    yield name
    found = re.fullmatch(r"(.+)\[(.+)\](_\w+)?", name)
    if not found:
        return
    kind, attribute, again = found[1], found[2], found[3] or ""
    if not attribute.isdecimal():
        yield f"{attribute}{again}"
        return
    for start in re.finditer("(?<=[a-z0-9])[A-Z]", kind):
        yield f"{kind[start.start() :]}[{attribute}]{again}"


def _fitted(name: str) -> str:
    """Return a name with the spaces with which it fits into a box; empty if it does not."""
    (few, large), (many, small) = _LARGE, _SMALL
    for length in range(len(name), many + 1):
        padded = name.ljust(length)
        share = (max(few, length) - few) / (many - few)
        if _width(padded) * (large + share * (small - large)) <= _BOX:
            return padded
    return ""


def _width(name: str) -> float:
    """Return about the width of a name in TensorBoard's font, relative to the size of letters."""
    return sum(_WIDTH.get(letter, _USUAL) for letter in name)


# ---- Graphviz's DOT ----


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
        >>> from tinynet.board.graphs.pictures import quoted
        >>> print(quoted('a "b"'))
        "a \"b\""
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
