"""The public interface of the graph: nodes, edges, and hooks on saved tensors."""

from __future__ import annotations

import contextlib
import functools
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tinynet.core.graph.inplace import wrote
from tinynet.core.graph.node import AccumulateGrad as AccumulateGrad
from tinynet.core.graph.node import Edge, Guard, RemovableHandle
from tinynet.core.graph.node import Node as Node
from tinynet.core.graph.saved_hooks import Keeper, Packing, keeping
from tinynet.core.graph.views import edge_of
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.tensors.version import Version


class GradientEdge(NamedTuple):
    """The target of a tensor's gradient.

    Attributes:
        node: the node that made the tensor; an ``AccumulateGrad`` for a leaf.
        output_nr: the output number of the tensor at the node.

    Example:
        >>> x = tn.ones(2, requires_grad=True)
        >>> node, output = tn.autograd.graph.get_gradient_edge(x * 2)
        >>> node.name(), output
        ('MulBackward0', 0)
    """

    node: Node
    output_nr: int

    @property
    def edge(self) -> Edge:
        """The internal edge, which has the leaf itself instead of an ``AccumulateGrad``."""
        node = self.node
        return (node.variable if isinstance(node, AccumulateGrad) else node, self.output_nr)


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Return the gradient edge of a tensor.

    Raises:
        RuntimeError: the tensor does not require grad.

    Example:
        >>> x = tn.ones(2, requires_grad=True)
        >>> tn.autograd.graph.get_gradient_edge(x * 2).node.name()
        'MulBackward0'
    """
    edge = edge_of(tensor)
    if edge is None:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does "
            "not require gradients"
        )
    target, number = edge
    return GradientEdge(target if isinstance(target, Node) else AccumulateGrad(target), number)


class saved_tensors_hooks:
    """Save ``pack_hook(tensor)`` instead of each saved tensor; backward unpacks it.

    Args:
        pack_hook: takes a tensor that an operation saves for backward; returns any object.
        unpack_hook: takes the result of ``pack_hook``; returns a tensor with the same contents.

    Raises:
        TypeError: (in backward) ``unpack_hook`` does not return a tensor.

    Example:
        >>> x = tn.tensor(3.0, requires_grad=True)
        >>> with tn.autograd.graph.saved_tensors_hooks(lambda t: t.item(), tn.tensor):
        ...     y = x * x
        >>> y.backward()
        >>> x.grad
        tensor(6.)
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]):
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        if isinstance(mode.on, _Refusing):
            raise RuntimeError(mode.on.message)
        Packing(self.pack_hook, self.unpack_hook).enter()

    def __exit__(self, *exc: object) -> None:
        if not isinstance(mode.on, Packing):
            raise RuntimeError("saved_tensors_hooks: left more often than entered.")
        mode.on.leave()


def save_on_cpu(pin_memory: bool = False, device_type: str = "cpu") -> Any:
    """Save copies of tensors, which stay valid if the originals are written in place.

    In PyTorch the copies are moved to the CPU. In tinynet all tensors are there.

    Args:
        pin_memory, device_type: accepted for compatibility; no effect.

    Example:
        >>> x = tn.tensor(3.0, requires_grad=True)
        >>> y = x * 1
        >>> with tn.autograd.graph.save_on_cpu():
        ...     z = y * y
        >>> _ = y.add_(100)
        >>> z.backward()
        >>> x.grad
        tensor(6.)
    """
    return saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t)


