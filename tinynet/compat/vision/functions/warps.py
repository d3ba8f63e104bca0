"""Rotations and other maps of places; blurring."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.compat.vision.functions.conversion import for_images, on_array
from tinynet.compat.vision.images import InterpolationMode, interpolation_mode
from tinynet.core.tensors.size import Size
from tinynet.core.tensors.tensor import Tensor
from tinynet.data.transforms.augmentation import blurred
from tinynet.data.transforms.base import image_array
from tinynet.data.transforms.color import as_floats
from tinynet.data.transforms.geometry import Side, as_dtype, height_and_width
from tinynet.data.transforms.warps import (
    Points,
    elastic_places,
    expanded_size,
    inverse_map,
    linear_map,
    old_places,
    perspective_places,
    sampled,
)
from tinynet.dtypes import Array

__all__ = [
    "affine",
    "elastic_transform",
    "gaussian_blur",
    "perspective",
    "rotate",
]

_NEAREST, _BILINEAR = InterpolationMode.NEAREST, InterpolationMode.BILINEAR


def rotate(
    img: Any,
    angle: float,
    interpolation: InterpolationMode | str | int = _NEAREST,
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: Any = None,
) -> Any:
    """Return an image rotated counterclockwise.

    Args:
        img: the image.
        angle: in degrees.
        interpolation: nearest or bilinear; Pillow images have bicubic too.
        expand: whether the result is as large as the rotated image.
        center: the point to rotate about, x and y.
        fill: the value outside the image, or one per channel.

    Example:
        >>> from tinynet.compat.vision.functions import warps
        >>> warps.rotate(tn.tensor([[[1.0, 2.0], [3.0, 4.0]]]), 90)
        tensor([[[2., 4.],
                 [1., 3.]]])
    """
    if center is not None and len(center) != 2:
        raise TypeError("Argument center should be a sequence")
    mode = interpolation_mode(interpolation)
    return rotate_by(img, angle, mode, expand, center, fill)


@for_images
def rotate_by(
    img: Any, angle: float, mode: InterpolationMode, expand: bool, center: Any, fill: Any
) -> Any:
    """Return an image rotated counterclockwise, with all arguments given."""
    size = image_array(img, "rotate").shape[-2:]
    linear = linear_map(-angle)
    inverse = inverse_map(linear, size, None if expand else center)
    result = expanded_size(linear, size) if expand else size
    return _mapped(img, "rotate", old_places(inverse, result, size), mode, fill)


def affine(
    img: Any,
    angle: float,
    translate: Sequence[int],
    scale: float,
    shear: float | Sequence[float],
    interpolation: InterpolationMode | str | int = _NEAREST,
    fill: Any = None,
    center: Sequence[float] | None = None,
) -> Any:
    """Return an image rotated (clockwise), scaled, sheared and moved.

    Args:
        img: the image.
        angle: in degrees.
        translate: the move to the right and down, in pixels.
        scale: the factor.
        shear: the angles of the shear along x and y, in degrees; or only the first.
        interpolation, fill, center: as in ``rotate``.

    Raises:
        ValueError: the scale is not positive, or a pair is none.
    """
    if len(translate) != 2:
        raise ValueError("Argument translate should be a sequence of length 2")
    if scale <= 0.0:
        raise ValueError("Argument scale should be positive")
    angles = [*shear, 0.0] if isinstance(shear, Sequence) else [shear, 0.0]
    if len(angles) > 3:
        raise ValueError(f"Shear should be a sequence containing two values. Got {shear}")
    parts = (angle, scale, angles[:2])
    return affine_by(img, parts, translate, interpolation_mode(interpolation), center, fill)


@for_images
def affine_by(
    img: Any,
    parts: tuple[float, float, Sequence[float]],
    moved: Sequence[float],
    mode: InterpolationMode,
    center: Any,
    fill: Any,
) -> Any:
    """Return an image after the affine map of an angle, a scale and two angles of a shear."""
    size = image_array(img, "affine").shape[-2:]
    inverse = inverse_map(linear_map(*parts), size, center, moved)
    return _mapped(img, "affine", old_places(inverse, size, size), mode, fill)


def perspective(
    img: Any,
    startpoints: Points,
    endpoints: Points,
    interpolation: InterpolationMode | str | int = _BILINEAR,
    fill: Any = None,
) -> Any:
    """Return an image in the perspective that moves four points.

    Args:
        img: the image.
        startpoints: four points of the image, x and y: the corners, clockwise from the top left.
        endpoints: the places to which they move.
        interpolation, fill: as in ``rotate``.

    Raises:
        ValueError: these are not four points each.

    Example:
        >>> from tinynet.compat.vision.functions import warps
        >>> image = tn.arange(6.0).reshape(1, 2, 3)
        >>> moved = [[1, 0], [3, 0], [3, 2], [1, 2]]
        >>> warps.perspective(image, [[0, 0], [2, 0], [2, 2], [0, 2]], moved, "nearest")
        tensor([[[0., 0., 1.],
                 [0., 3., 4.]]])
    """
    mode = interpolation_mode(interpolation)
    return perspective_by(img, startpoints, endpoints, mode, fill)


@for_images
def perspective_by(img: Any, start: Points, end: Points, mode: InterpolationMode, fill: Any) -> Any:
    """Return an image in a perspective, with all arguments given."""
    places = perspective_places(image_array(img, "perspective").shape[-2:], start, end)
    return _mapped(img, "perspective", places, mode, fill)


def elastic_transform(
    img: Any,
    displacement: Tensor,
    interpolation: InterpolationMode | str | int = _BILINEAR,
    fill: Any = None,
) -> Any:
    """Return an image whose pixels come from places beside their own.

    Args:
        img: the image.
        displacement: the distances, (1, height, width, 2): across, in halves of the width, and
            down, in halves of the height.
        interpolation: nearest or bilinear.
        fill: as in ``rotate``.

    Raises:
        TypeError: the displacement is not a tensor.
        ValueError: it has another shape.

    Example:
        >>> from tinynet.compat.vision.functions import warps
        >>> warps.elastic_transform(tn.tensor([[[1.0, 2.0]]]), tn.ones(1, 1, 2, 2) * 0.5)
        tensor([[[1.1250, 0.7500]]])
    """
    if not isinstance(displacement, Tensor):
        raise TypeError("Argument displacement should be a Tensor")
    return _deformed(img, displacement, interpolation_mode(interpolation), fill)


@for_images
def _deformed(img: Any, displacement: Tensor, mode: InterpolationMode, fill: Any) -> Any:
    size = image_array(img, "elastic_transform").shape[-2:]
    if displacement.shape != (1, *size, 2):
        raise ValueError(
            f"Argument displacement shape should be {Size((1, *size, 2))}, but given "
            f"{displacement.shape}"
        )
    places = elastic_places(size, displacement.detach().numpy()[0])
    return _mapped(img, "elastic_transform", places, mode, fill)


def _mapped(
    img: Tensor, name: str, places: tuple[Array, Array], mode: InterpolationMode, fill: Any
) -> Tensor:
    """Return the values at old places; with ``fill``, edges fade as torchvision's do."""
    if mode not in (_NEAREST, _BILINEAR):
        raise ValueError(
            f"Interpolation mode '{mode.value}' is unsupported with Tensor input: use nearest or "
            "bilinear."
        )
    kind: Any = mode.value

    def mapped(array: Array) -> Array:
        if fill is None or kind == "nearest":
            return sampled(array, places, kind, 0 if fill is None else fill)
        values = as_floats(array)
        covered = sampled(np.ones((1, *array.shape[-2:]), values.dtype), places, kind, 0)
        filled = np.reshape(np.asarray(fill, values.dtype), (-1, 1, 1))
        total = sampled(values, places, kind, 0)
        return as_dtype(total * covered + (1 - covered) * filled, array.dtype)

    return on_array(img, name, mapped)


@for_images
def gaussian_blur(img: Any, kernel_size: Side, sigma: Any = None) -> Any:
    """Return an image blurred with a Gaussian kernel.

    Args:
        img: the image.
        kernel_size: its width and height in pixels, odd; or one number for both.
        sigma: the standard deviations across and down, or one; by default
            ``0.15 * kernel_size + 0.35``.

    Raises:
        ValueError: a size is not odd, or a deviation is not positive.
    """
    kernel = height_and_width(kernel_size, "gaussian_blur")
    if any(size % 2 == 0 for size in kernel):
        raise ValueError(f"kernel_size should have odd and positive integers. Got {kernel_size}")
    if sigma is None:
        sigma = [size * 0.15 + 0.35 for size in kernel]
    deviations = [*sigma] * 2 if isinstance(sigma, Sequence) else [sigma, sigma]
    if min(deviations) <= 0:
        raise ValueError(f"sigma should have positive values. Got {sigma}")
    return on_array(img, "gaussian_blur", lambda a: blurred(a, kernel, deviations[:2]))
