"""A graph in TensorBoard's terms, and the checks before it is written.

This module knows names and edges, but no arrays: `build.py` makes a `Graph` from a recording;
`tensorboardx.py` converts it to bytes, `outline` to a text, `pictures.py` to images.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tinynet.board.graphs.names import JAVASCRIPT, scopes_of

_VALID_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\-/\[\]]*")
SOURCES = ("Input", "Parameter", "Buffer", "State", "Const")
"""The operation types of nodes that are not computed."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One output of a node: its shape and the name of its dtype."""

    shape: tuple[int, ...]
    dtype: str

    def __str__(self) -> str:
        return f"{self.dtype}{list(self.shape)}"


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a node: start time and duration (nanoseconds), bytes of new memory."""

    start: int
    time: int
    memory: int


@dataclass(slots=True)
class Node:
    """A node: a unique name (a path), an operation type, edges by name, and attributes."""

    name: str
    op: str
    inputs: list[str] = field(default_factory=list)
    outputs: list[Slot] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)
    device: str = ""
    cost: Cost | None = None

    @property
    def scope(self) -> str:
        """The path of the node's scope; empty for none."""
        return self.name.rpartition("/")[0]

    @property
    def phase(self) -> str:
        """The phase of the step, from its device: fwd, bwd or opt; empty for none."""
        return self.device.rpartition("device:")[2].partition(":")[0]

    @property
    def operation(self) -> str:
        """The name of its operation, which differs from its type for writes and inputs."""
        return self.attributes.get("operation", self.op)

    @property
    def producers(self) -> list[str]:
        """The names of the nodes that provide its data, without slots."""
        return [producer(ref) for ref in self.inputs if not ref.startswith("^")]


def producer(reference: str) -> str:
    """Return the name of the node that an input refers to.

    Example:
        >>> from tinynet.board.graphs.graph import producer
        >>> producer("a/b:1"), producer("^a/c")
        ('a/b', 'a/c')
    """
    return reference.removeprefix("^").partition(":")[0]


@dataclass(slots=True)
class Graph:
    """Nodes in execution order."""

    nodes: list[Node] = field(default_factory=list)

    def text(self) -> str:
        """Return one line per node: name, type, shape and inputs.

        Example:
            >>> from tinynet.board.graphs.graph import Graph, Node, Slot
            >>> out = [Slot((2, 3), "float32")]
            >>> nodes = [Node("input", "Input", [], out), Node("Net/relu", "relu", ["input"], out)]
            >>> print(Graph(nodes).text())
            input = Input() float32[2, 3]
            Net/relu = relu(input) float32[2, 3]
        """
        return "\n".join(_line(node) for node in self.nodes)

    def part(self, names: Collection[str], surroundings: bool = True) -> Graph:
        """Return the graph of some nodes.

        Args:
            names: the names of the nodes.
            surroundings: include the sources of their data, as inputs. Control edges from other
                nodes are left out in any case.
        """
        kept = set(names)
        around: set[str] = set()
        if surroundings:
            around = {name for node in self.nodes if node.name in kept for name in node.producers}
        given, nodes = kept | around, []
        for node in self.nodes:
            if node.name in kept:
                inside = [r for r in node.inputs if producer(r) in (kept if r[0] == "^" else given)]
                nodes.append(replace(node, inputs=inside))
            elif node.name in around and node.op in SOURCES:
                nodes.append(replace(node, inputs=[]))
            elif node.name in around:
                attributes = {**node.attributes, "operation": node.op, "part": "another graph"}
                nodes.append(replace(node, op="Input", inputs=[], attributes=attributes, cost=None))
        return Graph(nodes)

    def opened(self) -> Graph:
        """Return the content of its only scope, if all nodes are in one; else the graph itself.

        TensorBoard shows scopes closed, so a graph in one scope would begin as a single box.
        """
        scopes = {node.name.partition("/")[0] if "/" in node.name else "" for node in self.nodes}
        (scope, *others) = scopes or {""}
        if others or not scope:
            return self
        names = {node.name: node.name.partition("/")[2] for node in self.nodes}
        inside = Graph(
            [
                replace(
                    node, name=names[node.name], inputs=[_renamed(r, names) for r in node.inputs]
                )
                for node in self.nodes
            ]
        )
        return self if problems(inside) else inside


def _renamed(reference: str, names: Mapping[str, str]) -> str:
    return reference.replace(name := producer(reference), names[name], 1)


def _line(node: Node) -> str:
    shapes = ", ".join(map(str, node.outputs))
    return f"{node.name} = {node.op}({', '.join(node.inputs)}) {shapes}".rstrip()


# ---- checking --------------------------------------------------------------------------------


def problems(graph: Graph) -> list[str]:
    """Return everything that TensorBoard would reject or draw wrongly; empty if there is nothing.

    Names must be valid and unique, and no node may also be a scope; every input must be an earlier
    node and an existing slot; no operation type may be empty.
    """
    found: list[str] = []
    scopes = {scope for node in graph.nodes for scope in scopes_of(node.name)}
    earlier: dict[str, Node] = {}
    if not graph.nodes:
        found.append("the graph has no nodes")
    for node in graph.nodes:
        if not _VALID_NAME.fullmatch(node.name) or "//" in node.name or node.name.endswith("/"):
            found.append(f"{node.name!r} is not a valid node name")
        if node.name in JAVASCRIPT:
            found.append(f"{node.name!r} is a name that TensorBoard uses itself")
        if node.name in earlier:
            found.append(f"two nodes are called {node.name!r}")
        if node.name in scopes:
            found.append(f"{node.name!r} is a node and a scope")
        if not node.op:
            found.append(f"{node.name!r} has no operation type")
        found.extend(_input_problems(node, earlier))
        earlier[node.name] = node
    return found


def _input_problems(node: Node, earlier: Mapping[str, Node]) -> list[str]:
    found = []
    for reference in node.inputs:
        name, _, slot = reference.removeprefix("^").partition(":")
        producer = earlier.get(name)
        if producer is None:
            found.append(f"input {reference!r} of {node.name!r} is not an earlier node")
        elif slot and not (slot.isdecimal() and int(slot) < len(producer.outputs)):
            found.append(f"input {reference!r} of {node.name!r}: there is no such output")
    return found


# ---- as text ----


# ---- quantities ------------------------------------------------------------------------------


def duration(nanoseconds: float) -> str:
    """Return a time with a unit.

    Example:
        >>> from tinynet.board.graphs.graph import duration
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
        >>> from tinynet.board.graphs.graph import size
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
