"""A graph in TensorBoard's terms: its names, and the checks before it is written.

This module knows names and edges, but no arrays: `build.py` makes a `Graph` from a recording;
`tensorboardx.py` converts it to bytes, `outline` to a text, `pictures.py` to images.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

# ---- names --------------------------------------------------------------------------------------
# Names of nodes and scopes that TensorBoard accepts, and values as short texts.


ATTRIBUTE_LIMIT = 1024  # TensorBoard shows longer attributes as "too large"
_ILLEGAL = re.compile(r"[^A-Za-z0-9_.\-]+")
# Bare names that TensorBoard's frontend confuses with properties of its own objects.
JAVASCRIPT = frozenset({"length", "constructor", "prototype", "toString", "valueOf"})


def clean(name: str) -> str:
    """Replace everything that a node name may not contain with `_`.

    Example:
        >>> from tinynet.board.graphs.graph import clean
        >>> clean("my key/π")
        'my_key_'
    """
    return _ILLEGAL.sub("_", name) or "_"


class Names:
    """Assigns names such that no two nodes are equal and no node is also a scope.

    TensorBoard renames a node `a` to `a/(a)` if there is an `a/b`, and merges nodes with equal
    names.
    """

    def __init__(self, scopes: Iterable[str] = ()) -> None:
        self._scopes: set[str] = set()
        self._nodes: set[str] = set()
        self._next: dict[str, int] = {}
        for scope in scopes:
            self.reserve(scope)

    def reserve(self, scope: str) -> None:
        """Reserve a scope and its parent scopes, so that no node takes their names."""
        while scope and scope not in self._scopes:
            self._scopes.add(scope)
            scope = scope.rpartition("/")[0]

    def node(self, path: str) -> str:
        """Return a node name: the path itself, or with the first free suffix `_1`, `_2`, ..."""
        name = self._free(path)
        self._nodes.add(name)
        self.reserve(name.rpartition("/")[0])
        return name

    def scope(self, path: str, again: bool) -> str:
        """Return a scope name: the path itself, or, with `again`, with a free suffix."""
        name = self._free(path) if again or path in self._nodes else path
        self.reserve(name)
        return name

    def _free(self, path: str) -> str:
        if path[:1] in "_-":  # a name may not start with these
            path = f".{path}"
        name, number = path, self._next.get(path, 0)
        while name in self._nodes or name in self._scopes or name in JAVASCRIPT:
            number += 1
            name = f"{path}_{number}"
        self._next[path] = number
        return name


def join(scope: str, name: str) -> str:
    """Return the path of a name in a scope."""
    return f"{scope}/{clean(name)}" if scope else clean(name)


def scopes_of(name: str) -> list[str]:
    """Return all scopes around a node, outermost first.

    Example:
        >>> from tinynet.board.graphs.graph import scopes_of
        >>> scopes_of("a/b/c")
        ['a', 'a/b']
    """
    parts = name.split("/")
    return ["/".join(parts[:end]) for end in range(1, len(parts))]


def show(value: object) -> str:
    """Return a value as a short, single-line text, without the contents of large arrays.

    Example:
        >>> from tinynet.board.graphs.graph import show
        >>> show((1, 2)), show("mean"), show(None)
        ('(1, 2)', 'mean', 'None')
    """
    if isinstance(value, np.ndarray):
        return f"{value.dtype.name}{list(value.shape)}"
    fields = getattr(value, "_fields", None)
    if isinstance(value, tuple) and fields:  # a named tuple
        text = ", ".join(f"{key} {show(item)}" for key, item in zip(fields, value, strict=True))
    elif isinstance(value, (tuple, list)):
        left, right = "()" if isinstance(value, tuple) else "[]"
        text = f"{left}{', '.join(show(item) for item in value)}{right}"
    else:
        text = value if isinstance(value, str) else repr(value)
    encoded = " ".join(text.split()).encode()
    if len(encoded) <= ATTRIBUTE_LIMIT - 24:  # leaves room for the surrounding message
        return encoded.decode()
    return encoded[: ATTRIBUTE_LIMIT - 32].decode(errors="ignore") + "..."


# ---- scopes -------------------------------------------------------------------------------------
# The module call that an operation belongs to, as a name scope.
#
# Calls, not modules: in `self.relu(self.relu(x))` one module runs twice, and each call has its own
# scope. `tinynet.core.trace` reports when a call begins and ends, so nothing is registered
# on the modules, and a forward pass that raises is tracked, too.


class Root:
    """A model: a module called from outside of all modules, and the paths of its submodules."""

    def __init__(self, module: Any, label: str) -> None:
        self.module = module
        self.label = label
        self.modules: dict[int, Any] = {}
        self.paths: dict[int, list[str]] = {}
        self.scopes = {"": label}  # attribute path -> scope of a module called once
        for path, below in module.named_modules(remove_duplicate=False):
            self.modules[id(below)] = below
            self.paths.setdefault(id(below), []).append(path)
            if path:
                outer, _, name = path.rpartition(".")
                own = f"{clean(type(below).__name__)}[{clean(name)}]"
                self.scopes[path] = f"{self.scopes[outer]}/{own}"

    def all_paths(self) -> Iterator[tuple[str, Any]]:
        """Yield all modules with all their paths."""
        for key, module in self.modules.items():
            for path in self.paths[key]:
                yield path, module


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a module."""

    module: Any
    scope: str
    root: Root
    path: str | None  # the attribute path in the root; None for a module outside of it
    outer: Call | None


