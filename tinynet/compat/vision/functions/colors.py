"""Colors: brightness, contrast, saturation, hue, sharpness and others."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.compat.vision.functions.conversion import for_images, on_array, with_colors
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.transforms import RGB, Grayscale
from tinynet.data.transforms import color as arrays
from tinynet.dtypes import Array

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "adjust_sharpness",
    "autocontrast",
    "equalize",
    "invert",
    "posterize",
    "rgb_to_grayscale",
    "solarize",
    "to_grayscale",
]


def _refuse_negative(name: str, factor: float) -> None:
    if factor < 0:
        raise ValueError(f"{name} ({factor}) is not non-negative.")


@for_images
def adjust_brightness(img: Any, brightness_factor: float) -> Any:
    """Return an image with its values multiplied by a factor.

    Example:
        >>> from tinynet.compat.vision.functions import colors
        >>> colors.adjust_brightness(tn.full((1, 1, 2), 0.25), 2)
        tensor([[[0.5000, 0.5000]]])
    """
    _refuse_negative("brightness_factor", brightness_factor)
    return with_colors(
        img, "adjust_brightness", lambda a: arrays.with_brightness(a, brightness_factor)
    )


@for_images
def adjust_contrast(img: Any, contrast_factor: float) -> Any:
    """Return an image with the distances of its values from the mean gray multiplied."""
    _refuse_negative("contrast_factor", contrast_factor)
    return with_colors(img, "adjust_contrast", lambda a: arrays.with_contrast(a, contrast_factor))


@for_images
def adjust_saturation(img: Any, saturation_factor: float) -> Any:
    """Return an image with the distances of its values from gray multiplied."""
    _refuse_negative("saturation_factor", saturation_factor)
    return with_colors(
        img, "adjust_saturation", lambda a: arrays.with_saturation(a, saturation_factor)
    )


@for_images
def shift_hue(img: Any, hue_factor: float) -> Any:
    """Return an image with its hue shifted."""
    return with_colors(img, "adjust_hue", lambda a: arrays.with_hue(a, hue_factor))


def adjust_hue(img: Any, hue_factor: float) -> Any:
    """Return an image with its hue shifted; a full turn is 1.

    Raises:
        ValueError: the shift is not from -0.5 to 0.5.
    """
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"hue_factor ({hue_factor}) is not in [-0.5, 0.5].")
    return shift_hue(img, hue_factor)


@for_images
def adjust_gamma(img: Any, gamma: float, gain: float = 1) -> Any:
    """Return an image with the values ``gain * x ** gamma``, for x from 0 to 1."""
    _refuse_negative("gamma", gamma)

    def change(array: Array) -> Array:
        values, bound = arrays.as_floats(array), float(arrays.bound_of(array))
        powered = (gain * (values / bound) ** gamma).clip(0, 1)
        if array.dtype.kind == "f":
            return powered.astype(array.dtype)
        return (powered * (bound + 1 - 1e-3)).astype(array.dtype)

    return on_array(img, "adjust_gamma", change)


@for_images
def adjust_sharpness(img: Any, sharpness_factor: float) -> Any:
    """Return an image with the distances of its values from a blurred copy multiplied."""
    _refuse_negative("sharpness_factor", sharpness_factor)
    return with_colors(
        img, "adjust_sharpness", lambda a: arrays.with_sharpness(a, sharpness_factor)
    )


@for_images
def invert(img: Any) -> Any:
    """Return an image with its values inverted."""
    return with_colors(img, "invert", arrays.inverted)


@for_images
def posterize(img: Any, bits: int) -> Any:
    """Return an image of bytes with the given number of bits per value."""
    _bytes_only(img)
    return with_colors(img, "posterize", lambda a: arrays.posterized(a, bits))


@for_images
def solarize(img: Any, threshold: float) -> Any:
    """Return an image with its values inverted where they reach a threshold."""
    bound = arrays.bound_of(img._array)
    if threshold > bound:
        raise TypeError("Threshold should be less than bound of img.")
    return with_colors(img, "solarize", lambda a: arrays.solarized(a, threshold))


@for_images
def autocontrast(img: Any) -> Any:
    """Return an image with each channel stretched to the full range of values."""
    return with_colors(img, "autocontrast", arrays.with_autocontrast)


@for_images
def equalize(img: Any) -> Any:
    """Return an image of bytes whose channels have flat histograms."""
    _bytes_only(img)

    return with_colors(img, "equalize", arrays.equalized)


def _bytes_only(img: Tensor) -> None:
    if img._array.dtype != np.uint8:
        raise TypeError(f"Only torch.uint8 image tensors are supported, but found {img.dtype}")


@for_images
def rgb_to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """Return the gray values of an image, as one channel or three.

    Example:
        >>> from tinynet.compat.vision.functions import colors
        >>> colors.rgb_to_grayscale(tn.ones(3, 4, 4)).shape
        tinynet.Size([1, 4, 4])
    """
    gray = Grayscale(num_output_channels)
    return with_colors(img, "rgb_to_grayscale", lambda a: gray(wrap(a))._array)


to_grayscale = rgb_to_grayscale


@for_images
def grayscale_to_rgb(img: Any) -> Any:
    """Return a gray image with three equal channels, and one with three as it is."""
    return with_colors(img, "grayscale_to_rgb", lambda a: RGB()(wrap(a))._array)
