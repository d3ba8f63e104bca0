"""Views: laws 1 (alias) and 5 (regenerate); CopySlices, the history after a write to a view.

A view shares the memory and the version counter of its base, and stores the chain of view
operations from the base to itself. After the base's history has changed, the next access to the
view's ``grad_fn`` replays the chain on the base.
"""

from __future__ import annotations

import re
from sys import _getframe as getframe
from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.core import arrays
from tinynet.core.callsite import OUTSIDE, Site, here, locate, outward
from tinynet.core.graph.node import NOWHERE_EDGE, Edge, Freed, Node, count_nodes, move_retained
from tinynet.core.messages import freed_error, view_write_error
from tinynet.core.modes import enable_grad, mode
from tinynet.core.tensors.tensor import VIEW, Tensor, counter_of, method, public_function, wrap
from tinynet.core.tensors.version import INFERENCE
from tinynet.core.trace import run_traced, traced
from tinynet.dtypes import INEXACT

NO_GRAD = "no_grad"
INFERENCE_MODE = "inference_mode"
MULTIPLE = "multiple"
FUNCTION = "function"

Chain = tuple[tuple[Any, tuple[Any, ...]], ...]


class View:
    """The base of a view and its relation to it.

    Attributes:
        base: the tensor at the root; never a view itself.
        chain: the view operations from the base, each with its arguments.
        at: the version at which the view's edge was valid.
        origin: None, NO_GRAD or INFERENCE_MODE (made in that mode), MULTIPLE (one of several
            outputs) or FUNCTION (an output of an ``autograd.Function``).
        site: the line that made the view.
        leaf: whether ``requires_grad`` was set on the view itself.
        since: the number of in-place reshapes (``t_``) of the base before the view was made.
    """

    __slots__ = ("at", "base", "chain", "leaf", "origin", "since", "site")

    def __init__(
        self, base: Tensor, chain: Chain, at: float, origin: str | None, site: Site | None = None
    ):
        self.base = base
        self.chain = chain
        self.at = at
        self.origin = origin
        self.site = site
        self.leaf = False
        self.since = 0

    def steps(self) -> Chain:
        """Return the view operations from the base in its current shape to the view."""
        reshaped: list[Any] = getattr(self.base._counter, "reshaped", [])
        undone = [undo for base, undo, *_ in reshaped[self.since :] if base() is self.base]
        return (*reversed(undone), *self.chain)


def make_view(source: Tensor, target: Tensor, steps: Chain, grad: bool, site: Any = None) -> View:
    """Law 1: make ``target``, a new result of view operations, alias ``source``."""
    counter = target._counter = source._counter or counter_of(source)
    if counter is INFERENCE:
        return View(source, (), 0, None, site)  # inference tensors have no history
    outer = source._view
    origin = None if grad else INFERENCE_MODE if mode.inference else NO_GRAD
    if outer is None:
        base, chain, since = source, steps, 0
        if counter.n and hasattr(counter, "reshaped") and counter.reshaped:
            since = len(counter.reshaped)
            counter.reshaped[-1][-1] = True
    else:
        base, chain, since = outer.base, outer.chain + steps, outer.since
        site, origin = outer.site or site, origin or outer.origin
    if site is None and not grad:
        frame = getframe(2)  # the caller of the operation that made the view
        code = frame.f_code
        site = (code, frame.f_lasti) if OUTSIDE.get(code.co_filename) else outward(frame)
    view: View = object.__new__(View)  # as ``View.__init__``, which takes twice as long
    view.base, view.chain, view.at, view.origin, view.site = base, chain, counter.n, origin, site
    view.leaf, view.since = False, since
    target._view = view
    if source._array.dtype.kind in INEXACT:
        target._requires_grad = VIEW
    return view


def view_edge(t: Tensor) -> Edge | None:
    """Law 5: return the edge of a view, regenerated if its base has a new history."""
    view: View = t._view
    base, edge = view.base, t._edge
    if edge is None and not base._requires_grad:
        return (t, 0) if view.leaf else None
    counter: Any = t._counter  # a view has one
    if view.at != counter.n and int(view.at) != counter.count:
        if view.origin is not None:
            raise forbidden_view(t, indirectly=True)
        before, t._edge = edge, None
        with enable_grad():
            replayed = base
            for op, args in view.steps():
                replayed = op.function(replayed, *args)
        edge = t._edge = replayed._edge or NOWHERE_EDGE  # the base may no longer require grad
        view.at = counter.n
        move_retained(before, edge)
    if edge is None:
        return (t, 0) if view.leaf else NOWHERE_EDGE
    return edge


def forbidden_view(t: Tensor, indirectly: bool, last: str | None = None) -> RuntimeError:
    """Return the error for a forbidden write to a view or to its base.

    Args:
        t: the view.
        indirectly: whether the base was written, not the view itself.
        last: name of the node of the view operation between ``t`` and the written part.
    """
    view: View = t._view
    origin = view.origin or NO_GRAD
    edge = t._edge
    output = None
    if last is not None:
        output = f"0 of {_title(last)}"
    elif edge is not None and edge is not NOWHERE_EDGE:
        output = f"{edge[1]} of {_title(edge[0].name())}"
    sentence = errors.view_written(origin, output, indirectly)
    return view_write_error(sentence, locate(view.site), locate(here()), origin)


def _title(node_name: str) -> str:
    return re.sub(r"Backward\d*$", "", node_name)


