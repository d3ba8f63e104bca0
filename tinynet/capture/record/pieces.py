"""How the backward pass of a captured function is divided: each piece is one node of the graph.

A pass stops at arguments and leaves, and at other outputs: code outside may use these, or hook
them. Passes that meet before they stop are one piece. If a pass also stops at an output of its own
piece, as that of the outputs of a loop does at the last state, a lead comes before the piece: it
computes what that output gets, and hands on the gradient that it was given itself.

Where pieces meet at an end, the engine adds up their gradients, to the bit as in the eager pass: it
visits newer pieces first, and a piece returns the gradients of several uses one by one where eager
code adds them to another gradient.
"""

from __future__ import annotations

import collections
import contextlib
import copy
import graphlib
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

from tinynet.capture.program import CaptureError
from tinynet.capture.record.outputs import Output
from tinynet.core.graph.node import Edge, Node, Nowhere
from tinynet.core.tensors.tensor import Tensor, wrap

MOST_APART = 8  # gradients of one tensor that a piece returns one by one

Use = tuple[Node, int]  # a node, and which of its edges leads to the end


class Token(NamedTuple):
    """The end of a lead at which it hands on the gradient of an output."""

    output: Output


class Start:
    """An output that requires grad, and what its backward pass reaches.

    Args:
        output: the output.
        edge: that of its tensor.
        arguments: the nodes of the arguments, where the pass stops.
        others: by edge, where it stops as well: the other outputs. It goes on from each with the
            gradient that users of that output add to, and behind its hooks.

    Attributes:
        passed: the nodes before it stops.
        frees: those that hold values which the pass frees.
        leaves: the leaves at which it stops.
        inner: the outputs at which it stops, by edge.
        uses: the edges that lead to its ends, by use.
        left: uses that it leaves to the lead from which it gets its gradient.
        goes_to: the outputs to which these lead.
        leads: whether it is a lead.
    """

    leads = False
    goes_to: Sequence[Output] = ()

    def __init__(self, output: Output, edge: Edge, arguments: set[Any], others: dict[Edge, Output]):
        self.output, self.edge = output, edge
        self.passed, self.uses = _walked(edge, others.keys(), arguments)
        self.frees = {node for node in self.passed if frees(node)}
        ends = dict.fromkeys(self.uses.values())
        self.leaves = [end for end, _ in ends if isinstance(end, Tensor)]
        self.inner = {e: others[e] for e in ends if e in others}
        if any(e[0] in self.passed and end.base is not None for e, end in self.inner.items()):
            raise _not_separate()  # a replay makes this node again, for the view
        self.left: dict[Use, Edge] = {}

    def parted(self, edges: set[Edge]) -> tuple[Start, Start]:
        """Return the lead that stops at some edges, and the start of the rest of the pass."""
        lead, rest = copy.copy(self), copy.copy(self)
        lead.leads, lead.leaves = True, []
        lead.uses = rest.left = {use: e for use, e in self.uses.items() if e in edges}
        rest.uses = {use: e for use, e in self.uses.items() if e not in edges}
        rest.goes_to = [o for e, o in self.inner.items() if e in edges]
        for one in (lead, rest):
            one.inner = {e: o for e, o in self.inner.items() if (e in edges) is one.leads}
        return lead, rest

    def way(self) -> set[Node]:
        """Return the nodes on the way to where it stops."""
        found = {node for node, _ in self.uses}
        for node in sorted(self.passed, key=lambda node: node.sequence):
            if any(e and e[0] in found for e in node.edges):
                found.add(node)
        return found


class Piece(NamedTuple):
    """Outputs whose backward passes one node computes.

    Attributes:
        starts: the outputs.
        apart: the uses of ends whose gradients it returns one by one, oldest last.
    """

    starts: list[Start]
    apart: dict[Use, Edge]


