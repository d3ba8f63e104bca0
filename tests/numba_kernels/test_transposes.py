import numpy as np
import pytest

from tests.rounding import assert_product
from tinynet.numba_kernels import transposes
from tinynet.numba_kernels.compiler import plain as python
from tinynet.ops.products.gemm import dot


def draw(*shape):
    return np.random.default_rng(5).standard_normal(shape).astype("f4")


SHAPES = [(1, 1, 1), (5, 3, 33), (130, 21, 40), (300, 140, 64), (260, 257, 70)]


@pytest.mark.parametrize("rows, left, right", SHAPES)
def test_product(compiled, rows, left, right):
    a, b = draw(rows, left), draw(rows, right)
    found, plain = np.ones((2, left, right), "f4")
    transposes.product(a, b, found, 0, transposes.units(right))
    python(transposes.product)(a, b, plain, 0, transposes.units(right))
    for product in found, plain:
        assert_product(product, a.T, b, 1.0)


@pytest.mark.parametrize("left", [96, 256])
def test_threads_change_nothing(compiled, threads, left):
    a, b = draw(512, left), draw(512, 72)
    found = []
    for count in (1, 2):
        threads(count)
        found.append(dot(a.T, b))
    np.testing.assert_array_equal(*found)
    assert_product(found[0], a.T, b)


def test_nan_stays_in_its_row_and_column(compiled):
    a, b = draw(300, 40), draw(300, 50)
    a[7, 3] = b[100, 49] = np.nan
    found = dot(a.T, b)
    expected = np.zeros(found.shape, bool)
    expected[3] = expected[:, 49] = True
    np.testing.assert_array_equal(np.isnan(found), expected)
