"""Sums of many numbers, which BLAS adds up: values, shapes, precision."""

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import STEPS, assert_near, bound
from tinynet.kernels.sums import sums

SHAPES = [(70_001,), (300, 700), (9000, 7), (3, 5, 4000), (64, 64), (1, 40_000), (40_000, 1)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_sums_of_many_numbers(shape, kind):
    x = np.random.RandomState(0).uniform(-1, 1, shape).astype(kind)
    exact = x.astype(np.longdouble)
    for dim in (None, -1, 0, tuple(range(1, len(shape))) or 0):
        for keepdim in (False, True):
            got = tn.tensor(x).sum(dim, keepdim).numpy()
            wanted = exact.sum(dim, keepdims=keepdim)
            size = np.abs(exact).sum(dim, keepdims=keepdim)
            assert got.shape == wanted.shape and got.dtype == kind
            allowed = bound(kind, 128 + STEPS) * size  # no sum has more terms in a row
            assert (np.abs(got - wanted) <= allowed).all()
            mean = tn.tensor(x).mean(dim, keepdim).numpy()
            assert (np.abs(mean * (x.size / got.size) - wanted) <= allowed).all()


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_what_is_not_finite_stays_in_its_row(value):
    x = np.ones((100, 100), np.float32)
    x[3, 5] = value
    sums = tn.tensor(x).sum(1).numpy()
    np.testing.assert_array_equal(sums[3], np.float32(value))
    assert (np.delete(sums, 3) == 100).all()


def test_other_layouts_and_dtypes():
    x = np.arange(120_000).reshape(300, 400)
    assert tn.tensor(x).sum().item() == x.sum()
    assert tn.tensor(x).sum(1).tolist() == x.sum(1).tolist()
    columns = tn.tensor(x).double().t()
    assert columns.sum(1).tolist() == x.sum(0).tolist()
    assert columns[::2].sum().item() == x[:, ::2].sum()
    halves = tn.tensor(np.ones((100, 100), np.float16))
    assert halves.sum(1).tolist() == [100.0] * 100


def test_float16_is_summed_in_float32():
    ones = tn.ones(5000, 2).half()
    assert ones.sum(0).tolist() == ones.t().sum(1).tolist() == [5000.0] * 2
    assert ones.sum().item() == 10000.0


@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)])
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
@pytest.mark.parametrize("shape", [(3, 129, 2100), (700, 2, 3), (2, 300, 9), (130, 1, 130)])
def test_whole_numbers_are_summed_exactly_over_any_dimensions(shape, order, axes):
    x = np.random.RandomState(0).randint(-8, 9, shape).astype("f4").transpose(order)
    for given in (x, x[1:], x[:, :, ::2], np.broadcast_to(x[:1], x.shape)):
        np.testing.assert_array_equal(sums(given, axes, True), given.sum(axes, keepdims=True))
        np.testing.assert_array_equal(sums(given, axes, False), given.sum(axes))


# ---- sums by index ------------------------------------------------------------------------------

# rows, indices added, width, share of the indices that are 0
ADDED = [
    (50, 200, 64, 0.0),
    (1000, 40, 32, 0.0),
    (5, 900, 48, 0.9),
    (300, 2000, 24, 0.5),
    (3, 7, 5, 0),
]


@pytest.mark.parametrize("case", ADDED)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_rows_added_by_index(case, kind):
    count, added, width, repeated = case
    draw = np.random.default_rng(0)
    index = draw.integers(0, count, added)
    index[draw.random(added) < repeated] = 0
    rows = (draw.standard_normal((added, width)) * 10).astype(kind)
    start = (draw.standard_normal((count, width)) * 10).astype(kind)
    exact, scale = start.astype(np.float64), np.abs(start).astype(np.float64)
    np.add.at(exact, index, rows)
    np.add.at(scale, index, np.abs(rows))
    x, i, y = tn.tensor(start), tn.tensor(index), tn.tensor(rows)
    wide = i[:, None].expand(added, width)
    roundings = np.bincount(index).max() + 1
    for found in (x.index_add(0, i, y), x.scatter_add(0, wide, y), x.scatter_add(0, wide + 0, y)):
        assert_near(found.numpy(), exact, roundings, scale)
    assert np.array_equal(y.gather(0, wide[:3] % 3).numpy(), rows[index[:3] % 3])


@pytest.mark.parametrize("dtype", [tn.complex64, tn.int64])
def test_one_index_that_repeats_often(dtype):
    """Sums of floats are split, and added in float64."""
    large = 2**53 + 1 if dtype == tn.int64 else 2j
    y = tn.ones(20_000, 17, dtype=dtype)
    y[0] = large
    found = tn.zeros(2, 17, dtype=dtype).index_add(0, tn.zeros(20_000, dtype=tn.int64), y)
    assert found[0].tolist() == [large + 19_999] * 17


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("count", [30, 3_000, 200_000])
def test_logarithms_of_sums_of_exponentials(kind, count):
    a, b = (np.random.RandomState(i).normal(0, 20, count).astype(kind) for i in (0, 1))
    ends = np.array([np.inf, -np.inf, np.nan, 0, 3], kind)
    a[:25], b[:25] = np.repeat(ends, 5), np.tile(ends, 5)
    found = tn.logaddexp(tn.tensor(a), tn.tensor(b)).numpy()
    with np.errstate(invalid="ignore"):
        exact = np.logaddexp(a.astype(np.longdouble), b.astype(np.longdouble))
    np.testing.assert_array_equal(np.isnan(found), np.isnan(exact))
    finite = np.isfinite(exact)
    np.testing.assert_array_equal(found[~finite], exact[~finite])
    allowed = bound(kind, STEPS) * np.maximum(1, np.abs(exact[finite]))
    assert (np.abs(found[finite] - exact[finite]) <= allowed).all()
