"""Products with numpy's BLAS, in parts that threads share.

BLAS has its own threads, but they spin for a long time and occupy the cores that kernels need.
Here, each part is a single-threaded BLAS call.
"""

from __future__ import annotations

import numpy as np

from tinynet.dtypes import Array
from tinynet.numba_kernels.llvm.blas_code import product_code
from tinynet.numba_kernels.llvm.written import written
from tinynet.numba_kernels.shared import shared

ROWS = 256  # rows per part: nearly as fast as more; with 64, BLAS takes 1.2 times as long


@written(product_code)
def multiply(a: Array, a_turned: int, b: Array, b_turned: int, out: Array) -> None:
    """Write ``a @ b``; if a ``turned`` argument is 1, with the transpose of that matrix."""
    np.matmul(a.T if a_turned else a, b.T if b_turned else b, out=out)


@shared(span="first last", numbers="a.size * out.shape[1] // 8", cost=2)
def product(
    a: Array, a_turned: int, b: Array, b_turned: int, out: Array, first: int, last: int
) -> None:
    """Write all or some rows of ``a @ b``.

    Args:
        a: ``[rows, inputs]``, or its transpose.
        a_turned: 1 if it is the transpose, else 0.
        b: ``[inputs, columns]``, or its transpose.
        b_turned: 1 if it is the transpose, else 0.
        out: ``[rows, columns]``.
        first, last: the first part of 256 rows to compute, and the end of the parts.
    """
    low, high = first * ROWS, min(last * ROWS, out.shape[0])
    if a_turned:
        multiply(a[:, low:high], 1, b, b_turned, out[low:high])
    else:
        multiply(a[low:high], 0, b, b_turned, out[low:high])


def units(rows: int) -> int:
    """Return the number of parts of 256 rows."""
    return (rows + ROWS - 1) // ROWS
