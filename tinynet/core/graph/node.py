"""Graph nodes, with the edges of their inputs and the values saved for backward.

An edge is ``(target, output number)``. The target is the node that made the input or, for a leaf,
the leaf tensor itself (a separate accumulator object would form a reference cycle with its leaf).
Nodes save arrays and versions, never tensors, so no saved value can refer back to its own node.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from typing import Any

from tinynet.core.callsite import Site, here, locate
from tinynet.core.graph.accumulate_grad import accumulate
from tinynet.core.messages import freed_error, modified_error
from tinynet.core.modes import mode
from tinynet.core.tensors.version import Version
from tinynet.dtypes import Array

Edge = tuple[Any, int]

count_nodes = itertools.count().__next__


UNREACHED = object()  # a gradient from a node for an edge that the pass does not go along


class Freed:
    """Replaces the version of a saved value that backward has freed."""

    __slots__ = ("site",)
    n = -1  # no version has this number, so the version check also detects freed values

    def __init__(self, site: Site | None):
        self.site = site


class Hooks:
    """The hooks of one node, or of one leaf tensor.

    Attributes:
        tensor: per output, functions of the gradient of that output, in order of registration.
        retained: per output, a weak reference to the tensor that retains its gradient.
        pre, post: hooks on the node itself.
        accumulated: hooks that run after each update of a leaf's ``.grad``.
    """

    __slots__ = ("accumulated", "post", "pre", "retained", "tensor")

    def __init__(self) -> None:
        self.tensor: dict[int, dict[int, Callable[[Any], Any]]] = {}
        self.retained: dict[int, weakref.ref[Any]] = {}
        self.pre: dict[int, Callable[..., Any]] = {}
        self.post: dict[int, Callable[..., Any]] = {}
        self.accumulated: dict[int, Callable[..., Any]] = {}


class RemovableHandle:
    """Removes a hook: by ``remove()``, or at the end of a ``with`` block.

    Args:
        hooks: the registry to append the hook to.
        hook: the hook; without one, the caller adds it under ``id``.
        extra_dict: a dictionary, or a list of them, to remove the hook's number from, too.

    Attributes:
        id: number of the hook; later hooks have larger numbers.
    """

    _next = itertools.count().__next__

    def __init__(self, hooks: dict[int, Any], hook: Any = None, *, extra_dict: Any = ()):
        self.id = RemovableHandle._next()
        self._hooks = hooks
        self._extra = [extra_dict] if isinstance(extra_dict, dict) else extra_dict or ()
        if hook is not None:
            hooks[self.id] = hook

    def hooks_dict_ref(self) -> dict[int, Any]:
        """Return the registry, as PyTorch's weak reference does."""
        return self._hooks

    def remove(self) -> None:
        """Remove the hook; a second call does nothing."""
        for numbers in (self._hooks, *self._extra):
            numbers.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


