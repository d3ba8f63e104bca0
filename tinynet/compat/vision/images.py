"""Pillow images and the arrays in them; modes of interpolation.

Data sets return Pillow images, and transforms take them, where Pillow is installed. Elsewhere,
arrays of shape (height, width) or (height, width, channels) stand in for them.
"""

from __future__ import annotations

import functools
from enum import Enum
from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import Tensor, wrap
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
        >>> from tinynet.compat.vision.images import InterpolationMode
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
