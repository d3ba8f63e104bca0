"""Methods of Tensor for gradients: backward, .grad, hooks, retain_grad."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from tinynet import errors
from tinynet.core import seams
from tinynet.core.callsite import Location, locate, warn
from tinynet.core.graph import accumulate_grad as accumulate_grad  # its methods belong here
from tinynet.core.graph import backward as passes
from tinynet.core.graph.node import Node, RemovableHandle, new_hooks
from tinynet.core.graph.views import edge_of, grad_fn, requires_grad
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import UNRECORDED, Tensor, method
from tinynet.core.trace import repeated

method(property(edge_of), "edge")


@method
def backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Sequence[Tensor] | Tensor | None = None,
) -> None:
    """Compute the gradients of this tensor and add them to the ``.grad`` of its leaves.

    Args:
        gradient: gradient of the final scalar with respect to this tensor, of the same shape;
            optional for a tensor with one element.
        retain_graph: keep the saved values, so that backward can run again (default:
            create_graph).
        create_graph: record the pass, so that the gradients can be differentiated.
        inputs: accumulate only into these tensors.

    Raises:
        RuntimeError: no grad_fn; not a scalar and no gradient; a saved value was changed in place
            or freed.

    Example:
        >>> x = tn.tensor([1.0, 2.0], requires_grad=True)
        >>> (x * x).backward(tn.ones(2))
        >>> x.grad
        tensor([2., 4.])
    """
    only = [inputs] if isinstance(inputs, Tensor) else inputs
    try:
        passes.backward([self], [gradient], retain_graph, create_graph, only)
    except Exception as error:
        seams.explain[0](error)
        raise


def get_grad(t: Tensor) -> Tensor | None:
    """Return the gradient; warn if the tensor can never have one.

    Example:
        >>> x = tn.tensor(3.0, requires_grad=True)
        >>> x.grad is None
        True
        >>> (x * x).backward()
        >>> x.grad
        tensor(6.)
    """
    grad: Tensor | None = accumulate_grad.dense_gradient(t)
    if mode.tracer is not None:
        mode.tracer.read_gradient(t)
    if grad is not None:
        return grad
    if t._requires_grad is UNRECORDED:
        warn(errors.NO_GRAD_GRAD + errors.more("lost-gradient"), errors.LostGradientWarning)
    elif t._edge is not None and isinstance(t._edge[0], Node) and not retains_grad(t):
        made = _conversion(t, t._edge[0])
        if made is not None:
            warn(
                errors.CONVERTED_GRAD.format(made.place) + errors.more("lost-gradient"),
                errors.LostGradientWarning,
            )
        else:
            warn(errors.NON_LEAF_GRAD)
    return None


def _conversion(t: Tensor, node: Node) -> Location | None:
    """Return the line that converted a leaf to the dtype of ``t``, if it did nothing else."""
    source = node.edges[0][0] if len(node.edges) == 1 and node.edges[0] else None
    if not isinstance(source, Tensor) or source._array.shape != t._array.shape:
        return None
    return None if source._array.dtype == t._array.dtype else locate(node.site)


@repeated
def set_grad(t: Tensor, value: Tensor | None) -> None:
    """Set the gradient, which must have the tensor's shape and dtype."""
    if value is None:
        t._grad = None
        return
    if not isinstance(value, Tensor):
        raise TypeError(
            f"assigned grad expected to be a Tensor or None but got grad of type "
            f"{type(value).__name__}"
        )
    if value is t:
        raise RuntimeError("can't assign Variable as its own grad")
    if value._array.shape != t._array.shape:
        raise RuntimeError(
            f"attempting to assign a gradient of size '{list(value.shape)}' to a tensor of size "
            f"'{list(t.shape)}'. Please ensure that the gradient and the tensor are the same size"
        )
    if value._array.dtype != t._array.dtype:
        raise RuntimeError(
            f"attempting to assign a gradient with dtype '{_c_name(value)}' to a tensor with "
            f"grad_dtype '{t.dtype.scalar_name}'. The gradient must match the tensor's grad_dtype "
            "(defaults to the tensor's dtype)."
        )
    t._grad = value


def _c_name(t: Tensor) -> str:
    return t.dtype.scalar_name.lower()


method(property(get_grad, set_grad, lambda t: set_grad(t, None)), "grad")


def _hooks_of(t: Tensor) -> tuple[Any, int]:
    """Return the holder of a tensor's hooks (its node, or the leaf) and its output number."""
    edge = edge_of(t)
    return edge or (t, 0)


@method
def register_hook(self: Tensor, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
    """Call ``hook(grad)`` whenever the gradient of this tensor is computed.

    A tensor returned by the hook replaces the gradient. Hooks run in order of registration.

    Returns:
        A handle whose ``remove()`` removes the hook.

    Raises:
        RuntimeError: the tensor does not require grad.

    Example:
        >>> x = tn.tensor(3.0, requires_grad=True)
        >>> handle = x.register_hook(lambda g: g * 10)
        >>> (x * x).backward()
        >>> x.grad
        tensor(60.)
    """
    if not requires_grad(self):
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    holder, number = _hooks_of(self)
    return RemovableHandle(new_hooks(holder).tensor.setdefault(number, {}), hook)


@method
def register_post_accumulate_grad_hook(
    self: Tensor, hook: Callable[[Tensor], None]
) -> RemovableHandle:
    """Call ``hook(tensor)`` after each update of this leaf's ``.grad``.

    Args:
        hook: called with the leaf; must return None.

    Returns:
        A handle whose ``remove()`` removes the hook.

    Raises:
        RuntimeError: the tensor does not require grad, or is not a leaf.

    Example:
        >>> x = tn.tensor(3.0, requires_grad=True)
        >>> handle = x.register_post_accumulate_grad_hook(lambda leaf: print(leaf.grad))
        >>> (2 * x).backward()
        tensor(2.)
    """
    if not requires_grad(self):
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if grad_fn(self) is not None:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    return RemovableHandle(new_hooks(self).accumulated, hook)


@method
def retain_grad(self: Tensor) -> None:
    """Keep the gradient of a non-leaf in ``.grad``; do nothing for a leaf.

    Raises:
        RuntimeError: the tensor does not require grad.

    Example:
        >>> x = tn.tensor(3.0, requires_grad=True)
        >>> y = x * x
        >>> y.retain_grad()
        >>> y.backward()
        >>> y.grad
        tensor(1.)
    """
    if not requires_grad(self):
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if grad_fn(self) is None:
        return
    holder, number = _hooks_of(self)
    new_hooks(holder).retained[number] = weakref.ref(self)


def retains_grad(t: Tensor) -> bool:
    """Return True for a non-leaf that retains its gradient.

    Example:
        >>> y = tn.ones(2, requires_grad=True) * 2
        >>> y.retain_grad()
        >>> y.retains_grad
        True
    """
    if t._edge is None or isinstance(t._edge[0], Tensor):
        return False
    holder, number = t._edge  # not regenerated: the history is not needed here
    kept = None if holder.hooks is None else holder.hooks.retained.get(number)
    return kept is not None and kept() is t


method(property(retains_grad), "retains_grad")
