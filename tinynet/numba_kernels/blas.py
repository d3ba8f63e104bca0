"""Products that numpy's BLAS computes, in parts that threads share.

BLAS has threads of its own, but they spin for long, and take the cores from those of kernels. Here
each part is a call of BLAS with one thread.
"""

from __future__ import annotations

import numpy as np

from tinynet.dtypes import Array
from tinynet.numba_kernels.llvm.blas_code import product_code
from tinynet.numba_kernels.llvm.written import written
from tinynet.numba_kernels.shared import shared

ROWS = 256  # of the result, that BLAS computes nearly as fast as more; 64 take 1.2 times as long


@written(product_code)
def multiply(a: Array, a_turned: int, b: Array, b_turned: int, out: Array) -> None:
    """Write ``a @ b``, where ``turned`` is 1 with the transpose in the place of the other."""
    np.matmul(a.T if a_turned else a, b.T if b_turned else b, out=out)


@shared(span="first last", numbers="a.size * out.shape[1] // 8", cost=2)
def product(
    a: Array, a_turned: int, b: Array, b_turned: int, out: Array, first: int, last: int
) -> None:
    """Write ``a @ b``, or some rows of it.

    Args:
        a: ``[rows, inputs]``, or its transpose.
        a_turned: 1 if it is the transpose, else 0.
        b: ``[inputs, columns]``, or its transpose.
        b_turned: 1 if it is the transpose, else 0.
        out: ``[rows, columns]``.
        first, last: the first 256 rows, and those after the last.
    """
    low, high = first * ROWS, min(last * ROWS, out.shape[0])
    if a_turned:
        multiply(a[:, low:high], 1, b, b_turned, out[low:high])
    else:
        multiply(a[low:high], 0, b, b_turned, out[low:high])


def units(rows: int) -> int:
    """Return how many times 256 rows there are."""
    return (rows + ROWS - 1) // ROWS
