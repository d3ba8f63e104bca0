"""The backward passes of a graph: a node per visited autograd node, linked to its operation.

Note [Which operation a node belongs to]
Operations are reported before their node exists. But nodes are numbered on creation, and each
record of an operation takes a number from the same sequence: a node belongs to the last earlier
operation that creates nodes of its name. (A view whose base was written creates its node when it is
next read, right before the node of the reader: hence "of its name".)
"""

from __future__ import annotations

import bisect
import functools
from typing import Any

import numpy as np

from tinynet.board.graphs.build import GraphBuilder, kind_of, slot
from tinynet.board.graphs.graph import Cost, Node, Slot, clean, show
from tinynet.board.graphs.timing import Span, spent
from tinynet.board.graphs.watch import Pass, Passed, Ran, Visit
from tinynet.core.callsite import Site, locate
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.trace import path_of

_NEAR = 64  # number of earlier operations to search for a node's


class Gradients:
    """Adds backward passes to a graph under construction.

    Args:
        builder: the graph so far.
        device: the device of the nodes.
        parameters: names of parameter nodes, by the identity of their arrays.
        spans: what was timed; gets the nodes of the passes.
    """

    def __init__(
        self, builder: GraphBuilder, device: str, parameters: dict[int, str], spans: list[Span]
    ) -> None:
        self._builder = builder
        self._device = device
        self._parameters = parameters
        self._spans = spans
        self._stamps: list[int] = []
        self._ran: list[tuple[Ran, Node]] = []
        self._scopes: dict[int, str] = {}  # of passes
        self._waiting: dict[tuple[int, int], list[str]] = {}  # (pass, target) -> its inputs
        self._nodes: dict[int, str] = {}  # visit -> name of its node

    @property
    def began(self) -> bool:
        """True after the first backward pass."""
        return bool(self._scopes)

    def ran(self, event: Ran, node: Node) -> None:
        """Record an operation that may have created a node."""
        self._stamps.append(event.stamp)
        self._ran.append((event, node))

    def inside(self, visit: Visit) -> str:
        """Return the scope of operations that ran for a node (such as under create_graph)."""
        return f"{self._nodes[id(visit)]}.inside"

    def note(self, event: Pass | Visit | Passed) -> None:
        """Add an event of a backward pass."""
        if isinstance(event, Pass):
            self._pass(event)
        elif isinstance(event, Visit):
            self._visit(event)
        else:
            self._passed(event)

    def _pass(self, event: Pass) -> None:
        """Add a constant for the initial gradient of a pass."""
        scope = self._builder.names.scope("backward", again=bool(self._scopes))
        self._scopes[id(event)] = scope
        for edge in event.edges:
            found = self._of(edge[0])
            of = found[1].name if found else "a leaf"
            name = f"{scope}/grad_of_{clean(of.rpartition('/')[2])}"
            # A control edge, not data: the pass begins once the value exists.
            node = self._builder.add(name, "Const", [f"^{of}"] if found else [])
            node.device, node.outputs = self._device, [_form(edge)]
            node.attributes["of"] = of
            self._waiting.setdefault((id(event), id(edge[0])), []).append(node.name)

    def _visit(self, event: Visit) -> None:
        made = event.node
        found = self._of(made)
        kind = clean(made.name().rpartition("::")[2])
        scope = self._scopes[id(event.of)]
        inner = found[1].scope if found else _module(made)
        path = "/".join(filter(None, [scope, inner, kind]))
        inputs = self._waiting.pop((id(event.of), id(made)), [])
        node = self._builder.add(path, kind, inputs)
        node.device = self._device
        node.cost = Cost(event.timed.start, spent([event.timed]), event.memory)
        self._spans.append(Span([event.timed], [node]))
        node.attributes |= source_line(made.site)
        self._nodes[id(event)] = node.name
        if found:
            self._link(found[1], node, event)
        self._save(node, event)
        slots: dict[int, int] = {}
        for number, edge in enumerate(made.edges):
            if edge:
                reference = f"{node.name}:{len(slots)}" if slots else node.name
                slots[number] = len(slots)
                node.outputs.append(_form(edge))
                self._waiting.setdefault((id(event.of), id(edge[0])), []).append(reference)
        for number, array in event.left:
            self._builder.produces(node, [array], slots[number])

    def _link(self, forward: Node, node: Node, event: Visit) -> None:
        """Link the two nodes to each other, and count the products of the derivative."""
        node.attributes["forward"] = forward.name
        others = forward.attributes.get("backward")
        forward.attributes["backward"] = f"{others}, {node.name}" if others else node.name
        if event.saved:
            forward.attributes["saved"] = ", ".join(event.saved)
            # A separate color under "XLA cluster", a channel that TensorBoard leaves free.
            forward.attributes["_XlaCluster"] = "saved for backward"
        flops = int(forward.attributes.get("flops", 0))
        factors = sum(1 for edge in event.node.edges if edge and len(_form(edge).shape) > 1)
        if flops:
            node.attributes["flops"] = str(flops * min(factors, 2))

    def _save(self, node: Node, event: Visit) -> None:
        """Add edges from the sources of saved values."""
        shown = []
        for name, value in event.saved.items():
            producer = self._builder.producer(value) if isinstance(value, np.ndarray) else None
            if producer is None:
                shown.append(f"{name} = {show(value)}")
            else:
                shown.append(f"{name}: {producer.name}")
                node.inputs.append(self._builder.reference(value, ""))
        if shown:
            node.attributes["saved"] = show("; ".join(shown))

    def _passed(self, event: Passed) -> None:
        """Add a node for each leaf, where its gradients are accumulated."""
        scope = self._scopes[id(event.of)]
        for leaf, grad in event.leaves:
            arrived = self._waiting.pop((id(event.of), id(leaf)), [])
            if not arrived:
                continue
            source = self._builder.producer(leaf._array)
            of = self._parameters.get(id(leaf._array)) or (source.name if source else "leaf")
            op, before = "AccumulateGrad", None
            if event.of.captures:
                op, grad = "Gradient", None
            elif grad is not None:
                before = self._builder.producer(grad)
            if grad is not None and before is not None and before.op in _SUMS:
                op, arrived = "AssignAdd", [self._builder.reference(grad, ""), *arrived]
            node = self._builder.add(f"{scope}/{of}.grad", op, arrived)
            node.device = self._device
            node.attributes["of"] = of
            if grad is None:
                node.outputs = [_form((leaf, 0))]
            else:
                self._builder.produces(node, [grad])

    def _of(self, made: Any) -> tuple[Ran, Node] | None:
        """Return the operation that created a node; see the Note above."""
        if isinstance(made, Tensor):
            return None
        last = bisect.bisect_left(self._stamps, made.sequence)
        for index in range(last - 1, max(-1, last - 1 - _NEAR), -1):
            event, node = self._ran[index]
            if getattr(event.op, "node_name", None) == type(made).__name__:
                return event, node
        return None


_SUMS = ("AccumulateGrad", "AssignAdd")


def _form(edge: tuple[Any, int]) -> Slot:
    """Return the shape and dtype of the gradient along an edge."""
    target, number = edge
    if isinstance(target, Tensor):
        return slot(target._array)
    shape, dtype = target.shape, target.dtype
    if target.multiple:
        shape, dtype = shape[number], dtype[number]
    return Slot(tuple(shape), kind_of(np.dtype(dtype)))


def _module(made: Any) -> str:
    """Return the scope of a node, from the modules that ran when it was created."""
    path = path_of(getattr(made, "scope", None))
    return "/".join(clean(part) for part in path.split(".")) if path else ""


@functools.lru_cache(maxsize=1024)
def source_line(site: Site | None) -> dict[str, str]:
    """Return the user's line as an attribute: `model.py:41 in forward   h = self.fc1(x)`."""
    place = locate(site)
    if place is None:
        return {}
    return {"source": show(f"{place.place}: {place.text}" if place.text else place.place)}
