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
    """Return the gradients of ``steps(inputs)`` by those inputs that need one.

    They are recorded if grad mode is on. The inputs are replaced by views of themselves, so that
    two inputs which are one tensor get one gradient each.
    """
    with enable_grad():
        aliases = [t[...] if needed else t for t, needed in zip(inputs, needs, strict=True)]
        made = zip(steps(aliases), g, strict=True)
        pairs = [(o, h) for o, h in made if o is not None and h is not None and o.requires_grad]
    wanted = [t for t, needed in zip(aliases, needs, strict=True) if needed]
    if not pairs:
        return (None,) * len(needs)
    starts, given = zip(*pairs, strict=True)
    found = grad(starts, wanted, given, create_graph=is_grad_enabled(), allow_unused=True)
    each = iter(found)
    return tuple(next(each) if needed else None for needed in needs)


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
            made = ctx.steps(*inputs)
            return made if isinstance(made, tuple) else (made,)

        return None, *recorded(steps, ctx.saved_tensors, g, ctx.needs_input_grad[1:])


@functools.cache
def _named(node: str) -> Any:
    made: Any = type(node, (_Formula,), {})
    made._node.__name__ = node  # a Function's own would end in another "Backward"
    return made


def one_node(node: str, steps: Callable[..., Any], *inputs: Tensor) -> Any:
    """Return ``steps(*inputs)``, a tensor or several (or None), recorded as a single node.

    Its derivative goes through the steps. Batches and unrecorded results need no node.
    """
    if batched(*inputs) or not is_grad_enabled():
        return steps(*inputs)
    return _named(node).apply(steps, *inputs)


def batched(*tensors: Tensor) -> bool:
    """Return whether a tensor is batched by vmap, for which not every kernel has a rule."""
    return any(t._array.__class__ is not np.ndarray for t in tensors)