def divided(live: list[Start], spent: list[Start]) -> list[Piece]:
    """Return the pieces, in the order in which a replay makes their nodes.

    Args:
        live: outputs that can be differentiated.
        spent: outputs whose graph was freed; each is a piece.

    Raises:
        CaptureError: gradients cannot be added up in the order of the eager pass.
    """
    parts = _with_leads(_merged([[one] for one in live], lambda one: one.passed))
    levels = _levels([*parts, *([one] for one in spent)])
    alive = levels[: len(parts)]
    pieces: list[list[Start]] = []
    for level in sorted({*levels}):
        here = [part for part, its in zip(parts, alive, strict=True) if its == level]
        pieces += _merged(here, lambda one: {*one.uses.values()})
        pieces += [
            [one] for one, its in zip(spent, levels[len(parts) :], strict=True) if its == level
        ]
    _check_ways(pieces)
    return [*map(Piece, pieces, _apart(pieces, {id(one) for one in spent}))]


def _check_ways(pieces: list[list[Start]]) -> None:
    """Refuse leads of several pieces that meet on the way: eager code adds gradients up there."""
    seen: set[Node] = set()
    for part in pieces:
        ways = set().union(*(one.way() for one in part if one.leads))
        if not seen.isdisjoint(ways):
            raise _not_separate()
        seen |= ways


def _merged(parts: list[list[Start]], reached: Callable[[Start], set[Any]]) -> list[list[Start]]:
    """Merge parts that reach the same."""
    merged: list[tuple[set[Any], list[Start]]] = []
    for part in parts:
        keys, members = set().union(*map(reached, part)), part
        for other in [m for m in merged if not m[0].isdisjoint(keys)]:
            merged.remove(other)
            keys |= other[0]
            members = other[1] + members
        merged.append((keys, members))
    return [members for _, members in merged]


def _with_leads(parts: list[list[Start]]) -> list[list[Start]]:
    """Return parts that stop at no output of their own, and the leads that do."""
    found: list[list[Start]] = []
    for part in parts:
        own = {id(one.output) for one in part}
        met = {e for one in part for e, end in one.inner.items() if id(end.base or end) in own}
        pairs = [one.parted(met) if met & one.inner.keys() else (None, one) for one in part]
        found.append([rest for _, rest in pairs])
        found += [[lead] for lead, _ in pairs if lead is not None]
    return found


def _levels(parts: list[list[Start]]) -> list[int]:
    """Return for each part the number of parts in the longest chain from it to the arguments."""
    starts = [(place, one) for place, part in enumerate(parts) for one in part]
    of = {id(one.output): place for place, one in starts if not one.left}
    behind = {id(one.output): place for place, one in starts if one.left}  # leads
    before: dict[int, set[int]] = {place: set() for place in range(len(parts))}
    for place, one in starts:
        ends = [id(end.base or end) for end in one.inner.values()]
        before[place] |= {of[end] for end in ends if end in of}
        if one.leads:
            before[place].add(behind[id(one.output)])
    levels = [0] * len(parts)
    try:
        for place in graphlib.TopologicalSorter(before).static_order():
            levels[place] = 1 + max((levels[b] for b in before[place]), default=-1)
    except graphlib.CycleError:
        raise _not_separate() from None
    return levels


def _apart(pieces: list[list[Start]], spent: set[int]) -> list[dict[Use, Edge]]:
    """Return the uses of ends whose gradients each piece returns one by one."""
    places: dict[Use, int] = {}
    by_end: dict[Edge, list[Use]] = collections.defaultdict(list)
    inner = {edge for part in pieces for one in part for edge in one.inner}
    for place, part in enumerate(pieces):
        for use, edge in {u: e for one in part for u, e in one.uses.items()}.items():
            if id(part[0]) not in spent:
                places[use] = place
                by_end[edge].append(use)
    apart: list[dict[Use, Edge]] = [{} for _ in pieces]
    for edge, uses in by_end.items():
        if len(uses) == 1 or (len(uses) == 2 and edge not in inner):  # a + b is b + a
            continue
        uses.sort(key=lambda use: (-use[0].sequence, use[1]))  # as the eager pass adds them
        order = [places[use] for use in uses]
        if order != sorted(order, reverse=True):
            raise _not_separate()
        # The first piece may add up its own, unless users of an output were before it.
        first = None if edge in inner else order[0]
        single = [u for u in uses if places[u] != first and order.count(places[u]) > 1]
        if len(single) > MOST_APART:
            raise _not_separate()
        for use in single:
            apart[places[use]][use] = edge
    return apart


