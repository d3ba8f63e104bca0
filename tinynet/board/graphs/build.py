"""Building a graph from the operations that ran: arrays become edges.

Note [How an input finds its producer]
By identity: the output array of one operation is the same object as the input of the next. A view
(or `detach`) may wrap the same memory in another object; then the position in memory decides
(address, shape, strides, type). Arrays stay alive while the graph is built, so neither can be
reused. The output of an in-place operation is its input array, and the operation becomes the
array's producer; an alias created earlier and read later has a control edge from that write, which
keeps the order of side effects visible.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tinynet.board.graphs.graph import Cost, Graph, Names, Node, Slot, clean, join, producer, show
from tinynet.dtypes import Array

# ---- structures ---------------------------------------------------------------------------------
# Flattening nested inputs and outputs into named leaves.


class Arguments:
    """The arguments of a model, including keyword arguments.

    Args:
        *args, **kwargs: the model's arguments.

    Example:
        >>> from tinynet.board import Arguments
        >>> Arguments(1, mask=2)
        Arguments(1, mask=2)
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args = args
        self.kwargs = kwargs

    def __repr__(self) -> str:
        parts = [*map(repr, self.args), *(f"{key}={value!r}" for key, value in self.kwargs.items())]
        return f"Arguments({', '.join(parts)})"

    @staticmethod
    def of(value: Any) -> Arguments:
        """Return a model's arguments by PyTorch's rule: a tuple or list holds several.

        Raises:
            RuntimeError: ``value`` is None.
        """
        if isinstance(value, Arguments):
            return value
        if value is None:
            raise RuntimeError(
                "example_kwarg_inputs should be a dict. The 'input_to_model' of add_graph "
                "must hold what the model is called with: () if it takes nothing."
            )
        return Arguments(*value) if isinstance(value, (tuple, list)) else Arguments(value)

    def leaves(self, module: Any) -> Iterator[tuple[str, Any]]:
        """Yield the leaves, named by the parameters of the module's forward: `target`."""
        try:
            bound = inspect.signature(module.forward).bind(*self.args, **self.kwargs).arguments
        except (TypeError, ValueError):  # a forward without a signature, or invalid arguments
            bound = {**{str(i): arg for i, arg in enumerate(self.args)}, **self.kwargs}
        for name, value in bound.items():
            yield from flatten(value, clean(name))


