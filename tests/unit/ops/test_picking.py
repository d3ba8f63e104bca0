"""Choosing by bits is ``np.where``, bit for bit."""

import numpy as np
import pytest

from tinynet.ops.pointwise.where import _SMALL, pick

SHAPE = (96, 128)
assert np.prod(SHAPE) > _SMALL
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1.5, 3.0]


def made(dtype, seed, shape=SHAPE):
    return np.random.RandomState(seed).choice(SPECIAL, shape).astype(dtype)


def identical(found, expected):
    assert found.dtype == expected.dtype and found.shape == expected.shape
    assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_as_where(dtype):
    condition = np.random.RandomState(0).random_sample(SHAPE) < 0.5
    one, other = made(dtype, 1), made(dtype, 2)
    for a, b in (
        (one, other),
        (one, 0.0),
        (-np.inf, other),
        (one, np.zeros((), dtype)),
        (one[0], other),
        (one[:, :1], other[:1]),
        (one[0], 1.0),
    ):
        identical(pick(condition, a, b), np.where(condition, a, b))
    identical(pick(condition.T, one.T, other.T), np.where(condition.T, one.T, other.T).copy("K"))
    strided = condition[:, ::2], made(dtype, 3, (96, 128))[:, ::2], made(dtype, 4, (96, 64))
    identical(np.ascontiguousarray(pick(*strided)), np.where(*strided))


def test_what_is_no_case_for_bits():
    condition = np.random.RandomState(0).random_sample(SHAPE) < 0.5
    one, other = made(np.float32, 1), made(np.float64, 2)
    whole = np.arange(condition.size).reshape(SHAPE)
    for args in (
        (condition, one, other),
        (condition, whole, 1),
        (condition, whole, 0.5),
        (condition, 1.0, 0.0),
        (whole % 2, one, one + 1),
        (condition[:2], one[:2], 0.0),
        (True, one, 0.0),
    ):
        identical(np.asarray(pick(*args)), np.where(*args))


def test_nothing_given_changes():
    condition, one, other = np.ones(SHAPE, bool), made(np.float32, 1), made(np.float32, 2)
    before = one.copy(), other.copy()
    pick(condition, one, other)[...] = 7
    identical(one, before[0])
    identical(other, before[1])


def test_a_condition_that_is_smaller_than_what_it_chooses_from():
    for shape, larger in (((_SMALL, 1), (_SMALL, 3)), ((1, _SMALL), (3, _SMALL))):
        condition = np.random.RandomState(0).random_sample(shape) < 0.5
        one, other = (made(np.float32, seed, larger) for seed in (1, 2))
        for a, b in ((one, other), (one, 0.0), (2.0, other), (one, other[:1, :1])):
            identical(pick(condition, a, b), np.where(condition, a, b))
