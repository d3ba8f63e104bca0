"""Passes over graphs: fusion of batch norms, shapes."""

from __future__ import annotations

import copy
from collections.abc import Iterable
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
