"""Remainders and rounded quotients: those of numpy's loops, to the bit."""

import numpy as np
import pytest

from tinynet.kernels.sums import divided

SPECIAL = np.array(
    [0, -0.0, 1, -1, 0.5, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3e38, 7, -7, 2**24, 1e-20, 0.7],
    np.float32,
)


def numbers(scales):
    draw = np.random.default_rng(0)
    if scales is None:
        return [x.ravel() for x in np.meshgrid(SPECIAL, np.tile(SPECIAL, 4))]
    a, b = (draw.standard_normal((2, 20_000)) * np.reshape(scales, (2, 1))).astype(np.float32)
    a[::2] = b[::2] * draw.integers(-5000, 5000, 10_000)  # close to whole quotients
    a[::4] = np.nextafter(a[::4], np.float32(0))
    return a, b


@pytest.mark.parametrize("ufunc", [np.fmod, np.remainder, np.floor_divide])
@pytest.mark.parametrize("scales", [None, (1, 1), (100, 0.01), (1e6, 1), (1e-3, 1e3), (1e8, 0.1)])
def test_all_bits_are_numpys(ufunc, scales):
    a, b = numbers(scales)
    with np.errstate(all="ignore"):
        for other in (b, b[1, None], b.reshape(1, -1)):
            found, expected = divided(ufunc, a, other), ufunc(a, other)
            assert found.shape == expected.shape
            assert found.dtype == expected.dtype
            same = found.view(np.int32) == expected.view(np.int32)
            assert (same | (np.isnan(found) & np.isnan(expected))).all()
