import numpy as np
import pytest

from tests.rounding import assert_product
from tinynet.numba_kernels import products
from tinynet.numba_kernels.compiler import plain as python
from tinynet.numba_kernels.panels import aligned, packed, padded


def twice(a, b, multiply_steps):
    """``2 * a @ b + 2``, in two rounds."""
    out = aligned(1, len(a), padded(b.shape[1]))
    for bias in np.full(out.shape[2], 2, "f4"), np.empty(0, "f4"):  # the second time onto it
        multiply_steps(a[None], packed(b), bias, out, 0, len(a))
    return out[0, :, : b.shape[1]]


def draw(*shape):
    return np.random.default_rng(4).standard_normal(shape).astype("f4")


@pytest.mark.parametrize(
    "rows, inputs, columns",
    [(1, 1, 1), (3, 70, 33), (8, 0, 32), (8, 5, 64), (21, 9, 100), (9, 700, 40)],
)
def test_multiply(compiled, rows, inputs, columns):
    a, b = draw(rows, inputs), draw(inputs, columns)
    for multiply in products.multiply_steps, python(products.multiply_steps):
        assert_product(twice(a, b, multiply), 2 * a, b, 2.0, roundings=inputs + 1)


def test_a_row_depends_on_no_other_row(compiled):
    a, b = draw(19, 50), draw(50, 40)
    whole = twice(a, b, products.multiply_steps)
    for low, high in [(0, 1), (1, 4), (3, 19)]:
        part = twice(a[low:high], b, products.multiply_steps)
        np.testing.assert_array_equal(part, whole[low:high])
