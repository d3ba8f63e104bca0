"""``torch.fx``: only decorators without effect; programs are not traced."""

from __future__ import annotations

from typing import TypeVar

from tinynet.compat.refusal import refusal

T = TypeVar("T")


def wrap(fn_or_name: T) -> T:
    """Return the function unchanged: there is no tracing to exclude it from.

    Args:
        fn_or_name: a function or the name of one.

    Example:
        >>> from tinynet.compat import fx
        >>> fx.wrap("len")
        'len'
    """
    return fn_or_name


symbolic_trace = refusal("fx.symbolic_trace", "programs are not traced to graphs; run the module")
