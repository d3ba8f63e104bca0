"""Random rotations, affine maps, perspectives and elastic deformations."""

from __future__ import annotations  # avoids importing numpy.random, which loads slowly

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.transforms.augmentation import blurred
from tinynet.data.transforms.base import (
    RandomTransform,
    Range,
    WithProbability,
    around,
    check_range,
    image_array,
)
from tinynet.data.transforms.geometry import as_dtype
from tinynet.dtypes import Array
from tinynet.random import Generator

__all__ = ["ElasticTransform", "RandomAffine", "RandomPerspective", "RandomRotation"]


Interpolation = Literal["nearest", "bilinear"]
Fill = float | Sequence[float]


class RandomRotation(RandomTransform):
    """Rotates an image by a random angle.

    About the center, a point moves to ``x' = cos(a) * x + sin(a) * y``,
    ``y' = cos(a) * y - sin(a) * x`` (y points down).

    Args:
        degrees: the range of the angle, counterclockwise; a number x means from -x to x.
        interpolation: ``"nearest"`` or ``"bilinear"``.
        expand: whether the result is as large as the rotated image, instead of the image.
        center: the point to rotate about, x and y in pixels from the top left (by default, the
            center). It has no effect with ``expand``.
        fill: the value outside the image, or one per channel.
        generator: the source of random numbers (the default generator).

    Raises:
        ValueError: an argument is invalid.
        TypeError: (when called) the input is not an image.

    Example:
        >>> image = tn.tensor([[[1.0, 2.0], [3.0, 4.0]]])
        >>> tn.data.transforms.RandomRotation((90, 90))(image)
        tensor([[[2., 4.],
                 [1., 3.]]])
    """

    def __init__(
        self,
        degrees: Range,
        interpolation: Interpolation = "nearest",
        expand: bool = False,
        center: Sequence[float] | None = None,
        fill: Fill = 0,
        *,
        generator: Generator | None = None,
    ):
        super().__init__(generator)
        self.degrees = around(degrees, "'degrees' parameter of RandomRotation")
        self.interpolation = checked_interpolation(interpolation, "RandomRotation")
        self.expand = expand
        self.center = _pair(center, "center", "RandomRotation")
        self.fill = fill

    def __call__(self, image: Tensor) -> Tensor:
        array = image_array(image, "RandomRotation")
        linear = linear_map(-self._uniform(self.degrees))
        center = None if self.expand else self.center
        size = expanded_size(linear, array.shape[-2:]) if self.expand else array.shape[-2:]
        inverse = inverse_map(linear, array.shape[-2:], center)
        places = old_places(inverse, size, array.shape[-2:])
        return wrap(sampled(array, places, self.interpolation, self.fill))


class RandomAffine(RandomTransform):
    """Rotates, moves, scales and shears an image at random, about its center.

    A point moves to ``scale * rotation @ shear @ (point - center) + center + move``.

    Args:
        degrees: the range of the angle, clockwise; a number x means from -x to x.
        translate: the largest horizontal and vertical move, as fractions of width and height.
        scale: the range of the factor.
        shear: the range of the shear's angle parallel to the x axis, in degrees; a number x means
            from -x to x. Four numbers are two ranges, the second parallel to the y axis.
        interpolation, fill, center: as in ``RandomRotation``.
        generator: the source of random numbers (the default generator).

    Raises:
        ValueError: an argument is invalid.
        TypeError: (when called) the input is not an image.

    Example:
        >>> move = tn.data.transforms.RandomAffine(0, translate=(0.1, 0.1), scale=(0.9, 1.1))
        >>> move(tn.ones(3, 20, 20)).shape
        tinynet.Size([3, 20, 20])
    """

    def __init__(
        self,
        degrees: Range,
        translate: Sequence[float] | None = None,
        scale: Sequence[float] | None = None,
        shear: Range | None = None,
        interpolation: Interpolation = "nearest",
        fill: Fill = 0,
        center: Sequence[float] | None = None,
        *,
        generator: Generator | None = None,
    ):
        super().__init__(generator)
        what = "'{}' parameter of RandomAffine".format
        self.degrees = around(degrees, what("degrees"))
        self.translate = _pair(translate, "translate", "RandomAffine")
        if self.translate and not all(0 <= part <= 1 for part in self.translate):
            raise ValueError(f"translation values should be between 0 and 1. Got {translate}.")
        self.scale = None if scale is None else check_range(scale, what("scale"), 0, math.inf)
        if self.scale and self.scale[0] == 0:
            raise ValueError(f"scale values should be positive. Got {scale}.")
        self.shear = None if shear is None else _shear(shear, what("shear"))
        self.interpolation = checked_interpolation(interpolation, "RandomAffine")
        self.fill = fill
        self.center = _pair(center, "center", "RandomAffine")

    def __call__(self, image: Tensor) -> Tensor:
        array = image_array(image, "RandomAffine")
        height, width = array.shape[-2:]
        uniform = self._uniform
        angle, moved = uniform(self.degrees), (0, 0)
        if self.translate is not None:
            most = self.translate[0] * width, self.translate[1] * height
            moved = round(uniform((-most[0], most[0]))), round(uniform((-most[1], most[1])))
        scale = 1.0 if self.scale is None else uniform(self.scale)
        ranges = self.shear or [0.0, 0.0, 0.0, 0.0]
        shear = [uniform(ranges[:2]), uniform(ranges[2:])]
        linear = linear_map(angle, scale, shear)
        inverse = inverse_map(linear, (height, width), self.center, moved)
        places = old_places(inverse, (height, width), (height, width))
        return wrap(sampled(array, places, self.interpolation, self.fill))


