"""The graph as its users see it: nodes, edges, and hooks on what is saved."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from tinynet.core.inplace import wrote
from tinynet.core.keeping import Keeper, Packing, keeping
from tinynet.core.modes import mode
from tinynet.core.node import AccumulateGrad as AccumulateGrad
from tinynet.core.node import Edge, Guard, RemovableHandle
from tinynet.core.node import Node as Node
from tinynet.core.tensor import Tensor
from tinynet.core.version import Version
from tinynet.core.views import edge_of


class GradientEdge(NamedTuple):
    """Where a tensor's gradient goes.

    Attributes:
        node: the node that made the tensor; an ``AccumulateGrad`` for a leaf.
        output_nr: which of the node's outputs the tensor is.
    """

    node: Node
    output_nr: int


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Return where the gradient of a tensor goes.

    Raises:
        RuntimeError: the tensor requires no grad.

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


@contextlib.contextmanager
def saved_tensors_hooks(
    pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]
) -> Iterator[None]:
    """Keep ``pack_hook(tensor)`` in the place of each saved tensor; backward unpacks it.

    Args:
        pack_hook: gets a tensor that an operation saves for backward; returns anything.
        unpack_hook: gets what ``pack_hook`` returned; returns a tensor of the same contents.

    Example:
        >>> x = tn.tensor(3.0, requires_grad=True)
        >>> with tn.autograd.graph.saved_tensors_hooks(lambda t: t.item(), tn.tensor):
        ...     y = x * x
        >>> y.backward()
        >>> x.grad
        tensor(6.)
    """
    if isinstance(mode.on, _Refusing):
        raise RuntimeError(mode.on.message)
    with keeping(Packing(pack_hook, unpack_hook)):
        yield


def save_on_cpu(pin_memory: bool = False, device_type: str = "cpu") -> Any:
    """Keep copies of saved tensors; they stay valid when the originals are written in place.

    (In PyTorch the copies leave the device. Here everything is on the CPU, the copies remain.)

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
    """In force while saved-tensor hooks are disabled: keeps values as they are."""

    def __init__(self, message: str):
        self.message = message

    def keep(self, node: Any) -> None:
        """Leave everything as it is."""

    def keep_saved(self, saved: Any, is_output: bool) -> None:
        """Leave everything as it is."""

    def guard(
        self, array: Any, version: Version, edge: Edge | None, is_output: bool
    ) -> tuple[Any, Guard]:
        """Never asked."""
        raise AssertionError("values are left as they are")


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Refuse ``saved_tensors_hooks`` inside the block, with the message.

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
        fn: for mode "all" gets their gradients as a list; for "any" the first that is computed.
        mode: ``"all"`` or ``"any"``.

    Example:
        >>> x, y = tn.ones(1, requires_grad=True), tn.ones(1, requires_grad=True)
        >>> handle = tn.autograd.graph.register_multi_grad_hook([x, y], print)
        >>> (x * 2 + y * 3).backward()
        [tensor([2.]), tensor([3.])]
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    arrived: dict[int, Tensor] = {}
    called = [False]

    def hook(number: int, grad: Tensor) -> None:
        if mode == "any":
            if not called[0]:
                called[0] = True
                fn(grad)  # type: ignore[arg-type]
            return
        arrived[number] = grad
        if len(arrived) == len(tensors):
            found = [arrived[i] for i in range(len(tensors))]
            arrived.clear()
            fn(found)

    handles = [t.register_hook(functools.partial(hook, i)) for i, t in enumerate(tensors)]
    return _Handles(handles)


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
    """Tell autograd that the memory of tensors was written to from outside.

    Example:
        >>> x = tn.ones(2)
        >>> x.numpy()[0] = 5
        >>> tn.autograd.graph.increment_version(x)
        >>> x._version
        1
    """
    for t in [tensor] if isinstance(tensor, Tensor) else tensor:
        wrote(t, "increment_version")
