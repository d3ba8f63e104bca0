"""The backward pass: visit nodes from newest to oldest, and pass each its gradient.

Creation numbers are a topological order, since an input is always older than its users. The engine
sorts the reachable nodes by number and visits each once, without recursion.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from tinynet import errors
from tinynet.core import arrays
from tinynet.core.callsite import here
from tinynet.core.graph.accumulate_grad import Leaf, Rows, accumulate, add_to, sparse
from tinynet.core.graph.inplace import moved
from tinynet.core.graph.node import UNREACHED, Edge, Freed, Hooks, Node, check_replaced
from tinynet.core.modes import mode, on_a_new_stack
from tinynet.core.seams import Recorded
from tinynet.core.tensors.tensor import Tensor, counter_of, wrap
from tinynet.core.trace import Channel, run_traced


class HookedPass:
    """What a backward pass does about hooks.

    Attributes:
        recorded: gradients are tensors, not arrays.
        create_graph: the pass itself is recorded.
    """

    recorded: bool
    create_graph: bool

    def _tensor(self, g: Any) -> Any:
        """Return a gradient as hooks see it: a tensor, or None if it is missing."""
        if self.recorded or g is None:
            return g
        if g.__class__ is Rows:
            return wrap(g.dense()) if g.lazy else sparse(g.copy())
        return wrap(arrays.writable(g))

    def _tensor_hooks(self, hooks: Hooks, slots: list[Any]) -> list[Any]:
        """Run the tensor hooks in order of registration, then fill retained gradients."""
        registered = [(h, n, hook) for n, own in hooks.tensor.items() for h, hook in own.items()]
        shown = [self._tensor(g) for g in slots]  # all see one tensor: they may set attributes
        for _handle, number, hook in sorted(registered, key=operator.itemgetter(0)):
            returned = hook(shown[number])
            if returned is not None:
                slots[number] = self._replaced(returned, slots[number], hook)
                shown[number] = returned
        for number, kept in hooks.retained.items():
            self._retain(kept(), slots[number])
        return slots

    def _retain(self, t: Tensor | None, g: Any) -> None:
        if t is not None and g is not None:
            seen = self._tensor(g)
            if t._grad is None:
                t._grad = (
                    Recorded.clone(seen) if self.create_graph else wrap(arrays.copied(seen._array))
                )
            elif self.create_graph:
                t._grad = Recorded.add(t._grad, seen)
            else:
                t._grad = wrap(np.asarray(arrays.add(t._grad._array, seen._array)))

    def _replaced(self, returned: Any, g: Any, hook: Any) -> Any:
        if not isinstance(returned, Tensor):
            raise TypeError(f"expected Variable, but hook returned '{type(returned).__name__}'")
        if g is None:
            raise RuntimeError("can't replace a None gradient with a non-None value")
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

    def _pre_hooks(self, hooks: Hooks, slots: list[Any]) -> list[Any]:
        seen = tuple(self._tensor(x) for x in slots)
        for hook in [*hooks.pre.values()]:
            returned = hook(seen)
            if returned is not None:
                check_replaced(hook, returned, len(slots))
                seen = tuple(returned)
                slots = [x if self.recorded or x is None else x._array for x in returned]
        return slots

    def _post_hooks(self, hooks: Hooks, results: tuple[Any, ...], g: Any) -> tuple[Any, ...]:
        outs = g if isinstance(g, list) else [g]
        seen = tuple(self._tensor(x) for x in outs)
        given = tuple(None if x is UNREACHED else self._tensor(x) for x in results)
        for hook in [*hooks.post.values()]:
            returned = hook(given, seen)
            if returned is not None:
                check_replaced(hook, returned, len(results))
                given = tuple(returned)
                results = tuple(x if self.recorded or x is None else x._array for x in returned)
        return results


def run_hooks(hooks: Callable[[Hooks, list[Any]], list[Any]], node: Node, g: Any) -> Any:
    """Return the gradients of a node's outputs after ``hooks``."""
    assert node.hooks is not None
    slots = hooks(node.hooks, list(g) if node.multiple else [g])
    return slots if node.multiple else slots[0]


