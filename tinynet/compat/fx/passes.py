"""Passes over graphs: fusion of batch norms, shapes, replacing the parts that match a pattern."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tinynet.compat.fx._symbolic_trace import Tracer, symbolic_trace
from tinynet.compat.fx.graph import Graph
from tinynet.compat.fx.graph_module import GraphModule
from tinynet.compat.fx.interpreter import Interpreter
from tinynet.compat.fx.node import Argument, Node, map_aggregate
from tinynet.core.layouts import channels_last, contiguous_format
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.base.module import Module
from tinynet.nn.layers.batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from tinynet.nn.layers.convolution import Conv1d, Conv2d, Conv3d
from tinynet.nn.layers.dropout import Dropout
from tinynet.nn.utils.fusion import fuse_conv_bn_eval

__all__ = [
    "ShapeProp",
    "TensorMetadata",
    "extract_subgraph",
    "fuse",
    "matches_module_pattern",
    "remove_dropout",
    "replace_node_module",
    "Match",
    "ReplacedPatterns",
    "replace_pattern",
    "replace_pattern_with_filters",
]


_PATTERNS = [(Conv1d, BatchNorm1d), (Conv2d, BatchNorm2d), (Conv3d, BatchNorm3d)]


def _parent_name(target: str) -> tuple[str, str]:
    """Return the path of the module around another, and the name of that in it."""
    parent, _, name = target.rpartition(".")
    return parent, name


def matches_module_pattern(pattern: Iterable[type], node: Node, modules: dict[str, Any]) -> bool:
    """Return whether a node calls a module on the result of another, of given classes.

    Args:
        pattern: the classes of the first and the second module.
        node: the second one's node.
        modules: all modules by their paths.
    """
    if not node.args or not isinstance(node.args[0], Node):
        return False
    return all(
        current.op == "call_module" and type(modules.get(current.target)) is expected
        for expected, current in zip(pattern, (node.args[0], node), strict=True)
    )


def replace_node_module(node: Node, modules: dict[str, Any], new_module: Module) -> None:
    """Put another module in the place of the one that a node calls."""
    parent, name = _parent_name(node.target)
    modules[node.target] = new_module
    setattr(modules[parent], name, new_module)


def fuse(model: Module, inplace: bool = False, no_trace: bool = False) -> Module:
    """Return a model for inference whose convolutions compute their batch norms.

    Args:
        model: the model, in evaluation mode.
        inplace: change the model's own modules.
        no_trace: the model is a traced module.

    Example:
        >>> from tinynet.compat.fx.passes import fuse
        >>> net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2)).eval()
        >>> [node.target for node in fuse(net).graph.nodes]
        ['input', '0', 'output']
    """
    if not inplace:
        model = copy.deepcopy(model)
    if no_trace and not isinstance(model, GraphModule):
        raise AssertionError("fx_model must be GraphModule when no_trace is set")
    traced: Any = model if no_trace else symbolic_trace(model)
    modules = dict(traced.named_modules())
    graph = copy.deepcopy(traced.graph)
    for pattern in _PATTERNS:
        for node in graph.nodes:
            if not matches_module_pattern(pattern, node, modules):
                continue
            before, norm = node.args[0], modules[node.target]
            if len(before.users) > 1 or not norm.track_running_stats:
                continue  # others need the convolution's own result
            replace_node_module(before, modules, fuse_conv_bn_eval(modules[before.target], norm))
            node.replace_all_uses_with(before)
            graph.erase_node(node)
    return GraphModule(traced, graph)


def remove_dropout(model: Module) -> Module:
    """Return a model without its dropout layers."""
    traced = symbolic_trace(model)
    for node in traced.graph.nodes:
        if node.op == "call_module" and isinstance(traced.get_submodule(node.target), Dropout):
            node.replace_all_uses_with(node.args[0])
            traced.graph.erase_node(node)
    return GraphModule(traced, traced.graph)


def extract_subgraph(
    orig_module: Module, nodes: list[Node], inputs: list[Node], outputs: list[Node]
) -> GraphModule:
    """Return a module that computes some nodes of a graph.

    Args:
        orig_module: the module of the graph.
        nodes: the nodes, in their order.
        inputs: the nodes whose values it takes.
        outputs: the nodes whose values it returns.
    """
    graph = Graph(tracer_cls=Tracer)
    env: dict[Node, Node] = {node: graph.placeholder(node.name) for node in inputs}
    for node in nodes:
        env[node] = graph.node_copy(node, lambda n: env[n])
    result: Argument = [env[node] for node in outputs]
    graph.output(result)
    graph.lint()
    return GraphModule(orig_module, graph)


class TensorMetadata(NamedTuple):
    """What is known of a tensor without its values."""

    shape: Any
    dtype: Any
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: Any
    is_quantized: bool
    qparams: dict[str, Any]


def _extract_tensor_metadata(result: Tensor, include_contiguity: bool = True) -> TensorMetadata:
    """Return what is known of a tensor without its values."""
    formats = (contiguous_format, channels_last) if include_contiguity else ()
    order = next(
        (f for f in formats if (f is contiguous_format or result.dim() == 4) and _is(result, f)),
        None,
    )
    stride = tuple(result.stride())
    return TensorMetadata(
        result.shape, result.dtype, result.requires_grad, stride, order, False, {}
    )


def _is(x: Tensor, order: Any) -> bool:
    return bool(x.is_contiguous(memory_format=order))


class ShapeProp(Interpreter):
    """Runs a graph and writes ``tensor_meta`` and ``type`` into the ``meta`` of its nodes.

    Args:
        gm: the module.
        fake_mode: not supported.

    Example:
        >>> from tinynet.compat import fx
        >>> from tinynet.compat.fx.passes import ShapeProp
        >>> traced = fx.symbolic_trace(nn.Sequential(nn.Linear(3, 2)))
        >>> _ = ShapeProp(traced).propagate(tn.ones(5, 3))
        >>> [tuple(node.meta["tensor_meta"].shape) for node in traced.graph.nodes]
        [(5, 3), (5, 2), (5, 2)]
    """

    def __init__(self, gm: Any, fake_mode: None = None) -> None:
        super().__init__(gm)

    def run_node(self, n: Node) -> Any:
        """Return the value of a node, and write what is known of it."""
        result = super().run_node(n)
        found = False

        def known(x: Any) -> Any:
            nonlocal found
            found = found or isinstance(x, Tensor)
            return _extract_tensor_metadata(x) if isinstance(x, Tensor) else x

        meta = map_aggregate(result, known)
        if found:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """Run the graph with arguments and return its result."""
        return self.run(*args)


# ---- replacing patterns -------------------------------------------------------------------------


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
