"""Products of few rows with a matrix that is used again and again, as a recurrent layer does.

OpenBLAS repacks the matrix for each product, which for few rows costs as much as the product. Here
it is packed once (``panels.py``): 32 columns at a time, each with its rows one after the other.
"""

from __future__ import annotations

from tinynet.dtypes import Array
from tinynet.numba_kernels.vectors import COLUMNS, ROWS, tile_product
from tinynet.numba_kernels.written import written


@written(tile_product())
def tile(a: Array, b: Array, out: Array) -> None:
    """Write ``a @ b``: ``[1 to 8, inputs]`` by ``[inputs, 32]``, rows of numbers side by side."""
    out[...] = a @ b


def multiply(a: Array, packed: Array, out: Array) -> None:
    """Write the product of ``[rows, inputs]`` with panels to ``[rows, n * 32]``.

    A row of the result depends on no other row.
    """
    for panel in range(packed.shape[0]):
        left = panel * COLUMNS
        for row in range(0, a.shape[0], ROWS):
            tile(a[row : row + ROWS], packed[panel], out[row : row + ROWS, left : left + COLUMNS])


def multiply_steps(a: Array, packed: Array, out: Array, low: int, rows: int) -> None:
    """Do so for some rows of the batch, from ``low`` on, in all steps of ``out``.

    ``a`` and ``out`` are ``[steps, batch, ...]``.
    """
    for t in range(out.shape[0]):
        multiply(a[t, low : low + rows], packed, out[t, low : low + rows])