# ---- the nodes and leaves that a pass can reach, in the order of visits --------------------------


_newest_first = operator.attrgetter("sequence")


def reachable(roots: Sequence[Any], targets: Any = ()) -> tuple[list[Node], dict[int, Leaf]]:
    """Return the nodes reachable from ``roots``, newest first, and the leaves by their id.

    Nodes older than all ``targets`` are omitted, since they cannot lead there. Any node may lead
    to a leaf.
    """
    oldest = min((-1 if isinstance(t, Tensor) else t.sequence for t in targets), default=-1)
    order: list[Node] = []
    leaves: dict[int, Leaf] = {}
    seen: set[Any] = set()
    stack: list[Any] = []
    for root in roots:
        if isinstance(root, Tensor):
            leaves.setdefault(id(root), Leaf(root))
        elif root not in seen:
            seen.add(root)
            stack.append(root)
    pop, push, add, reach = stack.pop, stack.append, order.append, seen.add
    while stack:
        node = pop()
        add(node)
        for edge in node.edges:
            if not edge:
                continue
            target = edge[0]
            if isinstance(target, Tensor):
                leaf = leaves.get(id(target))
                if leaf is None:
                    leaf = leaves[id(target)] = Leaf(target)
                leaf.left += 1
            elif target not in seen and target.sequence >= oldest:
                reach(target)
                push(target)
    order.sort(key=_newest_first, reverse=True)
    return order, leaves


def leading_to(targets: set[Any], order: Sequence[Node]) -> set[Any]:
    """Return the nodes of ``order`` and the leaves on a path to one of ``targets``."""
    wanted = set(targets)
    for node in reversed(order):
        if any(edge and edge[0] in wanted for edge in node.edges):
            wanted.add(node)
    return wanted


# ---- observers of passes, node by node -----------------------------------------------------------


class BackwardObserver:
    """Base class of observers of the backward passes of their thread."""

    def began(self, backward_pass: Any) -> None:
        """Handle the start of a pass from its ``edges``; its ``order`` has the nodes in reach."""

    def visit(self, backward_pass: Any, node: Any, go: Callable[[Any], None]) -> None:
        """Visit a node by ``go(node)``; ``backward_pass.pending[node]`` is its gradient."""
        go(node)

    def computed(self, node: Any, g: Any, results: tuple[Any, ...]) -> None:
        """Handle the gradients that the formulas of a node computed from ``g``."""

    def ended(self, backward_pass: Any) -> None:
        """Handle the end of a pass, successful or not; leaves have their gradients."""


passes: Channel[BackwardObserver] = Channel()


def observing_backward(observer: BackwardObserver) -> AbstractContextManager[None]:
    """Notify ``observer`` of each backward pass of this thread, node by node."""
    return passes.heard_by(observer)


def run_observed(backward_pass: Any, run: Callable[[], None]) -> None:
    """Run a pass and notify the observers of its thread."""
    observers = backward_pass.observers = passes.here()
    for observer in observers:
        observer.began(backward_pass)
        visit = functools.partial(observer.visit, backward_pass, go=backward_pass._visit)
        backward_pass._visit = visit
    try:
        run()
    finally:
        backward_pass.__dict__.pop("_visit", None)  # it refers to the pass
        for observer in observers:
            observer.ended(backward_pass)


# ---- a pass --------------------------------------------------------------------------------------


PASSES_PER_STACK = 32  # nested passes on one stack: Python's recursion limit is per thread


