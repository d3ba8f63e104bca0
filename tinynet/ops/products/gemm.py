"""Matrix products by BLAS or by kernels compiled with numba."""

from __future__ import annotations

import numpy as np

from tinynet import numba_kernels
from tinynet.dtypes import Array

# Numbers of multiplications: compiled kernels pay off above the first, BLAS above the second.
_LEAST, _MOST = 2**17, 2**28
_SHARED = 2**20  # above, BLAS is called in parts
_LONG, _NARROW = 256, 256  # kernels take transposes with at least, at most these columns, rows
_NOTHING = np.empty(0, np.float32)


def dot(a: Array, b: Array, bias: Array | None = None) -> Array:
    """Return ``a @ b + bias``.

    Large products run on several threads: in numba's kernels, otherwise in BLAS.

    Args:
        a: ``[rows, inputs]``.
        b: ``[inputs, columns]``.
        bias: ``[columns]``.
    """
    work = len(a) * b.size
    if numba_kernels.on and _LEAST <= work < _MOST and _is_compiled_for(a, b):
        turned = not b.flags.c_contiguous
        right = b.T if turned else b
        if a.flags.c_contiguous and right.flags.c_contiguous and (turned or _pays(b)):
            return _compiled(a, right, turned, bias)
        if not (turned or a.flags.c_contiguous) and _pays(b) and _sums_pay(a):
            return _of_columns(a.T, b, bias)
    made = _by_blas(a, b)
    if bias is not None:
        made += bias
    return made


def _is_compiled_for(a: Array, b: Array) -> bool:
    return numba_kernels.takes(a, b) and len(a) >= numba_kernels.vectors.ROWS


def _pays(b: Array) -> bool:
    """Return whether compiled kernels are faster for a matrix that BLAS need not transpose."""
    return b.shape[1] % numba_kernels.vectors.COLUMNS == 0


def _sums_pay(a: Array) -> bool:
    """Return whether kernels are faster for a transpose, as in the gradients of weights."""
    return a.shape[1] >= _LONG and len(a) <= _NARROW and a.flags.f_contiguous


def _of_columns(a: Array, b: Array, bias: Array | None) -> Array:
    made = np.zeros((a.shape[1], b.shape[1]), np.float32)
    if bias is not None:
        made += bias
    kernels = numba_kernels.transposes
    kernels.product(a, b, made, 0, kernels.units(b.shape[1]))
    return made


def _by_blas(a: Array, b: Array) -> Array:
    if numba_kernels.on and len(a) * b.size >= _SHARED and numba_kernels.takes(a, b):
        turned = int(not a.flags.c_contiguous), int(not b.flags.c_contiguous)
        left, right = (x.T if t else x for x, t in zip((a, b), turned, strict=True))
        if left.flags.c_contiguous and right.flags.c_contiguous and numba_kernels.blas_code.name():
            made, kernels = np.empty((len(a), b.shape[1]), np.float32), numba_kernels.blas
            kernels.product(left, turned[0], right, turned[1], made, 0, kernels.units(len(a)))
            return made
    return np.dot(a, b)


def _compiled(a: Array, b: Array, turned: bool, bias: Array | None) -> Array:
    made = np.empty((len(a), b.shape[0 if turned else 1]), np.float32)
    vector = _NOTHING if bias is None else np.ascontiguousarray(bias)
    kernels = numba_kernels.matrices
    kernels.product(a, b, turned, vector, made, 0, kernels.units(*made.shape))
    return made