class _Refusing(Keeper):
    """Active while saved-tensor hooks are disabled: does not replace values."""

    def __init__(self, message: str):
        self.message = message

    def keep(self, node: Any) -> None:
        """Leave everything as it is."""

    def keep_saved(self, saved: Any, is_output: bool) -> None:
        """Leave everything as it is."""

    def guard(
        self, array: Any, version: Version, edge: Edge | None, is_output: bool
    ) -> tuple[Any, Guard]:
        """Raise an error: this keeper does not replace values."""
        raise AssertionError("values are left as they are")


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Raise an error for ``saved_tensors_hooks`` inside the block.

    Args:
        error_message: the text of the RuntimeError.

    Example:
        >>> with tn.autograd.graph.disable_saved_tensors_hooks("not here"):
        ...     with tn.autograd.graph.save_on_cpu():
        ...         pass
        Traceback (most recent call last):
        RuntimeError: not here
    """
    if isinstance(mode.on, Packing):
        raise RuntimeError(error_message)
    with keeping(_Refusing(error_message)):
        yield


def register_multi_grad_hook(
    tensors: Sequence[Tensor],
    fn: Callable[[Sequence[Tensor | None]], None],
    *,
    mode: str = "all",
) -> Any:
    """Call ``fn`` once the gradients of several tensors are known.

    Args:
        tensors: tensors that require grad.
        fn: for mode "all" takes the list of gradients, with None for tensors that a pass does not
            reach; for "any" takes the first gradient computed in a pass.
        mode: ``"all"`` or ``"any"``.

    Raises:
        RuntimeError: a tensor does not require grad.
        ValueError: ``mode`` is unknown.

    Example:
        >>> x, y = tn.ones(1, requires_grad=True), tn.ones(1, requires_grad=True)
        >>> handle = tn.autograd.graph.register_multi_grad_hook([x, y], print)
        >>> (x * 2 + y * 3).backward()
        [tensor([2.]), tensor([3.])]
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    count = len(tensors)
    ends = [(weakref.ref(e[0]), e[1]) for t in tensors if (e := t.edge)]  # they hold the hook
    seen: list[Any] = [lambda: None]  # the last pass
    arrived: dict[int, Tensor | None] = {}

    def hook(number: int, grad: Tensor | None) -> None:
        backward_pass = _running_pass()
        if seen[0]() is not backward_pass:
            seen[0] = weakref.ref(backward_pass)
            arrived.clear()
        arrived[number] = grad
        if mode == "any":
            if len(arrived) == 1:
                fn(grad)  # type: ignore[arg-type]
        elif len(arrived) == sum(backward_pass.will_reach((end(), n)) for end, n in ends):
            fn([arrived.get(i) for i in range(count)])

    _waiting[id(hook)] = weakref.ref(hook, functools.partial(_forget, id(hook)))
    handles = [t.register_hook(functools.partial(hook, i)) for i, t in enumerate(tensors)]
    return _Handles(handles)


# The hooks that wait for the gradients of several tensors: they ask for the running pass, which a
# replayed step of ``tn.compile`` does not have.
_waiting: dict[int, weakref.ref[Any]] = {}
waiting: Mapping[int, Any] = _waiting


def _forget(key: int, _: Any) -> None:
    _waiting.pop(key, None)


def _running_pass() -> Any:
    return mode.backward_pass


class _Copying(Keeper):
    """Active while saved tensors may be written: saves copies."""

    def __init__(self) -> None:
        self.open = True

    def guard(
        self, array: Any, version: Version, edge: Edge | None, is_output: bool
    ) -> tuple[Any, Guard]:
        """Return a copy of the array, with its guard."""
        return array.copy(), _Copied(self)

    def clear(self) -> None:
        """Release the copies: later backward passes through this graph raise an error."""
        self.open = False


class _Copied(Guard):
    """Returns a copy while its context is open."""

    __slots__ = ("owner",)

    def __init__(self, owner: _Copying):
        self.owner = owner

    def restore(self, node: Node, kept: Any) -> Any:
        """Return the copy."""
        if not self.owner.open:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in "
                "which the graph was originally recorded."
            )
        return kept


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_Copying]:
    """Allow in-place writes to saved tensors inside the block; backward uses the saved values.

    The block copies each tensor that is saved, which takes memory and time. Backward must run
    inside the block, too.

    Yields:
        An object whose ``clear()`` releases the copies.

    Raises:
        RuntimeError: the blocks are nested.

    Example:
        >>> x = tn.tensor([0.0], requires_grad=True)
        >>> with tn.autograd.graph.allow_mutation_on_saved_tensors():
        ...     y = x * 1
        ...     z = y.exp()
        ...     _ = y.fill_(5)
        ...     z.backward()
        >>> x.grad
        tensor([1.])
    """
    if isinstance(mode.on, _Copying):
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    copying = _Copying()
    try:
        with keeping(copying):
            yield copying
    finally:
        copying.clear()


class _Handles:
    """Removes several hooks at once."""

    def __init__(self, handles: Sequence[RemovableHandle]):
        self._handles = handles

    def remove(self) -> None:
        """Remove the hooks."""
        for handle in self._handles:
            handle.remove()

    def __enter__(self) -> _Handles:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def increment_version(tensor: Tensor | Sequence[Tensor]) -> None:
    """Count a write to the memory of tensors that autograd could not see.

    Raises:
        AttributeError, TypeError: an argument is not a tensor.

    Example:
        >>> x = tn.ones(2)
        >>> x.numpy()[0] = 5
        >>> tn.autograd.graph.increment_version(x)
        >>> x._version
        1
    """
    for t in [tensor] if isinstance(tensor, Tensor) else tensor:
        if not t.is_inference():  # inference tensors have no version
            wrote(t, "increment_version")
