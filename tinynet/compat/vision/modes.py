"""torchvision's names of interpolations."""

from __future__ import annotations

from enum import Enum


class InterpolationMode(Enum):
    """An interpolation. Pillow has all of them; tensors have the first four.

    Example:
        >>> from tinynet.compat.vision.modes import InterpolationMode
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
