"""Backward: walk the graph from newest to oldest node, hand each its gradient, collect.

Creation numbers are a topological order, since an input is always older than what uses it. So the
nodes that can be reached are sorted by number and visited once; nothing recurses.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet import errors
from tinynet.core.broadcasting import Recorded, sum_to
from tinynet.core.callsite import here, locate
from tinynet.core.inplace import moved
from tinynet.core.modes import mode
from tinynet.core.node import NOWHERE, Edge, Freed, Hooks, Node, check_replaced
from tinynet.core.overlap import refuse_overlap
from tinynet.core.tensor import Tensor, counter_of, dense_copy, wrap

_newest_first = operator.attrgetter("sequence")


watcher: Any = None  # goes along from node to node in anomaly mode, see autograd/anomaly.py


class Task:
    """One backward pass.

    Args:
        edges: where the pass starts.
        grads: the gradient of each, as tensors.
        keep_graph: keep what was saved for another pass.
        create_graph: record the pass itself.
        inputs: edges whose gradients are wanted; None: those of all leaves.
    """

    def __init__(
        self,
        edges: Sequence[Edge],
        grads: Sequence[Tensor],
        keep_graph: bool,
        create_graph: bool,
        inputs: Sequence[Edge] | None,
    ):
        self.edges = edges
        self.grads = grads
        self.recorded = create_graph
        self.freed = None if keep_graph else Freed(here())
        self.captured: dict[Edge, Any] = {}
        self.inputs = inputs
        self.pending: dict[Any, Any] = {}  # node or leaf -> its gradient so far
        self.order, self.uses = reachable([edge[0] for edge in edges])
        self.wanted = None if inputs is None else self._wanted({edge[0] for edge in inputs})
        self.asked = set() if inputs is None else {edge[0] for edge in inputs}

    def _wanted(self, targets: set[Any]) -> set[Any]:
        """Return the nodes and leaves that lie on a path to one of ``targets``."""
        wanted = set(targets)
        for node in reversed(self.order):
            if any(edge is not None and edge[0] in wanted for edge in node.edges):
                wanted.add(node)
        return wanted

    def run(self) -> None:
        """Do the pass: gradients of leaves are accumulated, or those of inputs captured."""
        before = mode.grad
        mode.grad = self.recorded and mode.on
        try:
            for edge, g in zip(self.edges, self.grads, strict=True):
                self._deliver(edge, g if self.recorded else g._array, False, False)
            visit = self._visit if watcher is None else watcher.visitor(self)
            for node in self.order:
                if node in self.pending:
                    visit(node)
            for leaf in [t for t in self.pending if isinstance(t, Tensor)]:
                self._leaf(leaf, *self.pending.pop(leaf))
        finally:
            mode.grad = before

    def _visit(self, node: Node) -> None:
        g = self.pending.pop(node)
        if node.hooks is not None:
            g = self._node_hooks(node, node.hooks, g)
        wanted = self.wanted
        if wanted is not None:
            if node in self.asked:
                self._capture(node, g)
            if not any(edge is not None and edge[0] in wanted for edge in node.edges):
                return
        step = node.backward_recorded if self.recorded else node.backward
        results = step(g, self.freed, wanted)
        if watcher is not None:
            watcher.check(node, g, results)
        if node.hooks is not None and node.hooks.post:
            results = self._post_hooks(node.hooks, results, g)
        for edge, r in zip(node.edges, results, strict=True):
            if edge is None or edge[0] is NOWHERE:
                continue
            target = edge[0]
            if wanted is not None and target not in wanted:
                continue
            if isinstance(target, Tensor):
                left = self.uses[target] = self.uses[target] - 1
                if r is not None:
                    own = not self.recorded and node.gives_fresh and node.hooks is None
                    own = own and _only_one(r, g, results)
                    self._deliver(edge, r, True, own)
                if not left and target in self.pending:
                    self._leaf(target, *self.pending.pop(target))
            elif r is not None:
                self._deliver(edge, r, False, False)
            elif target.takes_missing and target not in self.pending:
                self.pending[target] = [None] * len(target.shape) if target.multiple else None

    def _deliver(self, edge: Edge, g: Any, is_leaf: bool, own: bool) -> None:
        """Add ``g`` to what has arrived at ``edge``, in the shape and dtype of its tensor."""
        target, number = edge
        if is_leaf or isinstance(target, Tensor):
            array = target._array
            g = self._fit(g, array.shape, array.dtype)
            arrived = self.pending.get(target)
            if arrived is None:
                self.pending[target] = (g, own)
            else:
                self.pending[target] = (self._add(arrived[0], g), not self.recorded)
        elif target.multiple:
            g = self._fit(g, target.shape[number], target.dtype[number])
            slots = self.pending.get(target)
            if slots is None:
                slots = self.pending[target] = [None] * len(target.shape)
            arrived = slots[number]
            slots[number] = g if arrived is None else self._add(arrived, g)
        else:
            g = self._fit(g, target.shape, target.dtype)
            arrived = self.pending.get(target)
            self.pending[target] = g if arrived is None else self._add(arrived, g)

    def _add(self, a: Any, b: Any) -> Any:
        return Recorded.add(a, b) if self.recorded else a + b

    def _fit(self, g: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        array = g._array if self.recorded else g
        if array.shape != shape:
            try:
                g = Recorded.sum_to(g, shape) if self.recorded else sum_to(g, shape)
            except ValueError:
                raise RuntimeError(
                    f"a function returned an invalid gradient - got {list(array.shape)} but "
                    f"expected shape compatible with {list(shape)}"
                ) from None
        if array.dtype is not dtype:
            g = Recorded.cast(g, dtype) if self.recorded else g.astype(dtype)
        return g

    # ---- hooks and captures -----------------------------------------------------------------

    def _tensor(self, g: Any) -> Tensor:
        if self.recorded:
            return g  # type: ignore[no-any-return]
        array = np.asarray(g)  # a broadcast gradient cannot be written to: users get a copy
        return wrap(array if array.flags.writeable else array.copy(order="C"))

    def _hooked(self, hooks: Hooks, number: int, g: Any) -> Any:
        """Run the hooks on one tensor's gradient, and keep it if the tensor retains it."""
        for hook in [*hooks.tensor.get(number, {}).values()]:
            g = self._replaced(hook(self._tensor(g)), g, hook)
        kept = hooks.retained.get(number)
        t = None if kept is None else kept()
        if t is not None:
            seen = self._tensor(g)
            if t._grad is None:
                t._grad = Recorded.clone(seen) if self.recorded else wrap(seen._array.copy())
            elif self.recorded:
                t._grad = Recorded.add(t._grad, seen)
            else:
                t._grad = wrap(np.asarray(t._grad._array + seen._array))
        return g

    def _replaced(self, returned: Any, g: Any, hook: Any) -> Any:
        if returned is None:
            return g
        if not isinstance(returned, Tensor):
            raise TypeError(f"expected Variable, but hook returned '{type(returned).__name__}'")
        was = self._tensor(g)
        name = getattr(hook, "__name__", type(hook).__name__)
        if returned._array.dtype != was._array.dtype:
            raise RuntimeError(
                f"hook '{name}' has changed the type of value (was "
                f"tinynet.{was.dtype.tensor_name} got tinynet.{returned.dtype.tensor_name})"
            )
        if returned._array.shape != was._array.shape:
            raise RuntimeError(f"hook '{name}' has changed the size of value")
        return returned if self.recorded else returned._array

    def _node_hooks(self, node: Node, hooks: Hooks, g: Any) -> Any:
        if node.multiple:
            slots = [None if x is None else self._hooked(hooks, i, x) for i, x in enumerate(g)]
        else:
            slots = [None if g is None else self._hooked(hooks, 0, g)]
        for hook in [*hooks.pre.values()]:
            seen = tuple(None if x is None else self._tensor(x) for x in slots)
            returned = hook(seen)
            if returned is not None:
                check_replaced(hook, returned, len(slots))
                slots = [x if self.recorded or x is None else x._array for x in returned]
        return slots if node.multiple else slots[0]

    def _post_hooks(self, hooks: Hooks, results: tuple[Any, ...], g: Any) -> tuple[Any, ...]:
        outs = g if isinstance(g, list) else [g]
        seen = tuple(None if x is None else self._tensor(x) for x in outs)
        for hook in [*hooks.post.values()]:
            given = tuple(None if x is None else self._tensor(x) for x in results)
            returned = hook(given, seen)
            if returned is not None:
                check_replaced(hook, returned, len(results))
                results = tuple(x if self.recorded or x is None else x._array for x in returned)
        return results

    def _capture(self, node: Node, g: Any) -> None:
        for edge in self.inputs or ():
            if edge[0] is node:
                found = g[edge[1]] if node.multiple else g
                if found is not None:
                    self.captured[edge] = self._tensor(found)

    def _leaf(self, leaf: Tensor, g: Any, own: bool) -> None:
        """Give a leaf its gradient: to ``.grad``, or to whoever asked for it."""
        if leaf._edge is not None:
            raise moved(counter_of(leaf))
        hooks: Hooks | None = leaf._hooks
        if hooks is not None:
            g = self._hooked(hooks, 0, g)
            own = False  # a hook may have kept it
        if self.inputs is not None:
            self.captured[(leaf, 0)] = self._tensor(g)
            return
        seen = self._tensor(g)
        if hooks is not None and hooks.pre:
            for hook in [*hooks.pre.values()]:
                returned = hook((seen,))
                if returned is not None:
                    seen, own = (returned[0] if isinstance(returned, tuple) else returned), False
        accumulate(leaf, seen, own, self.recorded)
        if hooks is not None and hooks.post:
            for hook in [*hooks.post.values()]:
                hook((), (seen,))


