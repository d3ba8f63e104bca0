"""A graph as TensorBoard draws it: built from what ran, and checked before it is written.

This file knows arrays, names and edges. It knows no Module and no Tensor: `recorder.py` says what
ran and under which scope; `tensorboardx.py` turns a `Graph` into bytes.

Note [How an input finds its producer]
By identity: the array that an operation put out is the very object that the next one takes in. A
view (or `detach`) may wrap the same memory in another object; then the place in memory decides
(address, shape, strides, type). Arrays stay alive while the graph is built, so neither can be
reused. An in-place operation puts out the array that it took in, and becomes its producer; an
alias that was made earlier and is read later gets a control edge from that write, so the order of
side effects stays visible.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from tinynet.dtypes import Array

ATTRIBUTE_LIMIT = 1024  # TensorBoard shows longer attributes as "too large"
_ILLEGAL = re.compile(r"[^A-Za-z0-9_.\-]+")
_VALID_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\-/]*")
# Bare names that TensorBoard's frontend confuses with properties of its own objects.
_JAVASCRIPT = frozenset({"length", "constructor", "prototype", "toString", "valueOf"})
_SHOWN_VALUES = 8  # constants up to this many elements show their values


@dataclass(frozen=True, slots=True)
class Slot:
    """One output of a node: its shape and the name of its dtype."""

    shape: tuple[int, ...]
    dtype: str


@dataclass(slots=True)
class Node:
    """One node: a unique name (a path), an operation type, edges by name, and attributes."""

    name: str
    op: str
    inputs: list[str] = field(default_factory=list)
    outputs: list[Slot] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)
    device: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """What exists before the first operation: a parameter, a buffer, an input (None: no array)."""

    name: str
    op: str
    array: Array | None
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation that ran: the arrays that went in and came out, under the scope of its module.

    `writes` says that its outputs are arrays that existed before, changed in place.
    """

    op: str
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    scope: str = ""
    attributes: Mapping[str, object] = field(default_factory=dict)
    writes: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """An output of the whole: a name, and the array (or another value, shown as text)."""

    name: str
    value: object


@dataclass(slots=True)
class Graph:
    """Nodes in the order in which they ran."""

    nodes: list[Node] = field(default_factory=list)

    def text(self) -> str:
        """One line per node: name, type, shape and inputs.

        Example:
            >>> from tinynet.board.graph import Graph, Node, Slot
            >>> out = [Slot((2, 3), "float32")]
            >>> nodes = [Node("input", "Input", [], out), Node("Net/relu", "relu", ["input"], out)]
            >>> print(Graph(nodes).text())
            input = Input() float32[2, 3]
            Net/relu = relu(input) float32[2, 3]
        """
        return "\n".join(_line(node) for node in self.nodes)


def _line(node: Node) -> str:
    shapes = ", ".join(f"{slot.dtype}{list(slot.shape)}" for slot in node.outputs)
    return f"{node.name} = {node.op}({', '.join(node.inputs)}) {shapes}".rstrip()


# ---- names -----------------------------------------------------------------------------------


def clean(name: str) -> str:
    """The name with everything that a node name may not contain replaced by `_`.

    Example:
        >>> from tinynet.board.graph import clean
        >>> clean("my key/π")
        'my_key_'
    """
    return _ILLEGAL.sub("_", name) or "_"


class Names:
    """Hands out names so that no two nodes are equal and no node is also a scope.

    TensorBoard renames a node `a` to `a/(a)` when there is an `a/b`, and merges what has equal
    names.
    """

    def __init__(self, scopes: Iterable[str] = ()) -> None:
        self._scopes: set[str] = set()
        self._nodes: set[str] = set()
        self._next: dict[str, int] = {}
        for scope in scopes:
            self.reserve(scope)

    def reserve(self, scope: str) -> None:
        """Keep a scope and all scopes around it free of nodes."""
        while scope and scope not in self._scopes:
            self._scopes.add(scope)
            scope = scope.rpartition("/")[0]

    def node(self, path: str) -> str:
        """A node name: the path itself, or with the first free suffix `_1`, `_2`, ..."""
        name = self._free(path)
        self._nodes.add(name)
        self.reserve(name.rpartition("/")[0])
        return name

    def scope(self, path: str, again: bool) -> str:
        """A scope name: the path itself, or (if it was used before: `again`) with a free suffix."""
        name = self._free(path) if again or path in self._nodes else path
        self.reserve(name)
        return name

    def _free(self, path: str) -> str:
        if path[:1] in "_-":  # a name may not start with these
            path = f".{path}"
        name, number = path, self._next.get(path, 0)
        while name in self._nodes or name in self._scopes or name in _JAVASCRIPT:
            number += 1
            name = f"{path}_{number}"
        self._next[path] = number
        return name


# ---- building --------------------------------------------------------------------------------


@dataclass(slots=True)
class _Produced:
    """Who put out an array, in which slot, and when (the number of the step)."""

    reference: str
    node: str
    step: int


