"""Replacing the parts of a graph that match a pattern."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tinynet.compat.fx._symbolic_trace import symbolic_trace
from tinynet.compat.fx.graph import Graph
from tinynet.compat.fx.graph_module import GraphModule
from tinynet.compat.fx.node import Node

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]


class Match(NamedTuple):
    """A part of a graph that matches a pattern.

    Attributes:
        anchor: the pattern's last node.
        nodes_map: from the pattern's nodes to the graph's.
    """

    anchor: Node
    nodes_map: dict[Node, Node]


@dataclass
class ReplacedPatterns:
    """A match, and the nodes that have replaced it."""

    anchor: Node
    nodes_map: dict[Node, Node]
    replacements: list[Node] = field(default_factory=list)


Filter = Callable[[Any, Graph, Graph], bool]


def replace_pattern(
    gm: GraphModule,
    pattern: Callable[..., Any] | GraphModule,
    replacement: Callable[..., Any] | GraphModule,
) -> list[Match]:
    """Replace all parts of a module's graph that match a pattern, and recompile the module.

    Args:
        gm: the module.
        pattern: a function or traced module; its parameters match any value.
        replacement: a function or traced module with the same parameters.

    Returns:
        The matches.

    Example:
        >>> from tinynet.compat import fx
        >>> traced = fx.symbolic_trace(lambda x: tn.relu(x + 1) + tn.relu(x + 2))
        >>> matches = fx.replace_pattern(traced, lambda y: tn.relu(y), lambda y: tn.sigmoid(y))
        >>> len(matches), [n.name for n in traced.graph.nodes if "sigmoid" in n.name]
        (2, ['sigmoid', 'sigmoid_1'])
    """
    found = replace_pattern_with_filters(gm, pattern, replacement)
    return [Match(one.anchor, one.nodes_map) for one in found]


def replace_pattern_with_filters(
    gm: GraphModule,
    pattern: Callable[..., Any] | Graph | GraphModule,
    replacement: Callable[..., Any] | Graph | GraphModule | None = None,
    match_filters: list[Filter] | None = None,
    ignore_literals: bool = False,
    replacement_callback: Callable[[Any, Graph, Graph], Graph] | None = None,
) -> list[ReplacedPatterns]:
    """Replace the parts that match a pattern and that all filters accept.

    Args:
        gm, pattern, replacement: as of ``replace_pattern``.
        match_filters: functions of a match, the graph and the pattern's graph.
        ignore_literals: whether numbers and other constants match any.
        replacement_callback: makes the replacement's graph for a match.
    """
    looked_for = _graph_of(pattern)
    matches = Matcher(looked_for, ignore_literals).match(gm.graph)
    accepted = [m for m in matches if all(f(m, gm.graph, looked_for) for f in match_filters or ())]
    replaced: dict[Node, Node] = {}
    done = []
    for match in accepted:
        if replacement_callback is not None:
            new = replacement_callback(match, gm.graph, looked_for)
        else:
            assert replacement is not None, (
                "Must provide either replacement GraphModule or replacement callback"
            )
            new = _graph_of(replacement)
        done.append(_replace(gm, looked_for, new, match, replaced))
    gm.recompile()
    return done


def _graph_of(part: Any) -> Graph:
    if isinstance(part, Graph):
        return part
    found: Graph = (part if isinstance(part, GraphModule) else symbolic_trace(part)).graph
    return found


def _parameters(graph: Graph) -> list[Node]:
    return [node for node in graph.nodes if node.op == "placeholder"]


class Matcher:
    """Finds the parts of graphs that match a pattern.

    Args:
        pattern: the pattern's graph.
        ignore_literals: whether constants match any.
    """

    def __init__(self, pattern: Graph, ignore_literals: bool = False) -> None:
        self.pattern, self.ignore_literals = pattern, ignore_literals
        output = pattern.output_node()
        self.anchors = output.all_input_nodes

    def match(self, graph: Graph) -> list[Any]:
        """Return the matches that share no node, in the graph's order."""
        last = self.anchors[-1] if self.anchors else None
        found, taken = [], set[Node]()
        for node in graph.nodes:
            if last is None or node in taken:
                continue
            nodes: dict[Node, Node] = {}
            if not self._same(last, node, nodes) or not self._rest(graph, nodes):
                continue
            inner = [n for p, n in nodes.items() if p.op != "placeholder"]
            if self._contained(nodes) and not taken.intersection(inner):
                taken.update(inner)
                found.append(ReplacedPatterns(last, nodes))
        return found

    def _rest(self, graph: Graph, nodes: dict[Node, Node]) -> bool:
        """Match the other results of the pattern."""
        for anchor in self.anchors[:-1]:
            if anchor not in nodes and not any(
                self._attempt(anchor, node, nodes) for node in graph.nodes
            ):
                return False
        return True

    def _attempt(self, part: Node, node: Node, nodes: dict[Node, Node]) -> bool:
        trial = dict(nodes)
        if node in trial.values() or not self._same(part, node, trial):
            return False
        nodes.update(trial)
        return True

    def _same(self, part: Node, node: Node, nodes: dict[Node, Node]) -> bool:
        """Return whether a node and what it uses match a part of the pattern; note it if so."""
        if part in nodes:
            return nodes[part] is node
        if part.op == "placeholder":
            nodes[part] = node
            return True
        if part.op != node.op or not self._same_target(part, node):
            return False
        nodes[part] = node
        if self._arguments(part.args, node.args, nodes) and self._arguments(
            part.kwargs, node.kwargs, nodes
        ):
            return True
        del nodes[part]
        return False

    def _same_target(self, part: Node, node: Node) -> bool:
        if part.op not in ("call_module", "get_attr") or part.graph.owning_module is None:
            return bool(part.target == node.target)
        theirs = _attribute(part.graph.owning_module, part.target)
        ours = _attribute(node.graph.owning_module, node.target)
        return type(theirs) is type(ours) and (part.op == "get_attr" or part.target == node.target)

    def _arguments(self, a: Any, b: Any, nodes: dict[Node, Node]) -> bool:
        if isinstance(a, Node):
            return isinstance(b, Node) and self._same(a, b, nodes)
        if isinstance(b, Node):
            return False
        if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
            pairs = zip(a, b, strict=False)
            return len(a) == len(b) and all(self._arguments(x, y, nodes) for x, y in pairs)
        if isinstance(a, dict) and isinstance(b, dict):
            return a.keys() == b.keys() and all(self._arguments(a[k], b[k], nodes) for k in a)
        if isinstance(a, slice) and isinstance(b, slice):
            ends = ((x.start, x.stop, x.step) for x in (a, b))
            return self._arguments(next(ends), next(ends), nodes)
        return self.ignore_literals or (type(a) is type(b) and bool(a == b))

    def _contained(self, nodes: dict[Node, Node]) -> bool:
        """Return whether only results of the match are used outside it."""
        inner = set(nodes.values())
        return all(
            part in self.anchors or part.op in ("placeholder", "get_attr") or inner >= {*node.users}
            for part, node in nodes.items()
        )


