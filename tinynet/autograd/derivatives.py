"""``autograd.backward`` and ``autograd.grad``: gradients of several tensors at once."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from tinynet.autograd.graph import GradientEdge
from tinynet.core.explanations.failures import explain
from tinynet.core.graph import backward as passes
from tinynet.core.graph.engine import reachable
from tinynet.core.tensors.tensor import Tensor
from tinynet.ops.batching import by_rows, one_by_one
from tinynet.ops.creation.like import zeros_like

End = Tensor | GradientEdge
Ends = End | Sequence[End]


def _list(value: Ends, name: str) -> list[End]:
    found = [value] if isinstance(value, End) else list(value)
    for t in found:
        if not isinstance(t, End):
            raise TypeError(
                f"{name} must be Tensors or GradientEdges. Got {type(t).__name__} instead."
            )
    return found


def _grads(value: Tensor | Sequence[Tensor | None] | None, count: int) -> list[Tensor | None]:
    if value is None:
        return [None] * count
    found: list[Tensor | None] = [value] if isinstance(value, Tensor) else list(value)
    if len(found) != count:
        raise RuntimeError(f"got {count} tensors and {len(found)} gradients")
    return found


def backward(
    tensors: Ends,
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Ends | None = None,
) -> None:
    """Add the gradients of the sum of ``tensors`` to the ``.grad`` of their leaves.

    Args:
        tensors: one or several tensors or gradient edges to differentiate.
        grad_tensors: the gradient of each; optional for tensors with one element.
        retain_graph: keep the saved values, so that backward can run again (default:
            create_graph).
        create_graph: record the pass, so that the gradients can be differentiated.
        inputs: accumulate only into these tensors.

    Raises:
        RuntimeError: see ``Tensor.backward``.

    Example:
        >>> x = tn.tensor(3.0, requires_grad=True)
        >>> tn.autograd.backward([x * x, 2 * x])
        >>> x.grad
        tensor(8.)
    """
    try:
        starts = _list(tensors, "tensors")
        only = None if inputs is None else _list(inputs, "inputs")
        grads = _grads(grad_tensors, len(starts))
        passes.backward(starts, grads, retain_graph, create_graph, only)
    except Exception as error:
        explain(error)
        raise


def grad(
    outputs: Ends,
    inputs: Ends,
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...]:
    """Return the gradients of the sum of ``outputs`` with respect to ``inputs``.

    ``.grad`` does not change.

    Args:
        outputs: one or several tensors or gradient edges to differentiate.
        inputs: leaves or other tensors of the graph, or gradient edges.
        grad_outputs: the gradient of each output; optional for tensors with one element.
        retain_graph: keep the saved values (default: create_graph).
        create_graph: record the pass, so that the result can be differentiated.
        only_inputs: ignored; False warns.
        allow_unused: return None for inputs that are not part of the graph instead of raising.
        is_grads_batched: ``grad_outputs`` have an extra first dimension; one pass computes the
            gradients for all its entries.
        materialize_grads: return zeros for inputs that are not part of the graph.

    Raises:
        RuntimeError: an input is unused or does not require grad; see ``Tensor.backward``.

    Example:
        >>> x = tn.tensor(2.0, requires_grad=True)
        >>> (g,) = tn.autograd.grad(x**3, x, create_graph=True)
        >>> g, tn.autograd.grad(g, x)
        (tensor(12., grad_fn=<MulBackward0>), (tensor(12.),))
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False."
        )
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To "
            "accumulate gradient for other parts of the graph, please use "
            "tinynet.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    starts, ends = _list(outputs, "outputs"), _list(inputs, "inputs")
    if not ends:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    grads = _grads(grad_outputs, len(starts))
    unused = bool(allow_unused) or materialize_grads
    if is_grads_batched:
        found = _batched(starts, ends, grads, retain_graph, create_graph, unused)
    else:
        found = passes.grad(starts, ends, grads, retain_graph, create_graph, unused)
    if materialize_grads:
        found = [_or_zeros(t, g, create_graph) for t, g in zip(ends, found, strict=True)]
    return tuple(found)  # type: ignore[arg-type]


def _or_zeros(end: End, grad: Tensor | None, recorded: bool) -> Tensor:
    if grad is not None:
        return grad
    if not isinstance(end, Tensor):
        raise RuntimeError(
            "materialize_grads cannot be used when the given input is a GradientEdge"
        )
    return zeros_like(end).requires_grad_(recorded)


def _batched(
    starts: list[End],
    ends: list[End],
    grads: list[Tensor | None],
    retain_graph: bool | None,
    create_graph: bool,
    unused: bool,
) -> list[Tensor | None]:
    """Return the gradients for each entry of the first dimension of ``grads``, stacked."""
    for i, (t, g) in enumerate(zip(starts, grads, strict=True)):
        if g is None or (isinstance(t, Tensor) and g.shape[1:] != t.shape):
            raise RuntimeError(
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output "
                "as the batch dimension. The sizes of the remaining dimensions are expected to "
                "match the shape of corresponding output, but a mismatch was detected: "
                f"grad_output[{i}] has a shape of {None if g is None else g.shape} and "
                f"output[{i}] has a shape of {t.shape if isinstance(t, Tensor) else 'its own'}."
            )
    sizes = {len(g) for g in grads if g is not None}
    if len(sizes) != 1:
        raise ValueError(f"Expected all grad_outputs to have one batch size, got {sorted(sizes)}")
    (size,) = sizes
    keep = create_graph if retain_graph is None else retain_graph
    left = size

    def row(*given: Tensor) -> list[Tensor | None]:
        nonlocal left
        left -= 1
        again = keep or (left > 0 and not at_once)
        return passes.grad(starts, ends, list(given), again, create_graph, unused)

    # A user's Function may convert tensors to numpy: then passes run one by one and keep the graph.
    nodes = [t.node if isinstance(t, GradientEdge) else t.grad_fn for t in starts]
    at_once = all(hasattr(n, "op") for n in reachable([n for n in nodes if n is not None])[0])
    return (by_rows if at_once else one_by_one)(row, *[g for g in grads if g is not None])
