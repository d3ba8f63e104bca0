"""Matrix products by BLAS."""

from __future__ import annotations

import numpy as np

from tinynet.dtypes import Array
from tinynet.kernels import native as native_kernels
from tinynet.kernels import onednn
from tinynet.kernels.threads import products


def dot(a: Array, b: Array, bias: Array | None = None) -> Array:
    """Return ``a @ b + bias``; several threads share large products.

    Args:
        a: ``[rows, inputs]``.
        b: ``[inputs, columns]``.
        bias: ``[columns]``.
    """
    made = _product(a, b)
    if bias is not None:
        made += bias
    return made


_LARGE = 1 << 16  # multiply-adds: smaller products cost less than the call of a kernel


def _product(a: Array, b: Array) -> Array:
    """Return ``a @ b``, by oneDNN if the kernels that LLVM compiles are enabled."""
    if a.size * b.shape[1] >= _LARGE and native_kernels.takes(a, b) and onednn.is_available():
        out = np.empty((a.shape[0], b.shape[1]), np.float32)
        (a, a_turned), (b, b_turned) = map(_as_rows, (a, b))
        native_kernels.blas.product(a, a_turned, b, b_turned, out, np.float32(0))
        return out
    return products.dot(a, b)


def _as_rows(x: Array) -> tuple[Array, bool]:
    """Return a matrix or its transpose with contiguous rows, and whether it is the transpose."""
    if x.flags.f_contiguous and not x.flags.c_contiguous:
        return x.T, True
    return np.ascontiguousarray(x), False
