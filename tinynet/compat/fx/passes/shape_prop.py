"""Shapes and dtypes of the values of a graph, found by running it."""

from __future__ import annotations

from typing import Any, NamedTuple

from tinynet.compat.fx.interpreter import Interpreter
from tinynet.compat.fx.node import Node, map_aggregate
from tinynet.core.layouts import channels_last, contiguous_format
from tinynet.core.tensors.tensor import Tensor

__all__ = ["TensorMetadata", "ShapeProp"]


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
        >>> from tinynet.compat.fx.passes.shape_prop import ShapeProp
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
