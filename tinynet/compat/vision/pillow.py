"""Pillow images and the arrays in them; modes of interpolation; what Pillow computes itself.

Data sets return Pillow images, and transforms take them, where Pillow is installed. Elsewhere,
arrays of shape (height, width) or (height, width, channels) stand in for them.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from enum import Enum
from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.transforms.warps import Points, inverse_map, linear_map, perspective_map
from tinynet.dtypes import Array

MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
"""The usual mode of an image of bytes, by its number of channels."""


@functools.cache
def pillow() -> Any:
    """Return the module ``PIL.Image``, or None if Pillow is not installed."""
    try:
        import PIL.Image
    except ModuleNotFoundError:
        return None
    return PIL.Image


def is_pillow(value: Any) -> bool:
    """Return whether a value is a Pillow image."""
    return pillow() is not None and isinstance(value, pillow().Image)


def is_image(value: Any) -> bool:
    """Return whether a value is a Pillow image, or an array that stands in for one."""
    return is_pillow(value) or (pillow() is None and isinstance(value, np.ndarray))


def image_of(array: Array, mode: str | None = None) -> Any:
    """Return bytes of shape (height, width) or (height, width, channels) as an image.

    Args:
        array: the bytes.
        mode: Pillow's mode; by default, it follows from the number of channels.
    """
    module = pillow()
    if module is None:
        return np.array(array)
    image = module.fromarray(np.ascontiguousarray(array))
    return image if mode in (None, image.mode) else module.merge(mode, image.split())


def tensor_of(image: Any) -> Tensor:
    """Return an image as a tensor of shape (channels, height, width) of the same values.

    Raises:
        TypeError: it is not an image.
    """
    if not is_image(image):
        raise TypeError(f"img should be PIL Image. Got {type(image)}")
    array = np.asarray(image)
    array = array[None] if array.ndim == 2 else array.transpose(2, 0, 1)
    return wrap(np.array(array, order="C"))


def image_like(tensor: Tensor, image: Any) -> Any:
    """Return a tensor (channels, height, width) as an image of the same kind as another."""
    array = tensor._array.transpose(1, 2, 0)
    array = array[..., 0] if array.shape[2] == 1 else array
    if not is_pillow(image):
        return np.ascontiguousarray(array)
    kept = len(image.getbands()) == tensor.shape[0]
    return image_of(array, image.mode if kept else MODES[tensor.shape[0]])


class InterpolationMode(Enum):
    """An interpolation. Pillow has all of them; tensors have the first four.

    Example:
        >>> from tinynet.compat.vision.pillow import InterpolationMode
        >>> InterpolationMode.BILINEAR.value
        'bilinear'
    """

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


PILLOW = {
    InterpolationMode.NEAREST: 0,
    InterpolationMode.NEAREST_EXACT: 0,
    InterpolationMode.LANCZOS: 1,
    InterpolationMode.BILINEAR: 2,
    InterpolationMode.BICUBIC: 3,
    InterpolationMode.BOX: 4,
    InterpolationMode.HAMMING: 5,
}
"""Pillow's number of each interpolation."""

_BY_NUMBER = {number: mode for mode, number in reversed(PILLOW.items())}


def interpolation_mode(value: InterpolationMode | str | int) -> InterpolationMode:
    """Return the interpolation for its name or for Pillow's number of it.

    Raises:
        TypeError: it is none.
    """
    if isinstance(value, int):
        value = _BY_NUMBER.get(value, "")
    if isinstance(value, str):
        value = next((mode for mode in InterpolationMode if mode.value == value), value)
    if not isinstance(value, InterpolationMode):
        raise TypeError(
            "Argument interpolation should be a InterpolationMode or a corresponding Pillow "
            f"integer constant. Got {value!r} instead."
        )
    return value


# ---- what Pillow computes -----------------------------------------------------------------------
# Functions of images for which Pillow has an algorithm of its own, as torchvision calls them.


def hflip(img: Any) -> Any:
    """Mirror an image left to right."""
    return img.transpose(pillow().Transpose.FLIP_LEFT_RIGHT)


def vflip(img: Any) -> Any:
    """Mirror an image top to bottom."""
    return img.transpose(pillow().Transpose.FLIP_TOP_BOTTOM)


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """Return a part of an image; what is outside is black."""
    return img.crop((left, top, left + width, top + height))


def with_border(img: Any, border: Sequence[int], fill: Any) -> Any:
    """Return an image with a border of left, top, right and bottom widths."""
    return _operations().expand(img, tuple(border), _color(fill, img))


