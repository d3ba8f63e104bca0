"""A seed per purpose, so that drawing more numbers for one does not affect another."""

from __future__ import annotations

import contextlib
import hashlib
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tinynet import random as generator


def derive(seed: int, purpose: str) -> int:
    """Return the seed for a purpose, a number from 0 to 2**63 - 1.

    A new purpose does not change the seeds of the others, as drawing them from one stream would.

    Example:
        >>> derive(0, "shuffle") != derive(0, "model") != derive(1, "model")
        True
    """
    digest = hashlib.sha256(f"{seed}/{purpose}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def seed_all(seed: int, purpose: str) -> None:
    """Seed the default generators of tinynet, numpy and Python."""
    derived = derive(seed, purpose)
    generator.manual_seed(derived)
    random.seed(derived)
    np.random.seed(derived % 2**32)


def get_states() -> dict[str, Any]:
    """Return the states of the generators that `seed_all` seeds."""
    return {
        "tinynet": generator.default_generator.state_dict(),
        "numpy": np.random.get_state(legacy=False),
        "python": random.getstate(),
    }


def set_states(saved: dict[str, Any]) -> None:
    """Set the states that `get_states` returned; a missing one stays as it is."""
    setters: dict[str, Callable[[Any], object]] = {
        "tinynet": generator.default_generator.load_state_dict,
        "numpy": np.random.set_state,
        "python": random.setstate,
    }
    for name in setters.keys() & saved.keys():
        setters[name](saved[name])


@contextlib.contextmanager
def isolated(seed: int = 0, purpose: str = "evaluation") -> Iterator[None]:
    """Seed the default generators, and restore their states at the end.

    Example:
        >>> with isolated():
        ...     a = tn.rand(1)
        >>> with isolated():
        ...     bool((tn.rand(1) == a).all())
        True
    """
    saved = get_states()
    del saved["tinynet"]  # `forked` restores it
    try:
        with generator.default_generator.forked(derive(seed, purpose)):
            seed_all(seed, purpose)
            yield
    finally:
        set_states(saved)
