"""Building one graph from the records of a `Watch`.

Scopes: operations are in the scope of their module's call; `backward/` holds the nodes of a
backward pass, in the scopes of their operations; an optimizer's class name holds its updates, under
the names of the parameters. Devices: `fwd`, `bwd` and `opt`, which TensorBoard can toggle.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tinynet.board.graphs.build import (
    Arguments,
    GraphBuilder,
    Operation,
    Result,
    Source,
    assignment,
    flatten,
    new_bytes,
)
from tinynet.board.graphs.costs import flops
from tinynet.board.graphs.gradients import Gradients, source_line
from tinynet.board.graphs.graph import (
    SOURCES,
    Cost,
    Graph,
    Node,
    Root,
    Slot,
    clean,
    producer,
    scopes_of,
    show,
)
from tinynet.board.graphs.timing import Span, spent
from tinynet.board.graphs.watch import Called, Ran, Returned, Watch

# ---- fold ---------------------------------------------------------------------------------------
# Folding repeats into one node each, which keeps a graph of 10,000 operations readable.
#
# Note [What is a repeat]
# A scope runs its children (operations and scopes of calls) one after the
# other. Children that look the same (types, shapes and contents, recursively) have the same
# signature, and a loop is a sequence of signatures with a period: `select add cell select add cell
# ...`. The first and the last iteration are kept; those between become one node, which has their
# outside inputs and outputs and states how many it replaces. Its time and memory are their sums.


Group = tuple[str, list[str], str]  # name of the fold, names of the nodes in it, a sentence
ROUNDS = 5  # minimum number of iterations to fold
_PERIOD = 64  # maximum length of an iteration, in children


class _Tree:
    """A scope, its children in order, and a signature of its contents."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.children: dict[str, _Tree | Node] = {}

    def nodes(self) -> list[Node]:
        """Return all nodes below, in the order of their scopes."""
        return _below(list(self.children.values()))


def folded(graph: Graph) -> tuple[Graph, list[str]]:
    """Return the graph with its repeats folded, and a description of each."""
    root = _Tree("")
    trees = {"": root}
    # Parameters are at the beginning of a graph and say nothing about the order of calls.
    for node in sorted(graph.nodes, key=_is_source):
        scope = root
        for path in scopes_of(node.name):
            if path not in trees:
                trees[path] = scope.children[path] = _Tree(path)
            scope = trees[path]
        scope.children[node.name] = node
    groups: list[Group] = []
    _search(root, groups)
    order = {node.name: place for place, node in enumerate(graph.nodes)}
    names = {node.name for node in graph.nodes} | set(trees)
    notes: list[str] = []
    nodes = graph.nodes
    for name, members, note in groups:
        while name in names:
            name += "_"
        names.add(name)
        shorter = _contracted(nodes, name, members, note, order)
        if shorter is not None:
            nodes = shorter
            notes.append(f"{name}: {note}")
    return Graph(nodes), notes


def _search(tree: _Tree, groups: list[Group]) -> None:
    """Find repeats to fold, outer loops first, without searching inside a fold."""
    children = [
        child
        for child in tree.children.values()
        if isinstance(child, _Tree) or child.op not in SOURCES
    ]
    marks = [_signature(child) for child in children]
    inside: set[int] = set()
    start = 0
    while start < len(marks):
        period, rounds = _repeat(marks, start)
        if rounds >= ROUNDS:
            first, last = start + period, start + period * (rounds - 1)
            members = [node.name for node in _below(children[first:last])]
            label = children[start].name
            note = f"{rounds - 2} repeats like {label} ({_contents(children[start:first])})"
            groups.append((f"{label}_x{rounds - 2}", members, note))
            inside.update(range(first, last))
            start += period * rounds
        else:
            start += 1
    for place, child in enumerate(children):
        if isinstance(child, _Tree) and place not in inside:
            _search(child, groups)


