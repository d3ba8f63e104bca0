"""Modes of autograd: inference mode, and stricter checks of writes.

Stricter checks find writes that autograd cannot see, and writes to leaves.
"""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from tinynet.core.callsite import here, locate
from tinynet.core.graph.inplace import settings
from tinynet.core.graph.node import Edge, Guard, Node, unmodified
from tinynet.core.graph.saved_hooks import Keeper, keeping
from tinynet.core.messages import unseen_change_error
from tinynet.core.modes import GradMode, inference, mode
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.tensors.version import Version
from tinynet.dtypes import Array


class inference_mode(GradMode):
    """Disable recording and version counting, in a ``with`` block or as a decorator.

    Tensors created inside cannot be saved for backward, or be written in place outside.

    Args:
        mode: True, or False to return to normal mode inside an inference mode.

    Example:
        >>> x = tn.ones(2, requires_grad=True)
        >>> with tn.inference_mode():
        ...     y = x * 2
        >>> y.requires_grad, y.is_inference()
        (False, True)
    """

    def __new__(cls, mode: Any = True) -> Any:
        """Decorate at once when used without parentheses."""
        return object.__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: bool = True):
        super().__init__(not mode)
        self._outside: list[tuple[Any, Any, bool]] = []

    def __enter__(self) -> None:
        self._outside.append((mode.grad, mode.on, mode.inference))
        mode.inference = not self._value
        mode.on = self._value and (mode.on or True)
        mode.grad = mode.on
        if not self._value:
            inference.tally.begin()

    def __exit__(self, *exc: object) -> None:
        if not self._value:
            inference.tally.end()
        mode.grad, mode.on, mode.inference = self._outside.pop()

    def clone(self) -> GradMode:
        """Return another one."""
        made: GradMode = inference_mode(not self._value)
        return made


def is_inference_mode_enabled() -> bool:
    """Return True in inference mode.

    Example:
        >>> with tn.inference_mode():
        ...     tn.is_inference_mode_enabled()
        True
    """
    return mode.inference


def is_inference(input: Tensor) -> bool:
    """Return True for a tensor that was made in inference mode.

    Example:
        >>> with tn.inference_mode():
        ...     x = tn.ones(2)
        >>> tn.is_inference(x)
        True
    """
    return input.is_inference()


# ---- stricter checks ----------------------------------------------------------------------------


@contextlib.contextmanager
def checked() -> Iterator[None]:
    """Compute a checksum of every value saved for backward, and verify it before use.

    Versions detect all writes through tensors, but not writes through ``.data``, through a numpy
    array that shares the memory, or to ``ctx.x = x`` in a Function. PyTorch then silently returns
    wrong gradients. If the forward runs inside this block, backward raises an error for such writes
    that names the lines that saved and needed the value.

    The checksum (CRC-32) takes about 1 µs per value and 0.2 ns per byte, at save and at use.

    Raises:
        RuntimeError: (in backward) a saved value was changed.

    Example:
        >>> x = tn.tensor([1.0, 2.0], requires_grad=True)
        >>> with tn.autograd.checked():
        ...     y = x.sigmoid()
        >>> _ = y.data.zero_()
        >>> y.sum().backward()
        Traceback (most recent call last):
        RuntimeError: one of the variables needed for gradient computation has been modified ...
    """
    with keeping(Checking()):
        yield


class Checking(Keeper):
    """Stores a checksum of each saved array."""

    def guard(
        self, array: Array, version: Version, edge: Edge | None, is_output: bool
    ) -> tuple[Any, Guard]:
        """Return the array with its fingerprint."""
        return array, Fingerprint(array, version, edge, is_output)


class Fingerprint(Guard):
    """The version and the checksum of an array when it was saved."""

    __slots__ = ("at", "checksum", "edge", "is_output", "version")

    def __init__(self, array: Array, version: Version, edge: Edge | None, is_output: bool):
        self.version = version
        self.at = version.n
        self.checksum = checksum(array)
        self.edge = None if is_output else edge  # an output's edge would be a reference cycle
        self.is_output = is_output

    def restore(self, node: Node, kept: Any) -> Array:
        """Return the array; raise if its version or contents have changed."""
        array = unmodified(node, kept, self.version, self.at, self.edge, self.is_output)
        if array is not kept:
            return array
        if checksum(array) != self.checksum:
            raise unseen_change_error(node, array, self.is_output, locate(here()))
        return array


def checksum(array: Array) -> int:
    """Return a CRC-32 of the values: about 0.2 ns per byte."""
    return zlib.crc32(np.ascontiguousarray(array).data.cast("B") if array.size else b"")


def set_strict_leaf_writes(strict: bool) -> None:
    """Raise an error for indexed assignment to a leaf that requires grad, as PyTorch does today.

    By default ``a[:] = 0`` is recorded, ``a`` is no longer a leaf, and the backward pass that
    reaches it raises "leaf variable has been moved into the graph interior".

    Args:
        strict: True raises at the assignment, False (the default) in backward.

    Raises:
        RuntimeError: (at the assignment) a leaf that requires grad is written to and ``strict``
            is True.

    Example:
        >>> tn.autograd.set_strict_leaf_writes(False)
    """
    settings.strict_leaf_writes = bool(strict)
