"""In-place operations: laws 2 (bump), 3 (permit) and 4 (rebase), and the code that applies them."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.core import arrays
from tinynet.core.callsite import Site, here, locate
from tinynet.core.graph.node import Edge, Freed, Node, count_nodes, move_retained
from tinynet.core.graph.views import (
    Chain,
    CopySlices,
    View,
    edge_of,
    forbidden_view,
    grad_fn,
    requires_grad,
)
from tinynet.core.messages import leaf_moved_error, leaf_write_error
from tinynet.core.modes import mode
from tinynet.core.seams import Recorded
from tinynet.core.tensors.overlap import refuse_overlap, refuse_partial_overlap
from tinynet.core.tensors.tensor import Tensor, counter_of, method, public_function, wrap
from tinynet.core.tensors.version import Version, refuse_inference
from tinynet.core.trace import observers, report_write, run_traced
from tinynet.dtypes import Array


class _Settings:
    strict_leaf_writes = False


settings = _Settings()


def wrote(t: Tensor, what: str, producer: str | None = None, sources: Sequence[Array] = ()) -> None:
    """Law 2: count one write to the memory of ``t``, after it happened.

    Args:
        t: the tensor that was written to.
        what: the operation, for messages: ``"add_"``, ``"SGD.step"``.
        producer: name of the node whose output the tensor became.
        sources: the arrays that the values were computed from, for observers.
    """
    counter_of(t).bump(here(), what, producer)
    if mode.tracer is not None:
        mode.tracer.wrote(t, what)
    if observers:
        report_write(what, t._array, sources)


def permit(t: Tensor, chain: Sequence[tuple[Any, Any]] | None = None) -> None:
    """Law 3: refuse a recorded in-place write where it would lose gradients.

    Args:
        t: the tensor to write to, still unchanged.
        chain: for an indexed assignment, which a leaf allows (see the seeds): the view operations
            from ``t`` to the part.
    """
    view: View | None = t._view
    if view is not None:
        if view.origin is not None:
            last = chain[-1][0].node_name if chain else None
            raise forbidden_view(t, indirectly=False, last=last)
        if requires_grad(t) and view.base._edge is None:
            raise leaf_write_error(errors.VIEW_OF_LEAF, locate(here()))
    if requires_grad(t) and grad_fn(t) is None:
        if chain is None or settings.strict_leaf_writes:
            sentence = errors.VIEW_OF_LEAF if chain else errors.LEAF_IN_PLACE
            raise leaf_write_error(sentence, locate(here()))


def rebase(t: Tensor, node: Node, number: int = 0) -> None:
    """Law 4: set the history of ``t`` to ``node``, the node of an in-place operation on it.

    Args:
        t: the written tensor.
        node: the node of the write.
        number: the number of the node's output that ``t`` is.
    """
    view: View | None = t._view
    if view is not None:
        rebase_part(view.base, view.steps(), node, node.site)
        view.at = -1  # t regenerates its edge from the base when it is next needed
        return
    node.edges = (_before(t, node.edges[0]), *node.edges[1:])
    move_retained(t._edge, (node, number))
    t._edge = (node, number)
    t._requires_grad = True


def rebase_part(base: Tensor, chain: Chain, inner: Node | None, site: Site | None) -> None:
    """Law 4 for a write to a part of ``base``: set its history to a ``CopySlices``.

    Args:
        base: the base tensor.
        chain: the view operations from the base to the part.
        inner: the node of the write; None if a constant was written.
        site: the user's line.
    """
    before = edge_of(base)
    base._edge = (CopySlices(base, _before(base, before), chain, inner, site), 0)
    base._requires_grad = True
    move_retained(before, base._edge)


def _before(t: Tensor, edge: Edge | None) -> Edge | None:
    """Return the edge of ``t`` before a write; a leaf is replaced by a ``MovedLeaf``."""
    return (MovedLeaf(t), 0) if edge is not None and edge[0] is t else edge


class Overwritten(Node):
    """The history of a tensor after an in-place operation without derivative (``eq_``)."""

    __slots__ = ()

    def backward(self, g: Any, freed: Freed | None, wanted: Any) -> tuple[Any, ...]:
        """Return zeros: the result does not depend on the previous values."""
        array = g._array if isinstance(g, Tensor) else g
        zeros = [arrays.full(array.shape, 0, array.dtype) for _ in self.edges]
        return tuple(map(wrap, zeros) if isinstance(g, Tensor) else zeros)

    backward_recorded = backward


def overwritten(op: Any, tensors: Sequence[Tensor]) -> Node:
    """Return the node of an in-place operation without derivative, named after the operation."""
    name = f"{op.node_name[:-1]}{len(tensors) - 1}"
    node: Node = type(name, (Overwritten,), {"__slots__": ()})()
    node.sequence = count_nodes()
    node.edges = tuple(edge_of(x) for x in tensors)
    node.hooks = None
    node.site = here()
    return node


class MovedLeaf(Node):
    """Replaces a leaf in the graph after an indexed assignment to it (see the seeds)."""

    __slots__ = ("counter",)

    def __init__(self, leaf: Tensor):
        self.sequence = -1
        self.edges = ()
        self.hooks = None
        self.site = None
        self.shape, self.dtype = leaf._array.shape, leaf._array.dtype
        self.counter = counter_of(leaf)

    def name(self) -> str:
        """Return PyTorch's name for the node of a leaf."""
        return "AccumulateGrad"

    def backward(self, g: Any, freed: Freed | None, wanted: Any) -> tuple[Any, ...]:
        """Raise an error: the leaf cannot store the gradient any more."""
        raise moved(self.counter)

    backward_recorded = backward