def _not_separate() -> CaptureError:
    return CaptureError(
        "it returns or stores a tensor and another one that is computed from it",
        "return or store the first one detached, or compute the second one outside",
    )


def uses_of(edge: Edge, ends: set[Edge]) -> dict[Use, Edge]:
    """Return the uses by which a pass from an edge gets to others, where it stops."""
    return {use: e for use, e in _walked(edge, ends, set())[1].items() if e in ends}


def _walked(
    edge: Edge, stops: Collection[Edge], arguments: set[Any]
) -> tuple[set[Node], dict[Use, Edge]]:
    """Return the nodes that a pass reaches, and the uses by which it gets to where it stops.

    It stops at edges, arguments and leaves. It may pass a node by one edge and stop at another.
    """
    passed, stack, uses = {edge[0]}, [edge[0]], {}
    while stack:
        node = stack.pop()
        for i, e in enumerate(node.edges):
            if not e:
                continue
            if e in stops or e[0] in arguments or isinstance(e[0], Tensor):
                uses[node, i] = e
            elif e[0] not in passed:
                passed.add(e[0])
                stack.append(e[0])
    return passed, uses


# ---- graphs that end early ----------------------------------------------------------------------


@contextlib.contextmanager
def cut(ends: Sequence[Any]) -> Iterator[None]:
    """End all backward passes at some leaves and nodes, and do not run their hooks: the engine
    does, after the program."""
    before = [(end, end.hooks, end.edges) for end in ends if isinstance(end, Node)]
    leaves = [(end, end._hooks) for end in ends if isinstance(end, Tensor)]
    for node, *_ in before:
        node.hooks, node.edges = None, ()
    for leaf, _ in leaves:
        leaf._hooks = None
    try:
        yield
    finally:
        for node, hooks, edges in reversed(before):
            node.hooks, node.edges = hooks, edges
        for leaf, hooks in reversed(leaves):
            leaf._hooks = hooks


@contextlib.contextmanager
def standing_in(apart: dict[Use, Edge]) -> Iterator[dict[Edge, Edge]]:
    """Let some uses lead to stand-ins; yields the end for which each edge of these stands."""
    before = [(node, node.edges) for node in {node for node, _ in apart}]
    found: dict[Edge, Edge] = {}
    try:
        for (node, i), edge in apart.items():
            other = _StandIn.of(edge)
            found[other, 0] = edge
            node.edges = (*node.edges[:i], (other, 0), *node.edges[i + 1 :])
        yield found
    finally:
        for node, edges in before:
            node.edges = edges


class _StandIn(Nowhere):
    """Stands for one output of a node at one of its uses."""

    __slots__ = ()

    @staticmethod
    def of(edge: Edge) -> Any:
        """Return what stands for the target of an edge; for a leaf, another leaf."""
        target, number = edge
        if isinstance(target, Tensor):
            leaf = wrap(target._array)
            leaf._requires_grad = True
            return leaf
        node = _StandIn()
        like = target.shape, target.dtype
        node.shape, node.dtype = (x[number] for x in like) if target.multiple else like
        return node


def frees(node: Node) -> bool:
    """Return whether a node holds values that a backward pass frees."""
    op = getattr(node, "op", None)
    if op is None:
        return True
    if any(getattr(node, f"saved_{name}_version", None) is not None for name in node.saved):
        return True
    return any(hasattr(node, f"saved_{name}") for name in op.frees)