class Node:
    """One recorded operation.

    Attributes:
        edges: one edge per tensor input, None for inputs that do not require grad.
        site: the user's line that ran the operation.
        scope: the modules that were running (unset for nodes made outside modules).
        shape, dtype: of the output; for several outputs, a tuple of each.
        sequence: creation number; inputs are always older than their users.

    Example:
        >>> x = tn.ones(2, requires_grad=True)
        >>> node = (x * 2).grad_fn
        >>> node.name(), node.shape, node.next_functions[0][0].variable is x
        ('MulBackward0', (2,), True)
    """

    __slots__ = (
        "__weakref__",
        "_metadata",
        "dtype",
        "edges",
        "hooks",
        "result_edge",
        "scope",
        "sequence",
        "shape",
        "site",
    )
    saved: tuple[str, ...] = ()  # names of the saved arrays
    inputs: tuple[str, ...] = ()  # names of the tensor inputs, as formulas use them
    by_number: type[Node] | None = None  # the class if PyTorch multiplies by a C++ number
    multiple = False  # several outputs: gradients arrive as a list, shape and dtype are tuples
    takes_missing = False  # runs even without an incoming gradient, like an autograd.Function
    gives_fresh = False  # returns new arrays, the incoming gradient or views of it, no saved arrays
    arranged: Callable[[Any], Any] = staticmethod(tuple)  # edges, as ``next_functions`` shows them
    edges: tuple[Edge | None, ...]
    hooks: Hooks | None
    result_edge: Edge | None  # set only while CopySlices runs an inner node
    site: Site | None
    shape: Any
    dtype: Any
    sequence: int

    def backward(self, g: Any, freed: Freed | None, wanted: Any) -> tuple[Any, ...]:
        """Return one gradient per edge, as arrays; ``freed`` replaces released values."""
        raise NotImplementedError

    def backward_recorded(self, g: Any, freed: Freed | None, wanted: Any) -> tuple[Any, ...]:
        """Return the same gradients as tensors with their own graph."""
        raise NotImplementedError

    def name(self) -> str:
        """Return the node's name, such as ``MulBackward0``."""
        return type(self).__name__

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """The edges as PyTorch shows them, with an ``AccumulateGrad`` for each leaf."""
        return tuple(
            (None, 0)
            if not edge
            else (edge if isinstance(edge[0], Node) else (AccumulateGrad(edge[0]), 0))
            for edge in self.arranged(self.edges)
        )

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for the user's own data, initially empty."""
        try:
            return self._metadata
        except AttributeError:
            self._metadata: dict[Any, Any] = {}
            return self._metadata

    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_inputs, grad_outputs)`` after the node; a returned tuple replaces the
        gradients of the inputs."""
        return RemovableHandle(new_hooks(self).post, fn)

    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_outputs)`` before the node; a returned tuple replaces them."""
        return RemovableHandle(new_hooks(self).pre, fn)

    def __call__(self, *grads: Any) -> Any:
        """Return the gradients of the inputs from the formulas, without any hooks.

        Raises:
            TypeError: the arguments are not one tensor (or None) for each output.
        """
        expected = len(self.shape) if self.multiple else 1
        if len(grads) != expected:
            raise TypeError(f"expected {expected} arguments, got {len(grads)} instead")
        for i, g in enumerate(grads):
            if g is not None and not hasattr(g, "_array"):
                raise TypeError(f"argument {i} is not a Variable")
        results = self.backward_recorded([*grads] if self.multiple else grads[0], None, None)
        return results[0] if len(results) == 1 else results

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"


class AccumulateGrad(Node):
    """The node that ``next_functions`` shows for a leaf, where its gradient is accumulated.

    Only autograd makes such nodes.

    Attributes:
        variable: the leaf.

    Example:
        >>> x = tn.ones(2, requires_grad=True)
        >>> leaf, output = (x * 2).grad_fn.next_functions[0]
        >>> leaf.name(), leaf.variable is x
        ('AccumulateGrad', True)
    """

    __slots__ = ("variable",)

    def __init__(self, variable: Any):
        self.variable = variable
        self.edges, self.hooks, self.site, self.sequence = (), None, None, -1

    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn((), grad_outputs)`` after the leaf's gradient was accumulated."""
        return RemovableHandle(new_hooks(self.variable).post, fn)

    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_outputs)`` before the leaf's gradient is accumulated."""
        return RemovableHandle(new_hooks(self.variable).pre, fn)

    def __call__(self, *grads: Any) -> None:
        """Add a gradient to the leaf's ``.grad``."""
        accumulate(self.variable, grads[0], False, bool(mode.grad))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AccumulateGrad) and other.variable is self.variable

    def __hash__(self) -> int:
        return id(self.variable)


class Nowhere(Node):
    """The target for gradients of a view that was made without recording: it drops them.

    The base of the view requires grad, so operations on the view are recorded; but the view has no
    history and is not a leaf.
    """

    __slots__ = ()

    def __init__(self) -> None:
        self.edges, self.hooks, self.site, self.sequence = (), None, None, -1


