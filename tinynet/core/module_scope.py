"""The modules whose ``forward`` is running in a thread.

``nn.Module.__call__`` enters and leaves scopes; recorders and error messages read ``mode.scope``.
This file is in core because ``nn`` and ``board`` may not import each other.
"""

from __future__ import annotations

import weakref
from typing import Any, Protocol

from tinynet.core.modes import mode
from tinynet.core.trace import Channel

# (outer scope or None, weak reference to the module): weak, because a module may keep a tensor
# of its own graph (a hidden state), whose nodes would keep the module.
Scope = tuple[Any, "weakref.ref[Any]"]


class Follower(Protocol):
    """An observer of the module calls of its thread."""

    def entered(self, module: Any) -> None:
        """Handle the start of a call, before the module's hooks."""

    def left(self, module: Any) -> None:
        """Handle the end of a call, with a result or an exception."""


calls: Channel[Follower] = Channel()
following = calls.heard_by


def enter(module: Any) -> Scope | None:
    """Enter the scope of ``module``; return the outer scope, for ``leave``."""
    outer: Scope | None = mode.scope
    mode.scope = (outer, weakref.ref(module))
    if calls.listeners:
        for follower in calls.here():
            follower.entered(module)
    return outer


def leave(outer: Scope | None) -> None:
    """Leave the scope of the innermost module."""
    scope, mode.scope = mode.scope, outer
    if calls.listeners:
        for follower in calls.here():
            follower.left(scope[1]())


def modules_of(scope: Scope | None) -> list[Any]:
    """Return the modules of a scope that still exist, outermost first."""
    found = []
    while scope is not None:
        module = scope[1]()
        if module is not None:
            found.append(module)
        scope = scope[0]
    return found[::-1]


def path_of(scope: Scope | None) -> str:
    """Return ``Net.layers.0.act``: the class of the outermost module, then attribute names."""
    modules = modules_of(scope)
    if not modules:
        return ""
    names = [type(modules[0]).__name__]
    for outer, inner in zip(modules, modules[1:], strict=False):
        found = (name for name, module in outer.named_modules() if module is inner)
        names.append(next(found, type(inner).__name__))
    return ".".join(names)


def name_of(owner: Any, scope: Scope | None) -> str:
    """Return ``Net.fc1.weight`` for a parameter of the outermost module of a scope, or "".

    Args:
        owner: the parameter, or the version counter of a parameter or buffer.
        scope: the modules that were running.
    """
    for module in modules_of(scope)[:1]:
        for name, other in (*module.named_parameters(), *module.named_buffers()):
            if other is owner or other._counter is owner:
                return f"{type(module).__name__}.{name}"
    return ""
