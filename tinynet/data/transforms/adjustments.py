"""Brightness, contrast, saturation and hue of arrays of images, (..., channels, height, width)."""

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
    return as_image(np.stack(channels, -3) * bound, array)


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