def moved(counter: Version) -> RuntimeError:
    """Return the error for a leaf that is no longer a leaf."""
    changes = counter.since(0)
    written = next((c for c in reversed(changes) if c.what == "__setitem__"), None)
    return leaf_moved_error(written, locate(here()))


def run_inplace(
    op: Any,
    inputs: tuple[Tensor, *tuple[Any, ...]],
    attributes: dict[str, Any],
    what: str,
    permitted: bool = False,
    constant: bool = False,
    apart: bool = False,
) -> Tensor:
    """Apply an operation in place: check, compute, write, bump, rebase. All checks come first.

    Args:
        op: the operation.
        inputs: its inputs, first the tensor to write to.
        attributes: the arguments that are not inputs.
        what: the name of the write in messages.
        permitted: the caller has applied law 3 already.
        constant: all elements get the same value, so they may share memory.
        apart: whether to refuse arguments that are the tensor itself.
    """
    t, *args = inputs
    refuse_inference(t._counter)
    tensors = [x for x in inputs if isinstance(x, Tensor)]
    recorded = mode.grad and dtypes.is_inexact(t._array.dtype) and any(map(requires_grad, tensors))
    if recorded and not permitted:
        permit(t)
    if not constant:
        refuse_overlap(t._array)
        refuse_partial_overlap(t, args, apart)
    if not recorded and _write_directly(op, t._array, args, attributes):
        wrote(t, what, None, [x._array for x in tensors[1:]])
        return t
    source = t
    if recorded and op.saves_first:  # else the write would invalidate the saved input
        source = wrap(arrays.copied(t._array))
        source._edge = edge_of(t)
        source._requires_grad = source._edge is not None
    result = op.function(source, *args, **attributes)
    if op.fitted is not None and result._array.shape != t._array.shape:
        t._array = op.fitted(t._array, result._array.shape)
    write(t, result._array)
    node: Node | None = None if result._edge is None else result._edge[0]
    if recorded and op.formulas is None:
        node = overwritten(op, tensors)
    wrote(t, what, None if node is None else node.name(), [result._array])
    if node is not None:
        _describe(node, t)
        rebase(t, node)
    return t


def _describe(node: Any, t: Tensor) -> None:
    """Update a node that was recorded out of place: its output is now ``t``."""
    node.shape, node.dtype = t._array.shape, t._array.dtype
    if isinstance(getattr(node, "saved_result_version", None), Version):
        counter = counter_of(t)
        node.saved_result = t._array
        node.saved_result_version, node.saved_result_at = counter, counter.n


