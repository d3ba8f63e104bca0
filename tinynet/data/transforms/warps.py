"""Random perspectives and elastic deformations."""

from __future__ import annotations  # avoids importing numpy.random, which loads slowly

from collections.abc import Sequence

import numpy as np

from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.transforms.affine import Fill, Interpolation, checked_interpolation, sampled
from tinynet.data.transforms.augmentation import blurred
from tinynet.data.transforms.base import RandomTransform, WithProbability, image_array
from tinynet.dtypes import Array
from tinynet.random import Generator

__all__ = ["ElasticTransform", "RandomPerspective"]

Points = Sequence[Sequence[float]]


class RandomPerspective(WithProbability):
    """Shows an image in a random perspective, with a given probability.

    Each corner moves inwards by a random distance, across and down.

    Args:
        distortion_scale: the largest distance, as a fraction of half the width and height.
        p: the probability.
        interpolation: ``"nearest"`` or ``"bilinear"``.
        fill: the value outside the image, or one per channel.
        generator: the source of random numbers (the default generator).

    Raises:
        ValueError: an argument is invalid.
        TypeError: (when called) the input is not an image.

    Example:
        >>> tn.data.transforms.RandomPerspective(0.3, p=1.0)(tn.ones(3, 20, 24)).shape
        tinynet.Size([3, 20, 24])
    """

    def __init__(
        self,
        distortion_scale: float = 0.5,
        p: float = 0.5,
        interpolation: Interpolation = "bilinear",
        fill: Fill = 0,
        *,
        generator: Generator | None = None,
    ):
        super().__init__(p, generator=generator)
        if not 0 <= distortion_scale <= 1:
            raise ValueError(
                "The 'distortion_scale' parameter of RandomPerspective must be from 0 to 1. "
                f"Got {distortion_scale} instead."
            )
        self.distortion_scale = distortion_scale
        self.interpolation = checked_interpolation(interpolation, "RandomPerspective")
        self.fill = fill

    def __call__(self, image: Tensor) -> Tensor:
        array = image_array(image, "RandomPerspective")
        if not self._is_applied():
            return image
        corners = moved_corners(array.shape[-2:], self.distortion_scale, self._numpy)
        places = perspective_places(array.shape[-2:], *corners)
        return wrap(sampled(array, places, self.interpolation, self.fill))


class ElasticTransform(RandomTransform):
    """Deforms an image as if seen through moving water.

    Each pixel comes from a place beside its own; the distances are uniform noise, smoothed by a
    Gaussian, times ``alpha / 2``.

    Args:
        alpha: the magnitude of the distances in pixels before smoothing; or two, across and down.
        sigma: the deviation of the Gaussian in pixels; or two. 0 does not smooth.
        interpolation: ``"nearest"`` or ``"bilinear"``.
        fill: the value outside the image, or one per channel.
        generator: the source of random numbers (the default generator).

    Raises:
        ValueError: an argument is invalid; or (when called) the image is no larger than
            ``4 * sigma``.
        TypeError: (when called) the input is not an image.

    Example:
        >>> tn.data.transforms.ElasticTransform(sigma=2.0)(tn.ones(3, 20, 24)).shape
        tinynet.Size([3, 20, 24])
    """

    def __init__(
        self,
        alpha: float | Sequence[float] = 50.0,
        sigma: float | Sequence[float] = 5.0,
        interpolation: Interpolation = "bilinear",
        fill: Fill = 0,
        *,
        generator: Generator | None = None,
    ):
        super().__init__(generator)
        self.alpha = one_or_two(alpha, "alpha")
        self.sigma = one_or_two(sigma, "sigma")
        self.interpolation = checked_interpolation(interpolation, "ElasticTransform")
        self.fill = fill

    def __call__(self, image: Tensor) -> Tensor:
        array = image_array(image, "ElasticTransform")
        distances = smooth_noise(array.shape[-2:], self.alpha, self.sigma, self._numpy)
        places = elastic_places(array.shape[-2:], distances)
        return wrap(sampled(array, places, self.interpolation, self.fill))