def _repeat(marks: Sequence[str], start: int) -> tuple[int, int]:
    """Return the period that covers most from a position on, and its number of repeats."""
    best, covered = (1, 1), 0
    for period in range(1, min(_PERIOD, (len(marks) - start) // ROUNDS) + 1):
        end = start + period
        while end < len(marks) and marks[end] == marks[end - period]:
            end += 1
        rounds = (end - start) // period
        if rounds >= ROUNDS and period * rounds > covered:
            best, covered = (period, rounds), period * rounds
    return best


def _signature(child: _Tree | Node) -> str:
    """Return the signature shared by children that look the same."""
    if isinstance(child, Node):
        return f"{child.op}{[str(slot) for slot in child.outputs]}"
    below = [_signature(c) for c in child.children.values() if not _is_source(c)]
    return hashlib.blake2b("|".join(below).encode(), digest_size=12).hexdigest()


def _below(children: Sequence[_Tree | Node]) -> list[Node]:
    return [n for c in children for n in (c.nodes() if isinstance(c, _Tree) else [c])]


def _is_source(child: _Tree | Node) -> bool:
    return isinstance(child, Node) and child.op in SOURCES


def _contents(children: Sequence[_Tree | Node]) -> str:
    """Describe the operation types of one iteration."""
    nodes = [node for node in _below(children) if node.op not in SOURCES]
    ops = [node.operation for node in nodes]
    if not ops:
        return "values from elsewhere"
    shown = ", ".join(ops[:8]) + (", ..." if len(ops) > 8 else "")
    return f"{len(ops)} operations: {shown}" if len(ops) > 1 else shown


def _contracted(
    nodes: list[Node], name: str, names: list[str], note: str, order: dict[str, int]
) -> list[Node] | None:
    """Return the nodes with some contracted into one; None if that would create a cycle."""
    gone = set(names)
    members = [node for node in nodes if node.name in gone]
    takes = {producer(r): r for n in reversed(members) for r in reversed(n.inputs)}
    inputs = [takes[name] for name in reversed(takes) if name not in gone]  # one of each producer
    by_name = {node.name: node for node in members}
    slots: dict[str, int] = {}  # references to members from outside -> output of the fold
    outputs: list[Slot] = []  # one for each shape: hundreds would be unreadable
    # Place it after its last input; no consumer may come earlier.
    place = max(order[producer(reference)] for reference in [*inputs, members[0].name])
    for node in nodes:
        for reference in node.inputs:
            source = producer(reference)
            if source in gone and node.name not in gone:
                if order[node.name] <= place:
                    return None
                if not reference.startswith("^"):
                    shape = _slot_of(by_name[source], reference)
                    if shape not in outputs:
                        outputs.append(shape)
                    slots[reference] = outputs.index(shape)
    op = "Input" if all(_is_source(node) for node in members) else "Repeated"
    whole = replace(members[0], name=name, op=op, inputs=inputs, outputs=outputs)
    whole.attributes = {"folded": show(note), "nodes": str(len(members))}
    whole.cost = _sum([node.cost for node in members if node.cost is not None])
    flops = sum(int(node.attributes.get("flops", 0)) for node in members)
    if flops:
        whole.attributes["flops"] = str(flops)
    order[name] = place
    kept = [_rewired(node, name, gone, slots) for node in nodes if node.name not in gone]
    at = next((i for i, node in enumerate(kept) if order[node.name] > place), len(kept))
    return [*kept[:at], whole, *kept[at:]]


def _slot_of(node: Node, reference: str) -> Slot:
    return node.outputs[int(reference.partition(":")[2] or 0)]


def _rewired(node: Node, name: str, gone: set[str], slots: dict[str, int]) -> Node:
    """Return a node whose inputs from folded nodes refer to their replacement."""
    if not any(producer(reference) in gone for reference in node.inputs):
        return node
    inputs = []
    for reference in node.inputs:
        if producer(reference) not in gone:
            inputs.append(reference)
        elif reference.startswith("^"):
            inputs.append(f"^{name}")
        else:
            slot = slots[reference]
            inputs.append(f"{name}:{slot}" if slot else name)
    return replace(node, inputs=list(dict.fromkeys(inputs)))


def _sum(costs: Sequence[Cost]) -> Cost | None:
    if not costs:
        return None
    time, memory = sum(c.time for c in costs), sum(c.memory for c in costs)
    return Cost(min(c.start for c in costs), time, memory)


# ---- assemble -----------------------------------------------------------------------------------


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