class BackwardPass(HookedPass):
    """One backward pass.

    Args:
        edges: where the pass starts.
        grads: the gradient of each edge, as tensors.
        keep_graph: keep the saved values for another pass.
        create_graph: record the pass itself.
        inputs: edges whose gradients to compute; None: those of all leaves.
        accumulate: run the nodes of ``inputs`` and accumulate into leaves, as
            ``backward(inputs=...)`` does; else capture the gradients at ``inputs``.
    """

    def __init__(
        self,
        edges: Sequence[Edge],
        grads: Sequence[Tensor],
        keep_graph: bool,
        create_graph: bool,
        inputs: Sequence[Edge] | None,
        accumulate: bool = False,
    ):
        self.edges = edges
        self.grads = grads
        self.create_graph = create_graph
        self.freed = None if keep_graph else Freed(here())
        self.captured: dict[Edge, Any] = {}
        self.inputs = None if accumulate else inputs
        self.accumulate = accumulate
        self.pending: dict[Node, Any] = {}  # the gradient of each node so far
        ends = {edge[0] for edge in inputs or ()}
        self.order, self.leaves = reachable([edge[0] for edge in edges], ends)
        self.batched = Recorded.batched is not None and Recorded.batched(self.order)
        self.recorded = create_graph or self.batched  # formulas run on tensors
        self.observers: Sequence[BackwardObserver] = ()
        self.tracer = mode.tracer
        self.wanted = None if inputs is None else leading_to(ends, self.order)
        self.captured_at = {edge[0] for edge in self.inputs or ()}
        self.callbacks: list[Callable[[], Any]] = []  # run at the end of the pass
        outer = mode.backward_pass
        self.depth = 0 if outer is None else outer.depth + 1
        self.reaches_all = inputs is None and (outer is None or outer.reaches_all)

    def run(self) -> None:
        """Run the pass: accumulate the gradients of leaves, or capture those of the inputs."""
        if passes.listeners:
            run_observed(self, self._run)
        else:
            self._run()

    def _run(self) -> None:
        if self.depth % PASSES_PER_STACK == PASSES_PER_STACK - 1:
            on_a_new_stack(self._walk)
        else:
            self._walk()

    def _walk(self) -> None:
        before, on, outer = mode.grad, mode.on, mode.backward_pass
        mode.grad = self.create_graph and mode.on
        mode.backward_pass = self
        try:
            for edge, g in zip(self.edges, self.grads, strict=True):
                self._deliver(edge, g if self.recorded else g._array, False)
            if not (self.recorded or self.observers or self.tracer or self.wanted is not None):
                self._run_plain()
            else:
                for node in self.order:
                    if node in self.pending:
                        self._visit(node)
            for leaf in self.leaves.values():  # leaves at which the pass started
                if leaf.gradient is not None:
                    self._leaf(leaf)
            while self.callbacks:
                self.callbacks.pop(0)()
        except MemoryError as error:
            errors.refuse_unallocated(error)
            raise
        finally:
            mode.grad, mode.on, mode.backward_pass = before, on, outer

    def will_reach(self, edge: Edge) -> bool:
        """Return whether the pass reaches the node or leaf of ``edge``."""
        target = edge[0]
        if self.wanted is not None and target not in self.wanted:
            return False
        return id(target) in self.leaves if isinstance(target, Tensor) else target in self.order

    def _run_plain(self) -> None:
        """Visit the nodes of an ordinary, unobserved pass, the most common kind.

        This is `_visit` without its checks; a node that needs them is handed to `_visit`.
        """
        pending, leaves, freed = self.pending, self.leaves, self.freed
        for node in self.order:
            if node not in pending:
                continue
            g = pending[node]
            if node.hooks is not None or g is None or node.multiple or node.takes_missing:
                self._visit(node)
                continue
            del pending[node]
            results = node.backward(g, freed, None)
            for edge, r in zip(node.edges, results, strict=True):
                if not edge:
                    continue
                target, number = edge
                if isinstance(target, Tensor):
                    leaf, array, grad = leaves[id(target)], target._array, target._grad
                    if (
                        leaf.left == 1  # its only gradient, ...
                        and leaf.gradient is None
                        and target._hooks is None
                        and target._edge is None
                        and target._requires_grad
                        and r.__class__ is np.ndarray
                        and r.shape == array.shape
                        and r.dtype is array.dtype
                        and (
                            (node.gives_fresh and _unshared(r, g, results))  # ... kept uncopied
                            if grad is None
                            else grad._array.__class__ is np.ndarray  # ... or added in place
                        )
                    ):
                        leaf.left = 0
                        target._grad = wrap(r) if grad is None else add_to(grad, r)
                    else:
                        self._at_leaf(leaf, r, node.gives_fresh, g, results)
                elif r is None or r.__class__ is Rows or target.multiple:
                    self._pass_on(edge, r)
                else:
                    if r.shape != target.shape or r.dtype is not target.dtype:
                        r = self._fit(r, target.shape, target.dtype)
                    arrived = pending.get(target)
                    pending[target] = r if arrived is None else arrived + r

    def goes_on(self, node: Node) -> bool:
        """Return whether the pass computes gradients of what a node was computed from."""
        wanted = self.wanted
        if wanted is None or any(edge and edge[0] in wanted for edge in node.edges):
            return True
        return self.accumulate and node in wanted

    def _visit(self, node: Node) -> None:
        g = self.pending.pop(node)
        wanted, goes_on = self.wanted, self.goes_on(node)
        if goes_on and node in self.captured_at:
            self._capture(node, g)  # before hooks; where the pass stops, after them
        if node.hooks is not None:
            g = run_hooks(self._tensor_hooks, node, g)
        if not goes_on:
            if node in self.captured_at:
                self._capture(node, g)
            return
        if node.hooks is not None and node.hooks.pre:
            g = run_hooks(self._pre_hooks, node, g)
        if not node.takes_missing and (g is None or (node.multiple and _all_missing(g))):
            results: tuple[Any, ...] = (None,) * len(node.edges)
        else:
            step = node.backward_recorded if self.recorded else node.backward
            results = step(g, self.freed, wanted)
        for observer in self.observers:
            observer.computed(node, g, results)
        if node.hooks is not None and node.hooks.post:
            results = self._post_hooks(node.hooks, results, g)
        for edge, r in zip(node.edges, results, strict=True):
            if not edge:
                continue
            target = edge[0]
            if wanted is not None and target not in wanted:
                continue
            if isinstance(target, Tensor):
                fresh = not self.recorded and node.gives_fresh and node.hooks is None
                self._at_leaf(self.leaves[id(target)], r, fresh, g, results)
            else:
                self._pass_on(edge, r)

    def _at_leaf(self, leaf: Leaf, r: Any, fresh: bool, g: Any, results: tuple[Any, ...]) -> None:
        """Deliver a node's gradient to a leaf; after the last one, finish the leaf."""
        leaf.left -= 1
        t = leaf.tensor
        if r is not None and r is not UNREACHED:
            self._deliver((t, 0), r, fresh and _unshared(r, g, results))
        elif r is None and t._hooks is not None:
            leaf.hooked = True
        if not leaf.left and (leaf.gradient is not None or leaf.hooked):
            self._leaf(leaf)

    def _pass_on(self, edge: Edge, r: Any) -> None:
        target = edge[0]
        if r is not None and r is not UNREACHED:
            self._deliver(edge, r, False)
        elif r is None and target not in self.pending:  # visit it all the same: its hooks run
            self.pending[target] = [None] * len(target.shape) if target.multiple else None

    def _deliver(self, edge: Edge, g: Any, own: bool) -> None:
        """Add ``g`` to the gradient at ``edge``, in the shape and dtype of its tensor."""
        target, number = edge
        if self.batched:
            g = Recorded.settled(g, target)
        if isinstance(target, Tensor):
            array = target._array
            leaf = self.leaves[id(target)]
            g = self._fit(g, array.shape, array.dtype)
            if leaf.gradient is None:
                leaf.gradient, leaf.own = g, own
            else:
                leaf.gradient, leaf.own = self._add(leaf.gradient, g), not self.recorded
            return
        if g.__class__ is Rows and g.lazy:  # only leaves and optimizers handle rows
            g = arrays.dense(g)
        if target.multiple:
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
        if self.recorded:
            return Recorded.add(a, b)
        return a + b if self.tracer is None else arrays.add(a, b)

    def _fit(self, g: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        array = g._array if self.recorded else g
        if array.shape != shape:
            try:
                if self.recorded:
                    g = Recorded.sum_to(g, shape)
                else:
                    g = run_traced(arrays.sum_to, g, shape)
            except ValueError:
                raise RuntimeError(
                    f"a function returned an invalid gradient - got {list(array.shape)} but "
                    f"expected shape compatible with {list(shape)}"
                ) from None
        if array.dtype is not dtype:
            g = Recorded.cast(g, dtype) if self.recorded else arrays.converted(g, dtype)
        return g

    # ---- the ends of the pass ----------------------------------------------------------------

    def _capture(self, node: Node, g: Any) -> None:
        for edge in self.inputs or ():
            if edge[0] is node:
                found = g[edge[1]] if node.multiple else g
                if found is not None:
                    self.captured[edge] = self._tensor(found)

    def _leaf(self, arrived: Leaf) -> None:
        """Store the gradient of a leaf in ``.grad``, or capture it for ``grad``."""
        leaf, g, own = arrived.tensor, arrived.gradient, arrived.own
        arrived.gradient = None
        if self.tracer is not None and self.inputs is None:
            self.tracer.perform(store, (leaf, g, own, self.create_graph, self.batched), {})
        else:
            self._finish(leaf, g, own)

    def _finish(self, leaf: Tensor, g: Any, own: bool) -> None:
        if leaf._edge is not None:
            raise moved(counter_of(leaf))
        hooks: Hooks | None = leaf._hooks
        if hooks is None and leaf._grad is None and own and self.inputs is None:
            if g.__class__ is np.ndarray:
                if leaf._requires_grad:  # else it was switched off since
                    leaf._grad = wrap(g)
                return
        if hooks is not None:
            (g,) = self._tensor_hooks(hooks, [g])
            own = False  # a hook may have kept it
        if self.inputs is not None:
            if g is not None:
                self.captured[(leaf, 0)] = self._tensor(g)
            return
        if hooks is not None:
            (g,) = self._pre_hooks(hooks, [g])
        if g.__class__ is Rows and g.lazy and hooks is None:
            seen, own = sparse(g), True
        else:
            seen = self._tensor(g)
        first = leaf._grad is None and not self.create_graph
        accumulate(leaf, seen, own, self.create_graph)
        if hooks is not None and hooks.post:
            if first and leaf._grad is not None:  # the stored tensor, after other hooks
                seen = leaf._grad
            for hook in [*hooks.post.values()]:
                hook((), (seen,))


def store(leaf: Tensor, g: Any, own: bool, create_graph: bool, batched: bool) -> None:
    """Do what a pass does when all of a leaf's gradient has arrived.

    Args:
        leaf: the leaf.
        g: its gradient in this pass.
        own: whether nothing else refers to the array ``g``.
        create_graph, batched: attributes of the pass.
    """
    plain = own and leaf._hooks is None and leaf._grad is None and g.__class__ is np.ndarray
    if plain and leaf._requires_grad and leaf._edge is None:
        leaf._grad = wrap(g)
    else:
        backward_pass = BackwardPass((), (), True, create_graph, None)
        backward_pass.batched = batched
        backward_pass.recorded = create_graph or batched
        backward_pass._finish(leaf, g, own)


def _all_missing(grads: Sequence[Any]) -> bool:
    return all(g is None for g in grads)


def _unshared(r: Any, g: Any, results: tuple[Any, ...]) -> bool:
    """Return True if nothing else refers to the array ``r``: a leaf can keep it uncopied."""
    if r is g or r.__class__ is not np.ndarray or r.base is not None:
        return False
    if len(results) == 1:
        return True
    times = 0
    for other in results:
        if other is r:
            times += 1
    return times == 1
