"""CopySlices: the history of a tensor after an in-place write to one of its views."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.core import arrays
from tinynet.core.callsite import Site, here, locate
from tinynet.core.graph.node import Edge, Freed, Node, count_nodes
from tinynet.core.graph.views import Chain
from tinynet.core.messages import freed_error
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.core.trace import run_traced, traced

transpose = traced(np.transpose)


class CopySlices(Node):
    """The history of a base after an in-place write to one of its views.

    The part of the gradient that belongs to the view passes through ``inner``, the node of the
    in-place operation; the rest passes on to the previous history of the base.
    """

    __slots__ = ("chain", "freed", "inner", "order", "written")

    def __init__(
        self, base: Tensor, before: Edge | None, chain: Chain, inner: Node | None, site: Site | None
    ):
        self.sequence = count_nodes()
        self.edges = (before,) if inner is None else (before, *inner.edges[1:])
        self.hooks = None
        self.site = site
        self.shape = base._array.shape
        self.dtype = base._array.dtype
        # The chain may only fit the order in which the base's dimensions lie in memory.
        order = sorted(range(base._array.ndim), key=lambda i: -base._array.strides[i])
        self.order = None if order == sorted(order) else order
        # The result saved by inner is the view, whose history is in turn this node.
        self.written = base._array if inner is not None and "result" in inner.saved else None
        self.chain = chain
        self.inner = inner
        self.freed: Freed | None = None

    def name(self) -> str:
        """Return the name that messages show."""
        return "tinynet::autograd::CopySlices"

    def backward(self, g: Any, freed: Freed | None, wanted: Any) -> tuple[Any, ...]:
        """Split the gradient, on arrays."""
        self._check()
        order = self.order
        if order is None:
            whole = arrays.copied(g)
        else:
            permuted = arrays.copied(transpose(g, order))
            whole = transpose(permuted, np.argsort(order).tolist())
        part = whole
        for op, args in self.chain:
            part = run_traced(op.kernel, part, *args, op=op)
        first: Any = None
        rest: list[Any] = []
        if self.inner is not None:
            first, *rest = self.inner.backward(arrays.copied(part), freed, None)
        arrays.assign(part, 0 if first is None else first)
        if freed is not None:
            self.freed = freed
        return (whole, *rest)

    def backward_recorded(self, g: Any, freed: Freed | None, wanted: Any) -> tuple[Any, ...]:
        """Split the gradient, on tensors."""
        self._check()
        whole = g.clone()
        if self.order is not None:
            back = [self.order.index(i) for i in range(len(self.order))]
            whole = whole.permute(*self.order).contiguous().permute(*back)
        part = whole
        for op, args in self.chain:
            part = op.function(part, *args)
        first: Any = None
        rest: list[Any] = []
        if self.inner is not None:
            self._lend_edge(self.inner)
            try:
                first, *rest = self.inner.backward_recorded(part.clone(), freed, None)
            finally:
                if self.written is not None:
                    del self.inner.result_edge
        if first is None:
            part.zero_()
        else:
            part.copy_(first)
        if freed is not None:
            self.freed = freed
        return (whole, *rest)

    def _lend_edge(self, inner: Node) -> None:
        """Set the edge of the result saved by ``inner``, which is a view of the base.

        The caller removes it again: it forms a reference cycle.
        """
        if self.written is None:
            return
        view = wrap(self.written)
        view._edge, view._requires_grad = (self, 0), True
        for op, args in self.chain:
            view = op.function(view, *args)
        inner.result_edge = view._edge

    def _check(self) -> None:
        if self.freed is not None:
            raise freed_error(self.site, self.freed.site, locate(here()), "buffers")
