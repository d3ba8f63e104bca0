"""The hooks of tensors and nodes during a backward pass."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet.core import arrays
from tinynet.core.graph.accumulate_grad import sparse
from tinynet.core.graph.node import Hooks, Node, check_replaced
from tinynet.core.graph.row_sparse import Rows
from tinynet.core.seams import Recorded
from tinynet.core.tensors.tensor import Tensor, wrap


class HookedPass:
    """What a backward pass does about hooks.

    Attributes:
        recorded: gradients are tensors, not arrays.
        create_graph: the pass itself is recorded.
    """

    recorded: bool
    create_graph: bool

    def _tensor(self, g: Any) -> Any:
        """Return a gradient as hooks see it: a tensor, or None if it is missing."""
        if self.recorded or g is None:
            return g
        if g.__class__ is Rows:
            return wrap(g.dense()) if g.lazy else sparse(g.copy())
        return wrap(arrays.writable(g))

    def _tensor_hooks(self, hooks: Hooks, slots: list[Any]) -> list[Any]:
        """Run the tensor hooks in order of registration, then fill retained gradients."""
        registered = [
            (handle, number, hook)
            for number, of_one in hooks.tensor.items()
            for handle, hook in of_one.items()
        ]
        for _handle, number, hook in sorted(registered, key=operator.itemgetter(0)):
            g = slots[number]
            slots[number] = self._replaced(hook(self._tensor(g)), g, hook)
        for number, kept in hooks.retained.items():
            self._retain(kept(), slots[number])
        return slots

    def _retain(self, t: Tensor | None, g: Any) -> None:
        if t is not None and g is not None:
            seen = self._tensor(g)
            if t._grad is None:
                t._grad = (
                    Recorded.clone(seen) if self.create_graph else wrap(arrays.copied(seen._array))
                )
            elif self.create_graph:
                t._grad = Recorded.add(t._grad, seen)
            else:
                t._grad = wrap(np.asarray(arrays.add(t._grad._array, seen._array)))

    def _replaced(self, returned: Any, g: Any, hook: Any) -> Any:
        if returned is None:
            return g
        if not isinstance(returned, Tensor):
            raise TypeError(f"expected Variable, but hook returned '{type(returned).__name__}'")
        if g is None:
            raise RuntimeError("can't replace a None gradient with a non-None value")
        was = self._tensor(g)
        name = getattr(hook, "__name__", type(hook).__name__)
        if returned._array.dtype != was._array.dtype:
            raise RuntimeError(
                f"hook '{name}' has changed the type of value (was "
                f"tinynet.{was.dtype.tensor_name} got tinynet.{returned.dtype.tensor_name})"
            )
        if returned._array.shape != was._array.shape:
            raise RuntimeError(f"hook '{name}' has changed the size of value")
        return returned if self.recorded else returned._array

    def _pre_hooks(self, hooks: Hooks, slots: list[Any]) -> list[Any]:
        for hook in [*hooks.pre.values()]:
            seen = tuple(self._tensor(x) for x in slots)
            returned = hook(seen)
            if returned is not None:
                check_replaced(hook, returned, len(slots))
                slots = [x if self.recorded or x is None else x._array for x in returned]
        return slots

    def _post_hooks(self, hooks: Hooks, results: tuple[Any, ...], g: Any) -> tuple[Any, ...]:
        outs = g if isinstance(g, list) else [g]
        seen = tuple(self._tensor(x) for x in outs)
        for hook in [*hooks.post.values()]:
            given = tuple(self._tensor(x) for x in results)
            returned = hook(given, seen)
            if returned is not None:
                check_replaced(hook, returned, len(results))
                results = tuple(x if self.recorded or x is None else x._array for x in returned)
        return results


def run_hooks(hooks: Callable[[Hooks, list[Any]], list[Any]], node: Node, g: Any) -> Any:
    """Return the gradients of a node's outputs after ``hooks``."""
    assert node.hooks is not None
    slots = hooks(node.hooks, list(g) if node.multiple else [g])
    return slots if node.multiple else slots[0]
