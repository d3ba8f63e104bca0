"""Integers of numpy are ints to all functions, as in PyTorch: sizes often come from numpy."""

import numpy as np
import pytest

import tinynet as tn

F = tn.nn.functional
X, IMAGE = tn.arange(12.0).reshape(3, 4), tn.arange(32.0).reshape(1, 2, 4, 4)
WEIGHT = tn.ones(2, 2, 2, 2)
CALLS = {
    "conv2d, pairs": lambda i: F.conv2d(IMAGE, WEIGHT, None, (i(1), i(2)), (i(1), i(0)), (i(1),)),
    "conv2d": lambda i: F.conv2d(IMAGE, WEIGHT, stride=i(2), padding=i(1), groups=i(1)),
    "conv_transpose2d": lambda i: F.conv_transpose2d(IMAGE, WEIGHT, stride=i(2)),
    "max_pool2d": lambda i: F.max_pool2d(IMAGE, i(2), i(1), i(1)),
    "avg_pool2d": lambda i: F.avg_pool2d(IMAGE, (i(2), i(1)), i(1)),
    "pixel_shuffle": lambda i: F.pixel_shuffle(tn.arange(16.0).reshape(1, 4, 2, 2), i(2)),
    "max": lambda i: X.max(i(1))[0],
    "any": lambda i: tn.any(X > 3, i(0)),
    "roll": lambda i: X.roll(i(1), i(0)),
    "repeat_interleave": lambda i: X.repeat_interleave(i(2), i(0)),
    "tensor_split": lambda i: X.tensor_split(i(2))[0],
    "vsplit": lambda i: tn.vsplit(X[:2], i(2))[0],
    "fftn": lambda i: tn.fft.fftn(X, (i(2),), i(0)).real,
    "fftshift": lambda i: tn.fft.fftshift(X, i(0)),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("number", [np.int64, np.int32, np.uint8])
def test_numpy_integers_are_ints(name, number):
    assert CALLS[name](number).equal(CALLS[name](int))


def test_the_number_of_threads():
    count = tn.get_num_threads()
    tn.set_num_threads(np.int64(count))
    assert tn.get_num_threads() == count
