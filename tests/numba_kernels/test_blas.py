"""Products by BLAS in parts."""

import numpy as np
import pytest

import tinynet as tn
from tests.rounding import assert_product
from tinynet.numba_kernels import blas
from tinynet.numba_kernels.compiler import plain as python
from tinynet.numba_kernels.llvm import blas_code
from tinynet.ops.products import gemm

pytestmark = pytest.mark.skipif(blas_code.name() is None, reason="numpy has another BLAS")
rng = np.random.default_rng(2)


def draw(*shape):
    return rng.standard_normal(shape).astype("f4")


@pytest.mark.parametrize("turned", [(0, 0), (1, 0), (0, 1), (1, 1)])
@pytest.mark.parametrize(
    "rows, inputs, columns", [(2, 3, 4), (64, 70, 33), (130, 5, 8), (700, 40, 9)]
)
def test_parts_of_products(compiled, rows, inputs, columns, turned):
    a, b = draw(rows, inputs), draw(inputs, columns)
    kept = [np.ascontiguousarray(x.T) if t else x for x, t in zip((a, b), turned, strict=True)]
    for multiply in (blas.product, python(blas.product)):
        out = np.full((rows, columns), np.nan, np.float32)
        multiply(kept[0], turned[0], kept[1], turned[1], out, 0, blas.units(rows))
        assert_product(out, a, b)


def test_threads_change_no_bit(compiled, threads):
    g, x = draw(300, 520).T, draw(300, 90)
    found = gemm.dot(g, x)
    assert_product(found, g, x)
    threads(1)
    np.testing.assert_array_equal(gemm.dot(g, x), found)


def test_without_that_blas_numpy_multiplies(compiled, monkeypatch):
    monkeypatch.setattr(blas_code, "name", lambda: None)
    g, x = draw(300, 520).T, draw(300, 90)
    np.testing.assert_array_equal(gemm.dot(g, x), np.dot(g, x))
    assert tn.backends.numba.enabled