class Calls:
    """The scopes of calls: the name of the model (by default its class), then its modules.

    A module is named like in PyTorch, `Class[attribute]`: `Net/ReLU[act]`, with a suffix when
    called again: `Net/ReLU[act]_1`. A module with several paths in the model (shared) has the one
    through the module that calls it.

    Args:
        names: assigns the scopes.
        models: models registered in advance, by name.
        outermost: called for each call from outside of modules, before its hooks run.
    """

    def __init__(
        self, names: Names, models: Mapping[str, Any], outermost: Callable[[Call], None]
    ) -> None:
        self.roots: list[Root] = []
        self.current: Call | None = None
        self.classes: dict[str, str] = {}  # scope of a call -> class of its module
        self.paths: dict[str, str] = {}  # scope of a call -> path of its module; see `_full_path`
        self._names = names
        self._outermost = outermost
        self._used: set[str] = set()
        for label, module in models.items():
            self.add(module, clean(label))

    def add(self, module: Any, label: str) -> Root:
        """Register a model."""
        labels = {root.label for root in self.roots}
        unique, number = label, 1
        while unique in labels:
            number += 1
            unique = f"{label}{number}"
        root = Root(module, unique)
        self.roots.append(root)
        for scope in root.scopes.values():
            self._names.reserve(scope)
        return root

    def entered(self, module: Any) -> None:
        """Record the beginning of a call."""
        outer = self.current
        if outer is None:
            root, path = self._outside(module)
            wanted = root.scopes[path]
        else:
            root, found = outer.root, _through(module, outer)
            if found is None:
                call_scope = f"{outer.scope}/{clean(type(module).__name__)}"
                self._enter(module, call_scope, root, None)
                return
            path = found
            wanted = root.scopes[path]
            if outer.path is not None and _is_below(path, outer.path):
                wanted = outer.scope + wanted.removeprefix(root.scopes[outer.path])
        self._enter(module, wanted, root, path)

    def left(self, module: Any) -> None:
        """Record the end of the innermost call."""
        if self.current is not None:  # ignore a call that began before the recording
            self.current = self.current.outer

    def _outside(self, module: Any) -> tuple[Root, str]:
        for root in self.roots:
            if id(module) in root.paths:
                return root, root.paths[id(module)][0]
        return self.add(module, clean(type(module).__name__)), ""

    def _enter(self, module: Any, wanted: str, root: Root, path: str | None) -> None:
        name = self._names.scope(wanted, again=path is None or wanted in self._used)
        self._used.add(wanted)
        self.classes[name] = clean(type(module).__name__)
        call = Call(module, name, root, path, self.current)
        self.paths[name] = self._full_path(call)
        self.current = call
        if call.outer is None:
            self._outermost(call)

    def _full_path(self, call: Call) -> str:
        """Return the path in the first model; paths in others begin with their label."""
        if call.path is None:  # a module that is not part of the model
            outer = "" if call.outer is None else self.paths[call.outer.scope]
            return ".".join(filter(None, [outer, clean(type(call.module).__name__)]))
        label = "" if call.root is self.roots[0] else call.root.label
        return ".".join(filter(None, [label, call.path]))


def _through(module: Any, caller: Call) -> str | None:
    """Return a module's path through its caller, or its first one; None for unknown modules."""
    paths = caller.root.paths.get(id(module))
    if paths is None:
        return None
    if caller.path is not None:
        for path in paths:
            if _is_below(path, caller.path):
                return path
    return paths[0]


def _is_below(path: str, outer: str) -> bool:
    """Return whether a path is inside another one."""
    return path.startswith(f"{outer}.") if outer else path != ""


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
