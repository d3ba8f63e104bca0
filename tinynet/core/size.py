"""The shape of a tensor."""

from __future__ import annotations

from typing import Any, SupportsIndex, overload


class Size(tuple[int, ...]):
    """The shape of a tensor: a tuple of the lengths of its dimensions.

    Args:
        iterable: the lengths.

    Example:
        >>> tn.ones(2, 3).shape
        tinynet.Size([2, 3])
    """

    __slots__ = ()

    def numel(self) -> int:
        """Return the number of elements."""
        total = 1
        for n in self:
            total *= n
        return total

    def __repr__(self) -> str:
        return f"tinynet.Size({list(self)})"

    @overload
    def __getitem__(self, index: SupportsIndex) -> int: ...

    @overload
    def __getitem__(self, index: slice) -> Size: ...

    def __getitem__(self, index: Any) -> Any:
        found = tuple.__getitem__(self, index)
        return Size(found) if isinstance(index, slice) else found

    def __add__(self, other: Any) -> Size:
        return Size(tuple.__add__(self, other))
