"""The backward pass of a compiled function: one node for all that it computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet.core.callsite import here, locate
from tinynet.core.graph.node import Edge, Freed, Node, count_nodes, modified_problem
from tinynet.core.messages import freed_error
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import Tensor, counter_of


class CompiledFunctionBackward(Node):
    """The node of the outputs of a compiled function.

    Args:
        run: maps the saved values and the gradients of the outputs to those of the edges.
        saved: the values that ``run`` needs.
        edges: where the gradients go.
        like: shapes and dtypes of the outputs.
        tensors: tensors of which values are saved; they must not change before the backward pass.
    """

    __slots__ = ("freed", "run", "saved", "versions")
    multiple = True
    gives_fresh = True

    def __init__(
        self,
        run: Callable[..., tuple[Any, ...]] | None,
        saved: tuple[Any, ...],
        edges: Sequence[Edge | None],
        like: tuple[tuple[Any, ...], tuple[Any, ...]],
        tensors: Sequence[Tensor] = (),
    ):
        self.edges = tuple(edges)
        self.sequence = count_nodes()
        self.hooks = None
        self.site = here()
        self.scope = mode.scope
        self.shape, self.dtype = like
        self.run, self.saved = run, saved
        self.freed: Freed | None = None if run is not None else Freed(self.site)
        self.versions = [(t._array, v := counter_of(t), v.n) for t in tensors]

    def backward(self, g: Any, freed: Freed | None, wanted: Any) -> tuple[Any, ...]:
        """Compute all gradients."""
        if self.freed is not None or self.run is None:
            assert self.freed is not None
            raise freed_error(self.site, self.freed.site, locate(here()))
        for array, version, at in self.versions:
            if version.n != at:
                raise modified_problem(self, array, version, at, None, is_output=False)
        zip_ = zip(g, self.shape, self.dtype, strict=True)
        grads = [np.zeros(shape, kind) if x is None else x for x, shape, kind in zip_]
        results = self.run(*self.saved, *grads)
        if freed is not None:
            self.freed, self.saved = freed, ()
        return results

    def backward_recorded(self, g: Any, freed: Freed | None, wanted: Any) -> tuple[Any, ...]:
        """Refuse: the pass of a compiled function is not recorded."""
        raise RuntimeError(
            "create_graph=True cannot differentiate the backward pass of a compiled function.\n"
            "  to fix it: compile the whole step, with this backward pass in it, or call the "
            "function without tn.compile"
        )
