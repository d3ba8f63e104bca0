"""Products of large matrices by oneDNN, whatever their layout."""

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import assert_product
from tinynet.kernels import native as native_kernels
from tinynet.kernels import onednn
from tinynet.ops.products.matmul import gemm

if not onednn.is_available():
    pytest.skip("needs onednn-cpu-gomp", allow_module_level=True)
pytest.importorskip("llvmlite")


@pytest.fixture
def products(monkeypatch):
    """The shapes of the results that the library's function gave."""
    native_kernels.compiler.prepare()
    monkeypatch.setattr(native_kernels.thread, "on", True)  # as in a step of the LLVM backend
    shapes, product = [], native_kernels.blas.product

    def counted(*args):
        shapes.append(args[4].shape)
        product(*args)

    monkeypatch.setattr(native_kernels.blas, "product", counted)
    return shapes


LAYOUTS = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "gaps": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "reversed": lambda x: np.ascontiguousarray(x[::-1])[::-1],
}


@pytest.mark.parametrize("second", LAYOUTS)
@pytest.mark.parametrize("first", LAYOUTS)
def test_layouts(products, first, second):
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype("f4") for shape in ((40, 90), (90, 30)))
    bias = rng.standard_normal(30).astype("f4")
    found = gemm(LAYOUTS[first](a), LAYOUTS[second](b), bias)
    assert_product(found, a, b, np.broadcast_to(bias, (40, 30)))
    assert products == [(40, 30)]


def test_threads_change_nothing(products):
    rng, before = np.random.default_rng(0), tn.get_num_threads()
    for m, k, n in ((40, 3000, 30), (149, 1012, 157), (300, 700, 200)):
        a, b = rng.standard_normal((m, k)).astype("f4"), rng.standard_normal((k, n)).astype("f4")
        found = []
        for count in (1, 2, 3):
            tn.set_num_threads(count)
            found.append(gemm(a, b))
        tn.set_num_threads(before)
        for other in found[1:]:
            np.testing.assert_array_equal(other, found[0])


def test_small_products_and_other_dtypes_stay_with_numpy(products):
    gemm(np.ones((3, 4), "f4"), np.ones((4, 5), "f4"))
    gemm(np.ones((400, 90)), np.ones((90, 300)))
    assert not products


@pytest.mark.parametrize("enabled", [True, False])
def test_eager_products_need_the_kernels_enabled(products, monkeypatch, enabled):
    monkeypatch.setattr(native_kernels.thread, "on", False)
    monkeypatch.setattr(native_kernels, "on", enabled)
    gemm(np.ones((400, 90), "f4"), np.ones((90, 300), "f4"))
    assert products == [(400, 300)] * enabled
