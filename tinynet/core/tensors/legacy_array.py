"""The data of legacy constructors such as ``FloatTensor``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.tensors.size import Size
from tinynet.dtypes import Array


def legacy_array(data: tuple[Any, ...], dtype: np.dtype[Any]) -> Array:
    """Return the array of a legacy constructor, from a size (``FloatTensor(2, 3)``) or data.

    The elements of a size are unspecified in PyTorch; here they are zeros.
    """
    first: Any = data[0] if len(data) == 1 else None
    if isinstance(first, (Sequence, np.ndarray)) and not isinstance(first, (Size, str)):
        try:
            return np.array(first, dtype=dtype)
        except ValueError:
            raise dtypes.ragged(first) from None
    if hasattr(first, "_array"):  # a tensor
        return np.array(first._array, dtype=dtype)
    if isinstance(first, str):
        raise TypeError("new(): invalid data type 'str'")
    sizes = first if isinstance(first, Size) else data
    if not all(isinstance(n, int) for n in sizes):
        raise TypeError(f"new(): data must be a sequence or sizes (got {type(data[0]).__name__})")
    for n in sizes:
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {[*sizes]}")
    return np.zeros(sizes if data else (0,), dtype=dtype)
