"""Backward hooks of a module: gates at its inputs and outputs that every gradient passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet.core.callsite import here, warn
from tinynet.core.graph.node import Freed, Node, count_nodes
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import VIEW, Tensor, counter_of, wrap
from tinynet.core.tensors.views import MULTIPLE, View, edge_of, requires_grad

Grads = tuple[Tensor | None, ...]


class BackwardHookFunctionBackward(Node):
    """Hands gradients on as they are, or as ``seen`` changes them."""

    __slots__ = ("seen",)
    multiple = True

    def __init__(self, tensors: Sequence[Tensor], seen: Callable[[Grads], Grads]):
        self.edges = tuple(edge_of(t) for t in tensors)
        self.sequence = count_nodes()
        self.hooks = None
        self.site = here()
        self.shape = tuple(t._array.shape for t in tensors)
        self.dtype = tuple(t._array.dtype for t in tensors)
        self.seen = seen

    def backward(self, g: Any, freed: Freed | None, wanted: Any) -> tuple[Any, ...]:
        """Show the gradients as tensors, hand on arrays."""
        shown = self.seen(tuple(None if x is None else wrap(np.asarray(x)) for x in g))
        return tuple(None if x is None else x._array for x in shown)

    def backward_recorded(self, g: Any, freed: Freed | None, wanted: Any) -> tuple[Any, ...]:
        """Show and hand on tensors."""
        return self.seen(tuple(g))


class Gates:
    """The two gates of one call of a module.

    Args:
        module: the module, as the hooks get it.
        before: hooks on the gradients of the outputs.
        hooks: hooks on the gradients of inputs and outputs.
    """

    def __init__(self, module: Any, before: list[Any], hooks: list[Any]):
        self.module = module
        self.before = before
        self.hooks = hooks
        self.inputs: list[int] | None = None  # which arguments are gated; None: no gate
        self.zeros: dict[int, Any] = {}  # the arguments that are tensors: shape and dtype
        self.outputs: list[int] = []
        self.input_count = self.output_count = 0
        self.grad_outputs: Grads | None = None  # known between the two gates

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments, the tensors among them behind a gate."""
        self.input_count = len(args)
        self.zeros = {
            i: (a._array.shape, a._array.dtype) for i, a in enumerate(args) if isinstance(a, Tensor)
        }
        args, gated = _gated(args, self._leave_backward)
        self.inputs = gated or None
        return args

    def leave(self, result: Any) -> Any:
        """Return the result of the forward, its tensors behind a gate."""
        if not isinstance(result, (Tensor, tuple)):
            warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of "
                f"Tensors but received {type(result)}"
            )
        several = isinstance(result, tuple)
        results = result if several else (result,)
        self.output_count = len(results)
        results, self.outputs = _gated(results, self._enter_backward)
        return results if several else results[0]

    def _enter_backward(self, grads: Grads) -> Grads:
        """See the gradients of the outputs."""
        seen = _spread(grads, self.outputs, self.output_count)
        for hook in self.before:
            new = hook(self.module, seen)
            if new is not None:
                seen = _same_count(new, seen, "Backward pre hook", "grad_output")
        if self.inputs is None:
            self._without_inputs(seen)
        else:
            self.grad_outputs = seen
        return tuple(seen[i] for i in self.outputs)

    def _without_inputs(self, seen: Grads) -> None:
        if not self.hooks:
            return
        warn(
            "Full backward hook is firing when gradients are computed with respect to module "
            "outputs since no inputs require gradients."
        )
        for hook in self.hooks:
            new = hook(self.module, (None,) * self.input_count, seen)
            if new is not None and not (isinstance(new, tuple) and all(x is None for x in new)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always "
                    "return None or None for all gradients."
                )

    def _leave_backward(self, grads: Grads) -> Grads:
        """See the gradients of the inputs, after those of the outputs."""
        if self.grad_outputs is None:  # the gradient did not come through the outputs
            return grads
        assert self.inputs is not None
        found = _spread(grads, self.inputs, self.input_count)
        seen = tuple(
            wrap(np.zeros(*self.zeros[i])) if g is None and i in self.zeros else g
            for i, g in enumerate(found)
        )
        for hook in self.hooks:
            new = hook(self.module, seen, self.grad_outputs)
            if new is not None:
                seen = _same_count(new, seen, "Backward hook", "grad_input")
        self.grad_outputs = None
        return tuple(seen[i] for i in self.inputs)


def _gated(
    values: tuple[Any, ...], seen: Callable[[Grads], Grads]
) -> tuple[tuple[Any, ...], list[int]]:
    """Put the tensors that require grad behind a gate; return all values and which are gated."""
    gated = [i for i, v in enumerate(values) if isinstance(v, Tensor) and requires_grad(v)]
    if not gated or not mode.grad:
        return values, []
    node = BackwardHookFunctionBackward([values[i] for i in gated], seen)
    behind = list(values)
    for number, i in enumerate(gated):
        behind[i] = _behind(values[i], node, number)
    return (tuple(behind) if type(values) is tuple else type(values)(*behind)), gated


def _behind(t: Tensor, node: Node, number: int) -> Tensor:
    """Return ``t`` with ``node`` as its history.

    It is a view that may not be written in place: the write would be missing in the history of
    ``t`` itself, which others still use.
    """
    behind = wrap(t._array)
    behind._counter = counter_of(t)
    base = t if t._view is None else t._view.base
    behind._view = View(base, (), behind._counter.n, MULTIPLE, node.site)
    behind._requires_grad = VIEW
    behind._edge = (node, number)
    return behind


def _spread(grads: Grads, places: list[int], count: int) -> Grads:
    """Return a tuple of ``count`` entries with the gradients at their places."""
    found: list[Tensor | None] = [None] * count
    for place, grad in zip(places, grads, strict=True):
        found[place] = grad
    return tuple(found)


def _same_count(new: Any, old: Grads, what: str, which: str) -> Grads:
    new = new if isinstance(new, tuple) else (new,)
    if len(new) != len(old):
        raise RuntimeError(
            f"{what} returned an invalid number of {which}, got {len(new)}, but expected {len(old)}"
        )
    return new
