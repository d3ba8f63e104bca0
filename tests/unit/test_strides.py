"""Arrays over given memory lie inside of it, or are refused."""

import mmap

import numpy as np
import pytest

import tinynet as tn
from tinynet.kernels.strides import array_in, extent


def test_arrays_are_those_of_numpy():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for y in (x, x.T, x[:, 1], x[::-1, :, ::2], x[1:, :0], x[0, 0, 0, ...]):
        offset = y.__array_interface__["data"][0] - x.__array_interface__["data"][0]
        made = array_in(x, y.shape, y.dtype, offset, y.strides)
        assert np.array_equal(made, y)
        assert made.strides == y.strides
        assert made.size == 0 or np.shares_memory(made, x)
    for order in "CF":
        made = array_in(x, (4, 3, 2), x.dtype, order=order)
        assert np.array_equal(made, x.reshape(-1).reshape((4, 3, 2), order=order))
    for memory in (b"ab", bytearray(b"ab"), mmap.mmap(-1, 4096)):
        assert array_in(memory, (2,), "u1").flags.writeable == (not isinstance(memory, bytes))


@pytest.mark.parametrize(
    "shape, dtype, offset, strides, message",
    [
        ((5,), "u1", 0, None, "bytes 0 to 5 of 4"),
        ((1,), "u1", 4, None, "bytes 4 to 5 of 4"),
        ((1,), "u1", -1, None, "bytes -1 to 0 of 4"),
        ((2,), "u1", 0, (-1,), "bytes -1 to 1 of 4"),
        ((2**61 + 1,), "u1", 0, (8,), "bytes 0 to 18446744073709551617"),
        ((2, 2), "u1", 0, (2**63, -(2**63)), "would take bytes -"),
        ((1,), "u1", 0, (2**63,), "strides"),
        ((2**62,), "f8", 0, (0,), "too large for any memory"),
        ((0, 2**62, 8), "f8", 0, None, "too large for any memory"),
        ((-1, -4), "u1", 0, None, "a negative size"),
        ((1,) * 65, "u1", 0, None, "65 dimensions; numpy has up to 64"),
        ((2,), "u1", 0, (1, 1), "2 strides for 1 dimensions"),
        ((1,), "O", 0, None, "dtype object"),
        ((1,), "S0", 0, None, "one by one"),
        ((1,), "(2,)u1", 0, None, "one by one"),
    ],
    ids=str,
)
def test_what_lies_outside_is_refused(shape, dtype, offset, strides, message):
    with pytest.raises(ValueError, match=message):
        array_in(b"abcd", shape, dtype, offset, strides)


def test_numbers_of_numpy_do_not_overflow():
    with pytest.raises(ValueError, match="bytes 0 to 18446744073709551617"):
        array_in(b"abcd", np.array([2**61 + 1]), "u1", 0, np.array([8]))
    with pytest.raises(RuntimeError, match="Storage size calculation overflowed"):
        tn.arange(4.0).as_strided((np.int64(2**61 + 1),), (np.int64(8),))


def test_memory_with_gaps_is_refused():
    with pytest.raises(ValueError, match="has gaps"):
        array_in(np.arange(6)[::2], (1,), "u1")


def test_extent_of_nothing():
    assert extent((0, 5), (5, 1)) == (0, 0)


def test_strides_that_reach_below_a_new_tensor():
    with pytest.raises(RuntimeError, match=r"overflowed with sizes=\[3, 3\] and strides=\[5, -1\]"):
        tn.empty_strided((3, 3), (5, -1))
