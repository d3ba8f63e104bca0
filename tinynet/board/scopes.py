"""Which call of which module an operation belongs to, as a name scope.

Calls, not modules: in `self.relu(self.relu(x))` one module runs twice, and each call has a scope of
its own. `tinynet.core.scope` tells when a call begins and ends, so nothing is registered on the
modules, and a forward that ends in an exception is followed, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tinynet.board.names import Names, clean


class Root:
    """A model: a module that is called from outside of all modules, and the paths below it."""

    def __init__(self, module: Any, label: str) -> None:
        self.module = module
        self.label = label
        self.modules: dict[int, Any] = {}
        self.paths: dict[int, list[str]] = {}
        for path, below in module.named_modules(remove_duplicate=False):
            self.modules[id(below)] = below
            self.paths.setdefault(id(below), []).append(path)

    def of_path(self, path: str) -> str:
        """The scope of a module that is called once, by its attribute path."""
        return "/".join([self.label, *(clean(part) for part in path.split(".") if part)])

    def all_paths(self) -> Iterator[tuple[str, Any]]:
        """All modules with all their paths."""
        for key, module in self.modules.items():
            for path in self.paths[key]:
                yield path, module


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a module."""

    module: Any
    scope: str
    root: Root
    path: str | None  # the attribute path in the root; None for a module that is not part of it
    outer: Call | None


class Calls:
    """The scopes of calls: the name of the model (its class, unless given), then attribute paths.

    A module that is called again gets a suffix: `Net/relu`, `Net/relu_1`. A module with several
    paths in the model (shared) gets the one through the module that calls it.

    Args:
        names: hands out the scopes.
        models: the models that are known beforehand, by name.
        outermost: is told of each call that no module makes, before its hooks run.
    """

    def __init__(
        self, names: Names, models: Mapping[str, Any], outermost: Callable[[Call], None]
    ) -> None:
        self.roots: list[Root] = []
        self.current: Call | None = None
        self.classes: dict[str, str] = {}  # scope of a call -> class of its module
        self._names = names
        self._outermost = outermost
        self._used: set[str] = set()
        for label, module in models.items():
            self.add(module, clean(label))

    def add(self, module: Any, label: str) -> Root:
        """Make a model known."""
        labels = {root.label for root in self.roots}
        unique, number = label, 1
        while unique in labels:
            number += 1
            unique = f"{label}{number}"
        root = Root(module, unique)
        self.roots.append(root)
        for path, _ in root.all_paths():
            self._names.reserve(root.of_path(path))
        return root

    def entered(self, module: Any) -> None:
        """A call begins."""
        outer = self.current
        if outer is None:
            root, path = self._outside(module)
            wanted = root.of_path(path)
        else:
            root, found = outer.root, _through(module, outer)
            if found is None:
                call_scope = f"{outer.scope}/{clean(type(module).__name__)}"
                self._enter(module, call_scope, root, None)
                return
            path = found
            rest = None if outer.path is None else _below(path, outer.path)
            wanted = root.of_path(path)
            if rest is not None:
                wanted = "/".join([outer.scope, *(clean(part) for part in rest.split("."))])
        self._enter(module, wanted, root, path)

    def left(self, module: Any) -> None:
        """The innermost call has ended."""
        if self.current is not None:  # one that began before we looked is not ours
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
        self.current = call
        if call.outer is None:
            self._outermost(call)


def _through(module: Any, caller: Call) -> str | None:
    """The path of a module that goes through its caller, or its first one; None for a stranger."""
    paths = caller.root.paths.get(id(module))
    if paths is None:
        return None
    if caller.path is not None:
        for path in paths:
            if _below(path, caller.path) is not None:
                return path
    return paths[0]


def _below(path: str, outer: str) -> str | None:
    """The path relative to an outer one, or None if it is not below it."""
    if not outer:
        return path or None
    return path.removeprefix(f"{outer}.") if path.startswith(f"{outer}.") else None
