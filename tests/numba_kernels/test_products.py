import numpy as np
import pytest

from tinynet.numba_kernels import products
from tinynet.numba_kernels.compiler import plain as python
from tinynet.numba_kernels.panels import aligned, packed, padded


def product(a, b, multiply_steps):
    out = aligned(1, len(a), padded(b.shape[1]))
    for bias in np.full(out.shape[2], 2, "f4"), np.empty(0, "f4"):  # the second time onto it
        multiply_steps(a[None], packed(b), bias, out, 0, len(a))
    return (out[0, :, : b.shape[1]] - 2) / 2


def draw(*shape):
    return np.random.default_rng(4).standard_normal(shape).astype("f4")


@pytest.mark.parametrize(
    "rows, inputs, columns",
    [(1, 1, 1), (3, 70, 33), (8, 0, 32), (8, 5, 64), (21, 9, 100), (9, 700, 40)],
)
def test_multiply(compiled, rows, inputs, columns):
    a, b = draw(rows, inputs), draw(inputs, columns)
    found = product(a, b, products.multiply_steps)
    np.testing.assert_allclose(found, a @ b, atol=2e-4)
    np.testing.assert_allclose(product(a, b, python(products.multiply_steps)), found, atol=2e-4)


def test_a_row_depends_on_no_other_row(compiled):
    a, b = draw(19, 50), draw(50, 40)
    whole = product(a, b, products.multiply_steps)
    for low, high in [(0, 1), (1, 4), (3, 19)]:
        part = product(a[low:high], b, products.multiply_steps)
        np.testing.assert_array_equal(part, whole[low:high])
