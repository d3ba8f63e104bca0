"""Names of nodes and scopes: those that TensorBoard accepts, and module calls."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

# ---- names --------------------------------------------------------------------------------------
# Names of nodes and scopes that TensorBoard accepts, and values as short texts.


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


# ---- scopes -------------------------------------------------------------------------------------
# The module call that an operation belongs to, as a name scope.
#
# Calls, not modules: in `self.relu(self.relu(x))` one module runs twice, and each call has its own
# scope. `tinynet.core.trace` reports when a call begins and ends, so nothing is registered
# on the modules, and a forward pass that raises is tracked, too.


class Root:
    """A model: a module called from outside of all modules, and the paths of its submodules."""

    def __init__(self, module: Any, label: str) -> None:
        self.module = module
        self.label = label
        self.modules: dict[int, Any] = {}
        self.paths: dict[int, list[str]] = {}
        self.scopes = {"": label}  # attribute path -> scope of a module called once
        for path, below in module.named_modules(remove_duplicate=False):
            self.modules[id(below)] = below
            self.paths.setdefault(id(below), []).append(path)
            if path:
                outer, _, name = path.rpartition(".")
                own = f"{clean(type(below).__name__)}[{clean(name)}]"
                self.scopes[path] = f"{self.scopes[outer]}/{own}"

    def all_paths(self) -> Iterator[tuple[str, Any]]:
        """Yield all modules with all their paths."""
        for key, module in self.modules.items():
            for path in self.paths[key]:
                yield path, module


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a module."""

    module: Any
    scope: str
    root: Root
    path: str | None  # the attribute path in the root; None for a module outside of it
    outer: Call | None


class Calls:
    """The scopes of calls: the name of the model (by default its class), then its modules.

    A module is named like in PyTorch, `Class[attribute]`: `Net/ReLU[act]`, with a suffix when
    called again: `Net/ReLU[act]_1`. A module with several paths in the model (shared) has the one
    through the module that calls it.

    Args:
        names: assigns the scopes.
        models: models registered in advance, by name.
        outermost: called for each call from outside of modules, before its hooks run.
    """

    def __init__(
        self, names: Names, models: Mapping[str, Any], outermost: Callable[[Call], None]
    ) -> None:
        self.roots: list[Root] = []
        self.current: Call | None = None
        self.classes: dict[str, str] = {}  # scope of a call -> class of its module
        self.paths: dict[str, str] = {}  # scope of a call -> path of its module; see `_full_path`
        self._names = names
        self._outermost = outermost
        self._used: set[str] = set()
        for label, module in models.items():
            self.add(module, clean(label))

    def add(self, module: Any, label: str) -> Root:
        """Register a model."""
        labels = {root.label for root in self.roots}
        unique, number = label, 1
        while unique in labels:
            number += 1
            unique = f"{label}{number}"
        root = Root(module, unique)
        self.roots.append(root)
        for scope in root.scopes.values():
            self._names.reserve(scope)
        return root

    def entered(self, module: Any) -> None:
        """Record the beginning of a call."""
        outer = self.current
        if outer is None:
            root, path = self._outside(module)
            wanted = root.scopes[path]
        else:
            root, found = outer.root, _through(module, outer)
            if found is None:
                call_scope = f"{outer.scope}/{clean(type(module).__name__)}"
                self._enter(module, call_scope, root, None)
                return
            path = found
            wanted = root.scopes[path]
            if outer.path is not None and _is_below(path, outer.path):
                wanted = outer.scope + wanted.removeprefix(root.scopes[outer.path])
        self._enter(module, wanted, root, path)

    def left(self, module: Any) -> None:
        """Record the end of the innermost call."""
        if self.current is not None:  # ignore a call that began before the recording
            self.current = self.current.outer

    def _outside(self, module: Any) -> tuple[Root, str]:
        for root in self.roots:
            if id(module) in root.paths:
                return root, root.paths[id(module)][0]
        return self.add(module, clean(type(module).__name__)), ""

    def _enter(self, module: Any, wanted: str, root: Root, path: str | None) -> None:
        name = self._names.scope(wanted, again=path is None or wanted in self._used)
        self._used.add(wanted)
        self.classes[name] = clean(type(module).__name__)
        call = Call(module, name, root, path, self.current)
        self.paths[name] = self._full_path(call)
        self.current = call
        if call.outer is None:
            self._outermost(call)

    def _full_path(self, call: Call) -> str:
        """Return the path in the first model; paths in others begin with their label."""
        if call.path is None:  # a module that is not part of the model
            outer = "" if call.outer is None else self.paths[call.outer.scope]
            return ".".join(filter(None, [outer, clean(type(call.module).__name__)]))
        label = "" if call.root is self.roots[0] else call.root.label
        return ".".join(filter(None, [label, call.path]))


def _through(module: Any, caller: Call) -> str | None:
    """Return a module's path through its caller, or its first one; None for unknown modules."""
    paths = caller.root.paths.get(id(module))
    if paths is None:
        return None
    if caller.path is not None:
        for path in paths:
            if _is_below(path, caller.path):
                return path
    return paths[0]


def _is_below(path: str, outer: str) -> bool:
    """Return whether a path is inside another one."""
    return path.startswith(f"{outer}.") if outer else path != ""
