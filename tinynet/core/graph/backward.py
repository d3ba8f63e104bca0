"""``backward`` and ``grad``: their checks before ``core/graph/engine.py`` runs the pass.

They accept tensors and other objects with an ``edge`` (``autograd.graph.GradientEdge``).
"""

from __future__ import annotations

import math
import weakref
from collections import deque
from collections.abc import Sequence
from typing import Any

from tinynet import dtypes, errors
from tinynet.core import arrays
from tinynet.core.callsite import here, locate, warn
from tinynet.core.graph.engine import BackwardPass
from tinynet.core.graph.node import Edge
from tinynet.core.tensors.tensor import Tensor, wrap

finished: deque[weakref.ref[Any]] = deque(maxlen=256)  # starts of passes that freed their graphs


COMPLEX_SCALAR = (
    "grad can be implicitly created only for real scalar outputs but got {}. Take a real number of "
    "it: `.abs()`, `.real`, or `(z * z.conj()).real`."
)
COMPLEX_GRADIENT = (
    "For complex Tensors, both grad_output and output are required to have the same dtype. "
    "Mismatch in dtype: grad_output[{0}] has a dtype of {1} and output[{0}] has a dtype of {2}."
)


def start(ends: Sequence[Any], grads: Sequence[Tensor | None]) -> tuple[list[Edge], list[Tensor]]:
    """Check the starting points of a pass; return their edges and gradients.

    Raises:
        RuntimeError: a tensor without grad, a missing gradient for a non-scalar, a wrong shape.
    """
    edges: list[Edge] = []
    given: list[Tensor] = []
    for i, (end, g) in enumerate(zip(ends, grads, strict=True)):
        edge = end.edge
        if not edge:
            raise errors.not_recorded(i, locate(here()))
        shape, dtype = _form(edge)
        if g is None:
            if math.prod(shape) != 1:
                raise errors.not_scalar(shape, locate(here()))
            if dtype.kind == "c":
                raise RuntimeError(COMPLEX_SCALAR.format(dtypes.from_numpy(dtype)))
            g = wrap(arrays.ones(shape, dtype))
        elif not isinstance(g, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
        elif g._array.shape != shape:
            raise errors.grad_shape(i, g._array.shape, shape)
        elif g._array.dtype != dtype and "c" in (dtype.kind, g._array.dtype.kind):
            raise RuntimeError(
                COMPLEX_GRADIENT.format(i, dtypes.of(g._array), dtypes.from_numpy(dtype))
            )
        edges.append(edge)
        given.append(g)
    return edges, given


def _form(edge: Edge) -> tuple[tuple[int, ...], Any]:
    """Return the shape and dtype of an edge's tensor."""
    target, number = edge
    if isinstance(target, Tensor):
        return target._array.shape, target._array.dtype
    if target.multiple:
        return target.shape[number], target.dtype[number]
    return target.shape, target.dtype


def backward(
    tensors: Sequence[Any],
    grads: Sequence[Tensor | None],
    retain_graph: bool | None,
    create_graph: bool,
    inputs: Sequence[Any] | None,
) -> None:
    """Accumulate gradients into leaves, or into ``inputs`` only."""
    keep = create_graph if retain_graph is None else retain_graph
    if create_graph:
        warn(errors.CREATE_GRAPH)
    edges, given = start(tensors, grads)
    if edges and all(
        isinstance(e[0], Tensor) and g is None for e, g in zip(edges, grads, strict=True)
    ):
        warn(errors.BACKWARD_OF_LEAF + errors.more("lost-gradient"), errors.LostGradientWarning)
    if inputs is None:
        BackwardPass(edges, given, keep, create_graph, None).run()
        if edges and not keep:
            finished.append(weakref.ref(edges[0][0]))
        return
    if not inputs:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    for t in inputs:
        if isinstance(t, Tensor):
            t.retain_grad()  # as in PyTorch, a non-leaf retains its gradient from now on
    BackwardPass(edges, given, keep, create_graph, _edges(inputs), accumulate=True).run()


def grad(
    outputs: Sequence[Any],
    inputs: Sequence[Any],
    grads: Sequence[Tensor | None],
    retain_graph: bool | None,
    create_graph: bool,
    allow_unused: bool,
) -> list[Tensor | None]:
    """Return the gradients with respect to ``inputs``; None for an unused one if allowed."""
    keep = create_graph if retain_graph is None else retain_graph
    edges, given = start(outputs, grads)
    ends = _edges(inputs)
    backward_pass = BackwardPass(edges, given, keep, create_graph, ends)
    backward_pass.run()
    # A gradient that passes through unchanged is the same tensor as given, not an alias.
    own = {id(g._array): g for g in given}
    found = [backward_pass.captured.get(edge) for edge in ends]
    found = [None if g is None else own.get(id(g._array), g) for g in found]
    for i, g in enumerate(found):
        if g is None and not allow_unused:
            raise errors.unused(i, locate(here()))
    return found


def _edges(inputs: Sequence[Any]) -> list[Edge]:
    ends = [t.edge for t in inputs]
    if None in ends:
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    return ends
