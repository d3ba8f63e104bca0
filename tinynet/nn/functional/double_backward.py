"""Second derivatives of operations whose derivative is not itself an operation."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet.autograd import Function, grad
from tinynet.core.modes import enable_grad, is_grad_enabled
from tinynet.core.tensors.tensor import Tensor


def recorded(
    steps: Callable[..., Any], inputs: Sequence[Tensor], g: Sequence[Tensor], needs: Sequence[bool]
) -> tuple[Tensor | None, ...]:
    """Return the gradients of ``steps(inputs)`` by the inputs that need one.

    They are recorded if grad mode is on. Views replace the inputs, so that each input has its own
    gradient even if two of them are the same tensor.
    """
    with enable_grad():
        aliases = [t[...] if needed else t for t, needed in zip(inputs, needs, strict=True)]
        both = zip(steps(aliases), g, strict=True)
        pairs = [(o, h) for o, h in both if o is not None and h is not None and o.requires_grad]
    sources = [t for t, needed in zip(aliases, needs, strict=True) if needed]
    if not pairs:
        return (None,) * len(needs)
    outputs, incoming = zip(*pairs, strict=True)
    create_graph = is_grad_enabled()
    grads = iter(grad(outputs, sources, incoming, create_graph=create_graph, allow_unused=True))
    return tuple(next(grads) if needed else None for needed in needs)


class _Formula(Function):
    @staticmethod
    def forward(ctx: Any, steps: Callable[..., Any], *inputs: Tensor) -> Any:
        ctx.steps = steps
        ctx.save_for_backward(*inputs)
        ctx.set_materialize_grads(False)
        return steps(*inputs)

    @staticmethod
    def backward(ctx: Any, *g: Any) -> Any:
        def steps(inputs: Sequence[Tensor]) -> Any:
            outputs = ctx.steps(*inputs)
            return outputs if isinstance(outputs, tuple) else (outputs,)

        return None, *recorded(steps, ctx.saved_tensors, g, ctx.needs_input_grad[1:])


@functools.cache
def _named(node: str) -> Any:
    function: Any = type(node, (_Formula,), {})
    function._backward_cls.__name__ = node  # without the "Backward" that a Function appends
    return function


def one_node(node: str, steps: Callable[..., Any], *inputs: Tensor) -> Any:
    """Return ``steps(*inputs)``, one or more tensors or None, recorded as a single node.

    Its derivative is that of the steps. Batched and unrecorded results need no node.
    """
    if batched(*inputs) or not is_grad_enabled():
        return steps(*inputs)
    return _named(node).apply(steps, *inputs)


def batched(*tensors: Tensor) -> bool:
    """Return whether a tensor is batched by vmap; not every kernel has a batching rule."""
    return any(t._array.__class__ is not np.ndarray for t in tensors)