def _write_directly(op: Any, array: Array, args: list[Any], attributes: Any) -> bool:
    """Compute into ``array`` without a temporary; return False if that is not possible."""
    operands = [a._array if isinstance(a, Tensor) else a for a in args]
    if op.assigns is not None:
        plain = type(array) is np.ndarray
        values = op.assigns(array, *operands, *attributes.values()) if plain else None
        return values is not None and arrays.assign(array, values) is None
    if op.into is not None:
        if array.dtype.itemsize == 2 or not array.flags.c_contiguous or Recorded.batched:
            return False  # kernels compute 2-byte dtypes in float32
        shared = [isinstance(x, np.ndarray) and np.may_share_memory(x, array) for x in operands]
        apart = [arrays.copied(x) if s else x for x, s in zip(operands, shared, strict=True)]
        run_traced(op.into, array, *apart, *attributes.values(), writes=True)
        return True
    if array.dtype.char not in op.written_dtypes or 0 in array.strides:
        return False
    for x in operands:
        if isinstance(x, np.ndarray):
            if x.dtype != array.dtype or (x.ndim and x.shape != array.shape):
                return False
        elif type(x) not in {"l": (int,)}.get(array.dtype.char, (int, float)) or abs(x) >= 2**63:
            return False
    arrays.update(array, op.ufunc, *operands)
    return True


def run_inplace_view(op: Any, t: Tensor, args: tuple[Any, ...], what: str, undo: Any) -> Tensor:
    """Turn ``t`` into a view of itself (``squeeze_``, ``t_``).

    Args:
        op: the view operation.
        t: the tensor.
        args: the arguments of ``op``.
        what: the name of the write in messages.
        undo: the inverse view operation, with its arguments, which starts the chain from ``t`` to
            its older views.
    """
    refuse_inference(t._counter)
    if mode.grad and requires_grad(t):
        permit(t)
    counter = counter_of(t)
    reshaped = getattr(counter, "reshaped", [])
    last = reshaped[-1] if reshaped and not reshaped[-1][-1] else None  # no view was made since
    made = op.function(t, *args)
    node = made._edge[0] if made._edge is not None else None
    if t._view is not None:
        old: View = t._view
        undoes = len(old.chain) > 1 and old.chain[-1] == undo
        chain = old.chain[:-1] if undoes else (*old.chain, (op, args))
        t._view = View(old.base, chain, -1, old.origin, old.site)
        t._view.since, t._view.leaf = old.since, old.leaf
    elif last is not None and last[0]() is t and last[2] == made._array.__array_interface__:
        reshaped.pop()  # undone
    elif made._array.__array_interface__ != (before := t._array.__array_interface__):
        if last is not None and last[0]() is None:
            reshaped.pop()
        reshaped.append([weakref.ref(t), undo, before, False])
        counter.reshaped = reshaped
    t._array = made._array
    if node is not None:
        t._edge = made._edge
    wrote(t, what, None if node is None else node.name())
    if t._view is not None and node is not None:
        t._view.at = counter.n
    return t


def write(t: Tensor, values: Array) -> None:
    """Write ``values`` to the memory of ``t``; check shape and dtype first."""
    array = t._array
    if values.shape != array.shape:
        raise errors.output_shape(array.shape, values.shape)
    if values.dtype != array.dtype and not dtypes.castable(values.dtype, array.dtype):
        raise errors.cannot_cast(dtypes.of(values).scalar_name, dtypes.of(array).scalar_name)
    refuse_batch(array, values)
    arrays.assign(array, values)


def refuse_batch(array: Array, values: Any) -> None:
    """Raise if ``values`` are batched (see ``batching``) but ``array`` is not."""
    if type(array) is np.ndarray and hasattr(values, "levels"):
        raise RuntimeError(errors.VMAP_IN_PLACE)


@public_function
@method
def detach_(input: Tensor) -> Tensor:
    """Detach the tensor from its history in place: make it a leaf that does not require grad.

    Raises:
        RuntimeError: the tensor is a view.

    Example:
        >>> y = tn.ones(2, requires_grad=True) * 2
        >>> y.detach_()
        tensor([2., 2.])
    """
    if input._view is not None:
        raise RuntimeError(
            "Can't detach views in-place. Use detach() instead. If you are using "
            "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as "
            "True, gradients are views of DDP buckets, and hence detach_() cannot be called on "
            "these gradients. To fix this error, please refer to the Optimizer.zero_grad() "
            "function in torch/optim/optimizer.py as the solution."
        )
    input._edge = input._view = None
    input._requires_grad = False
    return input
