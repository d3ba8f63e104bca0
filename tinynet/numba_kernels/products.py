"""Products of a few rows with a matrix that is reused many times, as in recurrent layers.

OpenBLAS repacks the matrix for each product, which for a few rows costs as much as the product.
Here it is packed once (``panels.py``): 32 columns at a time, row by row.
"""

from __future__ import annotations

from tinynet.dtypes import Array
from tinynet.numba_kernels.llvm.vectors import LANES, MOST, panels_product, tile_product
from tinynet.numba_kernels.llvm.written import written


@written(tile_product())
def tile(a: Array, b: Array, out: Array) -> None:
    """Write ``a @ b``: ``[1 to 8, inputs]`` by ``[inputs, 32]``, with contiguous rows."""
    out[...] = a @ b


@written(tile_product(onto=True))
def tile_onto(a: Array, b: Array, first: Array, out: Array) -> None:
    """Write ``a @ b + first``: ``[1 to 8, inputs]``, ``[inputs, 32]``, ``[1 to 8, 32]``."""
    out[...] = a @ b + first


@written(tile_product(onto=True))
def tile_from(a: Array, b: Array, first: Array, out: Array) -> None:
    """Write ``a @ b + first`` for a vector ``first``, ``[32]``."""
    out[...] = a @ b + first


def part_of(inputs: int) -> int:
    """Return the number of inputs per block, such that 32 columns of them fit the cache."""
    parts = max(1, (inputs + MOST - 1) // MOST)
    return max(LANES, (inputs + parts * LANES - 1) // (parts * LANES) * LANES)


@written(panels_product)
def multiply(a: Array, packed: Array, bias: Array, out: Array) -> None:
    """Write the product of ``[rows, inputs]`` with panels, plus a bias, to ``[rows, n * 32]``.

    Each row of the result is independent of the other rows.

    Args:
        a: the left matrix.
        packed: the right one in panels, ``[n, inputs, 32]``.
        bias: ``[n * 32]``; or ``[0]`` to add the product to ``out``.
        out: the result.
    """
    product = a @ packed.transpose(1, 0, 2).reshape(a.shape[1], out.shape[1])
    out[...] = product + (bias if bias.size else out)


def multiply_steps(a: Array, packed: Array, bias: Array, out: Array, low: int, rows: int) -> None:
    """Like ``multiply``, for some rows of the batch from ``low`` on, in all steps of ``out``.

    ``a`` and ``out`` are ``[steps, batch, ...]``.
    """
    for t in range(out.shape[0]):
        multiply(a[t, low : low + rows], packed, bias, out[t, low : low + rows])
