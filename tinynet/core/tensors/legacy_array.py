"""The data of legacy constructors such as ``FloatTensor``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.core.tensors.size import Size
from tinynet.dtypes import Array


def legacy_array(data: tuple[Any, ...], dtype: np.dtype[Any]) -> Array:
    """Return the array of a legacy constructor, from a size (``FloatTensor(2, 3)``) or data.

    The elements of a size are unspecified in PyTorch; here they are zeros.
    """
    if (
        len(data) == 1
        and isinstance(data[0], (Sequence, np.ndarray))
        and not isinstance(data[0], (Size, str))
    ):
        return np.array(data[0], dtype=dtype)
    if len(data) == 1 and hasattr(data[0], "_array"):  # a tensor
        converted: Array = data[0]._array.astype(dtype)
        return converted
    if len(data) == 1 and isinstance(data[0], str):
        raise TypeError("new(): invalid data type 'str'")
    sizes = data[0] if len(data) == 1 and isinstance(data[0], Size) else data
    if not all(isinstance(n, int) for n in sizes):
        raise TypeError(f"new(): data must be a sequence or sizes (got {type(data[0]).__name__})")
    for n in sizes:
        if n < 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {n}: {list(sizes)}"
            )
    return np.zeros(sizes if data else (0,), dtype=dtype)
