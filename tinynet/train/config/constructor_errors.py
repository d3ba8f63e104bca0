"""What a constructor has to say about its arguments, and which of them it means."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from tinynet.train.config.problems import has_users_frames, in_users_code, is_from_users_file
from tinynet.train.config.signatures import Component


def refusal(component: Component, error: BaseException) -> str:
    """What a constructor had to say, with the user's own lines if they are in its traceback."""
    foreign = ":" in component.type  # not of tinynet
    if is_from_users_file(error) or (foreign and has_users_frames(error)):
        return f"{component.type} failed\n{in_users_code(error)}"
    text = f"{component.type} refused its arguments. {type(error).__name__}: {error}"
    if isinstance(error, FileNotFoundError):
        paths = [k for k, v in component.arguments.items() if isinstance(v, str | os.PathLike)]
        text += "".join(f"\n  Another place: --set {component.path}.{k}=PATH" for k in paths)
    return text


_SPOKEN = {"lr": "learning rate", "eps": "epsilon", "betas": "beta parameter"}
"""What PyTorch's messages call an argument."""


def refused_at(component: Component, error: BaseException) -> str:
    """The path of the argument that an error names; of the component if it names none.

    Example:
        >>> sgd = Component("optimizer", "SGD", optim.SGD, {"lr": -1.0, "momentum": 0.9})
        >>> refused_at(sgd, ValueError("The 'lr' parameter of SGD must be >= 0. Got -1 instead."))
        'optimizer.lr'
    """
    text = str(error)
    named = []
    for owner, key in _arguments(component):
        quoted = re.search(rf"['\"`]{re.escape(key)}['\"`]|\b{re.escape(key)} ?=", text, re.I)
        spoken = _SPOKEN.get(key, key)
        plain = re.search(rf"\b{re.escape(spoken)}\b", text, re.I) if len(spoken) > 2 else None
        found = quoted or plain
        if found:
            rank = (quoted is None, owner.type not in text, found.start())
            named.append((rank, f"{owner.path}.{key}"))
    return min(named)[1] if named else component.path


def _arguments(component: Component) -> Iterator[tuple[Component, str]]:
    """The arguments that were given, those of the components inside too."""
    for key, value in component.arguments.items():
        yield component, key
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, Component):
                yield from _arguments(item)