class NowhereEdge(tuple[Node, int]):
    """An edge to ``Nowhere``: operations save no values and compute no gradient for it."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False


NOWHERE_EDGE = NowhereEdge((Nowhere(), 0))


def move_retained(before: Edge | None, after: Edge | None) -> None:
    """Move ``retain_grad`` of a tensor to its new history, ``after``."""
    if before is None or after is None or not isinstance(before[0], Node):
        return
    old: Hooks | None = before[0].hooks
    if old is not None and before[1] in old.retained:
        new_hooks(after[0]).retained[after[1]] = old.retained.pop(before[1])


def new_hooks(holder: Any) -> Hooks:
    """Return the hooks of a node or leaf, created when first needed."""
    hooks: Hooks | None = holder.hooks if isinstance(holder, Node) else holder._hooks
    if hooks is None:
        hooks = Hooks()
        if isinstance(holder, Node):
            holder.hooks = hooks
        else:
            holder._hooks = hooks
    return hooks


def check_replaced(hook: Any, returned: Any, count: int) -> None:
    """Raise an error if the return value of a hook on a node is invalid."""
    if not isinstance(returned, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(returned).__name__}'")
    if len(returned) != count:
        name = getattr(hook, "__name__", type(hook).__name__)
        raise RuntimeError(
            f"hook '{name}' has returned an incorrect number of values "
            f"(got {len(returned)}, but expected {count})"
        )


class Saved:
    """A value saved outside a compiled node: an array, its version, and the edge of its tensor."""

    __slots__ = ("array", "at", "edge", "version")

    def __init__(self, array: Array | None, version: Version | None, edge: Edge | None):
        self.array = array
        self.version: Version | Freed | Guard | None = version
        self.at = 0 if version is None else version.n
        self.edge = edge


class Guard:
    """Replaces the version of a saved value that a ``Keeper`` has taken over.

    No version has the number ``n``, so the version check on the fast path detects it.
    """

    __slots__ = ()
    n = -2

    def restore(self, node: Node, kept: Any) -> Array:
        """Return the saved array from ``kept``, the value stored in its place."""
        raise NotImplementedError


def restore(node: Node, name: str) -> Array:
    """Return a saved array that a keeper took over; raise if it was changed or freed."""
    array, version = getattr(node, f"saved_{name}"), getattr(node, f"saved_{name}_version")
    if isinstance(version, Guard):
        return version.restore(node, array)
    if isinstance(version, Freed):
        raise already_freed(node, version)
    index = type(node).inputs.index(name) if name in type(node).inputs else None
    edge = None if index is None else node.edges[index]
    op = getattr(node, "op", None)
    outputs = getattr(op, "outputs", ())
    number = outputs.index(name) if name in outputs else 0
    at = getattr(node, f"saved_{name}_at")
    found = unmodified(node, array, version, at, edge, index is None, number)
    return array if name in getattr(op, "of_views", ()) else found


def already_freed(node: Node, freed: Freed) -> RuntimeError:
    """Return the error for a saved value that an earlier backward freed."""
    return freed_error(node.site, freed.site, locate(here()))


def unmodified(
    node: Node,
    array: Array,
    version: Version,
    at: float,
    edge: Edge | None,
    is_output: bool,
    number: int = 0,
) -> Array:
    """Return a saved array, or of an input the one that replaced it (``x.data = y``).

    Raises:
        RuntimeError: the storage has been written to since version ``at``.
    """
    if version.n == at or is_output and version.count == int(at):
        return array
    if version.count == int(at):
        return version.current(array)
    changes = version.since(at)
    if is_output:
        output = f"output {number} of {node.name()}"
    else:
        producer = next((c.producer for c in reversed(changes) if c.producer), None)
        if producer is not None:
            output = f"output 0 of {producer}"
        elif edge is not None and isinstance(edge[0], Node):
            output = f"output {edge[1]} of {edge[0].name()}"
        else:
            output = ""
    leaf = edge[0] if edge is not None and not isinstance(edge[0], Node) else None
    raise modified_error(
        node,
        array,
        output,
        version.count,
        int(at),
        changes,
        is_output,
        locate(here()),
        leaf,
        version,
    )
