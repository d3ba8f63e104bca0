"""Rows: what it is to numpy, and to itself."""

import numpy as np
import pytest

from tinynet.core.graph.accumulate_grad import Rows


def rows():
    return Rows(np.array([3, 1, 3]), np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), 4)


DENSE = np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 0.0], [6.0, 8.0]])


def test_what_it_stands_for():
    made = rows()
    assert (made.shape, made.ndim, made.size, len(made)) == ((4, 2), 2, 8, 4)
    assert made.dtype == np.float64 and not made.coalesced
    assert (made.dense() == DENSE).all() and (np.asarray(made) == DENSE).all()
    assert np.asarray(made, np.float32).dtype == np.float32
    assert (made[3] == DENSE[3]).all() and made.sum() == DENSE.sum()
    with pytest.raises(AttributeError):
        made.__something__  # noqa: B018


def test_coalescing():
    once = rows().coalesce()
    assert once.coalesced and once.coalesce() is once
    assert once.index.tolist() == [1, 3] and once.values.tolist() == [[3.0, 4.0], [6.0, 8.0]]
    single = Rows(np.array([2, 0]), np.array([[1.0], [2.0]]), 3).coalesce()
    assert single.index.tolist() == [0, 2] and single.values.tolist() == [[2.0], [1.0]]
    none = Rows(np.zeros(0, np.int64), np.zeros((0, 2)), 4)
    assert none.coalesce().index.size == 0 and (none.dense() == np.zeros((4, 2))).all()


def test_adding():
    other = np.arange(8.0).reshape(4, 2)
    for made in (rows() + other, other + rows(), np.add(rows(), other), np.add(other, rows())):
        assert type(made) is np.ndarray and (made == DENSE + other).all()
    assert other.sum() == 28.0  # untouched
    both = rows() + rows()
    assert type(both) is Rows and len(both.index) == 6 and (both.dense() == 2 * DENSE).all()
    whole = other.copy()
    rows().add_to(whole)
    assert (whole == DENSE + other).all()


def test_other_functions_of_numpy_see_the_dense_array():
    other = np.ones((4, 2))
    assert (np.add.reduce(rows()) == DENSE.sum(0)).all()
    assert np.add(rows(), other, dtype=np.float32).dtype == np.float32
    assert (np.add(rows(), 1.0) == DENSE + 1).all() and (np.add(1.0, rows()) == DENSE + 1).all()
    assert (np.add(rows(), np.ones(2)) == DENSE + 1).all()
    assert (np.multiply(rows(), rows()) == DENSE * DENSE).all()
    assert np.linalg.norm(rows()) == np.linalg.norm(DENSE)


def test_copies():
    made = rows()
    for copy in (made.copy(), made.astype(np.float64)):
        copy.values[:] = 0
    assert made.astype(np.float32).dtype == np.float32
    assert (made.dense() == DENSE).all() and made.copy().shape == made.shape


def test_in_place():
    made = rows()
    made *= 2.0
    np.true_divide(made, 4.0, out=made)
    assert type(made) is Rows and (made.dense() == DENSE / 2).all()
    for change in (
        lambda: np.multiply(made, DENSE, out=made),
        lambda: np.add(made, 1.0, out=made),
        lambda: made.__setitem__(0, 0.0),
        lambda: made.__setitem__(..., 1.0),
    ):
        with pytest.raises(RuntimeError, match="a sparse gradient can"):
            change()
    assert (made.dense() == DENSE / 2).all()
    made[...] = 0.0
    assert made.index.size == 0 and made.coalesced and (made.dense() == 0).all()


def test_each_row_once_in_order_of_appearance():
    draw = np.random.default_rng(0)
    for repeats in (1, 2, 9):
        index = np.repeat(draw.permutation(20), draw.integers(1, repeats + 1, 20))
        draw.shuffle(index)
        made = Rows(index, draw.standard_normal((len(index), 3)), 20, lazy=True)
        once = made.unique()
        assert once.index.tolist() == list(dict.fromkeys(index.tolist())) and once.unique() is once
        expected = np.zeros((20, 3))
        np.add.at(expected, index, made.values)
        np.testing.assert_array_equal(made.dense(), expected)
        np.testing.assert_array_equal(once.dense(), expected)
        assert not np.may_share_memory(once.values, made.values)


def test_what_is_lazy_stays_so_only_among_its_like():
    lazy = Rows(np.array([1]), np.array([[2.0]]), 3, lazy=True)
    assert (lazy + lazy).lazy and lazy.copy().lazy and lazy.astype(np.float32).lazy
    asked = Rows(np.array([0]), np.array([[1.0]]), 3)
    for mixed in (lazy + asked, asked + lazy):
        assert type(mixed) is np.ndarray and mixed.tolist() == [[1.0], [2.0], [0.0]]
