"""Random numbers: the generator that every random operation draws from."""

from __future__ import annotations

import contextlib
import copy
import os
import struct
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from tinynet.core.devices import CPU, require_cpu
from tinynet.core.devices import device as Device
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.core.trace import repeated, traced

_STATE = struct.Struct("<Q16s16sII")  # seed; PCG64's state, increment, has_uint32 and uinteger


class _Stream:
    """A seed with its numpy generator."""

    __slots__ = ("numpy", "seed")

    def __init__(self, seed: int):
        self.seed = seed
        self.numpy: np.random.Generator | None = None

    def copy(self) -> _Stream:
        """Return a stream that gives the same numbers."""
        return copy.deepcopy(self)


class Generator:
    """A generator of random numbers with a seed and a state that can be saved.

    Args:
        device: only ``"cpu"`` (or None), for compatibility with PyTorch.

    The generator is numpy's PCG64, so numbers differ from PyTorch's for the same seed.

    Raises:
        RuntimeError: a device other than the CPU.

    Example:
        >>> g = tn.Generator().manual_seed(7)
        >>> again = tn.Generator().manual_seed(7)
        >>> bool((tn.rand(2, generator=g) == tn.rand(2, generator=again)).all())
        True
    """

    _stream: _Stream

    def __init__(self, device: Any = None):
        if device is not None:
            require_cpu(device)
        self.manual_seed(67280421310721)  # PyTorch's default seed

    def __repr__(self) -> str:
        return f"{type(self).__name__}(seed={self.initial_seed()})"

    @property
    def device(self) -> Device:
        """Always the cpu."""
        return CPU

    @repeated
    def manual_seed(self, seed: int) -> Generator:
        """Restart from ``seed``, a number of 64 bits (negative ones wrap), and return itself."""
        if not isinstance(seed, (int, np.integer)):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        if not -(2**63) <= seed < 2**64:
            raise ValueError(f"Overflow when unpacking long long: the seed {seed} exceeds 64 bits")
        self._stream = _Stream(int(seed) % 2**64)
        return self

    @property
    def numpy(self) -> np.random.Generator:
        """The numpy generator, created when first needed, since numpy.random loads slowly."""
        return numbers_of(self, "")

    @repeated
    def seed(self) -> int:
        """Restart from a seed of the operating system, and return the seed."""
        return self.manual_seed(int.from_bytes(os.urandom(8)) >> 1).initial_seed()

    def initial_seed(self) -> int:
        """Return the initial seed."""
        return self._stream.seed

    @traced
    def get_state(self) -> Tensor:
        """Return the state as a tensor of bytes."""
        state = self.numpy.bit_generator.state
        numbers = (state["state"][k].to_bytes(16, "little") for k in ("state", "inc"))
        packed = _STATE.pack(self.initial_seed(), *numbers, state["has_uint32"], state["uinteger"])
        return wrap(np.frombuffer(packed, np.uint8).copy())

    @repeated
    def set_state(self, new_state: Tensor | dict[str, Any]) -> Generator:
        """Restore a state returned by ``get_state`` or ``state_dict``, and return the generator.

        Raises:
            TypeError: neither a tensor of bytes nor a dict.
            RuntimeError: a tensor of another size, such as the state of a PyTorch generator.
        """
        if isinstance(new_state, dict):
            self.load_state_dict(new_state)
            return self
        if not isinstance(new_state, Tensor) or new_state._array.dtype != np.uint8:
            raise TypeError("RNG state must be a tensor of bytes, as get_state() returns it")
        if new_state._array.size != _STATE.size:
            raise RuntimeError(
                f"Expected the state of a tinynet generator, {_STATE.size} bytes, but found "
                f"{new_state._array.size}. PyTorch's generators are others: seed anew instead."
            )
        seed, state, inc, has_uint32, uinteger = _STATE.unpack(new_state._array.tobytes())
        numbers = {"state": int.from_bytes(state, "little"), "inc": int.from_bytes(inc, "little")}
        self.load_state_dict(
            {
                "seed": seed,
                "bit_generator": {
                    "bit_generator": "PCG64",
                    "state": numbers,
                    "has_uint32": has_uint32,
                    "uinteger": uinteger,
                },
            }
        )
        return self

    def clone_state(self) -> Generator:
        """Return a copy of the generator, which produces the same numbers."""
        return Generator().set_state(self.get_state())

    def state_dict(self) -> dict[str, Any]:
        """Return the state as JSON-compatible data."""
        return {"seed": self._stream.seed, "bit_generator": self.numpy.bit_generator.state}

    @repeated
    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore a state returned by ``state_dict``."""
        numpy = np.random.Generator(np.random.PCG64(0))
        numpy.bit_generator.state = state["bit_generator"]
        stream = self._stream
        stream.seed, stream.numpy = int(state["seed"]) % 2**64, numpy


class _Drawing(threading.local):
    refused: Exception | None = None


_drawing = _Drawing()


@contextlib.contextmanager
def refused_drawing(problem: Exception) -> Iterator[None]:
    """Raise ``problem`` where this thread draws a number in the block."""
    before, _drawing.refused = _drawing.refused, problem
    try:
        yield
    finally:
        _drawing.refused = before


class _Own(threading.local):
    stream: _Stream | None = None


class _Default(Generator):
    """The generator of random operations, with a separate stream for each thread that seeds it.

    Threads that have not called ``manual_seed`` share the stream of the main thread.
    """

    def __init__(self) -> None:
        self._own = _Own()
        super().__init__()
        self._shared, self._own.stream = self._stream, None  # whichever thread loads this file

    @property
    def _stream(self) -> _Stream:
        return self._own.stream or self._shared

    @_stream.setter
    def _stream(self, stream: _Stream) -> None:
        if threading.current_thread() is threading.main_thread():
            self._own.stream = None  # this process may be the fork of another thread
            self._shared = stream
        else:
            self._own.stream = stream

    @contextlib.contextmanager
    def forked(self, seed: int | None = None) -> Iterator[None]:
        """Use a copy of the stream, or one with the given seed, until the block ends."""
        before = self._replace(seed)
        try:
            yield
        finally:
            self._restore(before)

    @repeated
    def _replace(self, seed: int | None) -> Any:
        before = self._shared, self._own.stream
        self._stream = self._stream.copy() if seed is None else _Stream(seed)
        return before

    @repeated
    def _restore(self, before: Any) -> None:
        if self._own.stream is None:
            self._shared = before[0]
        self._own.stream = before[1]

    @traced
    def position(self) -> _Stream:
        """Return the position of the stream, for ``go_to``."""
        return self._stream.copy()

    @repeated
    def go_to(self, position: _Stream) -> None:
        """Restore a position of this thread's stream."""
        here = self._stream
        here.seed, here.numpy = position.seed, position.copy().numpy

    def __reduce__(self) -> str:
        return "default_generator"


