"""What several captures of one model have in common, and what follows the sizes of the inputs."""

from __future__ import annotations

import math
from typing import Any

from tinynet.capture.program import Handle, Value, same


class Size:
    """A length that follows the sizes of the inputs.

    It is not an int: code that needs a fixed length fails instead of computing with an example's.

    Attributes:
        values: the length in each capture.
    """

    __slots__ = ("values",)

    def __init__(self, values: tuple[int, ...]):
        self.values = values

    def __repr__(self) -> str:
        return "/".join(map(str, self.values))


class Varying:
    """Another constant that follows the sizes of the inputs, such as a mask.

    Attributes:
        values: the constant in each capture.
    """

    __slots__ = ("values",)

    def __init__(self, values: tuple[Any, ...]):
        self.values = values

    def __repr__(self) -> str:
        return "a constant that depends on a dynamic dimension"


class DifferentError(Exception):
    """Captures at different sizes did different things."""


def merged(parts: list[Any]) -> Any:
    """Merge one constant or value of each capture.

    Returns:
        The constant or value that they share, or a `Size` or `Varying`; of structures, one with
        these inside.

    Raises:
        DifferentError: the structures differ.
    """
    first = parts[0]
    kind = type(first)
    if any(type(part) is not kind for part in parts):
        raise DifferentError
    if isinstance(first, (Value, Handle)):
        if any(part.number != first.number for part in parts):
            raise DifferentError
        return first
    if isinstance(first, (tuple, list)):
        if any(len(part) != len(first) for part in parts):
            return Varying(tuple(parts))
        inner = [merged(list(column)) for column in zip(*parts, strict=True)]
        return kind(*inner) if hasattr(first, "_fields") else kind(inner)
    if kind is dict:
        if any(list(part) != list(first) for part in parts):
            raise DifferentError
        return {key: merged([part[key] for part in parts]) for key in first}
    if kind is slice:
        fields = ([getattr(p, name) for p in parts] for name in ("start", "stop", "step"))
        return slice(*map(merged, fields))
    if all(same(first, part) for part in parts):
        return first
    return Size(tuple(parts)) if kind is int else Varying(tuple(parts))


def is_fixed(structure: Any) -> bool:
    """Return whether nothing in a structure follows the sizes of the inputs."""
    if isinstance(structure, (tuple, list)):
        return all(map(is_fixed, structure))
    if isinstance(structure, dict):
        return all(map(is_fixed, structure.values()))
    if isinstance(structure, slice):
        return is_fixed([structure.start, structure.stop, structure.step])
    return not isinstance(structure, (Size, Varying))


def product(lengths: Any) -> Any:
    """Return the product of lengths, an int or a `Size`."""
    lengths = [*lengths]
    sizes = [n.values for n in lengths if isinstance(n, Size)]
    fixed = math.prod(n for n in lengths if not isinstance(n, Size))
    if not sizes:
        return fixed
    return Size(tuple(fixed * math.prod(column) for column in zip(*sizes, strict=True)))
