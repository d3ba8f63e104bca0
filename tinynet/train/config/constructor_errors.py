"""The errors of constructors, and the arguments that they refer to."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from tinynet.train.base.problems import has_users_frames, in_users_code, is_from_users_file
from tinynet.train.config.coercion import accepts_paths
from tinynet.train.config.signatures import Component, signature_of


def refusal(component: Component, error: BaseException) -> str:
    """Return the error message of a constructor, with the user's lines in its traceback."""
    foreign = ":" in component.type  # not of tinynet
    if is_from_users_file(error) or (foreign and has_users_frames(error)):
        return f"{component.type} failed\n{in_users_code(error)}"
    if isinstance(error, ModuleNotFoundError):
        return f"{component.type} cannot be used: {error}"
    text = f"{component.type} refused its arguments. {type(error).__name__}: {error}"
    if isinstance(error, FileNotFoundError):
        known = signature_of(component.target).parameters
        paths = [
            key
            for key, value in component.arguments.items()
            if isinstance(value, str | os.PathLike)
            and (key not in known or accepts_paths(known[key].declared))
        ]
        text += "".join(f"\n  To use another path: --set {component.path}.{k}=PATH" for k in paths)
    return text


_WORDS = {"lr": "learning rate", "eps": "epsilon", "betas": "beta parameter"}
"""The words for arguments in PyTorch's messages."""


def refused_at(component: Component, error: BaseException) -> str:
    """Return the path of the argument that an error names, or else that of the component.

    Example:
        >>> sgd = Component("optimizer", "SGD", optim.SGD, {"lr": -1.0, "momentum": 0.9})
        >>> refused_at(sgd, ValueError("The 'lr' parameter of SGD must be >= 0. Got -1 instead."))
        'optimizer.lr'
    """
    file = getattr(error, "path", None) or getattr(error, "filename", None)
    places = [Path(file), *Path(file).parents] if isinstance(file, str) else []
    for owner, key in _arguments(component):
        value = owner.arguments[key]
        if isinstance(value, str | os.PathLike) and Path(value) in places:
            return f"{owner.path}.{key}"
    text = str(error)
    named = []
    for owner, key in _arguments(component):
        quoted = re.search(rf"['\"`]{re.escape(key)}['\"`]|\b{re.escape(key)} ?=", text, re.I)
        words = _WORDS.get(key, key)
        plain = re.search(rf"\b{re.escape(words)}\b", text, re.I) if len(words) > 2 else None
        found = quoted or plain
        if found:
            rank = (quoted is None, owner.type not in text, found.start())
            named.append((rank, f"{owner.path}.{key}"))
    return min(named)[1] if named else component.path


def _arguments(component: Component) -> Iterator[tuple[Component, str]]:
    """Yield the given arguments, including those of nested components."""
    for key, value in component.arguments.items():
        yield component, key
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, Component):
                yield from _arguments(item)
