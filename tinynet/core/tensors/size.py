"""The shape of a tensor."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Any, SupportsIndex, overload

from tinynet.dtypes.kinds import namespace


class Size(tuple[int, ...]):
    """The shape of a tensor: a tuple of the lengths of its dimensions.

    Args:
        iterable: the lengths.

    Example:
        >>> tn.ones(2, 3).shape
        tinynet.Size([2, 3])
    """

    __slots__ = ()

    def __new__(cls, iterable: Iterable[SupportsIndex] = ()) -> Size:
        """Make a shape from integers, or objects with ``__index__``."""
        lengths = []
        for i, n in enumerate(iterable):
            try:
                lengths.append(operator.index(n))
            except TypeError:
                raise TypeError(
                    f"torch.Size() takes an iterable of 'int' (item {i} is '{type(n).__name__}')"
                ) from None
        return tuple.__new__(cls, lengths)

    def numel(self) -> int:
        """Return the number of elements."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"{namespace(Size)}.Size({list(self)})"

    @overload
    def __getitem__(self, index: SupportsIndex) -> int: ...

    @overload
    def __getitem__(self, index: slice) -> Size: ...

    def __getitem__(self, index: Any) -> Any:
        found = tuple.__getitem__(self, index)
        return Size(found) if isinstance(index, slice) else found

    def __add__(self, other: Any) -> Size:
        if not isinstance(other, tuple):
            raise TypeError(
                f"can only concatenate tuple (not {type(other).__name__}) to torch.Size"
            )
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: Any) -> Any:
        # Other types handle it themselves: `numbers += size` extends a list.
        return Size(tuple.__add__(other, self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, times: SupportsIndex) -> Size:
        return Size(tuple.__mul__(self, times))

    __rmul__ = __mul__