class GraphBuilder:
    """Turns sources, operations and results, given in their order, into a `Graph`."""

    def __init__(self, names: Names | None = None) -> None:
        self.graph = Graph()
        self._names = Names() if names is None else names
        self._by_identity: dict[int, _Produced] = {}
        self._by_place: dict[object, _Produced] = {}
        self._last_write: dict[int, _Produced] = {}
        self._alive: list[object] = []
        self._step = 0

    def source(self, source: Source) -> None:
        """A node without inputs. An array that is already known gets no second node."""
        if id(source.array) not in self._by_identity:
            arrays = () if source.array is None else (source.array,)
            node = self._add(source.name, source.op, arrays)
            node.attributes.update(source.attributes)

    def operation(self, operation: Operation) -> None:
        """A node for one operation, linked to the producers of its inputs."""
        inputs = [self._reference(array, operation.scope) for array in operation.inputs]
        controls = self._controls(operation.inputs)
        node = self._add(_join(operation.scope, operation.op), operation.op, operation.outputs)
        node.inputs = inputs + controls
        node.attributes = {
            clean(key): show(value)
            for key, value in operation.attributes.items()
            if key != "dtype"  # every node shows the dtype of its output under this name
        }
        if operation.writes:
            for array in operation.outputs:
                self._last_write[_storage(array)] = self._by_identity[id(array)]

    def result(self, result: Result) -> None:
        """A node that ends the graph: one output of the model."""
        name = self._names.node(result.name)
        if isinstance(result.value, np.ndarray):
            node = Node(name, "Output", [self._reference(result.value, "")], [_slot(result.value)])
            node.inputs += self._controls((result.value,))
        else:
            node = Node(name, "Output", attributes={"value": show(result.value)})
        self.graph.nodes.append(node)

    def _add(self, path: str, op: str, outputs: tuple[Array, ...]) -> Node:
        node = Node(self._names.node(path), op, outputs=[_slot(array) for array in outputs])
        self.graph.nodes.append(node)
        self._step += 1
        for index, array in enumerate(outputs):
            reference = f"{node.name}:{index}" if index else node.name
            produced = _Produced(reference, node.name, self._step)
            self._by_identity[id(array)] = produced
            if array.size:
                self._by_place[_place(array)] = produced
        self._alive.extend(outputs)
        return node

    def _find(self, array: Array) -> _Produced | None:
        found = self._by_identity.get(id(array))
        if found is None and array.size:
            found = self._by_place.get(_place(array))
        return found

    def _reference(self, array: Array, scope: str) -> str:
        found = self._find(array)
        if found is None:
            node = self._add(_join(scope, "Const"), "Const", (array,))
            if array.size <= _SHOWN_VALUES:
                node.attributes["value"] = show(array.tolist())
            found = self._by_identity[id(array)]
        return found.reference

    def _controls(self, arrays: tuple[Array, ...]) -> list[str]:
        """Control edges from later writes to the memory of these arrays; see the Note above."""
        controls = []
        for array in arrays:
            write, read = self._last_write.get(_storage(array)), self._find(array)
            if write and read and write.step > read.step and f"^{write.node}" not in controls:
                controls.append(f"^{write.node}")
        return controls


def _join(scope: str, name: str) -> str:
    return f"{scope}/{clean(name)}" if scope else clean(name)


def _slot(array: Array) -> Slot:
    return Slot(array.shape, array.dtype.name)


def _place(array: Array) -> object:
    address = array.__array_interface__["data"][0]
    return address, array.shape, array.strides, array.dtype.str


def _storage(array: Array) -> int:
    """The identity of the memory that an array is a view of."""
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    return id(root)


def show(value: object) -> str:
    """A value as the text of an attribute: short, one line, never the contents of a large array.

    Example:
        >>> from tinynet.board.graph import show
        >>> show((1, 2)), show("mean"), show(None)
        ('(1, 2)', 'mean', 'None')
    """
    if isinstance(value, np.ndarray):
        return f"{value.dtype.name}{list(value.shape)}"
    if isinstance(value, (tuple, list)):
        left, right = "()" if isinstance(value, tuple) else "[]"
        text = f"{left}{', '.join(show(item) for item in value)}{right}"
    else:
        text = value if isinstance(value, str) else repr(value)
    encoded = " ".join(text.split()).encode()
    if len(encoded) <= ATTRIBUTE_LIMIT - 24:  # what the message around the text needs
        return encoded.decode()
    return encoded[: ATTRIBUTE_LIMIT - 32].decode(errors="ignore") + "..."


# ---- checking --------------------------------------------------------------------------------


def problems(graph: Graph) -> list[str]:
    """Everything that TensorBoard would choke on or draw wrongly; empty when the graph is fine.

    Names are valid and unique and no node is also a scope; every input is an earlier node, and a
    slot that it has; no operation type is empty.
    """
    found: list[str] = []
    scopes = {scope for node in graph.nodes for scope in _scopes_of(node.name)}
    earlier: dict[str, Node] = {}
    if not graph.nodes:
        found.append("the graph has no nodes")
    for node in graph.nodes:
        if not _VALID_NAME.fullmatch(node.name) or "//" in node.name or node.name.endswith("/"):
            found.append(f"{node.name!r} is no valid node name")
        if node.name in _JAVASCRIPT:
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


def _scopes_of(name: str) -> list[str]:
    parts = name.split("/")
    return ["/".join(parts[:end]) for end in range(1, len(parts))]


def _input_problems(node: Node, earlier: Mapping[str, Node]) -> list[str]:
    found = []
    for reference in node.inputs:
        name, _, slot = reference.removeprefix("^").partition(":")
        producer = earlier.get(name)
        if producer is None:
            found.append(f"input {reference!r} of {node.name!r} is no earlier node")
        elif slot and not (slot.isdecimal() and int(slot) < len(producer.outputs)):
            found.append(f"input {reference!r} of {node.name!r}: there is no such output")
    return found
