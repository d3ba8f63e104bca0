"""What is compared in tensors from outside before and after a capture; masks that decide shapes."""

from __future__ import annotations

from typing import Any

from tinynet.core.graph.node import Hooks
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.tensors.version import INFERENCE

STATE = "the data", "the history", "requires_grad", "the base", "the hooks"


def state_of(t: Tensor) -> tuple[Any, ...]:
    """Return what a program leaves as it is in a tensor from outside."""
    node = t._edge[0] if t._edge else None
    hooks = [_hooks_of(t._hooks), _hooks_of(getattr(node, "hooks", None))]
    return id(t._array), t._edge, t._requires_grad, id(t._view), hooks


def _hooks_of(hooks: Hooks | None) -> Any:
    if hooks is None:
        return None
    tensor = [[*of_one] for of_one in hooks.tensor.values()]
    return tensor, [*hooks.retained], [*hooks.pre], [*hooks.post], [*hooks.accumulated]


def writes_of(t: Tensor) -> int:
    """Return the number of writes that are counted for a tensor."""
    return 0 if t._counter in (None, INFERENCE) else t._counter.n


BY_MASK = frozenset({"index", "index_set", "masked_select"})


def varies(name: str, array: Any, *args: Any) -> bool:
    """Return whether the shape of a result, or of a gradient, depends on the values of a mask."""
    if name == "masked_select":
        return True
    indices = args[-2] if name == "index_set" else args[0]
    masks = [i for i in indices if i is not None and i.dtype == bool]
    if name == "index" or not masks:
        return bool(masks)
    return bool(args[0].ndim > array.ndim - masks[0].ndim)