def _attribute(module: Any, path: str) -> Any:
    for name in path.split("."):
        module = getattr(module, name, None)
    return module


def _replace(
    gm: GraphModule,
    pattern: Graph,
    new: Graph,
    match: ReplacedPatterns,
    replaced: dict[Node, Node],
) -> ReplacedPatterns:
    """Put a copy of a graph in the place of a match.

    Args:
        gm: the module.
        pattern, new: the graphs of the pattern and of what replaces it.
        match: the match.
        replaced: from the results of earlier matches to what has replaced them.
    """
    match.nodes_map.update({p: replaced[n] for p, n in match.nodes_map.items() if n in replaced})
    values = [match.nodes_map.get(p) for p in _parameters(pattern)]
    given = {p: v for p, v in zip(_parameters(new), values, strict=True) if v is not None}
    _bring_modules(gm, new)
    inner = [n for p, n in match.nodes_map.items() if p.op != "placeholder"]
    old = [match.nodes_map[a] for a in _results(pattern)]
    order = {node: i for i, node in enumerate(gm.graph.nodes)}
    users = [user for node in old for user in node.users if user not in inner]
    place = min(users, key=order.__getitem__)
    late = max(given.values(), key=order.__getitem__, default=place)
    before = {*gm.graph.nodes}
    with gm.graph.inserting_before(late.next if order[late] >= order[place] else place):
        result = gm.graph.graph_copy(new, given)
    results = [result] if isinstance(result, Node) else [*result]  # type: ignore[misc]  # nodes
    for was, now in zip(old, results, strict=True):
        was.replace_all_uses_with(now, lambda user: user not in inner)
        replaced[was] = now
    for node in sorted(inner, key=order.__getitem__, reverse=True):
        if not node.users:
            gm.graph.erase_node(node)
    made = [node for node in gm.graph.nodes if node not in before]
    return ReplacedPatterns(match.anchor, match.nodes_map, made)


def _results(pattern: Graph) -> list[Node]:
    value = pattern.output_node().args[0]
    return [value] if isinstance(value, Node) else [n for n in value if isinstance(n, Node)]


def _bring_modules(gm: GraphModule, new: Graph) -> None:
    """Give the module the submodules and attributes that the new graph names and it lacks."""
    for node in new.nodes:
        if node.op in ("call_module", "get_attr") and _attribute(gm, node.target) is None:
            value = copy.deepcopy(_attribute(new.owning_module, node.target))
            if node.op == "call_module":
                gm.add_submodule(node.target, value)
            else:
                setattr(gm, node.target, value)
