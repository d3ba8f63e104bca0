"""Blurring and noise."""

from __future__ import annotations  # avoids importing numpy.random, which loads slowly

import math
from collections.abc import Sequence

import numpy as np

from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.transforms.base import image_array
from tinynet.data.transforms.geometry import Side, height_and_width, padded
from tinynet.data.transforms.random_base import RandomTransform, Range, check_range
from tinynet.data.transforms.resizing import as_dtype
from tinynet.dtypes import Array
from tinynet.random import Generator

__all__ = ["GaussianBlur", "GaussianNoise"]


class GaussianBlur(RandomTransform):
    """Blurs an image with a Gaussian kernel of random width.

    The weight of a pixel at distance d is proportional to ``exp(-d**2 / (2 * sigma**2))``; the
    image is mirrored at its borders.

    Args:
        kernel_size: the width and height of the kernel in pixels, odd; or one number for both.
        sigma: the range of the standard deviation in pixels, or a fixed one.
        generator: the source of random numbers (the default generator).

    Raises:
        ValueError: an argument is invalid; or (when called) the image is smaller than half the
            kernel.
        TypeError: (when called) the input is not an image.

    Example:
        >>> tn.data.transforms.GaussianBlur(3)(tn.ones(1, 8, 8)).shape
        tinynet.Size([1, 8, 8])
    """

    def __init__(
        self, kernel_size: Side, sigma: Range = (0.1, 2.0), *, generator: Generator | None = None
    ):
        super().__init__(generator)
        self.kernel_size = height_and_width(kernel_size, "GaussianBlur")
        if any(size % 2 == 0 for size in self.kernel_size):
            raise ValueError(
                "Kernel size value should be an odd and positive number. "
                f"Got {kernel_size!r} instead."
            )
        given = [sigma, sigma] if isinstance(sigma, float | int) else sigma
        self.sigma = check_range(given, "'sigma' parameter of GaussianBlur", 0, math.inf)
        if self.sigma[0] == 0:
            raise ValueError(f"sigma should be positive. Got {sigma!r} instead.")

    def __call__(self, image: Tensor) -> Tensor:
        array = image_array(image, "GaussianBlur")
        sigma = self._uniform(self.sigma)
        return wrap(blurred(array, self.kernel_size, (sigma, sigma)))


class GaussianNoise(RandomTransform):
    """Adds normal noise to an image.

    ``x + mean + sigma * randn()``

    Args:
        mean, sigma: the mean and the standard deviation of the noise.
        clip: whether to clip the result to the range from 0 to 1.
        generator: the source of random numbers (the default generator).

    Raises:
        ValueError: ``sigma`` is negative, or (when called) the image has no floats.
        TypeError: (when called) the input is not an image.

    Example:
        >>> noisy = tn.data.transforms.GaussianNoise(sigma=0.1)(tn.zeros(1, 8, 8))
        >>> bool(noisy.min() >= 0), bool(noisy.max() > 0)
        (True, True)
    """

    def __init__(
        self,
        mean: float = 0.0,
        sigma: float = 0.1,
        clip: bool = True,
        *,
        generator: Generator | None = None,
    ):
        super().__init__(generator)
        if sigma < 0:
            raise ValueError(f"sigma shouldn't be negative. Got {sigma}")
        self.mean = mean
        self.sigma = sigma
        self.clip = clip

    def __call__(self, image: Tensor) -> Tensor:
        array = image_array(image, "GaussianNoise")
        if array.dtype.kind != "f":
            raise ValueError(f"Input tensor is expected to be float dtype, got {array.dtype}.")
        noise = self._numpy.standard_normal(array.shape) * self.sigma + self.mean
        noisy = array + np.asarray(noise, array.dtype)
        return wrap(noisy.clip(0, 1) if self.clip else noisy)


def blurred(array: Array, kernel_size: Sequence[int], sigma: Sequence[float]) -> Array:
    """Return an image convolved with a Gaussian; sizes and deviations are across, then down."""
    width, height = kernel_size
    border = (width // 2, height // 2, width // 2, height // 2)
    values = array if array.dtype.kind == "f" else array.astype(np.float32)
    values = padded(values, border, 0, "reflect")
    for axis, size, deviation in ((-1, width, sigma[0]), (-2, height, sigma[1])):
        weights = _gaussian(size, deviation).astype(values.dtype)
        count = values.shape[axis] - size + 1
        parts = [values.take(range(first, first + count), axis) for first in range(size)]
        values = np.sum([p * w for p, w in zip(parts, weights, strict=True)], axis=0)
    return as_dtype(values, array.dtype)


def _gaussian(size: int, sigma: float) -> Array:
    places = np.arange(size) - size // 2
    weights = np.exp(-((places / sigma) ** 2) / 2)
    return weights / weights.sum()
