"""``autograd.backward`` and ``autograd.grad``: gradients of several tensors at once."""

from __future__ import annotations

from collections.abc import Sequence

from tinynet.core import engine
from tinynet.core.tensor import Tensor
from tinynet.ops.creation import zeros_like

Tensors = Tensor | Sequence[Tensor]


def _list(value: Tensors, name: str) -> list[Tensor]:
    found = [value] if isinstance(value, Tensor) else list(value)
    for t in found:
        if not isinstance(t, Tensor):
            raise TypeError(f"{name} must be Tensors. Got {type(t).__name__} instead.")
    return found


def _grads(value: Tensor | Sequence[Tensor | None] | None, count: int) -> list[Tensor | None]:
    if value is None:
        return [None] * count
    found: list[Tensor | None] = [value] if isinstance(value, Tensor) else list(value)
    if len(found) != count:
        raise RuntimeError(f"got {count} tensors and {len(found)} gradients")
    return found


def backward(
    tensors: Tensors,
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensors | None = None,
) -> None:
    """Add the gradients of the sum of ``tensors`` to the ``.grad`` of the leaves behind them.

    Args:
        tensors: where to start; one or several.
        grad_tensors: the gradient of each; may be left out for tensors of one element.
        retain_graph: keep what was saved, so that backward can run again (default: create_graph).
        create_graph: record the pass, so that the gradients can be differentiated.
        inputs: accumulate only into these.

    Raises:
        RuntimeError: see ``Tensor.backward``.

    Example:
        >>> x = tn.tensor(3.0, requires_grad=True)
        >>> tn.autograd.backward([x * x, 2 * x])
        >>> x.grad
        tensor(8.)
    """
    starts = _list(tensors, "tensors")
    only = None if inputs is None else _list(inputs, "inputs")
    grads = _grads(grad_tensors, len(starts))
    engine.backward(starts, grads, retain_graph, create_graph, only)


def grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...]:
    """Return the gradients of the sum of ``outputs`` with respect to ``inputs``.

    ``.grad`` is not touched.

    Args:
        outputs: where to start; one or several.
        inputs: leaves or other tensors of the graph.
        grad_outputs: the gradient of each output; may be left out for tensors of one element.
        retain_graph: keep what was saved (default: create_graph).
        create_graph: record the pass, so that the result can be differentiated.
        allow_unused: return None for inputs that are not part of the graph instead of raising.
        materialize_grads: return zeros for them.

    Raises:
        RuntimeError: an input that is unused or requires no grad; see ``Tensor.backward``.

    Example:
        >>> x = tn.tensor(2.0, requires_grad=True)
        >>> (g,) = tn.autograd.grad(x**3, x, create_graph=True)
        >>> g, tn.autograd.grad(g, x)
        (tensor(12., grad_fn=<MulBackward0>), (tensor(12.),))
    """
    if is_grads_batched:
        raise RuntimeError(
            "is_grads_batched=True is not supported: call grad once per row instead."
        )
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False."
        )
    starts, ends = _list(outputs, "outputs"), _list(inputs, "inputs")
    grads = _grads(grad_outputs, len(starts))
    unused = bool(allow_unused) or materialize_grads
    found = engine.grad(starts, ends, grads, retain_graph, create_graph, unused)
    if materialize_grads:
        found = [zeros_like(t) if g is None else g for t, g in zip(ends, found, strict=True)]
    return tuple(found)  # type: ignore[arg-type]
