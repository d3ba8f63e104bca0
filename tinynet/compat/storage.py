"""``Tensor.storage()``: the memory of a tensor as a list of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.core.tensor import Tensor, method
from tinynet.dtypes import Array, of


class TypedStorage(Sequence[Any]):
    """The numbers in a tensor's memory, in the order in which they lie there.

    Writes are writes to the tensor, which autograd does not see.

    Args:
        array: the memory, flat.

    Example:
        >>> tn.tensor([[1, 2], [3, 4]]).t().storage().tolist()
        [1, 2, 3, 4]
    """

    def __init__(self, array: Array):
        self._array = array

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, index: Any) -> Any:
        found = self._array[index]
        return TypedStorage(found) if isinstance(index, slice) else found.item()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._array[index] = value

    def tolist(self) -> list[Any]:
        """Return the numbers."""
        return self._array.tolist()

    def size(self) -> int:
        """Return how many there are."""
        return len(self._array)

    def data_ptr(self) -> int:
        """Return the address of the first."""
        return self._array.ctypes.data

    def __repr__(self) -> str:
        lines = "".join(f" {x}\n" for x in self._array.tolist())
        kind = f"tinynet.storage.TypedStorage(dtype={of(self._array)!r})"
        return f"{lines}[{kind} of size {len(self)}]"


@method
def storage(self: Tensor) -> TypedStorage:
    """Return the memory that the tensor is a part of, as a list of numbers.

    Example:
        >>> tn.tensor([1.0, 2.0])[1:].storage().tolist()
        [1.0, 2.0]
    """
    whole = self._array
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    return TypedStorage(whole.ravel(order="K"))
