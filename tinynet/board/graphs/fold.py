"""Folding repeats into one node each, which keeps a graph of 10,000 operations readable.

Note [What is a repeat]
A scope runs its children (operations and scopes of calls) one after the other. Children that look
the same (types, shapes and contents, recursively) have the same signature, and a loop is a
sequence of signatures with a period: `select add cell select add cell ...`. The first and the last
iteration are kept; those between become one node, which has their outside inputs and outputs and
states how many it replaces. Its time and memory are their sums.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from tinynet.board.graphs.graph import SOURCES, Cost, Graph, Node, Slot, producer
from tinynet.board.graphs.names import scopes_of, show

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