def moved_corners(
    size: Sequence[int], scale: float, random: np.random.Generator
) -> tuple[list[list[int]], list[list[int]]]:
    """Return the corners of an image, clockwise from the top left (x, y), and random inner ones."""
    height, width = size
    most = int(scale * (width // 2)), int(scale * (height // 2))
    ends = width - 1, height - 1
    old, new = [], []
    for far in ((0, 0), (1, 0), (1, 1), (0, 1)):
        inwards = [int(random.integers(0, limit + 1)) for limit in most]
        old.append([end * at for end, at in zip(ends, far, strict=True)])
        new.append([abs(a - b) for a, b in zip(old[-1], inwards, strict=True)])
    return old, new


def perspective_map(start: Points, end: Points) -> Array:
    """Return the eight coefficients of the perspective that maps the points ``end`` to ``start``.

    ``x' = (a*x + b*y + c) / (g*x + h*y + 1)``, ``y' = (d*x + e*y + f) / (g*x + h*y + 1)``

    Raises:
        ValueError: these are not four points each.
    """
    if len(start) != 4 or len(end) != 4:
        raise ValueError(
            f"Please provide exactly four corners, got {len(start)} startpoints and {len(end)} "
            "endpoints."
        )
    rows = []
    for (x, y), (to_x, to_y) in zip(end, start, strict=True):
        rows.append([x, y, 1, 0, 0, 0, -to_x * x, -to_x * y])
        rows.append([0, 0, 0, x, y, 1, -to_y * x, -to_y * y])
    found = np.linalg.lstsq(np.array(rows, np.float64), np.ravel(start).astype(np.float64), None)
    return np.asarray(found[0], np.float32)


def perspective_places(size: Sequence[int], start: Points, end: Points) -> tuple[Array, Array]:
    """Return the old places, down and across, of the pixels of an image in a perspective."""
    a, b, c, d, e, f, g, h = perspective_map(start, end)
    height, width = size
    x, y = np.arange(width) + 0.5, np.arange(height)[:, None] + 0.5
    depth = g * x + h * y + 1
    return (d * x + e * y + f) / depth - 0.5, (a * x + b * y + c) / depth - 0.5


def smooth_noise(
    size: Sequence[int],
    alpha: Sequence[float],
    sigma: Sequence[float],
    random: np.random.Generator,
) -> Array:
    """Return random distances, (height, width, 2), across and down, in halves of the image."""
    parts = []
    for strength, deviation, length in zip(alpha, sigma, size, strict=True):
        noise = random.uniform(-1, 1, size).astype(np.float32)
        if deviation > 0:
            kernel = int(8 * deviation + 1) // 2 * 2 + 1
            noise = blurred(noise, (kernel, kernel), (deviation, deviation))
        parts.append(noise * np.float32(strength / length))
    return np.stack(parts, -1)


def elastic_places(size: Sequence[int], distances: Array) -> tuple[Array, Array]:
    """Return the old places, down and across, of pixels that come from beside their own."""
    height, width = size
    across = np.arange(width) + distances[..., 0] * np.float64(width / 2)
    return np.arange(height)[:, None] + distances[..., 1] * np.float64(height / 2), across


def one_or_two(value: float | Sequence[float], name: str) -> list[float]:
    """Return one number or two as two.

    Raises:
        TypeError: these are not numbers.
        ValueError: these are not one or two.
    """
    numbers = [value, value] if isinstance(value, int | float) else value
    if not isinstance(numbers, Sequence) or isinstance(numbers, str):
        raise TypeError(f"{name} should be float or a sequence of floats. Got {type(value)}")
    if len(numbers) != 2:
        raise ValueError(f"If {name} is a sequence its length should be 2. Got {len(numbers)}")
    for one in numbers:
        if not isinstance(one, int | float):
            raise TypeError(f"{name} should be a sequence of floats. Got {type(one)}")
    return [float(one) for one in numbers]
