"""Building one graph from the records of a `Watch`.

Scopes: operations are in the scope of their module's call; `backward/` holds the nodes of a
backward pass, in the scopes of their operations; an optimizer's class name holds its updates, under
the names of the parameters. Devices: `fwd`, `bwd` and `opt`, which TensorBoard can toggle.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.board.graphs.build import (
    GraphBuilder,
    Operation,
    Result,
    Source,
    assignment,
    new_bytes,
)
from tinynet.board.graphs.flops import flops
from tinynet.board.graphs.gradients import Gradients, source_line
from tinynet.board.graphs.graph import Cost, Graph, Node
from tinynet.board.graphs.names import clean, show
from tinynet.board.graphs.scopes import Root
from tinynet.board.graphs.structures import Arguments, flatten
from tinynet.board.graphs.timing import Span, spent
from tinynet.board.graphs.watch import Called, Ran, Returned, Watch

FORWARD, BACKWARD, OPTIMIZER = "/device:fwd:0", "/device:bwd:0", "/device:opt:0"


class Assembly:
    """Builds the graph.

    Attributes:
        graph: the graph.
        parts: name of a node -> the user's name of the part in which it ran.
        spans: what was timed, with the nodes that have this time.
    """

    def __init__(self, watch: Watch) -> None:
        self.builder = GraphBuilder(watch.names)
        self.graph: Graph = self.builder.graph
        self.parts: dict[str, str] = {}
        self.spans: list[Span] = []
        self._watch = watch
        self._parameters: dict[int, str] = {}  # array -> the name of its node
        self._updates: list[tuple[Ran, Node]] = []  # of the current optimizer step
        self._updater = ""
        self._used: set[str] = set()
        self._gradients = Gradients(self.builder, BACKWARD, self._parameters, self.spans)
        self._main: Root | None = None
        for root in watch.calls.roots:
            self._sources(root)
        for event in watch.events:
            self._note(event)
        self._share_time()
        for node in self.graph.nodes:  # of a loss computed from gradients
            if node.device == OPTIMIZER and "backward" in node.attributes:
                node.device = FORWARD

    def _note(self, event: Any) -> None:
        before = len(self.graph.nodes)
        if self._updates and not (isinstance(event, Ran) and event.op.title == self._updater):
            self._share_time()
        if isinstance(event, Ran) and self._is_update(event):
            self._update(event)
        elif isinstance(event, Ran):
            self._ran(event)
        elif isinstance(event, Called):
            self._called(event)
        elif isinstance(event, Returned):
            self._returned(event)
        else:
            self._gradients.note(event)
        part = getattr(event, "part", "")
        if part:
            self.parts |= {node.name: part for node in self.graph.nodes[before:]}

    # ---- inputs and outputs -------------------------------------------------------------------

    def _sources(self, root: Root) -> None:
        """Add parameters and buffers under their first names; an attribute lists other names."""
        for path, module in root.all_paths():
            kinds = {"Parameter": module.named_parameters, "Buffer": module.named_buffers}
            for op, named in kinds.items():
                for name, tensor in named(recurse=False):
                    full = f"{root.scopes[path]}/{clean(name)}"
                    known = self.builder.producer(tensor._array)
                    if known is None:
                        attributes = {"trainable": str(tensor.requires_grad).lower()}
                        attributes["elements"] = str(tensor._array.size)
                        source = Source(full, op, tensor._array, attributes)
                        node = self.builder.source(source, FORWARD)
                        assert node is not None
                        self._parameters[id(tensor._array)] = node.name
                    elif known.name != full:
                        others = known.attributes.get("shared_with")
                        known.attributes["shared_with"] = f"{others}, {full}" if others else full

    def _called(self, event: Called) -> None:
        if event.arguments is None:  # it raised
            return
        arguments = Arguments(*event.arguments[0], **event.arguments[1])
        root = event.call.root
        self._main = self._main or root
        scope = "input/" if root is self._main else ""
        for name, leaf in arguments.leaves(event.call.module):
            name = f"{scope}{name}"
            array = _array(leaf)
            if isinstance(array, np.ndarray):
                source = Source(name, "Input", array, {"of": root.label})
                self.builder.source(source, FORWARD)
            elif root is self._main:
                constant = Source(name, "Input", None, {"value": show(leaf)})
                self.builder.source(constant, FORWARD)

    def _returned(self, event: Returned) -> None:
        if event.call.root is self._main:
            for name, leaf in flatten(event.output, f"{self._scope('output')}/output.1"):
                self.builder.result(Result(name, _array(leaf), FORWARD))

    def _scope(self, wanted: str) -> str:
        """Return a new scope for a model output or optimizer step: `output`, `output_1`."""
        scope = self.builder.names.scope(wanted, again=wanted in self._used)
        self._used.add(wanted)
        return scope

    # ---- operations ---------------------------------------------------------------------------

    def _ran(self, event: Ran) -> None:
        scope, device = self._place(event)
        attributes = dict(event.attributes)
        attributes |= source_line(event.site)
        shapes = [a.shape for a in event.inputs], [a.shape for a in event.outputs]
        count = flops(event.op.name, *shapes)
        if count:
            attributes["flops"] = count
        parameters = sum(a.size for a in event.inputs if self._is_parameter(a))
        if parameters and not event.op.writes:
            attributes["parameters"] = parameters
        memory = new_bytes(event.inputs, event.outputs)
        cost = Cost(event.timed.start, spent([event.timed]), memory)
        given = event.op.title, event.inputs, event.outputs, scope, attributes, event.op.writes
        node = self.builder.operation(Operation(*given, device, cost))
        self.spans.append(Span([event.timed], [node]))
        self._gradients.ran(event, node)

    def _place(self, event: Ran) -> tuple[str, str]:
        """Return the scope and the device of an operation."""
        if event.visit is not None:
            return self._gradients.inside(event.visit), BACKWARD
        if event.call is not None:
            return event.call.scope, FORWARD
        producers = [self.builder.producer(array) for array in event.inputs]
        after = any(node is not None and node.device in _LATER for node in producers)
        return "", OPTIMIZER if after else FORWARD  # such as gradient clipping

    def _is_parameter(self, array: Any) -> bool:
        node = self.builder.producer(array)
        return node is not None and node.op == "Parameter"

    # ---- updates ------------------------------------------------------------------------------

    def _is_update(self, event: Ran) -> bool:
        """Return whether an operation writes to a parameter or a gradient, outside of modules."""
        if not event.op.writes or event.call or event.visit:
            return False
        if event.op.title.endswith(".step"):
            return True
        if id(event.inputs[0]) in self._parameters:
            return self._gradients.began  # earlier writes initialize the model
        node = self.builder.producer(event.inputs[0])
        return node is not None and node.device in _LATER

    def _update(self, event: Ran) -> None:
        """Add a node for one write: the first edge is a reference, and drawn as such.

        All writes of an optimizer (or of gradient clipping) are in one scope, under the names of
        the parameters.
        """
        if not self._updates:
            self._updater = event.op.title
            wanted = clean(event.op.title.removesuffix(".step").strip("_"))
            self._update_scope = self._scope(wanted)
        array, *others = event.inputs
        before = self.builder.producer(array)
        of = before.attributes.get("of", "") if before is not None else ""
        path = f"{self._update_scope}/{self._parameters.get(id(array)) or of or 'tensor'}"
        inputs = [self.builder.reference(array, self._update_scope, OPTIMIZER)]
        kinds = ["gradient", *event.attributes.get("state", ())]
        for kind, other in zip(kinds, others, strict=False):
            if kind == "step":  # a counter: an edge would only add clutter
                continue
            if self.builder.producer(other) is None:
                self.builder.source(Source(f"{path}.{kind}", "State", other), OPTIMIZER)
            inputs.append(self.builder.reference(other, self._update_scope, OPTIMIZER))
        node = self.builder.add(path, assignment(event.op.title), inputs)
        node.device = OPTIMIZER
        node.attributes = {
            "operation": event.op.title,
            "elements": str(array.size),
            **source_line(event.site),
        }
        if of:
            node.attributes["of"] = of
        self.builder.produces(node, [array])
        self._updates.append((event, node))

    def _share_time(self) -> None:
        """Distribute the time of a step by size, as parameters may be updated together."""
        if not self._updates:
            return
        timed = [event.timed for event, _ in self._updates]
        span = Span(timed, [node for _, node in self._updates])
        span.share(spent(timed))
        self.spans.append(span)
        self._updates.clear()


_LATER = (BACKWARD, OPTIMIZER)


def _array(value: Any) -> Any:
    return getattr(value, "_array", value)
