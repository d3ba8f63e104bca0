"""Results and gradients whose shapes depend on values: a program cannot have them."""

from __future__ import annotations

from typing import Any

from tinynet.capture.program import Call

_NAMES = frozenset(
    "nonzero argwhere unique unique_consecutive masked_select bincount repeat_interleave".split()
)


def sized_by_values(call: Call, args: Any) -> bool:
    """Return whether the shape of a call's result, or of a gradient, depends on values."""
    name = getattr(call.op, "name", None) or getattr(call.function, "__name__", "")
    if name == "index":
        return any(_is_mask(i) for i in args[1])
    if name == "index_set":  # the gradient of what is set has the shape of what the mask selects
        masks = [i for i in args[-2] if _is_mask(i)]
        return bool(masks) and args[1].ndim > args[0].ndim - masks[0].ndim
    return name in _NAMES


def _is_mask(index: Any) -> bool:
    return index is not None and bool(index.dtype == bool)