def linear_map(angle: float, scale: float = 1.0, shear: Sequence[float] = (0.0, 0.0)) -> Array:
    """Return the matrix of a clockwise rotation after a shear and a scaling (y points down)."""
    turn = math.radians(angle)
    across, down = (math.tan(math.radians(part)) for part in shear)
    rotation = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
    return scale * rotation @ [[1, 0], [-down, 1]] @ [[1, -across], [0, 1]]


def inverse_map(
    linear: Array,
    size: Sequence[int],
    center: Sequence[float] | None,
    moved: Sequence[float] = (0, 0),
) -> Array:
    """Return the map from new to old places, (2, 3), both relative to the middle of the image."""
    height, width = size
    about = np.zeros(2) if center is None else np.subtract(center, (width / 2, height / 2))
    back = np.linalg.inv(linear)
    return np.column_stack([back, about - back @ (about + np.asarray(moved))])


def expanded_size(linear: Array, size: Sequence[int]) -> tuple[int, int]:
    """Return the height and width of a rotated image."""
    height, width = size
    corners = np.array([[-width, -width, width, width], [-height, height, height, -height]]) / 2
    places = linear @ corners + [[width / 2], [height / 2]]
    low, high = places.min(1).round(4), places.max(1).round(4)  # 1e-15 must not add a pixel
    across, down = (np.ceil(high) - np.floor(low)).astype(int).tolist()
    return down, across


def old_places(inverse: Array, size: Sequence[int], of: Sequence[int]) -> tuple[Array, Array]:
    """Return the old places, down and across, of the pixels of a new image.

    Args:
        inverse: the map from new to old places.
        size: the height and width of the new image.
        of: those of the old one.
    """
    (rows, columns), (height, width) = size, of
    x = np.arange(columns) - (columns - 1) / 2
    y = np.arange(rows)[:, None] - (rows - 1) / 2
    across = inverse[0, 0] * x + inverse[0, 1] * y + inverse[0, 2] + (width - 1) / 2
    down = inverse[1, 0] * x + inverse[1, 1] * y + inverse[1, 2] + (height - 1) / 2
    return down, across


def sampled(
    array: Array, places: tuple[Array, Array], interpolation: Interpolation, fill: Fill
) -> Array:
    """Return an array with the values at old places, down and across; ``fill`` outside."""
    down, across = places
    filled = np.asarray(fill, np.float64)
    filled = filled.reshape(-1, 1, 1) if filled.size > 1 else filled.reshape(())
    if interpolation == "nearest":
        values, inside = _at(array, np.rint(down).astype(int), np.rint(across).astype(int))
        return np.where(inside, values, filled.astype(array.dtype))
    kind = array.dtype if array.dtype.kind == "f" else np.dtype(np.float32)
    top, left = np.floor(down).astype(int), np.floor(across).astype(int)
    total = np.zeros((*array.shape[:-2], *down.shape), kind)
    covered = np.zeros(down.shape, kind)
    for row, column in ((0, 0), (0, 1), (1, 0), (1, 1)):
        values, inside = _at(array, top + row, left + column)
        weight = (1 - np.abs(down - top - row)) * (1 - np.abs(across - left - column)) * inside
        total += np.where(weight == 0, kind.type(0), values * weight.astype(kind))
        covered += weight.astype(kind)
    return as_dtype(total + (1 - covered) * filled.astype(kind), array.dtype)


def _at(array: Array, rows: Array, columns: Array) -> tuple[Array, Array]:
    """Return the values at places, and which of the places are inside the image."""
    height, width = array.shape[-2:]
    inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    return array[..., rows.clip(0, height - 1), columns.clip(0, width - 1)], inside


def checked_interpolation(interpolation: Interpolation, name: str) -> Interpolation:
    """Return a name of an interpolation; ValueError for others."""
    if interpolation not in ("nearest", "bilinear"):
        raise ValueError(
            f"The 'interpolation' parameter of {name} must be nearest or bilinear. "
            f"Got {interpolation!r} instead."
        )
    return interpolation


def _pair(value: Sequence[float] | None, key: str, name: str) -> list[float] | None:
    if value is not None and len(value) != 2:
        raise ValueError(f"{key} should be a sequence of length 2, in {name}. Got {value!r}.")
    return None if value is None else [float(part) for part in value]


def _shear(value: Range, what: str) -> list[float]:
    """Return the range of both angles of a shear: four numbers."""
    if isinstance(value, Sequence) and len(value) == 4:
        return [*around(value[:2], what), *around(value[2:], what)]
    return [*around(value, what), 0.0, 0.0]


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