def resize_to(img: Any, size: Sequence[int], mode: InterpolationMode, antialias: bool) -> Any:
    """Resize an image to a height and width; Pillow always averages when shrinking."""
    return img.resize((size[1], size[0]), PILLOW[mode])


def rotate_by(
    img: Any, angle: float, mode: InterpolationMode, expand: bool, center: Any, fill: Any
) -> Any:
    """Rotate an image counterclockwise."""
    return img.rotate(angle, PILLOW[mode], expand, center, fillcolor=_color(fill, img))


def affine_by(
    img: Any,
    parts: tuple[float, float, Sequence[float]],
    moved: Sequence[float],
    mode: InterpolationMode,
    center: Any,
    fill: Any,
) -> Any:
    """Rotate (clockwise), scale, shear and move an image."""
    width, height = img.size
    inverse = inverse_map(linear_map(*parts), (height, width), center, moved)
    middle = np.array([width / 2, height / 2])
    offset = inverse[:, 2] + middle - inverse[:, :2] @ middle
    matrix = np.column_stack([inverse[:, :2], offset]).ravel().tolist()
    kind = pillow().Transform.AFFINE
    return img.transform(img.size, kind, matrix, PILLOW[mode], fillcolor=_color(fill, img))


def perspective_by(img: Any, start: Points, end: Points, mode: InterpolationMode, fill: Any) -> Any:
    """Show an image in the perspective that moves four points."""
    matrix = perspective_map(start, end).tolist()
    kind = pillow().Transform.PERSPECTIVE
    return img.transform(img.size, kind, matrix, PILLOW[mode], fillcolor=_color(fill, img))


def _color(fill: Any, img: Any) -> Any:
    """Return a color in the form that Pillow takes for an image."""
    count = len(img.getbands())
    values = [*fill] if isinstance(fill, Sequence) else [fill or 0]
    values = values * count if len(values) == 1 else values
    if len(values) != count:
        raise ValueError(
            f"The number of elements in 'fill' does not match the number of channels of the "
            f"image ({len(values)} != {count})"
        )
    values = values if img.mode == "F" else [int(value) for value in values]
    return values[0] if count == 1 else tuple(values)


def adjust_brightness(img: Any, brightness_factor: float) -> Any:
    """Multiply the values of an image."""
    return _enhance().Brightness(img).enhance(brightness_factor)


def adjust_contrast(img: Any, contrast_factor: float) -> Any:
    """Multiply the distances of values from the mean gray."""
    return _enhance().Contrast(img).enhance(contrast_factor)


def adjust_saturation(img: Any, saturation_factor: float) -> Any:
    """Multiply the distances of values from gray."""
    return _enhance().Color(img).enhance(saturation_factor)


def adjust_sharpness(img: Any, sharpness_factor: float) -> Any:
    """Multiply the distances of values from a blurred copy."""
    return _enhance().Sharpness(img).enhance(sharpness_factor)


def shift_hue(img: Any, hue_factor: float) -> Any:
    """Shift the hue of an image."""
    if img.mode in ("L", "1", "I", "F"):
        return img
    hue, saturation, value = img.convert("HSV").split()
    shifted = np.asarray(hue) + np.uint8(int(hue_factor * 255) % 256)
    channels = (pillow().fromarray(shifted), saturation, value)
    return pillow().merge("HSV", channels).convert(img.mode)


def adjust_gamma(img: Any, gamma: float, gain: float = 1) -> Any:
    """Raise the values of an image to a power."""
    table = [int((256 - 1e-3) * gain * pow(value / 255.0, gamma)) for value in range(256)]
    return img.convert("RGB").point(table * 3).convert(img.mode)


def rgb_to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """Convert an image to gray."""
    gray = img.convert("L")
    return gray if num_output_channels == 1 else gray.convert("RGB")


def posterize(img: Any, bits: int) -> Any:
    """Keep the given number of bits of each value."""
    return _operations().posterize(img, bits)


def solarize(img: Any, threshold: float) -> Any:
    """Invert the values that reach a threshold."""
    return _operations().solarize(img, threshold)


def invert(img: Any) -> Any:
    """Invert the values of an image."""
    return _operations().invert(img)


def autocontrast(img: Any) -> Any:
    """Stretch each channel to the full range of values."""
    return _operations().autocontrast(img)


def equalize(img: Any) -> Any:
    """Give each channel a flat histogram."""
    return _operations().equalize(img)


def _enhance() -> Any:
    import PIL.ImageEnhance

    return PIL.ImageEnhance


def _operations() -> Any:
    import PIL.ImageOps

    return PIL.ImageOps
