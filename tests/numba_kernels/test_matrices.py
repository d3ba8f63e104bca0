"""Products of matrices: all sizes of tiles and panels, both layouts, and any number of threads."""

import math

import numpy as np
import pytest

import tinynet as tn
from tests.numba_kernels.both import assert_gradients_alike
from tests.rounding import assert_product
from tinynet.nn import functional as F
from tinynet.numba_kernels import matrices
from tinynet.numba_kernels.compiler import plain as python
from tinynet.ops.products import gemm

SIZES = [(64, 64, 64), (70, 333, 50), (520, 40, 33), (9, 700, 100), (8, 400, 400), (33, 16, 320)]


def draw(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype("f4")


@pytest.fixture
def counted(monkeypatch):
    """How many rows kernels have multiplied, call by call."""
    seen, product = [], matrices.product

    def noted(a, b, turned, bias, out, *units):
        seen.append(len(out))
        product(a, b, turned, bias, out, *units)

    monkeypatch.setattr(matrices, "product", noted)
    return seen


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("rows, inputs, columns", SIZES)
def test_products(compiled, monkeypatch, counted, rows, inputs, columns, turned, bias):
    monkeypatch.setattr(gemm, "_pays", lambda b: True)
    a, more = draw(rows, inputs), draw(columns) if bias else None
    b = draw(columns, inputs).T if turned else draw(inputs, columns)
    assert_product(gemm.dot(a, b, more), a, b, 0 if more is None else more)
    assert sum(counted) == rows


def test_the_same_without_numba(compiled):
    a, b, bias = draw(19, 21), draw(40, 21), draw(40)
    found, plain = np.empty((2, 11, 40), np.float32)
    matrices.product(a[8:], b, True, bias, found, 0, 2)
    python(matrices.product)(a[8:], b, True, bias, plain, 0, 2)
    for product in plain, found:
        assert_product(product, a[8:], b.T, bias)


def test_threads_change_no_bit(compiled):
    a, b, count = draw(1000, 130), draw(130, 96), tn.get_num_threads()
    try:
        tn.set_num_threads(1)
        alone = gemm.dot(a, b)
        tn.set_num_threads(2)
        np.testing.assert_array_equal(gemm.dot(a, b), alone)
    finally:
        tn.set_num_threads(count)


def test_few_rows_and_gradients_of_weights_are_left_to_blas(compiled, counted):
    a, b = draw(7, 400), draw(400, 400)
    np.testing.assert_array_equal(gemm.dot(a, b), np.dot(a, b))
    g, x = draw(300, 100), draw(300, 90)
    assert_product(gemm.dot(g.T, x), g.T, x)
    assert not counted


def test_nan_and_infinity_stay_in_their_rows(compiled):
    a, b = draw(40, 70), draw(70, 64)
    a[3, 3], a[20, 60] = np.nan, np.inf
    found = gemm.dot(a, b)
    assert np.isnan(found[3]).all() and np.isinf(found[20]).all()
    assert np.isfinite(np.delete(found, [3, 20], axis=0)).all()


@pytest.mark.parametrize("shape", [(70, 64), (5, 30, 64)])
def test_linear(compiled, counted, shape):
    assert_gradients_alike(F.linear, draw(*shape), draw(96, 64), draw(96), terms=150)
    assert sum(counted) == 2 * math.prod(shape[:-1])  # forward, and the gradient of the input


def test_what_has_gaps_is_left_to_numpy(compiled, counted):
    a, b = draw(300, 200)[:, ::2], draw(100, 64)
    np.testing.assert_array_equal(gemm.dot(a, b), np.dot(a, b))
    assert not counted
