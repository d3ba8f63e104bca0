"""The random numbers that a dataset draws depend on the loader and the batch only.

For each batch, tinynet's default generator starts from the seed of that batch, and where a loader
owns them, numpy's ``np.random`` and Python's ``random`` do, too. The result therefore does not
depend on which worker loads the batch, on the number of workers, or on what else was drawn; and a
pass can be resumed.

- `in_process`: a worker process owns its streams, which are just seeded.
- `in_thread`: a thread that seeds the default generator has its own stream. ``np.random`` and
  ``random`` belong to the whole process: what a dataset draws from them in worker threads depends
  on the other threads. Draw from ``tn.default_generator.numpy`` instead (a
  ``numpy.random.Generator``), or use processes.
- `in_caller`: without workers, if ``seed_batches`` asks for it; the caller's streams are restored
  afterwards. Otherwise ``np.random`` and ``random`` go on from sample to sample, as in PyTorch.
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
    """Return the seed of a batch, below 2**63, from the scrambled bits of all three numbers.

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
    """Seed the three streams of a worker process."""
    default_generator.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed % 2**32)
    yield


# ---- worker threads ----


@contextlib.contextmanager
def in_thread(seed: int) -> Iterator[None]:
    """Seed the default generator of a worker thread."""
    default_generator.manual_seed(seed)
    yield


# ---- no workers ----


@contextlib.contextmanager
def in_caller(seed: int) -> Iterator[None]:
    """Seed the three streams, and restore them at the end.

    One value is not restored, because querying numpy for it takes 0.1 ms: the second of a pair of
    normal numbers, which ``np.random.randn`` and similar functions may hold back.
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


_spares: list[Any] = []  # constructing one takes 0.2 ms
