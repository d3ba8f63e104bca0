"""Derivatives that can be differentiated, for operations whose own derivative is no operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tinynet.autograd import grad
from tinynet.core.modes import enable_grad, is_grad_enabled
from tinynet.core.tensor import Tensor


def recorded(
    steps: Callable[..., Any], inputs: Sequence[Tensor], g: Sequence[Tensor], needs: Sequence[bool]
) -> tuple[Tensor | None, ...]:
    """Return the gradients of ``steps(inputs)`` by those inputs that need one.

    They are recorded if grad mode is on. The inputs are replaced by views of themselves, so that
    two inputs which are one tensor get one gradient each.
    """
    with enable_grad():
        aliases = [t[...] if needed else t for t, needed in zip(inputs, needs, strict=True)]
        pairs = [(o, h) for o, h in zip(steps(aliases), g, strict=True) if o.requires_grad]
    wanted = [t for t, needed in zip(aliases, needs, strict=True) if needed]
    starts, given = zip(*pairs, strict=True)
    found = grad(starts, wanted, given, create_graph=is_grad_enabled(), allow_unused=True)
    each = iter(found)
    return tuple(next(each) if needed else None for needed in needs)
