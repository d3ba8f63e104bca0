"""Names of nodes and scopes that TensorBoard accepts, and values as short texts."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

ATTRIBUTE_LIMIT = 1024  # TensorBoard shows longer attributes as "too large"
_ILLEGAL = re.compile(r"[^A-Za-z0-9_.\-]+")
# Bare names that TensorBoard's frontend confuses with properties of its own objects.
JAVASCRIPT = frozenset({"length", "constructor", "prototype", "toString", "valueOf"})


def clean(name: str) -> str:
    """Replace everything that a node name may not contain with `_`.

    Example:
        >>> from tinynet.board.graphs.names import clean
        >>> clean("my key/π")
        'my_key_'
    """
    return _ILLEGAL.sub("_", name) or "_"


class Names:
    """Assigns names such that no two nodes are equal and no node is also a scope.

    TensorBoard renames a node `a` to `a/(a)` if there is an `a/b`, and merges nodes with equal
    names.
    """

    def __init__(self, scopes: Iterable[str] = ()) -> None:
        self._scopes: set[str] = set()
        self._nodes: set[str] = set()
        self._next: dict[str, int] = {}
        for scope in scopes:
            self.reserve(scope)

    def reserve(self, scope: str) -> None:
        """Reserve a scope and its parent scopes, so that no node takes their names."""
        while scope and scope not in self._scopes:
            self._scopes.add(scope)
            scope = scope.rpartition("/")[0]

    def node(self, path: str) -> str:
        """Return a node name: the path itself, or with the first free suffix `_1`, `_2`, ..."""
        name = self._free(path)
        self._nodes.add(name)
        self.reserve(name.rpartition("/")[0])
        return name

    def scope(self, path: str, again: bool) -> str:
        """Return a scope name: the path itself, or, with `again`, with a free suffix."""
        name = self._free(path) if again or path in self._nodes else path
        self.reserve(name)
        return name

    def _free(self, path: str) -> str:
        if path[:1] in "_-":  # a name may not start with these
            path = f".{path}"
        name, number = path, self._next.get(path, 0)
        while name in self._nodes or name in self._scopes or name in JAVASCRIPT:
            number += 1
            name = f"{path}_{number}"
        self._next[path] = number
        return name


def join(scope: str, name: str) -> str:
    """Return the path of a name in a scope."""
    return f"{scope}/{clean(name)}" if scope else clean(name)


def scopes_of(name: str) -> list[str]:
    """Return all scopes around a node, outermost first.

    Example:
        >>> from tinynet.board.graphs.names import scopes_of
        >>> scopes_of("a/b/c")
        ['a', 'a/b']
    """
    parts = name.split("/")
    return ["/".join(parts[:end]) for end in range(1, len(parts))]


def show(value: object) -> str:
    """Return a value as a short, single-line text, without the contents of large arrays.

    Example:
        >>> from tinynet.board.graphs.names import show
        >>> show((1, 2)), show("mean"), show(None)
        ('(1, 2)', 'mean', 'None')
    """
    if isinstance(value, np.ndarray):
        return f"{value.dtype.name}{list(value.shape)}"
    fields = getattr(value, "_fields", None)
    if isinstance(value, tuple) and fields:  # a named tuple
        text = ", ".join(f"{key} {show(item)}" for key, item in zip(fields, value, strict=True))
    elif isinstance(value, (tuple, list)):
        left, right = "()" if isinstance(value, tuple) else "[]"
        text = f"{left}{', '.join(show(item) for item in value)}{right}"
    else:
        text = value if isinstance(value, str) else repr(value)
    encoded = " ".join(text.split()).encode()
    if len(encoded) <= ATTRIBUTE_LIMIT - 24:  # leaves room for the surrounding message
        return encoded.decode()
    return encoded[: ATTRIBUTE_LIMIT - 32].decode(errors="ignore") + "..."
