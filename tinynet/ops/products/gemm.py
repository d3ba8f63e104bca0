"""Matrix products by BLAS."""

from __future__ import annotations

import numpy as np

from tinynet.dtypes import Array


def dot(a: Array, b: Array, bias: Array | None = None) -> Array:
    """Return ``a @ b + bias``; BLAS runs large products on several threads.

    Args:
        a: ``[rows, inputs]``.
        b: ``[inputs, columns]``.
        bias: ``[columns]``.
    """
    made: Array = np.dot(a, b)
    if bias is not None:
        made += bias
    return made
