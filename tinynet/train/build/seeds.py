"""One seed per purpose, so that drawing more numbers for one changes nothing for another."""

from __future__ import annotations

import contextlib
import hashlib
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tinynet import random as generator


def derive(seed: int, purpose: str) -> int:
    """The seed for one purpose, a number from 0 to 2**63 - 1 that depends on both.

    New purposes can be added without changing the seeds of the others, which counting through a
    single stream could not promise.

    Example:
        >>> derive(0, "shuffle") != derive(0, "model") != derive(1, "model")
        True
    """
    digest = hashlib.sha256(f"{seed}/{purpose}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def seed_all(seed: int, purpose: str) -> None:
    """Seed what code draws from unless told otherwise: tinynet's generator, numpy's, Python's."""
    derived = derive(seed, purpose)
    generator.manual_seed(derived)
    random.seed(derived)
    np.random.seed(derived % 2**32)


def states() -> dict[str, Any]:
    """The states of the generators that `seed_all` seeds."""
    return {
        "tinynet": generator.default_generator.state_dict(),
        "numpy": np.random.get_state(legacy=False),
        "python": random.getstate(),
    }


def restore(saved: dict[str, Any]) -> None:
    """Go back to what `states` returned, as far as it is there."""
    setters: dict[str, Callable[[Any], object]] = {
        "tinynet": generator.default_generator.load_state_dict,
        "numpy": np.random.set_state,
        "python": random.setstate,
    }
    for name in setters.keys() & saved.keys():
        setters[name](saved[name])


@contextlib.contextmanager
def isolated(seed: int = 0, purpose: str = "evaluation") -> Iterator[None]:
    """Random numbers drawn inside are the same each time, and leave no trace outside.

    Example:
        >>> with isolated():
        ...     a = tn.rand(1)
        >>> with isolated():
        ...     bool((tn.rand(1) == a).all())
        True
    """
    saved = states()
    del saved["tinynet"]  # `forked` restores it
    try:
        with generator.default_generator.forked(derive(seed, purpose)):
            seed_all(seed, purpose)
            yield
    finally:
        restore(saved)
