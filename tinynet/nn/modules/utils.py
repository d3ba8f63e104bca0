"""Helpers for custom layers, under PyTorch's path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping
from itertools import repeat
from typing import Any


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that makes a tuple of ``n`` equal values, or of an iterable."""

    def parse(x: Any) -> tuple[Any, ...]:
        return tuple(x) if isinstance(x, Iterable) else tuple(repeat(x, n))

    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(t: Iterable[Any], n: int) -> tuple[Any, ...]:
    """Return the values in reverse order, each ``n`` times: the order of ``F.pad``."""
    return tuple(x for x in reversed(tuple(t)) for _ in range(n))


def consume_prefix_in_state_dict_if_present(
    state_dict: MutableMapping[str, Any], prefix: str
) -> None:
    """Remove a prefix from the names in a ``state_dict``, in place.

    Args:
        state_dict: names -> tensors; names without the prefix are kept.
        prefix: the prefix to remove, such as the ``"module."`` of ``DataParallel``.

    Example:
        >>> from tinynet.nn.modules.utils import consume_prefix_in_state_dict_if_present
        >>> state = nn.DataParallel(nn.Linear(2, 1)).state_dict()
        >>> consume_prefix_in_state_dict_if_present(state, "module.")
        >>> list(state)
        ['weight', 'bias']
    """
    metadata = getattr(state_dict, "_metadata", {})
    for table, end in ((state_dict, ""), (metadata, ".")):  # module names have no dot
        for name in [*table]:
            if f"{name}{end}".startswith(prefix):
                table[name[len(prefix) :]] = table.pop(name)
