"""Which call of which module an operation belongs to, as a name scope.

Note [Calls, not modules]
`tinynet.core.scope.stack` says which modules run, but two calls of one module look the same
there: `self.relu(self.relu(x))`. Forward hooks, registered while recording, see where a call
begins and ends; the stack corrects them when a forward was left by an exception that the model
caught, and for modules that are not part of the model (made in its forward), which have no hooks.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tinynet.board.graph import Names, clean
from tinynet.core import scope


@dataclass(frozen=True, slots=True)
class _Call:
    module: Any
    path: str | None  # the attribute path in the model; None for a module that is not part of it
    scope: str


class CallScopes:
    """The scopes of a model's calls: the class name of the model, then attribute paths.

    A module that is called again gets a suffix: `Net/relu`, `Net/relu_1`. A module with several
    paths in the model (shared) gets the one through the module that calls it.
    """

    def __init__(self, model: Any, names: Names) -> None:
        self.root = clean(type(model).__name__)
        self._names = names
        self._calls: list[_Call] = []
        self._used: set[str] = set()
        self.modules: dict[int, Any] = {}
        self._paths: dict[int, list[str]] = {}
        for path, module in model.named_modules(remove_duplicate=False):
            self.modules[id(module)] = module
            self._paths.setdefault(id(module), []).append(path)
            names.reserve(self.of_path(path))

    def of_path(self, path: str) -> str:
        """The scope of a module that is called once, by its attribute path."""
        return "/".join([self.root, *(clean(part) for part in path.split(".") if part)])

    def paths(self) -> Iterator[tuple[str, Any]]:
        """All modules with all their paths."""
        for key, module in self.modules.items():
            for path in self._paths[key]:
                yield path, module

    @contextlib.contextmanager
    def tracking(self) -> Iterator[None]:
        """A context in which calls are followed, by hooks that are gone afterwards."""
        depth = len(scope.stack)  # modules that were running before are not ours
        handles = []
        try:
            for module in self.modules.values():
                handles.append(module.register_forward_pre_hook(self._begin(depth)))
                handles.append(module.register_forward_hook(self._end))
            self._depth = depth
            yield
        finally:
            for handle in handles:
                handle.remove()
            self._calls.clear()

    def current(self) -> str:
        """The scope of the operation that runs now."""
        self._follow(scope.stack[self._depth :])
        return self._calls[-1].scope if self._calls else self.root

    def _begin(self, depth: int) -> Any:
        def begin(module: Any, args: Any) -> None:
            running = scope.stack[depth:]
            if running and running[-1] is module:  # __call__ pushes before it runs the hooks
                running.pop()
            self._follow(running)
            self._enter(module)

        return begin

    def _end(self, module: Any, args: Any, output: Any) -> None:
        while self._calls:
            if self._calls.pop().module is module:
                return

    def _follow(self, running: list[Any]) -> None:
        """Leave calls that ended unseen, enter modules that have no hooks."""
        same = 0
        for call, module in zip(self._calls, running, strict=False):
            if call.module is not module:
                break
            same += 1
        del self._calls[same:]
        for module in running[same:]:
            self._enter(module)

    def _enter(self, module: Any) -> None:
        caller = self._calls[-1] if self._calls else None
        path = self._path(module, caller)
        wanted = self._scope(module, path, caller)
        name = self._names.scope(wanted, again=path is None or wanted in self._used)
        self._used.add(wanted)
        self._calls.append(_Call(module, path, name))

    def _path(self, module: Any, caller: _Call | None) -> str | None:
        paths = self._paths.get(id(module))
        if paths is None:
            return None
        if caller is not None and caller.path is not None:
            for path in paths:
                if _below(path, caller.path) is not None:
                    return path
        return paths[0]

    def _scope(self, module: Any, path: str | None, caller: _Call | None) -> str:
        outer = caller.scope if caller is not None else self.root
        if path is None:
            return f"{outer}/{clean(type(module).__name__)}"
        rest = None
        if caller is not None and caller.path is not None:
            rest = _below(path, caller.path)
        if rest is None:
            return self.of_path(path)
        return "/".join([outer, *(clean(part) for part in rest.split("."))])


def _below(path: str, outer: str) -> str | None:
    """The path relative to an outer one, or None if it is not below it."""
    if not outer:
        return path or None
    return path.removeprefix(f"{outer}.") if path.startswith(f"{outer}.") else None
