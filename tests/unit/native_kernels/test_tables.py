import functools

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import STEPS
from tests.unit.native_kernels.both import assert_alike, both
from tinynet import nn, optim
from tinynet.kernels.native import tables
from tinynet.kernels.native.compiler import plain as python
from tinynet.nn import functional as F


def trained(start, factors, numbers, **options):
    """A table after three steps on its rows."""
    width = start.shape[1]
    weight = nn.Parameter(tn.from_numpy(start.copy("K")))
    optimizer = optim.SGD([weight], lr=0.3, maximize=options.pop("maximize", False))
    for _ in range(3):
        optimizer.zero_grad()
        found = F.embedding(tn.from_numpy(numbers), weight, **options)
        (found.reshape(-1, width) * tn.from_numpy(factors)).sum().backward()
        optimizer.step()
    return {"weight": weight.detach().numpy().copy(), "gradient": weight.grad.numpy().copy()}


def arrays(numbers, count, width, order="C"):
    rng = np.random.default_rng(2)
    start = np.asarray(rng.standard_normal((count, width)), "f4", order=order)
    return start, rng.standard_normal((numbers.size, width)).astype("f4")


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
@pytest.mark.parametrize("max_norm", [None, 1.0])
@pytest.mark.parametrize("n, count, width", [(0, 3, 4), (1, 9, 1), (40, 300, 7), (40, 20, 5)])
def test_training(compiled, n, count, width, max_norm, dtype):
    numbers = np.random.default_rng(1).integers(0, max(1, count // 5), n).astype(dtype)
    for options in ({}, {"maximize": True}, {"padding_idx": 0}):
        run = functools.partial(trained, numbers=numbers, max_norm=max_norm, **options)
        assert_alike(run, *arrays(numbers, count, width), terms=n, steps=3 * STEPS)


def test_tables_and_numbers_with_gaps(compiled):
    numbers = np.arange(12).reshape(3, 4).T
    for order in "CF":
        run = functools.partial(trained, numbers=numbers, max_norm=1.0)
        assert_alike(run, *arrays(numbers, 100, 6, order), terms=12, steps=3 * STEPS)


def test_rows_that_are_not_finite(compiled):
    table = np.float32([[3, 4], [np.nan, 1], [np.inf, 1], [0, 0], [0.6, 0.8]])

    def run(table):
        weight = tn.from_numpy(table.copy())
        F.embedding(tn.arange(5), weight, max_norm=1.0)
        return {"weight": weight.numpy()}

    assert_alike(run, table)


def test_steps_are_those_on_the_whole_table(compiled):
    rng = np.random.default_rng(3)
    start, factors = (rng.standard_normal(s).astype("f4") for s in ((90, 33), (7, 33)))
    found = []
    for whole in (False, True):
        weight = nn.Parameter(tn.from_numpy(start.copy()))
        optimizer = optim.SGD([weight], lr=0.3)
        rows = F.embedding(tn.tensor([5, 7, 5, 89, 7, 5, 0]), weight)
        (rows * tn.from_numpy(factors)).sum().backward()
        if whole:
            weight.grad = weight.grad.clone()
        optimizer.step()
        found.append(weight.detach().numpy())
    np.testing.assert_array_equal(*found)


def test_a_number_outside_is_refused_before_anything_is_written(compiled):
    def run():
        weight = tn.full((4, 2), 3.0)
        with pytest.raises(IndexError, match="The table has 4 rows. Got index 4 instead."):
            F.embedding(tn.tensor([0, 4]), weight, max_norm=1.0)
        return weight.numpy()

    np.testing.assert_array_equal(*both(run))


def test_the_same_without_llvm(compiled):
    numbers, values = np.array([4, 1, 4]), np.float32([[1, 2], [3, 4], [5, 6]])
    for unite in (tables.unite, python(tables.unite)):
        once, sums = np.zeros(3, np.int64), np.zeros((3, 2), np.float32)
        assert unite(numbers, values, np.full(5, 1, np.int32), once, sums) == 2
        np.testing.assert_array_equal(once[:2], [4, 1])
        np.testing.assert_array_equal(sums[:2], [[6, 8], [3, 4]])
