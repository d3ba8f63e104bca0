"""Transforms of colors: gray images, brightness, contrast, saturation, hue, and others."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.transforms.base import (
    RandomTransform,
    Range,
    Transform,
    WithProbability,
    around,
    check_range,
    image_array,
)
from tinynet.dtypes import Array
from tinynet.random import Generator

__all__ = [
    "ColorJitter",
    "Grayscale",
    "RGB",
    "RandomAdjustSharpness",
    "RandomAutocontrast",
    "RandomGrayscale",
    "RandomInvert",
    "RandomPosterize",
    "RandomSolarize",
]


def with_brightness(array: Array, factor: float) -> Array:
    """Return an image with its values multiplied by a factor."""
    values = as_floats(array)
    return as_image(values * values.dtype.type(factor), array)


def with_contrast(array: Array, factor: float) -> Array:
    """Return an image with the distances of its values from the mean gray multiplied."""
    return _blended(array, _whole_gray(array).mean((-3, -2, -1), keepdims=True), factor)


def with_saturation(array: Array, factor: float) -> Array:
    """Return an image with the distances of its values from gray multiplied."""
    return array if array.shape[-3] == 1 else _blended(array, _whole_gray(array), factor)


def with_hue(array: Array, shift: float) -> Array:
    """Shift the hue, the angle of a color on the wheel from red over green and blue to red."""
    if array.shape[-3] == 1:
        return array
    bound, values = bound_of(array), as_floats(array)
    values = values / values.dtype.type(bound)
    high, low = values.max(-3), values.min(-3)
    span = np.where(high == low, 1, high - low)
    red, green, blue = (values.take(channel, -3) for channel in range(3))
    hue = np.where(
        high == red,
        (green - blue) / span,
        np.where(high == green, 2 + (blue - red) / span, 4 + (red - green) / span),
    )
    saturation = np.where(high == low, 0, (high - low) / np.where(high == 0, 1, high))
    hue = (hue / 6 + shift) % 1 * 6
    channels = []
    for offset in (5, 3, 1):  # red, green and blue of a hue, as in Wikipedia's HSL and HSV
        k = (offset + hue) % 6
        channels.append(high - high * saturation * np.minimum(k, 4 - k).clip(0, 1))
    # As in ConvertImageDtype: floats from 0 to 1 become integers in equal parts.
    scale = bound if array.dtype.kind == "f" else float(bound) + 1 - 1e-3
    return as_image(np.stack(channels, -3) * values.dtype.type(scale), array)


def inverted(array: Array) -> Array:
    """Return an image with the largest value minus each of its values."""
    return bound_of(array) - array


def solarized(array: Array, threshold: float) -> Array:
    """Return an image with its values inverted where they reach a threshold."""
    return np.where(array >= threshold, inverted(array), array)


def posterized(array: Array, bits: int) -> Array:
    """Return an image with fewer bits per value.

    Raises:
        TypeError: the image has neither floats nor bytes.
    """
    if array.dtype.kind == "f":
        levels = 2**bits
        return (np.floor(array * levels).clip(0, levels - 1) / levels).astype(array.dtype)
    if array.dtype != np.uint8:
        raise TypeError(f"RandomPosterize takes floats or bytes. Got {array.dtype} instead.")
    return array & np.uint8(256 - 2 ** (8 - bits))


def with_autocontrast(array: Array) -> Array:
    """Return an image with each channel stretched to the full range of values."""
    values = as_floats(array)
    low = values.min((-2, -1), keepdims=True)
    reach = values.max((-2, -1), keepdims=True) - low
    bound = values.dtype.type(bound_of(array))
    stretched = (values - low) * (bound / np.where(reach == 0, 1, reach))
    return as_image(np.where(reach == 0, values, stretched), array)


def equalized(array: Array) -> Array:
    """Return an image whose channels have flat histograms; floats are rounded to bytes for it."""
    if array.dtype.kind == "f":
        steps = (array * (256 - 1e-3)).clip(0, 255).astype(np.uint8)
        return (equalized(steps) / np.float32(255)).astype(array.dtype)
    flat = array.reshape(-1, *array.shape[-2:])
    return np.stack([_equalized(channel) for channel in flat]).reshape(array.shape)


def _equalized(channel: Array) -> Array:
    counts = np.bincount(channel.ravel(), minlength=256)
    step = (channel.size - counts[counts.nonzero()[0][-1]]) // 255
    if step == 0:
        return channel
    below = np.concatenate([[0], np.cumsum(counts)[:-1]])
    table: Array = ((below + step // 2) // step).clip(0, 255).astype(np.uint8)
    return table[channel]


def with_sharpness(array: Array, factor: float) -> Array:
    """Return an image with the distances of its values from a blurred copy multiplied."""
    height, width = array.shape[-2:]
    if min(height, width) <= 2:
        return array
    values = as_floats(array)
    around_it = sum(
        values[..., row : height - 2 + row, column : width - 2 + column]
        for row in range(3)
        for column in range(3)
    )
    middle = values[..., 1:-1, 1:-1]
    blurred: Array = (around_it + 4 * middle) / 13
    if array.dtype.kind != "f":
        blurred = np.rint(blurred)
    smooth = values.copy()
    smooth[..., 1:-1, 1:-1] = blurred
    return _blended(array, smooth, factor)


def _blended(array: Array, other: Array, share: float) -> Array:
    values = as_floats(array)
    one = values.dtype.type
    return as_image(values * one(share) + other * one(1 - share), array)


def bound_of(array: Array) -> Any:
    """Return the largest value of an image."""
    return array.dtype.type(1 if array.dtype.kind == "f" else np.iinfo(array.dtype).max)


def as_floats(array: Array) -> Array:
    """Return an image of integers in float32, and one of floats as it is."""
    return array if array.dtype.kind == "f" else array.astype(np.float32)


def as_image(values: Array, like: Array) -> Array:
    """Return values within the range of an image, in its dtype; of integers, rounded down."""
    return values.clip(0, float(bound_of(like))).astype(like.dtype, copy=False)


def _gray_of(array: Array) -> Array:
    """Return the gray values of an image, one channel; of integers, as float32."""
    if array.shape[-3] == 1:
        return as_floats(array)
    values = as_floats(array)
    weights = np.array([0.2989, 0.587, 0.114], values.dtype)[:, None, None]
    return (values * weights).sum(-3, keepdims=True)


def _whole_gray(array: Array) -> Array:
    gray = _gray_of(array)
    return gray if array.dtype.kind == "f" else np.floor(gray)


class Grayscale(Transform):
    """Converts an image to gray.

    ``gray = 0.2989 * red + 0.587 * green + 0.114 * blue``

    Args:
        num_output_channels: 1, or 3 equal ones.

    Raises:
        ValueError: the number of channels is another.
        TypeError: (when called) the input is not an image with one or three channels.

    Example:
        >>> tn.data.transforms.Grayscale()(tn.ones(3, 8, 8)).shape
        tinynet.Size([1, 8, 8])
    """

    batched = True

    def __init__(self, num_output_channels: int = 1):
        if num_output_channels not in (1, 3):
            raise ValueError(f"num_output_channels must be 1 or 3, got {num_output_channels}.")
        self.num_output_channels = num_output_channels

    def __call__(self, image: Tensor) -> Tensor:
        return wrap(_gray(colored_array(image, "Grayscale"), self.num_output_channels))


class RGB(Transform):
    """Converts a gray image to three equal channels; an image with three is unchanged.

    ``result[c] = image[0]``

    Raises:
        TypeError: (when called) the input is not an image with one or three channels.

    Example:
        >>> tn.data.transforms.RGB()(tn.ones(1, 8, 8)).shape
        tinynet.Size([3, 8, 8])
    """

    batched = True

    def __call__(self, image: Tensor) -> Tensor:
        array = colored_array(image, "RGB")
        return wrap(np.repeat(array, 3, axis=-3)) if array.shape[-3] == 1 else image


class ColorJitter(RandomTransform):
    """Changes brightness, contrast, saturation and hue at random, in random order.

    With a factor f: brightness is ``f * x``, contrast ``f * x + (1 - f) * mean(gray)``, saturation
    ``f * x + (1 - f) * gray``, each clipped; the hue becomes ``h + f``.

    Args:
        brightness, contrast, saturation: the range of the factor; a number x means from
            max(0, 1 - x) to 1 + x.
        hue: the range of the shift of the hue, within -0.5 to 0.5 (a full turn is 1); a number x
            means from -x to x.
        generator: the source of random numbers (the default generator).

    Raises:
        ValueError: a range is invalid.
        TypeError: (when called) the input is not an image with one or three channels.

    Example:
        >>> jitter = tn.data.transforms.ColorJitter(brightness=0.2, hue=0.1)
        >>> jitter(tn.ones(3, 8, 8)).shape
        tinynet.Size([3, 8, 8])
    """

    def __init__(
        self,
        brightness: Range = 0,
        contrast: Range = 0,
        saturation: Range = 0,
        hue: Range = 0,
        *,
        generator: Generator | None = None,
    ):
        super().__init__(generator)
        self.brightness = _factors(brightness, "brightness")
        self.contrast = _factors(contrast, "contrast")
        self.saturation = _factors(saturation, "saturation")
        what = "'hue' parameter of ColorJitter"
        self.hue = check_range(around(hue, what), what, -0.5, 0.5)

    def __call__(self, image: Tensor) -> Tensor:
        array = colored_array(image, "ColorJitter")
        order = self._numpy.permutation(4).tolist()
        ranges = [self.brightness, self.contrast, self.saturation, self.hue]
        factors = [self._uniform(one) for one in ranges]
        for index in order:
            if ranges[index] != _UNCHANGED[index]:
                array = _ADJUST[index](array, factors[index])
        return wrap(array) if array is not image._array else image


class _Adjusted(WithProbability):
    """Base class of transforms that change an image with a probability."""

    def __call__(self, image: Tensor) -> Tensor:
        array = colored_array(image, type(self).__name__)
        return wrap(self._changed(array)) if self._is_applied() else image

    def _changed(self, array: Array) -> Array:
        raise NotImplementedError


class RandomGrayscale(_Adjusted):
    """Converts an image to gray with a given probability; it keeps its number of channels.

    ``gray = 0.2989 * red + 0.587 * green + 0.114 * blue``

    Args:
        p: the probability.
        generator: the source of random numbers (the default generator).

    Raises:
        ValueError: ``p`` is not between 0 and 1.
        TypeError: (when called) the input is not an image with one or three channels.

    Example:
        >>> gray = tn.data.transforms.RandomGrayscale(p=1)(tn.rand(3, 8, 8))
        >>> bool((gray[0] == gray[2]).all())
        True
    """

    def __init__(self, p: float = 0.1, *, generator: Generator | None = None):
        super().__init__(p, generator=generator)

    def _changed(self, array: Array) -> Array:
        return _gray(array, array.shape[-3])


class RandomInvert(_Adjusted):
    """Inverts the colors of an image with a given probability.

    ``1 - x``, or ``255 - x`` for bytes.

    Args:
        p: the probability.
        generator: the source of random numbers (the default generator).

    Raises:
        ValueError: ``p`` is not between 0 and 1.
        TypeError: (when called) the input is not an image with one or three channels.

    Example:
        >>> tn.data.transforms.RandomInvert(p=1)(tn.tensor([[[0.0, 0.25]]]))
        tensor([[[1.0000, 0.7500]]])
    """

    def _changed(self, array: Array) -> Array:
        return inverted(array)


class RandomSolarize(_Adjusted):
    """Inverts the values of an image that reach a threshold, with a given probability.

    ``x if x < threshold else 1 - x``

    Args:
        threshold: the threshold.
        p: the probability.
        generator: the source of random numbers (the default generator).

    Raises:
        ValueError: ``p`` is not between 0 and 1.
        TypeError: (when called) the input is not an image with one or three channels.

    Example:
        >>> tn.data.transforms.RandomSolarize(0.5, p=1)(tn.tensor([[[0.25, 0.75]]]))
        tensor([[[0.2500, 0.2500]]])
    """

    def __init__(self, threshold: float, p: float = 0.5, *, generator: Generator | None = None):
        super().__init__(p, generator=generator)
        self.threshold = threshold

    def _changed(self, array: Array) -> Array:
        return solarized(array, self.threshold)


class RandomPosterize(_Adjusted):
    """Reduces the number of bits of each value with a given probability.

    ``floor(x * 2**bits) / 2**bits``, and at most the largest such number.

    Args:
        bits: the number of bits to keep, from 0 to 8.
        p: the probability.
        generator: the source of random numbers (the default generator).

    Raises:
        ValueError: ``bits`` or ``p`` is out of range.
        TypeError: (when called) the input is not an image with one or three channels, of floats or
            bytes.

    Example:
        >>> tn.data.transforms.RandomPosterize(1, p=1)(tn.tensor([[[0.25, 0.75, 1.0]]]))
        tensor([[[0.0000, 0.5000, 0.5000]]])
    """

    def __init__(self, bits: int, p: float = 0.5, *, generator: Generator | None = None):
        super().__init__(p, generator=generator)
        if not 0 <= bits <= 8:
            raise ValueError(
                f"The 'bits' parameter of RandomPosterize must be from 0 to 8. Got {bits} instead."
            )
        self.bits = bits

    def _changed(self, array: Array) -> Array:
        return posterized(array, self.bits)


class RandomAutocontrast(_Adjusted):
    """Stretches each channel to the full range of values, with a given probability.

    ``(x - min) / (max - min)``

    Args:
        p: the probability.
        generator: the source of random numbers (the default generator).

    Raises:
        ValueError: ``p`` is not between 0 and 1.
        TypeError: (when called) the input is not an image with one or three channels.

    Example:
        >>> tn.data.transforms.RandomAutocontrast(p=1)(tn.tensor([[[0.25, 0.5, 0.75]]]))
        tensor([[[0.0000, 0.5000, 1.0000]]])
    """

    def _changed(self, array: Array) -> Array:
        return with_autocontrast(array)


class RandomAdjustSharpness(_Adjusted):
    """Sharpens or blurs an image with a given probability.

    ``f * x + (1 - f) * blurred``, with the mean of a pixel (weight 5) and its eight neighbors as
    ``blurred``; pixels at the border stay.

    Args:
        sharpness_factor: 0 blurs, 1 changes nothing, 2 sharpens.
        p: the probability.
        generator: the source of random numbers (the default generator).

    Raises:
        ValueError: the factor is negative, or ``p`` is not between 0 and 1.
        TypeError: (when called) the input is not an image with one or three channels.

    Example:
        >>> dot = tn.zeros(1, 3, 3)
        >>> dot[0, 1, 1] = 0.65
        >>> tn.data.transforms.RandomAdjustSharpness(0, p=1)(dot)[0, 1]
        tensor([0.0000, 0.2500, 0.0000])
    """

    def __init__(
        self, sharpness_factor: float, p: float = 0.5, *, generator: Generator | None = None
    ):
        super().__init__(p, generator=generator)
        if sharpness_factor < 0:
            raise ValueError(f"sharpness_factor ({sharpness_factor}) is not non-negative.")
        self.sharpness_factor = sharpness_factor

    def _changed(self, array: Array) -> Array:
        return with_sharpness(array, self.sharpness_factor)


# ---- arguments ----


_ADJUST: list[Callable[[Array, float], Array]] = [
    with_brightness,
    with_contrast,
    with_saturation,
    with_hue,
]
_UNCHANGED = ([1.0, 1.0], [1.0, 1.0], [1.0, 1.0], [0.0, 0.0])


def _factors(value: Range, key: str) -> list[float]:
    what = f"'{key}' parameter of ColorJitter"
    low, high = around(value, what, center=1.0)
    low = low if not isinstance(value, float | int) else max(0.0, low)
    return check_range([low, high], what, 0, math.inf)


def _gray(array: Array, channels: int) -> Array:
    gray = _gray_of(array).astype(array.dtype, copy=False)
    return np.repeat(gray, channels, axis=-3)


def colored_array(image: Tensor, name: str) -> Array:
    """Return the array of an image with one channel or three; TypeError for others."""
    array = image_array(image, name)
    channels = array.shape[-3] if array.ndim > 2 else None
    if channels not in (1, 3):
        raise TypeError(
            f"Input image tensor permitted channel values are 1 or 3, but found {channels} ({name})"
        )
    return array
