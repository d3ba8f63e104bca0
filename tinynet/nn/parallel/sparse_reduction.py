"""The gradients of parameters whose modules make sparse ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.core.graph.row_sparse import Rows
from tinynet.core.tensors.tensor import Tensor


def rows_of_gradient(parameter: Tensor, name: str) -> Rows:
    """Return the gradient of a parameter whose module makes sparse ones.

    Raises:
        RuntimeError: the gradient is dense.
    """
    array = parameter._array
    grad: Any = None if parameter.grad is None else parameter.grad._array
    if grad is None:
        return Rows(np.empty(0, np.int64), np.empty((0, *array.shape[1:]), array.dtype), len(array))
    if grad.__class__ is not Rows:
        raise RuntimeError(
            f"Expected variable to have sparse gradient: {name} is the weight of an embedding with "
            "sparse=True, but another use of it made its gradient dense. Pass sparse=False."
        )
    found: Rows = grad
    return found
