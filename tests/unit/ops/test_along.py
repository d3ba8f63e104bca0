"""Elements along one axis by index are numpy's, for arrays of any shape and memory order."""

import itertools

import numpy as np
import pytest

from tinynet.kernels.indexing import put_along, take_along

SHAPES = [(5,), (4, 5), (3, 1, 4), (2, 3, 4, 5), (0, 3), (3, 0, 2), (70, 80)]


@pytest.mark.parametrize("shape", SHAPES)
def test_elements_are_those_of_numpy(shape):
    draw = np.random.default_rng(0)
    x = draw.random(shape)
    for axis, count in itertools.product(range(x.ndim), [0, 1, 3, 90]):
        sizes = [*shape]
        sizes[axis] = count if shape[axis] else 0
        index = draw.integers(0, max(shape[axis], 1), sizes)
        for given in (x, np.asfortranarray(x)):
            expected = np.take_along_axis(given, index, axis)
            assert np.array_equal(take_along(given, index, axis), expected)
        one = index.take([0], axis) if index.size else index
        ours, theirs = x.copy(), x.copy()
        put_along(ours, one, axis, 2.0)
        np.put_along_axis(theirs, one, 2.0, axis)
        assert np.array_equal(ours, theirs)
