"""The random numbers that a dataset draws: decided by the loader and the batch, by nothing else.

While a batch is made, three streams start from a seed of that batch: tinynet's default generator,
numpy's ``np.random`` and Python's ``random``. So it does not matter which worker makes the batch,
how many there are, or what was drawn elsewhere meanwhile; and a pass can go on in the middle.

- `in_process`: a worker process owns its streams; they are just seeded.
- `in_thread`: a thread that seeds the default generator has a stream of its own. ``np.random`` and
  ``random`` belong to the whole process and cannot be given to a thread: what a dataset draws from
  them in worker threads depends on the other threads. Draw from ``tn.default_generator.numpy``
  instead (it is a ``numpy.random.Generator``), or use processes.
- `isolated`: without workers, the streams of the caller are put back afterwards.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from tinynet.random import default_generator

_WORD = 2**64 - 1


def mix(seed: int, shard: int, number: int) -> int:
    """Return the seed, below 2**63, of a batch: the bits of all three numbers, scrambled.

    The scrambling is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
    generators", 2014).

    Example:
        >>> mix(0, 0, 1) != mix(0, 1, 0) != mix(1, 0, 0)
        True
    """
    state = 0
    for part in (seed, shard, number):
        state = (state ^ part & _WORD) + 0x9E3779B97F4A7C15 & _WORD
        state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & _WORD
        state = (state ^ state >> 27) * 0x94D049BB133111EB & _WORD
        state ^= state >> 31
    return state >> 1


# ---- worker processes ----


@contextlib.contextmanager
def in_process(seed: int) -> Iterator[None]:
    """Start the three streams of a worker process from ``seed``."""
    default_generator.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed % 2**32)
    yield


# ---- worker threads ----


@contextlib.contextmanager
def in_thread(seed: int) -> Iterator[None]:
    """Start the default generator of a worker thread from ``seed``."""
    default_generator.manual_seed(seed)
    yield


# ---- no workers ----


@contextlib.contextmanager
def isolated(seed: int) -> Iterator[None]:
    """Start the three streams from ``seed``, and put them back at the end.

    One thing is not put back, since to ask numpy for it takes 0.1 ms: the second of a pair of
    normal numbers that ``np.random.randn`` and its like may have in store.
    """
    with default_generator.forked(seed):
        legacy: Any = np.random
        python, bits = random.getstate(), legacy.get_bit_generator()
        spare: Any = _spares.pop() if _spares else np.random.MT19937(0)
        spare._legacy_seeding(seed % 2**32)  # as np.random.seed does
        random.seed(seed)
        legacy.set_bit_generator(spare)
        try:
            yield
        finally:
            random.setstate(python)
            legacy.set_bit_generator(bits)
            _spares.append(spare)


_spares: list[Any] = []  # to make one takes 0.2 ms