def edge_of(t: Tensor) -> Edge | None:
    """Return the edge of a tensor, the target of its gradient; None if it requires no grad.

    Example:
        >>> x = tn.ones(2, requires_grad=True)
        >>> node, output = (x * 2).edge
        >>> node.name(), output, tn.ones(2).edge
        ('MulBackward0', 0, None)
    """
    requires = t._requires_grad
    if requires is VIEW:
        return view_edge(t)
    return (t._edge or (t, 0)) if requires else None


def requires_grad(t: Tensor) -> bool:
    """Return whether operations on the tensor are recorded.

    Example:
        >>> x = tn.ones(2, requires_grad=True)
        >>> (x * 2).requires_grad, tn.ones(2).requires_grad
        (True, False)
    """
    if t._requires_grad is VIEW:
        view: View = t._view
        return t._edge is not None or view.leaf or bool(view.base._requires_grad)
    return bool(t._requires_grad)


def grad_fn(t: Tensor) -> Node | None:
    """Return the node that made the tensor; None for a leaf.

    Example:
        >>> x = tn.ones(2, requires_grad=True)
        >>> (x * 2).grad_fn.name(), x.grad_fn
        ('MulBackward0', None)
    """
    edge = view_edge(t) if t._requires_grad is VIEW else t._edge
    if edge is None or edge is NOWHERE_EDGE or isinstance(edge[0], Tensor):  # a leaf, or a copy
        return None
    if t._counter is INFERENCE and not t._requires_grad:  # a view made outside inference mode
        return None
    node: Node = edge[0]
    return node


def set_requires_grad(t: Tensor, value: bool) -> None:
    """Switch recording of a leaf on or off."""
    value = bool(value)
    if t._edge is not None:
        if not value:
            raise errors.not_leaf_flag()
        return
    if value and not dtypes.is_inexact(t._array.dtype):
        raise errors.not_floating()
    if value and t._counter is INFERENCE and not mode.inference:
        raise RuntimeError(errors.INFERENCE_FLAG)
    if t._view is None:
        t._requires_grad = value
    else:
        t._requires_grad, t._view.leaf = VIEW, value


@method
def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Switch recording of a leaf on or off, and return it.

    Raises:
        RuntimeError: switching it off for a non-leaf, or on for a tensor that is not floating.

    Example:
        >>> tn.tensor(1.0).requires_grad_()
        tensor(1., requires_grad=True)
    """
    set_requires_grad(self, requires_grad)
    return self


def _assign_requires_grad(t: Tensor, value: bool) -> None:
    if value and not dtypes.is_inexact(t._array.dtype):
        raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")
    if value and t._edge is not None:
        raise RuntimeError("you can only change requires_grad flags of leaf variables.")
    set_requires_grad(t, value)


method(property(requires_grad, _assign_requires_grad), "requires_grad")
method(property(grad_fn), "grad_fn")


def is_leaf(t: Tensor) -> bool:
    """Return True unless a recorded operation made the tensor.

    Example:
        >>> x = tn.ones(2, requires_grad=True)
        >>> x.is_leaf, (x * 2).is_leaf, tn.ones(2).is_leaf
        (True, False, True)
    """
    return grad_fn(t) is None


def base_of(t: Tensor) -> Tensor | None:
    """Return the base of a view; None if the tensor is not a view."""
    return None if t._view is None else t._view.base


def output_number(t: Tensor) -> int:
    """Return the output number of the tensor at its node.

    Example:
        >>> x = tn.ones(4, requires_grad=True)
        >>> [part.output_nr for part in x.unbind()]
        [0, 1, 2, 3]
    """
    return 0 if t._edge is None else t._edge[1]


method(property(is_leaf), "is_leaf")
method(property(base_of), "_base")
method(property(output_number), "output_nr")


def version_of(t: Tensor) -> int:
    """Return the number of writes to the memory since its creation."""
    if t._counter is INFERENCE:
        raise RuntimeError(errors.INFERENCE_VERSION)
    return 0 if t._counter is None else t._counter.count


method(property(version_of), "_version")


@method
def is_inference(self: Tensor) -> bool:
    """Return True for a tensor that was made in inference mode.

    Example:
        >>> tn.inference_mode()(tn.zeros)(2).is_inference()
        True
    """
    return self._counter is INFERENCE


@method
def _is_view(self: Tensor) -> bool:
    """Return True if the tensor is a view tracked by autograd."""
    return self._view is not None


@public_function
@method
def detach(input: Tensor) -> Tensor:
    """Return a tensor with the same memory and version counter, but without history.

    Autograd sees writes to the result, unlike writes to ``.data``.

    Example:
        >>> x = tn.ones(2, requires_grad=True)
        >>> (x * 2).detach().requires_grad
        False
    """
    t = wrap(input._array)
    t._counter = counter_of(input)
    return t


def get_data(t: Tensor) -> Tensor:
    """Return a tensor with the same memory but its own version counter.

    Example:
        >>> x = tn.ones(2, requires_grad=True)
        >>> _ = x.data.zero_()
        >>> x, x._version
        (tensor([0., 0.], requires_grad=True), 0)
    """
    data = wrap(t._array)
    data._counter = INFERENCE if t._counter is INFERENCE else None
    return data


def set_data(t: Tensor, value: Tensor) -> None:
    """Replace the values; what saved the tensor as an input uses the new ones, as in PyTorch."""
    if not isinstance(value, Tensor):
        raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
    if requires_grad(t) and not dtypes.is_inexact(value._array.dtype):
        raise RuntimeError(
            "data set to a tensor that requires gradients must be floating point or complex dtype"
        )
    if t._counter not in (None, INFERENCE):
        t._counter.replace(t._array, value._array)
    t._array = value._array


method(property(get_data, set_data), "data")


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
