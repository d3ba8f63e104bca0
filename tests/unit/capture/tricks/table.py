"""Tricks: small functions that read something which changes between calls without a word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tinynet as tn

TRICKS: dict[str, Callable[[Any], Any]] = {}
CALLS = 4  # before the change: two captures, two replays


def trick(run: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Add a function to the table: it gets what compiles, and returns all that it saw."""
    assert run.__name__ not in TRICKS, run.__name__
    TRICKS[run.__name__] = run
    return run


def ones() -> Any:
    """Return a new tensor of two ones."""
    return tn.ones(2)


def value(thing: Any) -> Any:
    """Return the values of a result, so that equal means the same."""
    if isinstance(thing, tn.Tensor):
        return str(thing.dtype), thing.requires_grad, thing.detach().tolist()
    if isinstance(thing, (tuple, list)):
        return [value(part) for part in thing]
    if isinstance(thing, dict):
        return {key: value(part) for key, part in thing.items()}
    if isinstance(thing, (np.ndarray, np.generic)):
        return thing.tolist()
    return thing


def outcome(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the values of a call's result, or the class and first words of its error."""
    try:
        return value(function(*args, **kwargs))
    except Exception as error:
        return type(error).__name__, str(error).split("\n")[0].split(".")[0][:60]


def change(
    compile: Any,
    function: Any,
    changes: Any,
    argument: Callable[[], Any] = ones,
    look: Callable[[], Any] = lambda: None,
) -> list[Any]:
    """Return the outcomes of calls, with changes in between.

    Args:
        changes: a function, or several, each followed by two calls.
        look: returns what else can be seen after each call.
    """
    compiled = compile(function)
    found = [(outcome(compiled, argument()), value(look())) for _ in range(CALLS)]
    for put in changes if isinstance(changes, (tuple, list)) else [changes]:
        put()
        found += [(outcome(compiled, argument()), value(look())) for _ in range(2)]
    return found


def with_each(compile: Any, function: Any, *arguments: Callable[[], Any]) -> list[Any]:
    """Return the outcomes of calls with arguments of one kind, then of the others."""
    compiled, found = compile(function), []
    for number, make in enumerate([*arguments, arguments[0]]):
        for _ in range(CALLS if number == 0 else 2):
            given = make()
            given = given if isinstance(given, tuple) else (given,)
            found.append((outcome(compiled, *given), [value(a) for a in given]))
    return found
