"""Backward hooks of a module: graph nodes at its inputs and outputs that see every gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet.core.callsite import here, warn
from tinynet.core.graph.node import Freed, Node, count_nodes
from tinynet.core.graph.views import MULTIPLE, View, edge_of, requires_grad
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import VIEW, Tensor, counter_of, wrap

Grads = tuple[Tensor | None, ...]


class BackwardHookFunctionBackward(Node):
    """A node that passes gradients through, changed by ``call_hooks`` if it returns new ones."""

    __slots__ = ("call_hooks",)
    multiple = True

    def __init__(self, tensors: Sequence[Tensor], call_hooks: Callable[[Grads], Grads]):
        self.edges = tuple(edge_of(t) for t in tensors)
        self.sequence = count_nodes()
        self.hooks = None
        self.site = here()
        self.shape = tuple(t._array.shape for t in tensors)
        self.dtype = tuple(t._array.dtype for t in tensors)
        self.call_hooks = call_hooks

    def backward(self, g: Any, freed: Freed | None, wanted: Any) -> tuple[Any, ...]:
        """Pass arrays through, showing them to the hooks as tensors."""
        shown = self.call_hooks(tuple(None if x is None else wrap(np.asarray(x)) for x in g))
        return tuple(None if x is None else x._array for x in shown)

    def backward_recorded(self, g: Any, freed: Freed | None, wanted: Any) -> tuple[Any, ...]:
        """Pass tensors through, showing them to the hooks."""
        return self.call_hooks(tuple(g))


class BackwardHooks:
    """The hook nodes at the inputs and outputs of one call of a module.

    Args:
        module: the module to pass to the hooks.
        before: hooks on the gradients of the outputs.
        hooks: hooks on the gradients of inputs and outputs.
    """

    def __init__(self, module: Any, before: list[Any], hooks: list[Any]):
        self.module = module
        self.before = before
        self.hooks = hooks
        self.inputs: list[int] | None = None  # the indices of the hooked arguments; None: no node
        self.zeros: dict[int, Any] = {}  # shape and dtype of the tensor arguments
        self.outputs: list[int] = []
        self.input_count = self.output_count = 0
        self.grad_outputs: Grads | None = None  # set between the two nodes

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments, with tensors routed through a hook node."""
        self.input_count = len(args)
        self.zeros = {
            i: (a._array.shape, a._array.dtype) for i, a in enumerate(args) if isinstance(a, Tensor)
        }
        args, hooked = _hooked(args, self._leave_backward)
        self.inputs = hooked or None
        return args

    def leave(self, result: Any) -> Any:
        """Return the result of the forward, with tensors routed through a hook node."""
        if not isinstance(result, (Tensor, tuple)):
            warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of "
                f"Tensors but received {type(result)}"
            )
        several = isinstance(result, tuple)
        results = result if several else (result,)
        self.output_count = len(results)
        results, self.outputs = _hooked(results, self._enter_backward)
        return results if several else results[0]

    def _enter_backward(self, grads: Grads) -> Grads:
        """Call the hooks on the gradients of the outputs."""
        grad_outputs = _spread(grads, self.outputs, self.output_count)
        for hook in self.before:
            new = hook(self.module, grad_outputs)
            if new is not None:
                grad_outputs = _same_count(new, grad_outputs, "Backward pre hook", "grad_output")
        if self.inputs is None:
            self._without_inputs(grad_outputs)
        else:
            self.grad_outputs = grad_outputs
        return tuple(grad_outputs[i] for i in self.outputs)

    def _without_inputs(self, grad_outputs: Grads) -> None:
        if not self.hooks:
            return
        warn(
            "Full backward hook is firing when gradients are computed with respect to module "
            "outputs since no inputs require gradients."
        )
        for hook in self.hooks:
            new = hook(self.module, (None,) * self.input_count, grad_outputs)
            if new is not None and not (isinstance(new, tuple) and all(x is None for x in new)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always "
                    "return None or None for all gradients."
                )

    def _leave_backward(self, grads: Grads) -> Grads:
        """Call the hooks on the gradients of inputs and outputs."""
        if self.grad_outputs is None:  # the gradient did not come through the outputs
            return grads
        assert self.inputs is not None
        found = _spread(grads, self.inputs, self.input_count)
        grad_inputs = tuple(
            wrap(np.zeros(*self.zeros[i])) if g is None and i in self.zeros else g
            for i, g in enumerate(found)
        )
        for hook in self.hooks:
            new = hook(self.module, grad_inputs, self.grad_outputs)
            if new is not None:
                grad_inputs = _same_count(new, grad_inputs, "Backward hook", "grad_input")
        self.grad_outputs = None
        return tuple(grad_inputs[i] for i in self.inputs)


def _hooked(
    values: tuple[Any, ...], call_hooks: Callable[[Grads], Grads]
) -> tuple[tuple[Any, ...], list[int]]:
    """Route tensors that require grad through a node; return all values and the hooked indices."""
    hooked = [i for i, v in enumerate(values) if isinstance(v, Tensor) and requires_grad(v)]
    if not hooked or not mode.grad:
        return values, []
    node = BackwardHookFunctionBackward([values[i] for i in hooked], call_hooks)
    behind = list(values)
    for number, i in enumerate(hooked):
        behind[i] = _behind(values[i], node, number)
    return (tuple(behind) if type(values) is tuple else type(values)(*behind)), hooked


def _behind(t: Tensor, node: Node, number: int) -> Tensor:
    """Return ``t`` with ``node`` as its history.

    It is a view that rejects in-place writes: they would be missing from the history of ``t``
    itself, which other code may still use.
    """
    behind = wrap(t._array)
    behind._counter = counter_of(t)
    base = t if t._view is None else t._view.base
    behind._view = View(base, (), behind._counter.n, MULTIPLE, node.site)
    behind._requires_grad = VIEW
    behind._edge = (node, number)
    return behind


def _spread(grads: Grads, places: list[int], count: int) -> Grads:
    """Return a tuple of ``count`` entries with the gradients at their indices."""
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