def _only_one(r: Any, g: Any, results: tuple[Any, ...]) -> bool:
    """Return True if nobody else can hold the array ``r``, so that a leaf may keep it as it is."""
    if r is g or r.__class__ is not np.ndarray or r.base is not None:
        return False
    return sum(other is r for other in results) == 1


def reachable(roots: Sequence[Any]) -> tuple[list[Node], dict[Any, int]]:
    """Return the nodes behind ``roots``, newest first, and how many edges lead to each leaf."""
    order: list[Node] = []
    uses: dict[Any, int] = {}
    seen: set[Any] = set()
    stack: list[Any] = []
    for root in roots:
        if isinstance(root, Tensor):
            uses[root] = uses.get(root, 0)
        elif root not in seen:
            seen.add(root)
            stack.append(root)
    while stack:
        node = stack.pop()
        order.append(node)
        for edge in node.edges:
            if edge is None or edge[0] is NOWHERE:
                continue
            target = edge[0]
            if target in seen:
                continue
            if isinstance(target, Tensor):
                uses[target] = uses.get(target, 0) + 1
            else:
                seen.add(target)
                stack.append(target)
    order.sort(key=_newest_first, reverse=True)
    return order, uses


def accumulate(leaf: Tensor, g: Tensor, own: bool, recorded: bool) -> None:
    """Add ``g`` to ``leaf.grad``; in place unless the pass is recorded, as PyTorch does."""
    grad = leaf._grad
    if not leaf._requires_grad:
        pass  # switched off since: nobody wants it any more
    elif grad is None:
        if recorded:
            leaf._grad = Recorded.clone(g)
        elif own:
            leaf._grad = g
        else:
            leaf._grad = wrap(dense_copy(g._array))
    elif recorded:
        leaf._grad = Recorded.add(grad, g)
    else:
        refuse_overlap(grad._array)
        np.add(grad._array, g._array, out=grad._array, casting="same_kind")
        counter_of(grad).bump(None, "gradient accumulation")
    if leaf._hooks is not None:
        for hook in [*leaf._hooks.accumulated.values()]:
            if hook(leaf) is not None:
                raise RuntimeError("Tensor post accumulate grad hooks should return None.")


