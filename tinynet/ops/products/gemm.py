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
    if a.size * b.shape[1] >= _LARGE and native_kernels.takes(a, b) and onednn.is_available():
        made = _by_onednn(a, b)
    else:
        made = products.dot(a, b)
    if bias is not None:
        made += bias
    return made


_LARGE = 1 << 16  # multiply-adds: smaller products cost less than the call of a kernel


def _by_onednn(a: Array, b: Array) -> Array:
    out = np.empty((a.shape[0], b.shape[1]), np.float32)
    (a, a_turned), (b, b_turned) = map(_as_rows, (a, b))
    native_kernels.blas.product(a, a_turned, b, b_turned, out, np.float32(0))
    return out


def _as_rows(x: Array) -> tuple[Array, bool]:
    """Return a matrix or its transpose with contiguous rows, and whether it is the transpose."""
    if x.flags.f_contiguous and not x.flags.c_contiguous:
        return x.T, True
    return np.ascontiguousarray(x), False
