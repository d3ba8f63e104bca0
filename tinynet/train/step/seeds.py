"""A seed per purpose, so that drawing more numbers for one does not affect another."""

from __future__ import annotations

import contextlib
import hashlib
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from tinynet import random as generator
from tinynet.core.tensors.tensor import Tensor
from tinynet.random import Generator

_MOST = 1000  # members of a list that are looked at


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


@contextlib.contextmanager
def undisturbed(examples: Any, seed: int, purpose: str = "check") -> Iterator[None]:
    """As `isolated`; restore also the random streams that a data set, or each of several, holds."""
    restorers = [_restorer(generator) for generator in _generators(examples, set())]
    try:
        with isolated(seed, purpose):
            yield
    finally:
        for restore in restorers:
            restore()


def _restorer(generator: Any) -> Callable[[], object]:
    """Return a function that restores the current state of a generator."""
    if isinstance(generator, np.random.Generator):
        bits = generator.bit_generator
        return partial(setattr, bits, "state", bits.state)
    if isinstance(generator, random.Random):
        return partial(generator.setstate, generator.getstate())
    return partial(generator.set_state, generator.get_state())


def _generators(value: Any, seen: set[int]) -> Iterator[Any]:
    """Yield the generators in the attributes of an object, recursively."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, (Generator, np.random.Generator, np.random.RandomState, random.Random)):
        yield value
        return
    if isinstance(value, (Tensor, np.ndarray, str, bytes, type, int, float)):
        return
    inside: Iterable[Any] = ()
    if isinstance(value, Mapping):
        inside = value.values() if len(value) <= _MOST else ()
    elif isinstance(value, (list, tuple, set)):
        inside = value if len(value) <= _MOST else ()  # longer ones hold indices and samples
    for member in [*inside, *getattr(value, "__dict__", {}).values()]:
        yield from _generators(member, seen)