def start(
    tensors: Sequence[Tensor], grads: Sequence[Tensor | None], create_graph: bool
) -> tuple[list[Edge], list[Tensor]]:
    """Check what a pass starts from; return the edges and their gradients.

    Raises:
        RuntimeError: a tensor without grad, a missing gradient for a non-scalar, a wrong shape.
    """
    edges: list[Edge] = []
    given: list[Tensor] = []
    for i, (t, g) in enumerate(zip(tensors, grads, strict=True)):
        edge = t.edge
        if edge is None or edge[0] is NOWHERE:
            raise errors.not_recorded(i, locate(here()))
        if g is None:
            if t._array.size != 1:
                raise errors.not_scalar(t._array.shape, locate(here()))
            g = wrap(np.ones_like(t._array))
        elif not isinstance(g, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
        elif g._array.shape != t._array.shape:
            raise errors.grad_shape(i, g._array.shape, t._array.shape)
        edges.append(edge)
        given.append(g)
    return edges, given


def backward(
    tensors: Sequence[Tensor],
    grads: Sequence[Tensor | None],
    retain_graph: bool | None,
    create_graph: bool,
    inputs: Sequence[Tensor] | None,
) -> None:
    """Accumulate gradients into leaves, or into ``inputs`` only."""
    keep = create_graph if retain_graph is None else retain_graph
    if create_graph:
        warnings.warn(errors.CREATE_GRAPH, UserWarning, stacklevel=3)
    edges, given = start(tensors, grads, create_graph)
    if inputs is None:
        Task(edges, given, keep, create_graph, None).run()
        return
    if not inputs:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    ends = _ends(inputs)
    for t in inputs:
        t.retain_grad()  # as in PyTorch: from now on, for one that is no leaf
    task = Task(edges, given, keep, create_graph, ends)
    task.run()
    for t, edge in zip(inputs, ends, strict=True):
        if edge in task.captured and not t.retains_grad:
            accumulate(t, task.captured[edge], False, create_graph)


def grad(
    tensors: Sequence[Tensor],
    inputs: Sequence[Tensor],
    grads: Sequence[Tensor | None],
    retain_graph: bool | None,
    create_graph: bool,
    allow_unused: bool,
) -> list[Tensor | None]:
    """Return the gradients with respect to ``inputs``; None for an unused one if allowed."""
    keep = create_graph if retain_graph is None else retain_graph
    edges, given = start(tensors, grads, create_graph)
    ends = _ends(inputs)
    task = Task(edges, given, keep, create_graph, ends)
    task.run()
    # A gradient that passes through unchanged is the tensor that was passed in, not an alias.
    own = {id(g._array): g for g in given}
    found = [task.captured.get(edge) for edge in ends]
    found = [None if g is None else own.get(id(g._array), g) for g in found]
    for i, g in enumerate(found):
        if g is None and not allow_unused:
            raise errors.unused(i, locate(here()))
    return found


def _ends(inputs: Sequence[Tensor]) -> list[Edge]:
    ends = [t.edge for t in inputs]
    if None in ends:
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    return ends  # type: ignore[return-value]