default_generator = _Default()


class _Fork:
    """Prevents other threads from drawing while the process forks.

    Otherwise the child could inherit a lock that is never released.
    """

    def __init__(self) -> None:
        self.held: list[Any] = []

    def before(self) -> None:
        """Wait until no thread draws from the shared stream."""
        made = default_generator._shared.numpy
        lock = contextlib.nullcontext() if made is None else made.bit_generator.lock
        lock.__enter__()
        self.held.append(lock)

    def after(self) -> None:
        """Allow the threads to draw again."""
        self.held.pop().__exit__(None, None, None)


if hasattr(os, "register_at_fork"):
    _fork = _Fork()
    os.register_at_fork(
        before=_fork.before, after_in_parent=_fork.after, after_in_child=_fork.after
    )


def numbers_of(generator: Generator | None, name: str) -> np.random.Generator:
    """Return the generator for a function: the default one unless given."""
    if generator is None:
        generator = default_generator
    elif not isinstance(generator, Generator):
        kind = type(generator).__name__
        raise TypeError(f"{name}(): argument 'generator' must be tinynet.Generator, not {kind}")
    if _drawing.refused is not None:
        raise type(_drawing.refused)(*_drawing.refused.args)
    stream = generator._stream
    if stream.numpy is None:
        stream.numpy = np.random.Generator(np.random.PCG64(stream.seed))
    return stream.numpy


def manual_seed(seed: int) -> Generator:
    """Seed the default generator and return it.

    Args:
        seed: a number of 64 bits; the same one gives the same numbers. Negative ones wrap, and
            fractions are cut off.

    Raises:
        ValueError: ``seed`` exceeds 64 bits.

    Example:
        >>> _ = tn.manual_seed(0)
        >>> a = tn.rand(3)
        >>> _ = tn.manual_seed(0)
        >>> bool((a == tn.rand(3)).all())
        True
    """
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Seed the default generator from the operating system and return the seed.

    Example:
        >>> number = tn.seed()
        >>> number == tn.initial_seed()
        True
    """
    return default_generator.seed()


def initial_seed() -> int:
    """Return the seed of the default generator.

    Example:
        >>> _ = tn.manual_seed(3)
        >>> tn.initial_seed()
        3
    """
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """Return the state of the default generator as a tensor of bytes.

    Example:
        >>> state = tn.get_rng_state()
        >>> a = tn.rand(2)
        >>> tn.set_rng_state(state)
        >>> bool((tn.rand(2) == a).all())
        True
    """
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Set the state of the default generator.

    Args:
        new_state: a state that ``get_rng_state`` returned.

    Raises:
        TypeError, RuntimeError: not the state of a generator.

    Example:
        >>> state = tn.get_rng_state()
        >>> a = tn.rand(2)
        >>> tn.set_rng_state(state)
        >>> bool((tn.rand(2) == a).all())
        True
    """
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(devices: Any = None, enabled: bool = True, **_: Any) -> Iterator[None]:
    """Restore the stream of the default generator at the end of a block.

    Args:
        devices: there for PyTorch's signature; there are no generators of other devices.
        enabled: False: do nothing.

    Example:
        >>> _ = tn.manual_seed(0)
        >>> with tn.random.fork_rng():
        ...     a = tn.rand(3)
        >>> bool((tn.rand(3) == a).all())
        True
    """
    with default_generator.forked() if enabled else contextlib.nullcontext():
        yield
