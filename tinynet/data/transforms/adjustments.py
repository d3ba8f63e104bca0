"""Changes of the values of arrays of images, (..., channels, height, width)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.dtypes import Array


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


def gray_of(array: Array) -> Array:
    """Return the gray values of an image, one channel; of integers, as float32."""
    if array.shape[-3] == 1:
        return as_floats(array)
    values = as_floats(array)
    weights = np.array([0.2989, 0.587, 0.114], values.dtype)[:, None, None]
    return (values * weights).sum(-3, keepdims=True)


def _whole_gray(array: Array) -> Array:
    gray = gray_of(array)
    return gray if array.dtype.kind == "f" else np.floor(gray)