def flatten(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the leaves of nested dicts, lists, tuples and dataclasses, named by their paths.

    Example:
        >>> from tinynet.board.graphs.build import flatten
        >>> list(flatten({"a": [1, None], "b": "x"}, "input"))
        [('input/a/0', 1), ('input/a/1', None), ('input/b', 'x')]
    """
    members: list[tuple[Any, Any]]
    if isinstance(value, Mapping):
        members = list(value.items())
    elif isinstance(value, (list, tuple)):
        keys = getattr(value, "_fields", range(len(value)))  # a named tuple has names
        members = list(zip(keys, value, strict=True))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        members = [(entry.name, getattr(value, entry.name)) for entry in dataclasses.fields(value)]
    else:
        yield name, value
        return
    for key, member in members:
        yield from flatten(member, f"{name}/{clean(str(key))}")


# ---- build --------------------------------------------------------------------------------------


_SHOWN_VALUES = 8  # maximum number of elements of constants that show their values
# TensorBoard draws the edge to the first input of these types, the written array, as a reference.
_ASSIGNMENTS = {"add_": "AssignAdd", "__iadd__": "AssignAdd", "sub_": "AssignSub"}
_ASSIGNMENTS["__isub__"] = "AssignSub"


@dataclass(frozen=True, slots=True)
class Source:
    """A value that exists before the first operation: a parameter, a buffer, or an input."""

    name: str
    op: str
    array: Array | None
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation that ran: its input and output arrays, and the scope of its module.

    `writes` means that its outputs are existing arrays, changed in place.
    """

    op: str
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    scope: str = ""
    attributes: Mapping[str, object] = field(default_factory=dict)
    writes: bool = False
    device: str = ""
    cost: Cost | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """An output of the model: a name, and the array (or another value, shown as text)."""

    name: str
    value: object
    device: str = ""


@dataclass(slots=True)
class _Produced:
    """The producer of an array, its output slot, and the number of its step."""

    reference: str
    node: Node
    step: int


class GraphBuilder:
    """Converts sources, operations and results, added in order, to a `Graph`."""

    def __init__(self, names: Names | None = None) -> None:
        self.graph = Graph()
        self.names = Names() if names is None else names
        self._by_identity: dict[int, _Produced] = {}
        self._by_place: dict[object, _Produced] = {}
        self._last_write: dict[int, _Produced] = {}
        self._alive: list[object] = []
        self._step = 0

    def source(self, source: Source, device: str = "") -> Node | None:
        """Add a node without inputs, unless its array already has a node."""
        if id(source.array) in self._by_identity:
            return None
        node = self.add(source.name, source.op, [])
        node.device = device
        node.attributes.update(source.attributes)
        if source.array is not None:
            self.produces(node, (source.array,))
        return node

    def operation(self, operation: Operation) -> Node:
        """Add a node for one operation, linked to the producers of its inputs."""
        inputs = [self.reference(a, operation.scope, operation.device) for a in operation.inputs]
        controls = self._controls(operation.inputs)
        op = operation.op
        if operation.writes and operation.inputs:  # not a write without inputs
            op = assignment(op)
        node = self.add(join(operation.scope, _label(operation, inputs)), op, inputs + controls)
        node.device, node.cost = operation.device, operation.cost
        node.attributes = {
            clean(key): show(value)
            for key, value in operation.attributes.items()
            if key != "dtype"  # the name under which nodes show the dtype of their output
        }
        if op != operation.op:
            node.attributes["operation"] = operation.op
        self.produces(node, operation.outputs)
        if operation.writes:
            for array in operation.outputs:
                self._last_write[_storage(array)] = self._by_identity[id(array)]
        return node

    def result(self, result: Result) -> Node:
        """Add a node at the end of the graph: one output of the model."""
        inputs: list[str] = []
        if isinstance(result.value, np.ndarray):
            inputs = [self.reference(result.value, "", result.device)]
            inputs += self._controls((result.value,))
        node = self.add(result.name, "Output", inputs)
        node.device = result.device
        if isinstance(result.value, np.ndarray):
            node.outputs = [slot(result.value)]
        else:
            node.attributes["value"] = show(result.value)
        return node

    # ---- other nodes --------------------------------------------------------------------------

    def add(self, path: str, op: str, inputs: Sequence[str]) -> Node:
        """Append a node under the path, or under the next free name based on it."""
        node = Node(self.names.node(path), op, list(inputs))
        self.graph.nodes.append(node)
        self._step += 1
        return node

    def produces(self, node: Node, arrays: Sequence[Array], first: int | None = None) -> None:
        """Register a node as the producer of arrays: its outputs in order, or from `first`."""
        for index, array in enumerate(arrays):
            if first is None:
                node.outputs.append(slot(array))
            else:
                index = first
            reference = f"{node.name}:{index}" if index else node.name
            produced = _Produced(reference, node, self._step)
            self._by_identity[id(array)] = produced
            if array.size:
                self._by_place[_place(array)] = produced
        self._alive.extend(arrays)

    def producer(self, array: Array) -> Node | None:
        """Return the node that produced an array, if it is known."""
        found = self._find(array)
        return None if found is None else found.node

    def reference(self, array: Array, scope: str, device: str = "") -> str:
        """Return an input reference to an array; an unknown one becomes a `Const` in the scope."""
        found = self._find(array)
        if found is None:
            node = self.add(join(scope, "Const"), "Const", [])
            node.device = device
            if array.size <= _SHOWN_VALUES:
                node.attributes["value"] = show(array.tolist())
            self.produces(node, (array,))
            found = self._by_identity[id(array)]
        return found.reference

    def _find(self, array: Array) -> _Produced | None:
        found = self._by_identity.get(id(array))
        if found is None and array.size:
            found = self._by_place.get(_place(array))
        return found

    def _controls(self, arrays: tuple[Array, ...]) -> list[str]:
        """Return control edges from later writes to these arrays' memory; see the Note above."""
        controls = []
        for array in arrays:
            write, read = self._last_write.get(_storage(array)), self._find(array)
            if write and read and write.step > read.step:
                if f"^{write.node.name}" not in controls:
                    controls.append(f"^{write.node.name}")
        return controls


def _label(operation: Operation, inputs: Sequence[str]) -> str:
    """Return the name of a node; writes are named after their target."""
    if operation.op.isidentifier() or not (operation.writes and inputs):
        return operation.op
    return f"{producer(inputs[0]).rpartition('/')[2]}.write"


def assignment(what: str) -> str:
    """Return the operation type of an in-place write.

    Example:
        >>> from tinynet.board.graphs.build import assignment
        >>> assignment("add_"), assignment("SGD.step"), assignment("zero_")
        ('AssignAdd', 'AssignSub', 'Assign')
    """
    return _ASSIGNMENTS.get(what, "AssignSub" if what.endswith(".step") else "Assign")


def slot(array: Array) -> Slot:
    """Return the shape and dtype of an array."""
    return Slot(array.shape, kind_of(array.dtype))


@functools.cache
def kind_of(dtype: np.dtype[Any]) -> str:
    """Return the name of a dtype, cached because numpy computes it slowly."""
    return dtype.name


def new_bytes(inputs: Sequence[Array], outputs: Sequence[Array]) -> int:
    """Return the number of bytes in the outputs' memory that is not an input's."""
    before = {_storage(array) for array in inputs}
    roots = {_storage(array): array.nbytes for array in outputs}
    return sum(size for key, size in roots.items() if key not in before)


def _place(array: Array) -> object:
    address = array.__array_interface__["data"][0]
    return address, array.shape, array.strides, array.dtype.str


def _storage(array: Array) -> int:
    """Return the identity of the memory that an array is a view of."""
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    return id(root)
